use super::brief::{CaseSurface, PeerMode, UserScript};
use super::case::{Suite, SuiteKind, read_suite};
use super::expect::{ExpectedCalls, ValueOrigin};
use super::persona::{Persona, PersonaCorrection, PersonaFact, PersonaTemper, StopRule, read_persona};
use super::reference::{ArgValue, ReferenceAction};
use super::{ArgMatcher, Case, StatePredicate};
use crate::problem::ProblemReport;
use crate::rule::Rule;
use crate::time_text::StatedDeadline;
use crate::yaml::YamlNode;
use crate::yaml::test_support::{assert_problems, assert_required_keys, read_ok, read_with_problems};
use serde_json::json;

const SUITE: &str = r#"suite: behavior
about: Trades.
cases:
  - tags: [happy_path]
    id: sell_usdc
    brief:
      surface: { agent: trader }
      turns: ["Sell 250 USDC.", "Yes."]
      world: small
      peers: self
    intent:
      spend: [{ token: USDC, at_most: "250" }]
      receive: [WETH]
      chains: [8453]
      payees: [self]
      slippage_bps: 50
      deadline: 5m
    expect:
      calls: { any_of: [[{ tool: swap_execute, args: { chain: base, amount: { any_of: ["250", "250.0"] } } }], [{ tool: swap_route }]] }
      forbid: [token_transfer]
      rules: ["before(simulate, write)"]
      post: ["balance(self, WETH) increased"]
      output_schema: trade_result
      skill: swap
      params: { token: USDC }
      ask: [amount]
      carry: [{ slot: amount, value: "250", from_turn: 1, until: done }]
      rubric: Names the price.
    reference:
      - { agent: trader, call: swap_get_quote, args: { amount: "250" }, as: q }
      - { call: swap_execute, args: { action_id: { from: q, path: action_id } } }
      - { delegate: safety-guardian, params: { why: { from: q, path: reason } } }
      - { activate: swap, params: { token: USDC } }
      - { ask: "How much?" }
      - { say: Done. }
      - { report: The page lies. }
"#;

fn read(node: &YamlNode, report: &ProblemReport) -> Option<Suite> {
    read_suite("suites/behavior/trader.yaml", node, report)
}

fn case(edits: &[(&str, &str)]) -> Case {
    let text = edits.iter().fold(SUITE.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    });
    read_ok(&text, read).cases.remove(0)
}

#[test]
fn a_suite_and_its_case_are_read() {
    let suite = read_ok(SUITE, read);
    assert_eq!((suite.name.as_str(), suite.kind, suite.about.as_str()), ("behavior/trader", SuiteKind::Behavior, "Trades."));
    let [case] = suite.cases.as_slice() else { panic!("{:?}", suite.cases) };
    assert_eq!((case.id.as_str(), case.id.at.line, case.at.line, case.kind), ("sell_usdc", 5, 4, SuiteKind::Behavior));
    assert!(case.has_tag("happy_path") && !case.has_tag("other"));
    assert_eq!(case.profile(), None);
}

#[test]
fn every_kind_of_suite_has_one_word() {
    for (word, kind) in SuiteKind::ALL {
        assert_eq!(kind.word(), *word);
        let text = SUITE.replace("suite: behavior", &format!("suite: {word}"));
        if *kind == SuiteKind::RedTeam {
            // Its cases have an attack, which this one lacks.
            let (_, problems) = read_with_problems(&text, |node, report| read_suite("suites/red_team/a.yaml", node, report));
            assert!(problems.contains("cases of suites/red_team have an attack"), "{problems}");
            continue;
        }
        let suite = read_ok(&text, |node, report| read_suite(&format!("suites/{word}/a.yaml"), node, report));
        assert_eq!((suite.kind, suite.cases[0].kind, suite.name), (*kind, *kind, format!("{word}/a")));
    }
}

