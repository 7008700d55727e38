use super::*;
use crate::catalog::{OpClass, ToolOp};
use serde_json::json;

fn select(what: What) -> Selector {
    Selector { what, tests: vec![] }
}

fn tool(name: &str) -> Selector {
    select(What::Tool(name.into()))
}

#[test]
fn every_rule_means_what_it_says() {
    let (simulate, write) = (select(What::Class(Class::Simulate)), select(What::Class(Class::Write)));
    for (text, rule) in [
        ("before(simulate, write)", Rule::Before(simulate.clone(), write.clone())),
        ("after(a, b)", Rule::After(tool("a"), tool("b"))),
        ("immediately_after(a, b)", Rule::ImmediatelyAfter(tool("a"), tool("b"))),
        ("never(acts(bridge))", Rule::Never(select(What::Acts(OpPattern::Class(OpClass::Bridge))))),
        ("never_after(guard.veto, write)", Rule::NeverAfter(select(What::Guard(Some(Answer::Veto))), write)),
        ("eventually(delegate(risk-assessor))", Rule::Eventually(select(What::DelegateTo("risk-assessor".into())))),
        ("within(a, b, 30s)", Rule::Within(tool("a"), tool("b"), 30)),
        ("within(a, b, 5m)", Rule::Within(tool("a"), tool("b"), 300)),
        ("at_most(a, 2)", Rule::AtMost(tool("a"), 2)),
    ] {
        assert_eq!(Rule::parse(text).as_ref(), Ok(&rule), "{text}");
        assert_eq!(rule.selectors().len(), if text.matches(", ").count() > 0 && !text.starts_with("at_most") { 2 } else { 1 }, "{text}");
    }
}

#[test]
fn every_selector_means_what_it_says() {
    for (text, what) in [
        ("read", What::Class(Class::Read)),
        ("quote", What::Class(Class::Quote)),
        ("simulate", What::Class(Class::Simulate)),
        ("write", What::Class(Class::Write)),
        ("sign", What::Class(Class::Sign)),
        ("ask", What::Class(Class::Ask)),
        ("say", What::Class(Class::Say)),
        ("report", What::Class(Class::Report)),
        ("delegate", What::Class(Class::Delegate)),
        ("delegate(trader)", What::DelegateTo("trader".into())),
        ("acts(swap)", What::Acts(OpPattern::Class(OpClass::Swap))),
        ("acts(borrow)", What::Acts(OpPattern::Op(ToolOp::Borrow))),
        ("guard", What::Guard(None)),
        ("guard.approve", What::Guard(Some(Answer::Approve))),
        ("guard.veto", What::Guard(Some(Answer::Veto))),
        ("assess", What::Assess(None)),
        ("assess.approve", What::Assess(Some(Answer::Approve))),
        ("assess.veto", What::Assess(Some(Answer::Veto))),
        ("uniswap_get_quote", What::Tool("uniswap_get_quote".into())),
    ] {
        assert_eq!(Rule::parse(&format!("never({text})")), Ok(Rule::Never(select(what))), "{text}");
    }
}

#[test]
fn arguments_are_compared_by_sign_and_value() {
    let test = |param: &str, op, value| ArgTest { param: param.into(), op, value };
    let rule = Rule::parse("never(swap[a=1, b!=\"x y\", c<=0.5, d>=true, e<2, f>word])").unwrap();
    let tests = vec![
        test("a", Op::Is, json!(1)),
        test("b", Op::IsNot, json!("x y")),
        test("c", Op::AtMost, json!(0.5)),
        test("d", Op::AtLeast, json!(true)),
        test("e", Op::Below, json!(2)),
        test("f", Op::Above, json!("word")),
    ];
    assert_eq!(rule, Rule::Never(Selector { what: What::Tool("swap".into()), tests }));
}

#[test]
fn a_broken_rule_names_column_and_cause() {
    for (text, column, what) in [
        ("befor(a, b)", 1, "\"befor\" is not a rule; did you mean \"before\"?"),
        ("xyz(a)", 1, "\"xyz\" is not a rule; before, after, immediately_after, never, never_after, eventually, within, at_most"),
        ("before a", 8, "expected \"(\""),
        ("before(a b)", 10, "expected \",\""),
        ("before(a, b", 12, "expected \")\""),
        ("never()", 7, "expected a name"),
        ("never(acts(swop))", 17, "\"swop\" is not an operation or a class of operations did you mean \"swap\"?"),
        ("never(a[b~1])", 10, "expected one of = != <= >= < >"),
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
