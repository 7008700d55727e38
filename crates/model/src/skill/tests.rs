use super::*;
use crate::yaml::test_support::{assert_problems, assert_required_keys, read_ok};

const SWAP: &str = r#"name: swap
description: Swaps one token for another.
category: trading
agent: trader
also: [desk]
triggers: [swap, sell]
examples: ["Swap 5 USDC for ether."]
redirects:
  - { when: the user wants to send, to: send-tokens }
params:
  amount: { kind: amount(human of token_in), type: string, description: How much. }
"#;

fn read(node: &YamlNode, report: &ProblemReport) -> Option<Skill> {
    read_skill(node, "\nAsk for the amount.\n", report)
}

#[test]
fn listing_shows_each_parameter_and_nothing_of_the_body() {
    let text = SWAP.replace(
        "params:\n",
        concat!(
            "params:\n  chain: { kind: chain, type: string, default: base, description: Chain. }\n",
            "  speed: { kind: enum, type: string, enum: [fast, slow], optional: true, description: Speed. }\n",
            "  legs: { kind: list(object), type: array, items: { type: object, properties: { token: { type: string } } }, description: Legs. }\n",
        ),
    );
    let listing = read_ok(&text, read).listing();
    assert_eq!(listing.input_schema["required"], serde_json::json!(["legs", "amount"]));
    assert_eq!(listing.input_schema["properties"]["chain"]["default"], "base");
    let tool = SkillListing::use_skill_tool(&[listing]);
    assert_eq!(
        tool.description,
        concat!(
            "Activate a skill with its parameters. Available skills:\n- swap: Swaps one token for another.\n",
            "  - chain (string, default \"base\"): Chain.\n  - speed (fast | slow, optional): Speed.\n",
            "  - legs (array of object {token: string}, required): Legs.\n  - amount (string, required): How much.",
        )
    );
}

#[test]
fn a_skill_is_read() {
    let skill = read_ok(SWAP, read);
    assert_eq!(
        (skill.name.as_str(), skill.description.as_str(), skill.category.as_str()),
        ("swap", "Swaps one token for another.", "trading")
    );
    assert!(matches!(&skill.handler, SkillHandler::Agent(name) if **name == "trader" && name.at.line == 4), "{:?}", skill.handler);
    assert_eq!(
        (skill.also[0].as_str(), skill.triggers.iter().map(|word| word.as_str()).collect::<Vec<_>>()),
        ("desk", vec!["swap", "sell"])
    );
    assert_eq!((skill.examples.as_slice(), skill.body.as_str()), (["Swap 5 USDC for ether.".to_owned()].as_slice(), "Ask for the amount."));
    assert_eq!((skill.redirects[0].when.as_str(), skill.redirects[0].to.as_str()), ("the user wants to send", "send-tokens"));
    assert_eq!(skill.params["amount"].kind.as_ref().map(ToString::to_string).as_deref(), Some("amount(human of token_in)"));
    assert!(skill.params["amount"].required);
    let direct = read_ok(&SWAP.replace("agent: trader", "tool: swap_execute"), read);
    assert!(matches!(&direct.handler, SkillHandler::Tool(name) if **name == "swap_execute"), "{:?}", direct.handler);
}

#[test]
fn a_skill_needs_its_keys() {
    assert_required_keys(SWAP, read, "a skill", 1, &["name", "description", "category", "triggers", "examples"]);
}

#[test]
fn broken_skills_say_what_is_wrong() {
    let one = "1: a skill is handled by exactly one agent or one tool | write agent: or tool:";
    assert_problems(
        SWAP,
        read,
        &[
            ("agent: trader\n", "", one),
            ("agent: trader", "agent: trader\ntool: swap_execute", one),
            (", to: send-tokens", "", "9: a redirect lacks \"to\" | add to: …"),
            ("triggers: [swap, sell]", "triggers: swap", "6: expected a list, found \"swap\" | write [a, b] or lines starting with -"),
            ("amount(human of token_in)", "amount(wei)", "11: \"wei\" is not a unit of amounts | one of: human, base, usd, shares"),
            ("redirects:", "redirect:", "8: a skill has no key \"redirect\" | did you mean \"redirects\"?"),
        ],
    );
}
