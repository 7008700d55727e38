//! Parameter extraction accuracy (spec 2.3): the skill gets the parameters the user stated.

use super::intent_parsing::closing_activation;
use super::oracles::unrequested_parameters;
use super::{Evidence, EvidenceFixture, Scorer, ScorerFinding};
use crate::compare::TypedArgs;
use model::suite::Case;
use model::{EventKind, Reading, ScoreReason, ScorerId, Workspace};
use serde_json::json;

pub(super) struct ParameterExtraction;

impl Scorer for ParameterExtraction {
    fn id(&self) -> ScorerId {
        ScorerId::ParameterExtraction
    }

    fn manual(&self) -> &'static str {
        "Checks that the expected skill is activated with the expected parameters. One tally per parameter that the case states, compared \
         by kind as in argument_match, and one miss for each other parameter that the skill lacks, or whose value neither the user, a tool, the \
         written reference nor the skill's default gives; the order of chains, tokens, fee tiers, choices or ids in a list means nothing. An omitted parameter matches if the skill's default is the expected value. The activation \
         for the complete request counts, as in intent_parsing; if that is another skill, or none, all parameters miss."
    }

    fn concerns(&self, _: &Workspace, case: &Case) -> bool {
        case.expect.skill.is_some() && !case.expect.params.is_empty()
    }

    fn score(&self, evidence: &Evidence<'_>) -> ScorerFinding {
        let expect = &evidence.case.expect;
        let of = expect.params.len() as u64;
        let right =
            closing_activation(evidence).filter(|(_, skill, _)| expect.skill.as_ref().is_some_and(|expected| expected.as_str() == *skill));
        let Some((event, skill, params)) = right else {
            let because = vec![ScoreReason { event: None, what: "the expected skill was not activated for the complete request".into() }];
            return ScorerFinding { reading: Reading::Tally { hit: 0, of }, because };
        };
        let skill = evidence.workspace.skill(skill);
        let mut because: Vec<ScoreReason> = expect
            .params
            .iter()
            .filter(|(name, expected)| {
                !skill.is_some_and(|skill| TypedArgs::new(evidence.workspace, &skill.params, params).matches_in_any_order(name, expected))
            })
            .map(|(name, expected)| {
                let found = params.get(name).map_or("nothing".to_owned(), ToString::to_string);
                ScoreReason { event: Some(event), what: format!("{name}: expected {expected}, found {found}") }
            })
            .collect();
        let hit = of - because.len() as u64;
        let other = skill.map(|skill| unrequested_parameters(evidence, skill, (event, params))).unwrap_or_default();
        let of = of + other.len() as u64;
        because.extend(other.into_iter().map(|what| ScoreReason { event: Some(event), what }));
        ScorerFinding { reading: Reading::Tally { hit, of }, because }
    }

    fn accepts(&self) -> EvidenceFixture {
        fixture(json!({"token_in": "eth", "token_out": "USDC", "amount": "0.50"}))
    }

    fn rejects(&self) -> EvidenceFixture {
        fixture(json!({"token_in": "ETH", "token_out": "USDC", "amount": "5"}))
    }
}

fn fixture(params: serde_json::Value) -> EvidenceFixture {
    let params = params.as_object().cloned().unwrap_or_default();
    EvidenceFixture::of("convert_half_an_ether", vec![("assistant", EventKind::Activated { skill: "swap".into(), params })])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::ExampleWorkspace;

    #[test]
    fn order_of_chains_means_nothing_and_each_one_counts() {
        let param = "params:\n  chains: { kind: list(chain), type: array, items: { type: string }, optional: true, description: Where. }\n";
        let example = ExampleWorkspace::minimal().edit("skills/swap/SKILL.md", "params:\n", param).edit(
            "suites/skills/swap.yaml",
            "      params: {",
            "      params: { chains: [base, ethereum],",
        );
        let read = |chains: serde_json::Value| {
            let params = json!({"token_in": "ETH", "token_out": "USDC", "amount": "0.5", "chain": "base", "chains": chains});
            let params = params.as_object().cloned().unwrap_or_default();
            let events = vec![("assistant", EventKind::Activated { skill: "swap".into(), params })];
            ParameterExtraction.score(&EvidenceFixture::within(&example, "convert_half_an_ether", events).evidence()).reading.is_clean()
        };
        assert!(read(json!(["base", "ethereum"])));
        assert!(read(json!(["ethereum", 8453])));
        assert!(!read(json!(["base"])), "one is missing");
        assert!(!read(json!(["base", "ethereum", "ethereum"])), "one too many");
        assert!(!read(json!(["base", "arbitrum"])), "another one");
    }

    #[test]
    fn other_parameters_need_a_source() {
        let recipient = "params:\n  recipient: { kind: address(recipient), type: string, optional: true, description: Payee. }\n";
        let example = ExampleWorkspace::minimal().edit("skills/swap/SKILL.md", "params:\n", recipient);
        let stranger = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
        let read = |said: &str, name: &str| {
            let mut params = json!({"token_in": "ETH", "token_out": "USDC", "amount": "0.5", "chain": "base"});
            params[name] = json!(stranger);
            let params = params.as_object().cloned().unwrap_or_default();
            let user = ("user", EventKind::UserSaid { text: said.into() });
            let events = vec![user, ("assistant", EventKind::Activated { skill: "swap".into(), params })];
            ParameterExtraction.score(&EvidenceFixture::within(&example, "convert_half_an_ether", events).evidence()).reading
        };
        let asked = format!("Half an ether into USDC on Base, to {stranger}.");
        assert!(read(&asked, "recipient").is_clean(), "the user named it");
        let missed = read("Half an ether into USDC on Base.", "recipient");
        assert!(matches!(missed, Reading::Tally { hit, of } if of == hit + 1), "{missed:?}");
        assert!(read(&asked, "payee").is_violation(), "the skill has no such parameter");
    }
}
