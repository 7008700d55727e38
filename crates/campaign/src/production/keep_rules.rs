//! Rules that keep a trace outside the sample.

use foreign::TraceReading;
use model::transcript::ReviewDecision;
use model::{EventKind, KeepRules, Money, Workspace};
use serde_json::Value;

/// Returns the rules that keep a trace, by name.
pub(super) fn keep_reasons(workspace: &Workspace, rules: &KeepRules, reading: &TraceReading) -> Vec<&'static str> {
    let transcript = &reading.recording.transcript;
    let events = || transcript.events.iter().map(|event| &event.happened);
    let mut reasons = vec![];
    if rules.errors && (reading.facts.failed > 0 || !transcript.ending.is_orderly()) {
        reasons.push("error");
    }
    if rules.vetoes && events().any(|event| matches!(event, EventKind::Decided { decision: ReviewDecision::Veto, .. })) {
        reasons.push("veto");
    }
    if rules.limit_breaches && events().any(|event| matches!(event, EventKind::WouldBlock { .. } | EventKind::Blocked { .. })) {
        reasons.push("limit");
    }
    let is_large = |event: &EventKind| is_large_write(workspace, event, rules.writes_above_usd);
    if rules.writes_above_usd.is_some() && events().any(is_large) {
        reasons.push("large_write");
    }
    reasons
}

/// Arguments in which tools name the value of what they move.
const USD_ARGS: &[&str] = &["amount_usd", "value_usd", "usd", "notional_usd", "size_usd"];

/// Returns whether a call writes at least this value. A write that does not say its value counts as large.
fn is_large_write(workspace: &Workspace, event: &EventKind, above: Option<Money>) -> bool {
    let EventKind::Called { tool, args, .. } = event else { return false };
    if !workspace.tool(tool).is_some_and(model::Tool::writes) {
        return false;
    }
    let amount = |value: &Value| value.as_f64().or_else(|| value.as_str()?.parse().ok());
    let stated = USD_ARGS.iter().find_map(|key| args.get(*key)).and_then(amount);
    let above = above.map_or(f64::MAX, |above| above.as_nanos() as f64 / 1e9);
    stated.is_none_or(|stated| stated >= above)
}
