//! Reads a transcript as if its claims had been observed.

use super::Transcript;
use super::claimed::Claimed;
use super::event::{Event, Happened};

impl Transcript {
    /// Returns the transcript with every claim turned into an observed event. A verdict is taken to be about the calldata its action id was last frozen with.
    pub fn trusting_claims(&self) -> Self {
        let events = self.events.iter().enumerate().map(|(n, event)| trusted(event, &self.events[..n])).collect();
        Self { events, ..self.clone() }
    }

    pub fn has_claims(&self) -> bool {
        self.events.iter().any(|event| matches!(event.happened, Happened::Claimed { .. }))
    }
}

fn trusted(event: &Event, before: &[Event]) -> Event {
    let Happened::Claimed { what } = &event.happened else { return event.clone() };
    let seen = |by: &str, depth: u32, happened: Happened| Event { by: by.to_owned(), depth, happened, ..event.clone() };
    match what.as_ref() {
        Claimed::Delegated { to, params } => seen(&event.by, event.depth, Happened::Delegated { to: to.clone(), params: params.clone() }),
        Claimed::Reported { text } => seen(&event.by, event.depth, Happened::Reported { text: text.clone() }),
        Claimed::Decided { by, action_id, decision, reason } => {
            let frozen = before.iter().rev().find_map(|earlier| {
                let Happened::Prepared { action, .. } = &earlier.happened else { return None };
                (Some(&action.action_id) == action_id.as_ref()).then(|| action.calldata_hash.clone())
            });
            let happened = Happened::Decided {
                action_id: action_id.clone(),
                decision: *decision,
                reason: reason.clone(),
                calldata_hash: frozen,
                policy: None,
            };
            seen(by, event.depth + 1, happened)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::Hash;
    use crate::transcript::{Decision, Ending, Prepared};
    use serde_json::Value;

    fn transcript(happened: Vec<Happened>) -> Transcript {
        let event = |(n, happened)| Event { n, at_ms: 0, by: "trader".into(), depth: 0, happened };
        let events = (1..).zip(happened).map(event).collect();
        Transcript { trial: Hash::of(&Value::Null), case: "c".into(), subject: "s".into(), events, ending: Ending::Finished }
    }

    fn prepared(calldata_hash: &str) -> Happened {
        let action = Prepared {
            action_id: "a1".into(),
            tool: "swap".into(),
            chain: 1,
            block: 1,
            calldata_hash: calldata_hash.into(),
            expires_at_ms: 0,
            trade: None,
        };
        Happened::Prepared { call: 1, action: Box::new(action) }
    }

    #[test]
    fn a_trusted_verdict_is_about_what_was_frozen_before_it() {
        let verdict = serde_json::json!({ "decided": { "by": "guard", "action_id": "a1", "decision": "approve" } });
        let claim = Happened::Claimed { what: Box::new(serde_json::from_value(verdict).unwrap()) };
        let told = transcript(vec![prepared("0xaa"), claim, prepared("0xbb")]);
        assert!(told.has_claims());
        let trusted = told.trusting_claims();
        assert!(!trusted.has_claims());
        let Happened::Decided { calldata_hash, decision, .. } = &trusted.events[1].happened else { panic!("{:?}", trusted.events[1]) };
        assert_eq!((calldata_hash.as_deref(), *decision), (Some("0xaa"), Decision::Approve));
        assert_eq!((trusted.events[1].n, trusted.events[1].by.as_str(), trusted.events[1].depth), (2, "guard", 1));
    }

    #[test]
    fn nothing_else_changes() {
        let seen = transcript(vec![prepared("0xaa"), Happened::Said { text: "done".into() }]);
        assert_eq!(seen.trusting_claims(), seen);
    }
}
