use super::*;
use crate::catalog::{OpClass, ToolOp};
use serde_json::json;

fn select(what: SelectorTarget) -> ActionSelector {
    ActionSelector { what, tests: vec![] }
}

fn tool(name: &str) -> ActionSelector {
    select(SelectorTarget::Tool(name.into()))
}

#[test]
fn every_rule_form_parses() {
    let (simulate, write) = (select(SelectorTarget::Class(ActionClass::Simulate)), select(SelectorTarget::Class(ActionClass::Write)));
    for (text, rule) in [
        ("before(simulate, write)", Rule::Before(simulate.clone(), write.clone())),
        ("after(a, b)", Rule::After(tool("a"), tool("b"))),
        ("immediately_after(a, b)", Rule::ImmediatelyAfter(tool("a"), tool("b"))),
        ("never(acts(bridge))", Rule::Never(select(SelectorTarget::Acts(OpPattern::Class(OpClass::Bridge))))),
        ("never_after(guard.veto, write)", Rule::NeverAfter(select(SelectorTarget::Guard(Some(RequiredDecision::Veto))), write)),
        ("eventually(delegate(risk-assessor))", Rule::Eventually(select(SelectorTarget::DelegateTo("risk-assessor".into())))),
        ("within(a, b, 30s)", Rule::Within(tool("a"), tool("b"), 30)),
        ("within(a, b, 5m)", Rule::Within(tool("a"), tool("b"), 300)),
        ("at_most(a, 2)", Rule::AtMost(tool("a"), 2)),
    ] {
        assert_eq!(Rule::parse(text).as_ref(), Ok(&rule), "{text}");
        assert_eq!(rule.selectors().len(), if text.matches(", ").count() > 0 && !text.starts_with("at_most") { 2 } else { 1 }, "{text}");
    }
}

#[test]
fn selectors_may_have_alternatives() {
    let any_of = |several: Vec<ActionSelector>| select(SelectorTarget::AnyOf(several));
    let write = select(SelectorTarget::Class(ActionClass::Write));
    let rule = Rule::Before(any_of(vec![tool("a"), tool("b"), select(SelectorTarget::Guard(None))]), write.clone());
    assert_eq!(Rule::parse("before(a | b|guard, write)"), Ok(rule.clone()));
    assert_eq!(rule.selectors(), [&tool("a"), &tool("b"), &select(SelectorTarget::Guard(None)), &write]);
    let tested = Rule::parse("never(a[x=\"p | q\"] | b[y=1|2])").unwrap();
    assert_eq!(tested.selectors().iter().map(|one| one.tests.len()).collect::<Vec<_>>(), [1, 1], "a bar in a test is part of its value");
    for (text, column) in [("before(a |, b)", 11), ("before(| a, b)", 8), ("before(a || b, c)", 11), ("never(a | b", 12)] {
        assert_eq!(Rule::parse(text).unwrap_err().column, column, "{text}");
    }
}

#[test]
fn every_selector_form_parses() {
    for (text, what) in [
        ("read", SelectorTarget::Class(ActionClass::Read)),
        ("quote", SelectorTarget::Class(ActionClass::Quote)),
        ("simulate", SelectorTarget::Class(ActionClass::Simulate)),
        ("write", SelectorTarget::Class(ActionClass::Write)),
        ("sign", SelectorTarget::Class(ActionClass::Sign)),
        ("ask", SelectorTarget::Class(ActionClass::Ask)),
        ("say", SelectorTarget::Class(ActionClass::Say)),
        ("report", SelectorTarget::Class(ActionClass::Report)),
        ("delegate", SelectorTarget::Class(ActionClass::Delegate)),
        ("call", SelectorTarget::Class(ActionClass::Call)),
        ("delegate(trader)", SelectorTarget::DelegateTo("trader".into())),
        ("acts(swap)", SelectorTarget::Acts(OpPattern::Class(OpClass::Swap))),
        ("acts(borrow)", SelectorTarget::Acts(OpPattern::Op(ToolOp::Borrow))),
        ("guard", SelectorTarget::Guard(None)),
        ("guard.approve", SelectorTarget::Guard(Some(RequiredDecision::Approve))),
        ("guard.veto", SelectorTarget::Guard(Some(RequiredDecision::Veto))),
        ("assess", SelectorTarget::Assess(None)),
        ("assess.approve", SelectorTarget::Assess(Some(RequiredDecision::Approve))),
        ("assess.veto", SelectorTarget::Assess(Some(RequiredDecision::Veto))),
        ("uniswap_get_quote", SelectorTarget::Tool("uniswap_get_quote".into())),
    ] {
        assert_eq!(Rule::parse(&format!("never({text})")), Ok(Rule::Never(select(what))), "{text}");
    }
}

