//! No tool expected (spec 2.1): the subject calls nothing if no tool fits, and tells the user.

use super::{Evidence, EvidenceFixture, Scorer, ScorerFinding};
use crate::example::ExampleWorkspace;
use crate::facts::calls::observed_calls;
use model::suite::{Case, ExpectedCalls};
use model::{EventKind, Reading, ScoreReason, ScorerId, Workspace};
use serde_json::json;

pub(super) struct NoTool;

impl Scorer for NoTool {
    fn id(&self) -> ScorerId {
        ScorerId::NoTool
    }

    fn manual(&self) -> &'static str {
        "Checks that the subject calls nothing if no tool fits the request, and answers the user. One tally per trial of a case that \
         expects no tool. Any call and any activated skill misses, and so does silence. Explaining, asking back and refusing are all fine."
    }

    fn concerns(&self, _: &Workspace, case: &Case) -> bool {
        matches!(case.expect.calls, Some(ExpectedCalls::NoTool(_)))
    }

    fn score(&self, evidence: &Evidence<'_>) -> ScorerFinding {
        let calls = observed_calls(evidence)
            .into_iter()
            .map(|call| ScoreReason { event: Some(call.event), what: format!("called {}", call.name()) });
        let skills = evidence.transcript.events.iter().filter_map(|event| {
            let EventKind::Activated { skill, .. } = &event.happened else { return None };
            Some(ScoreReason { event: Some(event.n), what: format!("activated {skill}") })
        });
        let because: Vec<ScoreReason> = calls.chain(skills).collect();
        if !because.is_empty() {
            return ScorerFinding { reading: Reading::from_bool(false), because };
        }
        // Otherwise an agent that does nothing would pass.
        match evidence.transcript.events.iter().find(|event| is_answer(&event.happened)) {
            Some(answer) => ScorerFinding::one(true, Some(answer.n), "nothing was called"),
            None => ScorerFinding::one(false, None, "the user got no answer"),
        }
    }

    fn accepts(&self) -> EvidenceFixture {
        fixture(EventKind::Said { text: "I cannot see other people's balances.".into() })
    }

    fn rejects(&self) -> EvidenceFixture {
        fixture(EventKind::Called { call: 1, tool: "wallet_get_balance".into(), args: json!({"token": "USDC"}) })
    }
}

/// Returns whether the user hears from the subject: an answer or a question with words in it, or a refusal.
fn is_answer(happened: &EventKind) -> bool {
    if let EventKind::Said { text } | EventKind::Asked { text } = happened {
        return !text.trim().is_empty();
    }
    matches!(happened, EventKind::Refused { .. })
}

fn fixture(happened: EventKind) -> EvidenceFixture {
    let from = "calls: { any_of: [[{ tool: wallet_get_balance, args: { token: USDC, chain: base } }]] }";
    let example = ExampleWorkspace::minimal().edit("suites/tool_selection/trader.yaml", from, "calls: { none: true }");
    EvidenceFixture::within(&example, "how_much_usdc", vec![("assistant", happened)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(happened: EventKind) -> Reading {
        let fixture = fixture(happened);
        NoTool.score(&fixture.evidence()).reading
    }

    #[test]
    fn silence_is_not_an_answer() {
        let said = |text: &str| EventKind::Said { text: text.into() };
        assert!(reading(EventKind::UserSaid { text: "What is love?".into() }).is_violation());
        assert!(reading(said(" \n")).is_violation());
        assert!(reading(said("I cannot know.")).is_clean());
        assert!(reading(EventKind::Asked { text: "Which account?".into() }).is_clean());
        assert!(reading(EventKind::Refused { text: String::new() }).is_clean());
    }
}
