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
    let facts = &reading.facts;
    // A veto that a span states is no evidence, and tells nothing that an agent would make up.
    let is_veto = |event: &EventKind| matches!(event, EventKind::Decided { decision: ReviewDecision::Veto, .. });
    if rules.vetoes && (facts.stated_vetoes > 0 || events().any(is_veto)) {
        reasons.push("veto");
    }
    let is_block = |event: &EventKind| matches!(event, EventKind::WouldBlock { .. } | EventKind::Blocked { .. });
    if rules.limit_breaches && (facts.stated_blocks > 0 || events().any(is_block)) {
        reasons.push("limit");
    }
    // From chains, the limits of the collector, and what the reader could not place.
    let unproven = [
        ("contradiction", !facts.contradictions.is_empty()),
        ("unknown_effects", !facts.undecoded.is_empty()),
        ("incomplete", facts.refused_spans > 0 || facts.skipped_spans > 0),
    ];
    reasons.extend(unproven.into_iter().filter(|(_, holds)| *holds).map(|(reason, _)| reason));
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
    let above = above.map_or(f64::MAX, |above| above.as_usd());
    let mut stated = USD_ARGS.iter().filter_map(|key| args.get(*key)).map(stated_amount).peekable();
    stated.peek().is_none() || stated.any(|stated| stated.is_none_or(|stated| stated >= above))
}

/// Returns a stated amount; absent if it cannot be one.
fn stated_amount(value: &Value) -> Option<f64> {
    let amount: Option<f64> = value.as_f64().or_else(|| value.as_str()?.parse().ok());
    amount.filter(|amount| amount.is_finite() && *amount >= 0.0)
}

/// Returns whether a transaction of this value is kept. One without a known value is.
pub(super) fn keeps_value(rules: &KeepRules, usd: Option<f64>) -> bool {
    rules.writes_above_usd.is_some_and(|above| usd.is_none_or(|usd| usd >= above.as_usd()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn amounts_that_are_none_count_as_large() {
        for (stated, expected) in [
            (json!(5), Some(5.0)),
            (json!("5.5"), Some(5.5)),
            (json!("NaN"), None),
            (json!("inf"), None),
            (json!(-5), None),
            (json!("-1"), None),
            (json!("five"), None),
            (json!([5]), None),
            (json!(1e308), Some(1e308)),
        ] {
            assert_eq!(stated_amount(&stated), expected, "{stated}");
        }
        let rules = KeepRules { writes_above_usd: Some(Money::from_dollars(1000)), ..KeepRules::default() };
        assert!(keeps_value(&rules, None) && keeps_value(&rules, Some(1000.0)) && !keeps_value(&rules, Some(999.0)));
    }

    /// Returns the rules that keep a trace with one event, all rules on and all off.
    fn reasons_for(happened: EventKind) -> [Vec<&'static str>; 2] {
        let workspace = score::example::ExampleWorkspace::minimal().load().unwrap();
        let spans = vec![json!({
            "traceId": "a".repeat(32), "spanId": "b".repeat(16), "name": "execute_tool x", "attributes": [
                { "key": "gen_ai.tool.name", "value": { "stringValue": "wallet_get_balance" } },
            ],
        })];
        let at = foreign::LogPlace { file: "f".into(), item: 0 };
        let mut reading = foreign::read_spans("t", spans, &at, foreign::ClaimTrust::Ignored).unwrap();
        reading.recording.transcript.events.push(model::Event { n: 9, at_ms: 0, by: "guardian".into(), depth: 0, happened });
        let off = KeepRules { errors: false, vetoes: false, limit_breaches: false, writes_above_usd: None };
        [KeepRules::default(), off].map(|rules| keep_reasons(&workspace, &rules, &reading))
    }

    #[test]
    fn vetoes_and_limit_hooks_keep_a_trace_and_approvals_do_not() {
        let decided = |decision: ReviewDecision| EventKind::Decided {
            action_id: None,
            decision,
            reason: String::new(),
            calldata_hash: None,
            policy: None,
        };
        assert_eq!(reasons_for(decided(ReviewDecision::Veto)), [vec!["veto"], vec![]]);
        assert_eq!(reasons_for(decided(ReviewDecision::Approve)), [vec![], vec![]] as [Vec<&str>; 2]);
        let (call, hook, why) = (1, "spending_limit".to_owned(), "over the limit of the day".to_owned());
        let would = EventKind::WouldBlock { call, hook: hook.clone(), why: why.clone() };
        assert_eq!(reasons_for(would), [vec!["limit"], vec![]]);
        assert_eq!(reasons_for(EventKind::Blocked { call, hook, why }), [vec!["limit"], vec![]]);
    }
}