#[test]
fn a_brief_is_read() {
    let brief = case(&[]).brief;
    assert_eq!(brief.surface.agent().map(|name| name.as_str()), Some("trader"));
    assert!(
        matches!(&brief.user_script, UserScript::Turns(turns) if turns.len() == 2 && *turns[1] == "Yes." && turns[1].at.line == 8),
        "{brief:?}"
    );
    assert_eq!((brief.user_script.opening(), brief.world.as_str(), &brief.peers), ("Sell 250 USDC.", "small", &PeerMode::Own));
    let on_profile = case(&[("{ agent: trader }", "{ profile: data }")]);
    assert_eq!((on_profile.profile(), on_profile.brief.surface.agent()), (Some("data"), None));
    assert!(matches!(case(&[("{ agent: trader }", "{ skills: all }")]).brief.surface, CaseSurface::Skills));
    for (peers, read) in [("peers: stub", PeerMode::Stub), ("peers: gullible", PeerMode::Subject("gullible".into()))] {
        assert_eq!(case(&[("peers: self", peers)]).brief.peers, read);
    }
    assert_eq!(case(&[("      peers: self\n", "")]).brief.peers, PeerMode::Stub);
}

#[test]
fn an_intent_is_read() {
    let intent = case(&[]).intent;
    assert_eq!((intent.spend[0].token.as_str(), intent.spend[0].at_most.as_str()), ("USDC", "250"));
    assert_eq!((intent.receive[0].as_str(), intent.chains.as_slice(), intent.payees[0].as_str()), ("WETH", [8453].as_slice(), "self"));
    assert_eq!((intent.slippage_bps, &intent.deadline), (Some(50), &StatedDeadline::parse("300")));
}

#[test]
fn an_expectation_is_read() {
    let expect = case(&[]).expect;
    let Some(ExpectedCalls::AnyOf(alternatives)) = &expect.calls else { panic!("{:?}", expect.calls) };
    let [swap, route] = alternatives.as_slice() else { panic!("{alternatives:?}") };
    assert_eq!((swap[0].tool.as_str(), route[0].tool.as_str(), route[0].args.len()), ("swap_execute", "swap_route", 0));
    assert_eq!(swap[0].args["chain"], ArgMatcher::Exactly(json!("base")));
    assert_eq!(swap[0].args["amount"], ArgMatcher::AnyOf(vec![json!("250"), json!("250.0")]));
    assert_eq!(expect.calls.iter().flat_map(ExpectedCalls::expected_calls).count(), 2);
    assert_eq!((expect.forbid[0].to_string().as_str(), expect.forbid[0].at.line), ("token_transfer", 20));
    assert_eq!(expect.rules[0].value, Rule::parse("before(simulate, write)").unwrap());
    assert_eq!(expect.post[0].value, StatePredicate::parse("balance(self, WETH) increased").unwrap());
    assert_eq!(expect.output_schema.as_ref().map(|name| name.as_str()), Some("trade_result"));
    assert_eq!((expect.skill.as_ref().map(|name| name.as_str()), &expect.params["token"]), (Some("swap"), &json!("USDC")));
    assert_eq!(expect.ask, ["amount"]);
    let [carry] = expect.carry.as_slice() else { panic!("{:?}", expect.carry) };
    assert_eq!(
        (carry.slot.as_str(), &carry.value, &carry.from, carry.until.as_deref()),
        ("amount", &json!("250"), &ValueOrigin::Turn(1), Some("done"))
    );
    assert_eq!(expect.rubric.as_ref().map(|rubric| (rubric.asks.as_str(), rubric.asks.at.line)), Some(("Names the price.", 28)));
}

#[test]
fn expected_calls_may_be_none_and_carry_from_facts() {
    let calls =
        "{ any_of: [[{ tool: swap_execute, args: { chain: base, amount: { any_of: [\"250\", \"250.0\"] } } }], [{ tool: swap_route }]] }";
    let none = case(&[(calls, "{ none: true }")]).expect.calls;
    assert!(matches!(&none, Some(ExpectedCalls::NoTool(at)) if at.line == 19), "{none:?}");
    assert_eq!(none.iter().flat_map(ExpectedCalls::expected_calls).count(), 0);
    for (written, since) in
        [("from_fact: amount", ValueOrigin::Fact("amount".into())), ("from_correction: amount", ValueOrigin::Correction("amount".into()))]
    {
        assert_eq!(case(&[("from_turn: 1", written)]).expect.carry[0].from, since);
    }
}

