//! Tool calls of a guardian about the action that it decides on.

use model::transcript::ToolAnswer;
use model::{Agent, Event, EventKind, IdKind, ParamKind, Tool, Workspace};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Answered calls of a guardian's own tools since the last hand-over to it. Events are recorded in order.
#[derive(Debug)]
pub(crate) struct GuardianChecks<'a> {
    workspace: &'a Workspace,
    guardian: &'a Agent,
    /// A tool of the guardian takes a prepared action, so a check must name it.
    can_name_action: bool,
    /// Calls without an answer so far.
    open: BTreeMap<u32, CheckSubject<'a>>,
    has_answer: bool,
    actions: BTreeSet<&'a str>,
    calldata_hashes: BTreeSet<&'a str>,
}

/// Prepared actions and calldata that one call is about.
#[derive(Debug, Default)]
struct CheckSubject<'a> {
    actions: Vec<&'a str>,
    calldata_hash: Option<&'a str>,
}

impl<'a> GuardianChecks<'a> {
    pub(crate) fn new(workspace: &'a Workspace, guardian: &'a Agent) -> Self {
        let mut tools = guardian.tools.iter().filter_map(|name| workspace.tool(name));
        let can_name_action = tools.any(|tool| tool.params.values().any(|param| names_action(param.kind.as_ref())));
        Self {
            workspace,
            guardian,
            can_name_action,
            open: BTreeMap::new(),
            has_answer: false,
            actions: BTreeSet::new(),
            calldata_hashes: BTreeSet::new(),
        }
    }

    pub(crate) fn record(&mut self, event: &'a Event) {
        if let EventKind::Delegated { to, .. } = &event.happened
            && *to == self.guardian.name.value
        {
            (self.open, self.has_answer) = (BTreeMap::new(), false);
            (self.actions, self.calldata_hashes) = (BTreeSet::new(), BTreeSet::new());
        }
        if event.by != self.guardian.name.value {
            return;
        }
        if let EventKind::Called { call, tool, args } = &event.happened
            && let Some(tool) = self.own_tool(tool)
        {
            self.open.insert(*call, CheckSubject { actions: named_actions(tool, args), calldata_hash: None });
        }
        if let EventKind::Simulated { call, calldata_hash, .. } = &event.happened
            && let Some(subject) = self.open.get_mut(call)
        {
            subject.calldata_hash = calldata_hash.as_deref();
        }
        // An error tells nothing about the action.
        if let EventKind::Answered { call, answer: ToolAnswer::Result(_) } = &event.happened
            && let Some(subject) = self.open.remove(call)
        {
            self.has_answer = true;
            self.actions.extend(subject.actions);
            self.calldata_hashes.extend(subject.calldata_hash);
        }
    }

    /// Returns whether the guardian checked what it decides on. One without a tool that takes an action can only check the rest.
    pub(crate) fn cover(&self, action: Option<&str>, calldata_hash: Option<&str>) -> bool {
        if !self.can_name_action {
            return self.has_answer;
        }
        action.is_some_and(|id| self.actions.contains(id)) || calldata_hash.is_some_and(|hash| self.calldata_hashes.contains(hash))
    }

    fn own_tool(&self, name: &str) -> Option<&'a Tool> {
        let tool = self.workspace.tool(name)?;
        self.guardian.tools.iter().any(|own| tool.has_name(own)).then_some(tool)
    }
}

fn names_action(kind: Option<&ParamKind>) -> bool {
    matches!(kind, Some(ParamKind::Id(IdKind::Action | IdKind::Permit)))
}

fn named_actions<'a>(tool: &Tool, args: &'a Value) -> Vec<&'a str> {
    let entries = args.as_object().into_iter().flatten();
    let named = entries.filter(|(name, _)| tool.params.get(*name).is_some_and(|param| names_action(param.kind.as_ref())));
    named.filter_map(|(_, value)| value.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::EvidenceFixture;
    use crate::sample_run::{CLEAN_CASE, SampleStep};
    use model::transcript::ToolErrorCode;
    use serde_json::{Map, json};

    fn by_guardian(happened: EventKind) -> SampleStep {
        ("safety-guardian", happened)
    }

    fn asks(call: u32, tool: &str, args: Value) -> SampleStep {
        by_guardian(EventKind::Called { call, tool: tool.into(), args })
    }

    fn gets(call: u32, answer: ToolAnswer) -> SampleStep {
        by_guardian(EventKind::Answered { call, answer })
    }

    fn told(call: u32) -> SampleStep {
        gets(call, ToolAnswer::Result(json!({"ok": true})))
    }

    /// Reads whether the guardian checked action a1, whose calldata is 0xa.
    fn covers(steps: Vec<SampleStep>) -> bool {
        let handed = ("trader", EventKind::Delegated { to: "safety-guardian".into(), params: Map::new() });
        let fixture = EvidenceFixture::of(CLEAN_CASE, [vec![handed], steps].concat());
        let guardian = fixture.workspace.guardian().expect("a guardian");
        let mut checks = GuardianChecks::new(&fixture.workspace, guardian);
        fixture.transcript.events.iter().for_each(|event| checks.record(event));
        checks.cover(Some("a1"), Some("0xa"))
    }

    #[test]
    fn check_names_the_action_and_is_answered() {
        let simulates = |id: &str| asks(3, "tx_simulate", json!({"action_id": id}));
        assert!(covers(vec![simulates("a1"), told(3)]));
        assert!(covers(vec![asks(3, "simulate_transaction", json!({"action_id": "a1"})), told(3)]), "by its alias");
        assert!(!covers(vec![]));
        assert!(!covers(vec![simulates("a1")]), "no answer");
        assert!(!covers(vec![simulates("a1"), gets(3, ToolAnswer::error(ToolErrorCode::NotFound, "no"))]));
        assert!(!covers(vec![simulates("a2"), told(3)]), "another action");
        assert!(!covers(vec![asks(3, "wallet_get_balance", json!({"token": "USDC"})), told(3)]), "a balance says nothing about the action");
        assert!(!covers(vec![asks(3, "swap_get_quote", json!({"action_id": "a1"})), told(3)]), "a tool of others");
        assert!(!covers(vec![asks(3, "look_twice", json!({"action_id": "a1"})), told(3)]), "no such tool");
    }

    #[test]
    fn simulated_calldata_stands_for_the_action() {
        let simulated = |hash: &str| {
            let happened = EventKind::Simulated { call: 3, action_id: None, calldata_hash: Some(hash.into()), error: None };
            vec![asks(3, "tx_simulate", json!({})), by_guardian(happened), told(3)]
        };
        assert!(covers(simulated("0xa")));
        assert!(!covers(simulated("0xb")));
    }
}
