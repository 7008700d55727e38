//! Intent parsing accuracy (spec 2.3): the right skill is chosen for a request.

use super::{Evidence, EvidenceFixture, Scorer, ScorerFinding};
use model::suite::{Case, CaseSurface, ExpectedCalls};
use model::{EventKind, ScorerId, Workspace};
use serde_json::Map;

pub(super) struct IntentParsing;

impl Scorer for IntentParsing {
    fn id(&self) -> ScorerId {
        ScorerId::IntentParsing
    }

    fn manual(&self) -> &'static str {
        "Checks that the first skill the subject activates is the expected one. One tally per trial of a skill case. Activating a sibling \
         first and correcting it later misses, and so does activating none. Requests that sound like one skill but belong to the sibling \
         it redirects to are ordinary cases that expect the sibling. If no skill fits (calls: { none: true } on the skill surface), \
         activating any skill misses."
    }

    fn concerns(&self, _: &Workspace, case: &Case) -> bool {
        case.expect.skill.is_some() || fits_no_skill(case)
    }

    fn score(&self, evidence: &Evidence<'_>) -> ScorerFinding {
        let Some(expected) = &evidence.case.expect.skill else {
            return match first_activation(evidence) {
                _ if !fits_no_skill(evidence.case) => ScorerFinding::not_exercised(),
                Some((event, skill, _)) => ScorerFinding::one(false, Some(event), format!("activated {skill}, but no skill fits")),
                None => ScorerFinding::one(true, None, "activated no skill, and none fits"),
            };
        };
        match first_activation(evidence) {
            Some((event, skill, _)) => {
                let redirect = evidence.workspace.skill(skill).and_then(|skill| skill.redirects.iter().find(|one| *one.to == **expected));
                let hint = redirect.map_or(String::new(), |one| format!("; {skill} redirects there when {}", one.when));
                ScorerFinding::one(skill == expected.as_str(), Some(event), format!("activated {skill}, expected {}{hint}", expected.value))
            }
            None => ScorerFinding::one(false, None, format!("activated no skill, expected {}", expected.value)),
        }
    }

    fn accepts(&self) -> EvidenceFixture {
        EvidenceFixture::of("convert_half_an_ether", vec![activated("swap")])
    }

    fn rejects(&self) -> EvidenceFixture {
        EvidenceFixture::of("convert_half_an_ether", vec![activated("send-tokens"), activated("swap")])
    }
}

/// Returns whether the case is a request on the skill surface that no skill fits.
fn fits_no_skill(case: &Case) -> bool {
    matches!(case.brief.surface, CaseSurface::Skills) && matches!(case.expect.calls, Some(ExpectedCalls::NoTool(_)))
}

fn activated(skill: &str) -> (&'static str, EventKind) {
    ("assistant", EventKind::Activated { skill: skill.into(), params: Map::new() })
}

/// Returns event, name and parameters of the first activated skill.
pub(super) fn first_activation<'a>(evidence: &Evidence<'a>) -> Option<(u32, &'a str, &'a Map<String, serde_json::Value>)> {
    evidence.transcript.events.iter().find_map(|event| {
        let EventKind::Activated { skill, params } = &event.happened else { return None };
        Some((event.n, skill.as_str(), params))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::ExampleWorkspace;
    use model::Reading;

    /// "Turn half an ether into USDC for Maria" sounds like a swap but is a payment.
    #[test]
    fn redirected_request_expects_sibling_skill() {
        let example = ExampleWorkspace::minimal().edit("suites/skills/swap.yaml", "      skill: swap\n", "      skill: send-tokens\n");
        let read = |skill: &str| {
            IntentParsing.score(&EvidenceFixture::within(&example, "convert_half_an_ether", vec![activated(skill)]).evidence())
        };
        assert_eq!(read("send-tokens").reading, Reading::from_bool(true));
        let sibling = read("swap");
        assert_eq!(sibling.reading, Reading::from_bool(false));
        assert!(sibling.because[0].what.contains("swap redirects there when the tokens go to"), "{sibling:?}");
    }

    #[test]
    fn activation_misses_when_no_skill_fits() {
        let from = "      skill: swap\n      params: { token_in: ETH, token_out: USDC, amount: \"0.5\", chain: base }\n";
        let example = ExampleWorkspace::minimal().edit("suites/skills/swap.yaml", from, "      calls: { none: true }\n");
        let read = |events| IntentParsing.score(&EvidenceFixture::within(&example, "convert_half_an_ether", events).evidence()).reading;
        assert_eq!(read(vec![]), Reading::from_bool(true));
        assert_eq!(read(vec![activated("swap")]), Reading::from_bool(false));
    }
}
