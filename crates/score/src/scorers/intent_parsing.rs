//! Intent parsing accuracy (spec 2.3): the right skill is chosen for a request.

use super::{Evidence, EvidenceFixture, Scorer, ScorerFinding};
use model::suite::{Case, CaseSurface, ExpectedCalls};
use model::{Event, EventKind, ScorerId, Workspace};
use serde_json::Map;

pub(super) struct IntentParsing;

impl Scorer for IntentParsing {
    fn id(&self) -> ScorerId {
        ScorerId::IntentParsing
    }

    fn manual(&self) -> &'static str {
        "Checks that the skill the subject activates for the complete request is the expected one. One tally per trial of a skill case. \
         The first activation after the user's last turn counts, or the last one before it if none follows: what was activated for an \
         earlier turn was right or wrong for another request. Activating a sibling first and correcting it later misses, and so does \
         activating none. Requests that sound like one skill but belong to the sibling it redirects to are ordinary cases that expect the \
         sibling. If no skill fits (calls: { none: true } on the skill surface), activating any skill misses."
    }

    fn concerns(&self, _: &Workspace, case: &Case) -> bool {
        case.expect.skill.is_some() || fits_no_skill(case)
    }

    fn score(&self, evidence: &Evidence<'_>) -> ScorerFinding {
        let Some(expected) = &evidence.case.expect.skill else {
            return match any_activation(evidence) {
                _ if !fits_no_skill(evidence.case) => ScorerFinding::not_exercised(),
                Some((event, skill)) => ScorerFinding::one(false, Some(event), format!("activated {skill}, but no skill fits")),
                None => ScorerFinding::one(true, None, "activated no skill, and none fits"),
            };
        };
        match closing_activation(evidence) {
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

/// Returns event and name of the first activated skill.
fn any_activation<'a>(evidence: &Evidence<'a>) -> Option<(u32, &'a str)> {
    evidence.transcript.events.iter().find_map(|event| {
        let EventKind::Activated { skill, .. } = &event.happened else { return None };
        Some((event.n, skill.as_str()))
    })
}

/// Returns event, name and parameters of the skill that was activated for the complete request: the first activation after the user's last
/// turn, otherwise the last one before it.
pub(super) fn closing_activation<'a>(evidence: &Evidence<'a>) -> Option<(u32, &'a str, &'a Map<String, serde_json::Value>)> {
    let events = &evidence.transcript.events;
    let closed = events.iter().rev().find(|event| matches!(event.happened, EventKind::UserSaid { .. })).map_or(0, |event| event.n);
    let activation = |event: &'a Event| {
        let EventKind::Activated { skill, params } = &event.happened else { return None };
        Some((event.n, skill.as_str(), params))
    };
    let (before, after): (Vec<_>, Vec<_>) = events.iter().filter_map(activation).partition(|(n, ..)| *n < closed);
    after.into_iter().next().or_else(|| before.into_iter().next_back())
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
    fn activation_for_the_complete_request_counts() {
        let user = |text: &str| ("user", EventKind::UserSaid { text: text.into() });
        let read = |events| IntentParsing.score(&EvidenceFixture::of("convert_half_an_ether", events).evidence()).reading;
        let (first, then) = (|| user("Is ether any good?"), || user("Then turn half of one into USDC."));
        assert_eq!(read(vec![first(), activated("send-tokens"), then(), activated("swap")]), Reading::from_bool(true));
        assert_eq!(read(vec![first(), activated("swap"), then()]), Reading::from_bool(true), "the user only adds to it");
        assert_eq!(read(vec![first(), activated("swap"), then(), activated("send-tokens")]), Reading::from_bool(false));
        assert_eq!(read(vec![first(), then(), activated("send-tokens"), activated("swap")]), Reading::from_bool(false), "corrected");
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