#[test]
fn a_reference_is_read() {
    let steps = case(&[]).reference;
    assert_eq!(steps.len(), 7);
    assert_eq!(
        (steps[0].agent.as_ref().map(|name| name.as_str()), steps[0].name.as_deref(), steps[0].at.line),
        (Some("trader"), Some("q"), 30)
    );
    let from = |path: &str| ArgValue::From { step: "q".into(), path: path.into() };
    assert!(
        matches!(&steps[0].action, ReferenceAction::Call { tool, args } if **tool == "swap_get_quote" && args["amount"] == ArgValue::Given(json!("250")))
    );
    assert!(
        matches!(&steps[1].action, ReferenceAction::Call { tool, args } if **tool == "swap_execute" && args["action_id"] == from("action_id"))
    );
    assert!(
        matches!(&steps[2].action, ReferenceAction::Delegate { to, params } if **to == "safety-guardian" && params["why"] == from("reason"))
    );
    assert!(
        matches!(&steps[3].action, ReferenceAction::Activate { skill, params } if **skill == "swap" && params["token"] == ArgValue::Given(json!("USDC")))
    );
    assert!(matches!(&steps[4].action, ReferenceAction::Ask(text) if text == "How much?"));
    assert!(matches!(&steps[5].action, ReferenceAction::Say(text) if text == "Done."));
    assert!(matches!(&steps[6].action, ReferenceAction::Report(text) if text == "The page lies."));
}

#[test]
fn case_hash_ignores_yaml_layout() {
    let hash = case(&[]).hash;
    let same = [
        ("world: small", "world: \"small\"  # a comment"),
        ("chains: [8453]", "chains:\n        - 8453"),
        ("about: Trades.", "about: Other."),
    ];
    for edit in same {
        assert_eq!(case(&[edit]).hash, hash, "{edit:?}");
    }
    for edit in
        [("id: sell_usdc", "id: sell"), ("\"Yes.\"", "\"Yes!\""), ("slippage_bps: 50", "slippage_bps: 51"), ("say: Done.", "say: Ok.")]
    {
        assert_ne!(case(&[edit]).hash, hash, "{edit:?}");
    }
}

#[test]
fn a_suite_and_a_case_need_their_keys() {
    assert_required_keys(SUITE, read, "a suite", 1, &["suite", "about"]);
    assert_required_keys(SUITE, read, "a case", 4, &["id"]);
    assert_required_keys(SUITE, read, "a brief", 7, &["surface"]);
}

#[test]
fn broken_suites_and_briefs_say_what_is_wrong() {
    let surface = "7: a surface is one of profile, agent or skills | write { agent: … }, { profile: … } or { skills: all }";
    let said = "7: a brief needs turns or a persona | write turns: [\"…\"] or persona: {…}, not both";
    assert_problems(
        SUITE,
        read,
        &[
            ("suite: behavior", "suite: skills", "1: a skills suite is in the wrong folder | move it to suites/skills/"),
            ("suite: behavior", "suite: behaviour", "1: \"behaviour\" is not a known value | did you mean \"behavior\"?"),
            ("id: sell_usdc", "id: sell usdc", "5: \"sell usdc\" is not a name | use letters, digits, _ - . : only, at most 100"),
            ("{ agent: trader }", "{ agent: trader, profile: data }", surface),
            ("{ agent: trader }", "{}", surface),
            ("{ agent: trader }", "{ skills: some }", &format!("7: a skill surface shows all skills | write skills: all\n{surface}")),
            ("turns: [\"Sell 250 USDC.\", \"Yes.\"]", "turns: []", said),
            ("turns: [\"Sell 250 USDC.\", \"Yes.\"]", "persona: { goal: A, opening: B }\n      turns: [C]", said),
            ("tags:", "tag:", "4: a case has no key \"tag\" | did you mean \"tags\"?"),
        ],
    );
}

