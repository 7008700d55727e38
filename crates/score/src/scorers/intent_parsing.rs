//! Was the right skill chosen from what the user said? Spec 2.3, intent parsing accuracy.

use super::{Evidence, Finding, Scorer, Specimen};
use model::suite::Case;
use model::{Happened, Workspace};
use serde_json::Map;

pub(super) struct IntentParsing;

impl Scorer for IntentParsing {
    fn id(&self) -> &'static str {
        "intent_parsing"
    }

    fn manual(&self) -> &'static str {
        "A skill case is good when the first skill the subject activates is the one the case expects. Activating a sibling first and \
         correcting it later misses, and so does activating none."
    }

    fn concerns(&self, _: &Workspace, case: &Case) -> bool {
        case.expect.skill.is_some()
    }

    fn score(&self, evidence: &Evidence<'_>) -> Finding {
        let Some(expected) = &evidence.case.expect.skill else { return Finding::not_exercised() };
        match first_activation(evidence) {
            Some((event, skill, _)) => {
                Finding::one(skill == expected.as_str(), Some(event), format!("activated {skill}, expected {}", expected.value))
            }
            None => Finding::one(false, None, format!("activated no skill, expected {}", expected.value)),
        }
    }

    fn accepts(&self) -> Specimen {
        Specimen::of("convert_half_an_ether", vec![activated("swap")])
    }

    fn rejects(&self) -> Specimen {
        Specimen::of("convert_half_an_ether", vec![activated("send-tokens"), activated("swap")])
    }
}

fn activated(skill: &str) -> (&'static str, Happened) {
    ("assistant", Happened::Activated { skill: skill.into(), params: Map::new() })
}

/// The first skill activated, with the event and the parameters it was given.
pub(super) fn first_activation<'a>(evidence: &Evidence<'a>) -> Option<(u32, &'a str, &'a Map<String, serde_json::Value>)> {
    evidence.transcript.events.iter().find_map(|event| {
        let Happened::Activated { skill, params } = &event.happened else { return None };
        Some((event.n, skill.as_str(), params))
    })
}
