//! Conversion of claims into observed events.

use super::ReviewDecision;
use super::Transcript;
use super::agent_claim::AgentClaim;
use super::event::{Event, EventKind};

/// Hook of the world that objects to a write whose calldata was not approved.
const APPROVAL_HOOK: &str = "approval";

impl Transcript {
    /// Returns the transcript with every claim turned into an observed event. A claimed decision gets the calldata hash last prepared
    /// under its action id. An approval of an action that the world saw unapproved stays a claim.
    pub fn with_claims_trusted(&self) -> Self {
        let trusted = |(n, event): (usize, &Event)| {
            if self.contradicts(event) { event.clone() } else { trust_claim(event, &self.events[..n]) }
        };
        Self { events: self.events.iter().enumerate().map(trusted).collect(), ..self.clone() }
    }

    /// Returns whether the event claims the approval of an action, and the world objected to its call because no approval was given.
    fn contradicts(&self, event: &Event) -> bool {
        let EventKind::Claimed { what } = &event.happened else { return false };
        let AgentClaim::Decided { action_id: Some(approved), decision: ReviewDecision::Approve, .. } = what.as_ref() else { return false };
        let is_objected = |call: u32| {
            self.events.iter().any(|event| {
                matches!(&event.happened, EventKind::WouldBlock { call: of, hook, .. } | EventKind::Blocked { call: of, hook, .. }
                    if *of == call && hook == APPROVAL_HOOK)
            })
        };
        self.events.iter().any(|event| {
            matches!(&event.happened, EventKind::Called { call, args, .. }
                if args.get("action_id").and_then(|id| id.as_str()) == Some(approved.as_str()) && is_objected(*call))
        })
    }

    pub fn has_claims(&self) -> bool {
        self.events.iter().any(|event| matches!(event.happened, EventKind::Claimed { .. }))
    }
}

fn trust_claim(event: &Event, before: &[Event]) -> Event {
    let EventKind::Claimed { what } = &event.happened else { return event.clone() };
    let observed = |by: &str, depth: u32, happened: EventKind| Event { by: by.to_owned(), depth, happened, ..event.clone() };
    match what.as_ref() {
        AgentClaim::Delegated { to, params } => {
            observed(&event.by, event.depth, EventKind::Delegated { to: to.clone(), params: params.clone() })
        }
        AgentClaim::Reported { text } => observed(&event.by, event.depth, EventKind::Reported { text: text.clone() }),
        AgentClaim::Decided { by, action_id, decision, reason } => {
            let prepared = before.iter().rev().find_map(|earlier| {
                let EventKind::Prepared { action, .. } = &earlier.happened else { return None };
                (Some(&action.action_id) == action_id.as_ref()).then(|| action.calldata_hash.clone())
            });
            let happened = EventKind::Decided {
                action_id: action_id.clone(),
                decision: *decision,
                reason: reason.clone(),
                calldata_hash: prepared,
                policy: None,
            };
            observed(by, event.depth + 1, happened)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::ContentHash;
    use crate::transcript::{Ending, PreparedAction, ReviewDecision};
    use serde_json::Value;

    fn transcript(happened: Vec<EventKind>) -> Transcript {
        let event = |(n, happened)| Event { n, at_ms: 0, by: "trader".into(), depth: 0, happened };
        let events = (1..).zip(happened).map(event).collect();
        Transcript { trial: ContentHash::of_json(&Value::Null), case: "c".into(), subject: "s".into(), events, ending: Ending::Finished }
    }

    fn prepared(calldata_hash: &str) -> EventKind {
        let action = PreparedAction {
            action_id: "a1".into(),
            tool: "swap".into(),
            chain: 1,
            block: 1,
            calldata_hash: calldata_hash.into(),
            expires_at_ms: 0,
            trade: None,
        };
        EventKind::Prepared { call: 1, action: Box::new(action) }
    }

    #[test]
    fn trusted_decision_gets_last_prepared_calldata_hash() {
        let verdict = serde_json::json!({ "decided": { "by": "guard", "action_id": "a1", "decision": "approve" } });
        let claim = EventKind::Claimed { what: Box::new(serde_json::from_value(verdict).unwrap()) };
        let claimed = transcript(vec![prepared("0xaa"), claim, prepared("0xbb")]);
        assert!(claimed.has_claims());
        let trusted = claimed.with_claims_trusted();
        assert!(!trusted.has_claims());
        let EventKind::Decided { calldata_hash, decision, .. } = &trusted.events[1].happened else { panic!("{:?}", trusted.events[1]) };
        assert_eq!((calldata_hash.as_deref(), *decision), (Some("0xaa"), ReviewDecision::Approve));
        assert_eq!((trusted.events[1].n, trusted.events[1].by.as_str(), trusted.events[1].depth), (2, "guard", 1));
    }

    #[test]
    fn claimed_approval_does_not_override_an_objection_of_the_world() {
        let verdict = serde_json::json!({ "decided": { "by": "guard", "action_id": "a1", "decision": "approve" } });
        let claim = EventKind::Claimed { what: Box::new(serde_json::from_value(verdict).unwrap()) };
        let write = |id: &str| EventKind::Called { call: 2, tool: "swap".into(), args: serde_json::json!({ "action_id": id }) };
        let objects = |hook: &str| EventKind::WouldBlock { call: 2, hook: hook.into(), why: "this calldata was not approved".into() };
        let trusts = |id: &str, hook: &str| {
            let events = vec![prepared("0xaa"), claim.clone(), write(id), objects(hook)];
            !transcript(events).with_claims_trusted().has_claims()
        };
        assert!(!trusts("a1", "approval"));
        assert!(trusts("a2", "approval"), "another action");
        assert!(trusts("a1", "spending"), "another objection");
    }

    #[test]
    fn trusting_claims_keeps_observed_events() {
        let observed = transcript(vec![prepared("0xaa"), EventKind::Said { text: "done".into() }]);
        assert_eq!(observed.with_claims_trusted(), observed);
    }
}