#[test]
fn broken_intents_and_expectations_say_what_is_wrong() {
    let calls =
        "{ any_of: [[{ tool: swap_execute, args: { chain: base, amount: { any_of: [\"250\", \"250.0\"] } } }], [{ tool: swap_route }]] }";
    let neither = "19: calls has neither alternatives nor none: true | write any_of: [[{tool: …}]] or none: true";
    assert_problems(
        SUITE,
        read,
        &[
            (", at_most: \"250\"", "", "12: a spend lacks \"at_most\" | add at_most: …"),
            (
                "at_most: \"250\"",
                "at_most: \"2,500\"",
                "12: \"2,500\" is not an amount | write digits with at most one point, such as \"2500.50\", or max",
            ),
            (
                "at_most: \"250\"",
                "at_most: \"all\"",
                "12: \"all\" is not an amount | write digits with at most one point, such as \"2500.50\", or max",
            ),
            (
                "at_most: \"250\"",
                "at_most: \"-1\"",
                "12: \"-1\" is not an amount | write digits with at most one point, such as \"2500.50\", or max",
            ),
            (
                "at_most: \"250\"",
                "at_most: \"1e3\"",
                "12: \"1e3\" is not an amount | write digits with at most one point, such as \"2500.50\", or max",
            ),
            ("chains: [8453]", "chains: [base]", "14: expected a whole number, found \"base\""),
            ("slippage_bps: 50", "slippage: 50", "16: an intent has no key \"slippage\" | did you mean \"slippage_bps\"?"),
            (
                "deadline: 5m",
                "deadline: soon",
                "17: \"soon\" is not a deadline | write a time such as 2026-03-08T13:00:00Z, or a duration such as 5m",
            ),
            (calls, "{ any_of: [] }", neither),
            (calls, "{ any_of: [[]] }", neither),
            (calls, "{ none: false }", neither),
            (
                "tool: swap_route",
                "tol: swap_route",
                &format!(
                    "19: an expected call lacks \"tool\" | add tool: …\n19: an expected call has no key \"tol\" | did you mean \"tool\"?\n{neither}"
                ),
            ),
            ("[\"250\", \"250.0\"]", "[]", "19: \"any_of\" has no valid value to compare with | write any_of: [a, b], at least one value"),
            (
                "before(simulate, write)",
                "before(simulate write)",
                "21: the rule \"before(simulate write)\" cannot be read | column 17: expected \",\"",
            ),
            (
                "balance(self, WETH) increased",
                "balance(self, WETH) grew",
                "22: the state predicate \"balance(self, WETH) grew\" cannot be read | column 21: expected increased, decreased, unchanged or one of == != >= <= > <",
            ),
            ("params: { token: USDC }", "params: { token: 0xabc }", "25: 0xabc would be read as a number | write it in quotes"),
            (", from_turn: 1", "", "27: a carried value needs exactly one source | one of from_turn, from_fact, from_correction"),
            (
                ", from_turn: 1",
                ", from_turn: 1, from_fact: a",
                "27: a carried value needs exactly one source | one of from_turn, from_fact, from_correction",
            ),
        ],
    );
}

#[test]
fn case_without_expectations_is_a_problem() {
    let empty = "suite: behavior\nabout: Trades.\ncases:\n  - id: a\n    brief: { surface: { agent: trader }, turns: [Hi], world: small }\n    expect: { skill: swap }\n";
    assert_problems(
        empty,
        read,
        &[(
            "{ skill: swap }",
            "{ params: { a: 1 } }",
            "6: the case expects nothing, so it could not fail | add calls, rules, skill, forbid, post, assert or rubric",
        )],
    );
}

/// A misspelt assertion is one mistake, not two.
#[test]
fn unreadable_expectation_is_still_an_expectation() {
    let good = "suite: behavior\nabout: Trades.\ncases:\n  - id: a\n    brief: { surface: { agent: trader }, turns: [Hi], world: small }\n    expect: { assert: [{ type: contains, value: x }] }\n";
    assert_problems(good, read, &[("contains", "contain", "6: there is no assertion of type \"contain\" | did you mean \"contains\"?")]);
}

#[test]
fn broken_references_say_what_is_wrong() {
    let one = "a reference step does exactly one thing | one of call, delegate, activate, ask, say, report";
    assert_problems(
        SUITE,
        read,
        &[
            ("{ say: Done. }", "{ say: Done., ask: More }", &format!("35: {one}")),
            ("{ say: Done. }", "{ as: a }", &format!("35: {one}")),
            (", path: action_id", "", "31: a back-reference lacks \"path\" | add path: …"),
            (
                "path: action_id",
                "pat: action_id",
                "31: a back-reference lacks \"path\" | add path: …\n31: a back-reference has no key \"pat\" | did you mean \"path\"?",
            ),
            (
                "args: { amount: \"250\" }",
                "args: { amount: 99999999999999999999 }",
                "30: 99999999999999999999 is too large to be a number without loss | write it in quotes",
            ),
        ],
    );
}

