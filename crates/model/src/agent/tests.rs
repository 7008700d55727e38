use super::*;
use crate::yaml::test_support::{assert_problems, assert_required_keys, read_ok};

const TRADER: &str = r#"name: trader
role: Trades tokens.
category: execution
tier: deep
writes: true
terminal: false
verifier: true
tools: [swap_get_quote, swap_execute]
delegates_to: [safety-guardian]
needs: [spend, receive]
output: trade_result
workflow:
  - { step: quote, call: [swap_get_quote, swap_route] }
  - { step: guard, delegate: safety-guardian, when: before a write }
  - { step: confirm, ask: "Shall I?" }
  - { step: done, say: Done. }
invariants:
  - { name: simulate_first, rule: "before(simulate, write)", why: Safety. }
"#;

fn read(node: &YamlNode, report: &ProblemReport) -> Option<Agent> {
    read_agent(node, "\nYou trade.\n", report)
}

fn words(spots: &[Spanned<String>]) -> Vec<&str> {
    spots.iter().map(|spot| spot.as_str()).collect()
}

#[test]
fn an_agent_is_read() {
    let agent = read_ok(TRADER, read);
    assert_eq!((agent.name.as_str(), agent.role.as_str(), agent.category.as_str()), ("trader", "Trades tokens.", "execution"));
    assert_eq!((agent.tier, agent.writes.value, agent.writes.at.line), (AgentTier::Deep, true, 5));
    assert_eq!((agent.terminal, agent.verifier), (false, true));
    assert_eq!((words(&agent.tools), words(&agent.delegates_to)), (vec!["swap_get_quote", "swap_execute"], vec!["safety-guardian"]));
    assert_eq!(
        (agent.needs.as_slice(), agent.output.as_ref().unwrap().as_str()),
        (["spend".to_owned(), "receive".to_owned()].as_slice(), "trade_result")
    );
    assert_eq!(agent.prompt, "You trade.");
    let [quote, guard, confirm, done] = agent.workflow.as_slice() else { panic!("{:?}", agent.workflow) };
    assert!(matches!(&quote.action, StepAction::Call(tools) if words(tools) == ["swap_get_quote", "swap_route"]), "{quote:?}");
    assert!(matches!(&guard.action, StepAction::Delegate(to) if **to == "safety-guardian"), "{guard:?}");
    assert_eq!((guard.step.as_str(), guard.when.as_deref(), guard.at.line), ("guard", Some("before a write"), 14));
    assert!(matches!(&confirm.action, StepAction::Ask(text) if text == "Shall I?"), "{confirm:?}");
    assert!(matches!(&done.action, StepAction::Say(text) if text == "Done."), "{done:?}");
    let [invariant] = agent.invariants.as_slice() else { panic!("{:?}", agent.invariants) };
    assert_eq!((invariant.name.as_str(), invariant.why.as_str()), ("simulate_first", "Safety."));
    assert_eq!((&invariant.rule.value, invariant.rule.at.line), (&Rule::parse("before(simulate, write)").unwrap(), 18));
}

#[test]
fn an_agent_needs_its_keys_and_a_prompt() {
    let keys = ["name", "role", "category", "tier", "writes", "terminal", "tools", "delegates_to", "needs", "output"];
    assert_required_keys(TRADER, read, "an agent", 1, &keys);
    let plain = read_ok(&TRADER.replace("verifier: true\n", ""), read);
    assert!(!plain.verifier && plain.serves.is_none());
    assert_problems(
        TRADER,
        |node, report| read_agent(node, " \n", report),
        &[("name:", "name:", "1: the agent has no prompt | write it below the front matter")],
    );
}

#[test]
fn an_agent_serves_as_guardian_or_assessor() {
    let serving = |word: &str| TRADER.replace("verifier: true\n", &format!("verifier: true\nserves: {word}\n"));
    let assessor = read_ok(&serving("assessor"), read);
    assert!(assessor.serves_as(ReviewRole::Assessor) && !assessor.serves_as(ReviewRole::Guardian));
    assert_problems(
        &serving("guardian"),
        read,
        &[("serves: guardian", "serves: guard", "8: \"guard\" is not a known value | did you mean \"guardian\"?")],
    );
}

#[test]
fn broken_agents_say_what_is_wrong() {
    let one = "a workflow step does exactly one thing | write one of call, delegate, ask, say";
    assert_problems(
        TRADER,
        read,
        &[
            ("tier: deep", "tier: deeper", "4: \"deeper\" is not a known value | did you mean \"deep\"?"),
            ("writes: true", "writes: yes", "5: expected true or false, found \"yes\""),
            (
                "[safety-guardian]",
                "safety-guardian",
                "9: expected a list, found \"safety-guardian\" | write [a, b] or lines starting with -",
            ),
            (
                "output: trade_result",
                "output: trade result",
                "11: \"trade result\" is not a name | use letters, digits, _ - . : only, at most 100",
            ),
            ("say: Done.", "say: Done., ask: More", &format!("16: {one}")),
            ("step: done, say: Done.", "step: done", &format!("16: {one}")),
            ("step: quote, ", "", "13: a workflow step lacks \"step\" | add step: …"),
            (
                "before(simulate, write)",
                "befor(simulate, write)",
                "18: the rule \"befor(simulate, write)\" cannot be read | column 1: \"befor\" is not a rule; did you mean \"before\"?",
            ),
            (", why: Safety.", "", "18: an invariant lacks \"why\" | add why: …"),
        ],
    );
}
