//! Last answer of a trial to the user.

use crate::evidence::Evidence;
use crate::facts::json_answer::parse_json_answer;
use crate::facts::skill_run::skill_run;
use model::EventKind;

/// Words with which a report claims success.
const SUCCESS_WORDS: &[&str] = &["success", "succeeded", "executed", "completed", "confirmed", "done", "ok"];

/// Event and text of the last answer to the user.
pub(super) fn final_report<'a>(evidence: &Evidence<'a>) -> Option<(u32, &'a str)> {
    if let Some((event, text)) = skill_run(evidence).and_then(|run| run.report()) {
        return Some((event.n, text));
    }
    evidence.transcript.events.iter().rev().find_map(|event| {
        let EventKind::Said { text } = &event.happened else { return None };
        (event.depth == 0).then_some((event.n, text.as_str()))
    })
}

/// Returns whether a report is JSON whose status claims success.
pub(super) fn claims_success(report: &str) -> bool {
    let status = parse_json_answer(report).and_then(|value| value.get("status").and_then(|status| status.as_str().map(str::to_lowercase)));
    status.is_some_and(|status| SUCCESS_WORDS.contains(&status.as_str()))
}