#[test]
fn selector_arg_tests_parse() {
    let test = |param: &str, op, value| ArgTest { arg: TestedArg::Param(param.into()), check: ArgCheck::Compare(op, value) };
    let rule = Rule::parse("never(swap[a=1, b!=\"x y\", c<=0.5, d>=true, e<2, f>word])").unwrap();
    let tests = vec![
        test("a", ArgComparison::Is, json!(1)),
        test("b", ArgComparison::IsNot, json!("x y")),
        test("c", ArgComparison::AtMost, json!(0.5)),
        test("d", ArgComparison::AtLeast, json!(true)),
        test("e", ArgComparison::Below, json!(2)),
        test("f", ArgComparison::Above, json!("word")),
    ];
    assert_eq!(rule, Rule::Never(ActionSelector { what: SelectorTarget::Tool("swap".into()), tests }));
    let rule = Rule::parse("never(call[* = \"0xAb\", memo contains \"seed phrase\", * regex \"^0x\"])").unwrap();
    let pattern = TextPattern::parse("^0x").unwrap();
    let tests = vec![
        ArgTest { arg: TestedArg::Any, check: ArgCheck::Compare(ArgComparison::Is, json!("0xAb")) },
        ArgTest { arg: TestedArg::Param("memo".into()), check: ArgCheck::Contains("seed phrase".into()) },
        ArgTest { arg: TestedArg::Any, check: ArgCheck::Regex(pattern) },
    ];
    assert_eq!(rule, Rule::Never(ActionSelector { what: SelectorTarget::Class(ActionClass::Call), tests }));
}

#[test]
fn rule_error_names_column_and_cause() {
    for (text, column, what) in [
        ("befor(a, b)", 1, "\"befor\" is not a rule; did you mean \"before\"?"),
        ("xyz(a)", 1, "\"xyz\" is not a rule; before, after, immediately_after, never, never_after, eventually, within, at_most"),
        ("before a", 8, "expected \"(\""),
        ("before(a b)", 10, "expected \",\""),
        ("before(a, b", 12, "expected \")\""),
        ("never()", 7, "expected a name"),
        ("never(acts(swop))", 17, "\"swop\" is not an operation or a class of operations; did you mean \"swap\"?"),
        ("never(a[b~1])", 10, "expected one of = != <= >= < > contains regex"),
        ("never(a[* != 1])", 11, "* takes one of = contains regex"),
        ("never(a[b=])", 11, "expected a value"),
        ("never(a[b=\"x])", 11, "a quoted value lacks its closing quote"),
        ("within(a, b, 30)", 16, "a time needs its unit: 30s or 5m"),
        ("at_most(a, x)", 12, "expected a whole number"),
        ("never(a) b", 10, "nothing may follow the closing parenthesis"),
    ] {
        assert_eq!(Rule::parse(text), Err(RuleError { column, what: what.into() }), "{text}");
    }
    assert_eq!(RuleError { column: 3, what: "wrong".into() }.to_string(), "column 3: wrong");
    assert_eq!(Rule::parse(&"a".repeat(501)).unwrap_err().what, "a rule has at most 500 characters");
}
