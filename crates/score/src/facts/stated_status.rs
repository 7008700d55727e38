//! States in which answers and results say that nothing was done.

use serde_json::Value;

/// States in which an answer says that nothing was done.
pub(super) const DENIALS: [&str; 25] = [
    "declined",
    "vetoed",
    "failure",
    "failed",
    "error",
    "reverted",
    "planned",
    "refused",
    "unchanged",
    "waiting",
    "nothing_to_do",
    "nothing_done",
    "not_done",
    "not_executed",
    "not_sent",
    "no_action",
    "skipped",
    "withheld",
    "outraced",
    "rejected",
    "denied",
    "aborted",
    "blocked",
    "cancelled",
    "canceled",
];
/// State of an account that takes no writes.
pub(super) const HALTED: &str = "halted";

/// Returns the status of an answer or a result as a name in lower case.
pub(super) fn stated_status(value: &Value) -> Option<String> {
    Some(value.get("status")?.as_str()?.trim().to_lowercase().replace([' ', '-'], "_"))
}

/// Returns whether a status says that nothing was done.
pub(super) fn is_denial(status: &str) -> bool {
    status == HALTED || DENIALS.contains(&status)
}
