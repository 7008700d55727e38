//! Were the skill's parameters taken from what the user said? Spec 2.3, parameter extraction accuracy.

use super::intent_parsing::first_activation;
use super::{Evidence, Finding, Scorer, Specimen};
use crate::compare::Given;
use model::suite::Case;
use model::{Because, Happened, Reading, ScorerId, Workspace};
use serde_json::json;

pub(super) struct ParameterExtraction;

impl Scorer for ParameterExtraction {
    fn id(&self) -> ScorerId {
        ScorerId::ParameterExtraction
    }

    fn manual(&self) -> &'static str {
        "Every parameter that a skill case states is one tally, compared by kind as in argument_match. A parameter left out matches where \
         the skill's default is the expected value. When another skill is activated first, or none, all of them miss."
    }

    fn concerns(&self, _: &Workspace, case: &Case) -> bool {
        case.expect.skill.is_some() && !case.expect.params.is_empty()
    }

    fn score(&self, evidence: &Evidence<'_>) -> Finding {
        let expect = &evidence.case.expect;
        let of = expect.params.len() as u64;
        let right =
            first_activation(evidence).filter(|(_, skill, _)| expect.skill.as_ref().is_some_and(|expected| expected.as_str() == *skill));
        let Some((event, skill, params)) = right else {
            let because = vec![Because { event: None, what: "the expected skill was not the first activated".into() }];
            return Finding { reading: Reading::Tally { hit: 0, of }, because };
        };
        let skill = evidence.workspace.skill(skill);
        let because: Vec<Because> = expect
            .params
            .iter()
            .filter(|(name, expected)| !skill.is_some_and(|skill| Given::new(evidence.workspace, &skill.params, params).is(name, expected)))
            .map(|(name, expected)| {
                let found = params.get(name).map_or("nothing".to_owned(), ToString::to_string);
                Because { event: Some(event), what: format!("{name}: expected {expected}, found {found}") }
            })
            .collect();
        Finding { reading: Reading::Tally { hit: of - because.len() as u64, of }, because }
    }

    fn accepts(&self) -> Specimen {
        specimen(json!({"token_in": "eth", "token_out": "USDC", "amount": "0.50"}))
    }

    fn rejects(&self) -> Specimen {
        specimen(json!({"token_in": "ETH", "token_out": "USDC", "amount": "5"}))
    }
}

fn specimen(params: serde_json::Value) -> Specimen {
    let params = params.as_object().cloned().unwrap_or_default();
    Specimen::of("convert_half_an_ether", vec![("assistant", Happened::Activated { skill: "swap".into(), params })])
}
