//! Parses the approve or veto decision from a verifier's answer.

use model::transcript::ReviewDecision;
use serde_json::Value;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct VerifierDecision {
    pub(crate) action_id: Option<String>,
    pub(crate) decision: ReviewDecision,
    pub(crate) reason: String,
    /// Complete answer.
    pub(crate) said: Value,
}

impl VerifierDecision {
    /// Parses one JSON object, bare or in a code fence. Returns `None` for anything else, so free text never approves.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let bare =
            text.strip_prefix("```json").or_else(|| text.strip_prefix("```")).and_then(|rest| rest.strip_suffix("```")).unwrap_or(text);
        let said: Value = serde_json::from_str(bare).ok()?;
        let decision = match said.get("decision")?.as_str()? {
            "approve" => ReviewDecision::Approve,
            "veto" => ReviewDecision::Veto,
            _ => return None,
        };
        let word = |key: &str| said.get(key).and_then(Value::as_str).map(str::to_owned);
        Some(Self { action_id: word("action_id"), decision, reason: word("reason").unwrap_or_default(), said })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_json_object_is_parsed_as_a_decision() {
        let verdict =
            VerifierDecision::parse(r#"{"action_id": "a1", "decision": "approve", "reason": "within limits", "checks": []}"#).unwrap();
        assert_eq!(
            (verdict.action_id.as_deref(), verdict.decision, verdict.reason.as_str()),
            (Some("a1"), ReviewDecision::Approve, "within limits")
        );
        assert_eq!(VerifierDecision::parse("```json\n{\"decision\": \"veto\"}\n```").unwrap().decision, ReviewDecision::Veto);
        for other in [
            "I approve a1",
            "",
            "{}",
            r#"{"decision": "approved"}"#,
            r#"{"decision": true}"#,
            r#"ok {"decision": "approve"}"#,
            r#"["approve"]"#,
        ] {
            assert_eq!(VerifierDecision::parse(other), None, "{other}");
        }
    }
}