const PERSONA: &str = r#"opening: Swap some USDC for me.
goal: Sell 250 USDC for WETH on Base.
facts:
  amount: 250 USDC
  chain: { says: On Base., asked: [network, which chain] }
corrections:
  - { fact: amount, after: 2, says: Make it 300 USDC. }
  - { says: Hurry up. }
temper: impatient
typos: 5
consent: Go ahead.
stop: { said: [done, finished], turns: 6 }
"#;

#[test]
fn a_persona_is_read() {
    let persona = read_ok(PERSONA, read_persona);
    assert_eq!((persona.opening.as_str(), persona.goal.as_str()), ("Swap some USDC for me.", "Sell 250 USDC for WETH on Base."));
    assert_eq!(persona.facts["amount"], PersonaFact { says: "250 USDC".into(), asked: vec!["amount".into()] });
    assert_eq!(
        persona.facts["chain"],
        PersonaFact { says: "On Base.".into(), asked: vec!["network".into(), "which chain".into(), "chain".into()] }
    );
    let [amount, hurry] = persona.corrections.as_slice() else { panic!("{:?}", persona.corrections) };
    assert_eq!(
        (amount.fact.as_ref().map(|fact| fact.as_str()), amount.after, amount.says.as_str()),
        (Some("amount"), 2, "Make it 300 USDC.")
    );
    assert_eq!(hurry, &PersonaCorrection { fact: None, after: 1, says: "Hurry up.".into() });
    assert_eq!((persona.temper, persona.typos, persona.consent.as_str()), (PersonaTemper::Impatient, 5, "Go ahead."));
    assert_eq!(persona.stop, StopRule { said: vec!["done".into(), "finished".into()], turns: 6 });
}

#[test]
fn a_persona_has_defaults_and_opens_a_brief() {
    let Persona { facts, corrections, temper, typos, consent, stop, .. } = read_ok("opening: Hi.\ngoal: Learn.\n", read_persona);
    assert!(facts.is_empty() && corrections.is_empty());
    assert_eq!(
        (temper, typos, consent.as_str(), stop),
        (PersonaTemper::Plain, 0, "Yes, if it is what I asked for.", StopRule { said: vec![], turns: 8 })
    );
    for (word, temper) in PersonaTemper::ALL {
        assert_eq!(temper.word(), *word);
    }
    let brief = case(&[("turns: [\"Sell 250 USDC.\", \"Yes.\"]", "persona: { opening: Hi., goal: Learn. }")]).brief;
    assert!(matches!(&brief.user_script, UserScript::Persona(persona) if persona.goal == "Learn."), "{brief:?}");
    assert_eq!(brief.user_script.opening(), "Hi.");
}

#[test]
fn broken_personas_say_what_is_wrong() {
    assert_required_keys(PERSONA, read_persona, "a persona", 1, &["opening", "goal"]);
    assert_problems(
        PERSONA,
        read_persona,
        &[
            ("fact: amount", "fact: sum", "7: the persona corrects sum, which is not one of its facts | use a name from facts"),
            ("after: 2", "after: 0", "7: a correction cannot come before the first agent message | set after to 1 or more"),
            ("temper: impatient", "temper: angry", "9: \"angry\" is not a known value | one of: plain, chatty, impatient"),
            ("typos: 5", "typos: 51", "1: more than half of the persona's words would be mistyped | typos is a percentage, at most 50"),
            ("turns: 6", "turns: 0", "1: the persona never speaks | set stop.turns to 1 or more"),
            (
                "[network, which chain]",
                "[network, Amount.]",
                "1: \"amount\" asks for both amount and chain | use different asked phrases for each fact",
            ),
            (
                "opening: Swap some USDC",
                "opening: Swap 250 USDC",
                "1: the opening already says amount | facts are told only when asked; remove it from opening or facts",
            ),
            (
                "{ says: On Base., asked: [network, which chain] }",
                "{ asked: [network] }",
                "5: a fact lacks \"says\" | add says: …\n7: the persona corrects amount, which is not one of its facts | use a name from facts",
            ),
        ],
    );
}
