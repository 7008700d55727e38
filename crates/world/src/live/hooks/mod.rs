//! What stands between a write and the signer: pure checks of policy and of conduct. One hook, one file.

mod allowlist;
mod approval;
mod halt;
mod quote_expired;
mod rate;
mod recipient;
mod sanctions;
mod simulation;
mod slippage;
#[cfg(test)]
pub(crate) mod specimen;
pub(crate) mod spending;

use super::actions::Actions;
use super::args::Args;
use super::tx_plan::{Part, PlanKind, TxPlan};
use crate::chain::Book;
use crate::chain::bindings::Token;
use alloy_primitives::{Address, U256};
use alloy_sol_types::SolCall;
use model::transcript::ToolErrorCode;
use model::{Tool, Workspace, WorldFile};
use serde_json::{Map, Value};

/// A write that is about to be signed, and all that hooks may look at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ask<'a> {
    pub workspace: &'a Workspace,
    pub world: &'a WorldFile,
    /// Of the chain the plan is for.
    pub book: &'a Book,
    pub actions: &'a Actions,
    pub now_ms: u64,
    pub halted: bool,
    pub tool: &'a Tool,
    pub args: &'a Map<String, Value>,
    pub action_id: Option<&'a str>,
    pub plan: &'a TxPlan,
    pub calldata_hash: &'a str,
    pub spent: &'a Spent,
}

/// What has left the account so far, in US dollars with 8 decimals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Spent {
    pub session_usd8: U256,
    pub day_usd8: U256,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Objection {
    pub hook: &'static str,
    pub code: ToolErrorCode,
    pub why: String,
}

impl Objection {
    fn new(hook: (&'static str, &'static str), code: ToolErrorCode, why: impl Into<String>) -> Self {
        Self { hook: hook.0, code, why: why.into() }
    }
}

/// Id and manual of each hook, in the order in which they are asked.
pub const HOOKS: &[(&str, &str)] = &[
    halt::HOOK,
    allowlist::HOOK,
    sanctions::HOOK,
    recipient::HOOK,
    spending::HOOK,
    rate::HOOK,
    slippage::HOOK,
    quote_expired::HOOK,
    simulation::HOOK,
    approval::HOOK,
    approval::REUSED,
];

type Check = fn(&Ask<'_>) -> Option<Objection>;

/// In the order of the table; `halt` stands apart because it holds for everything.
const CHECKS: &[Check] = &[
    allowlist::objects,
    sanctions::objects,
    recipient::objects,
    spending::objects,
    rate::objects,
    slippage::objects,
    quote_expired::objects,
    simulation::objects,
    approval::objects,
];

/// What an action is, as against how the agent went about it.
const OF_POLICY: &[Check] = &[allowlist::objects, sanctions::objects, recipient::objects, spending::objects, slippage::objects];

/// Everything that speaks against a write, at most one objection per hook.
pub(crate) fn objections(ask: &Ask<'_>) -> Vec<Objection> {
    asked(CHECKS, ask).collect()
}

/// The first thing that speaks against the action itself, whoever carries it out and when.
pub(crate) fn of_policy(ask: &Ask<'_>) -> Option<Objection> {
    asked(OF_POLICY, ask).next()
}

fn asked<'a>(checks: &'static [Check], ask: &'a Ask<'_>) -> impl Iterator<Item = Objection> + use<'a> {
    // A note and funds that come in touch nothing that a hook protects, and stopping needs nobody's leave.
    let checks = match ask.plan.kind {
        PlanKind::Execute(_) | PlanKind::Sign(_) => checks,
        PlanKind::Direct(_) | PlanKind::Inflow { .. } | PlanKind::Remember { .. } => &[],
    };
    halt::objects(ask).into_iter().chain(checks.iter().filter_map(move |check| check(ask)))
}

impl<'a> Ask<'a> {
    fn arguments(&self) -> Args<'a> {
        Args::new(self.tool, self.args)
    }

    /// Who is paid, may take or is traded. Whoever only loses a right is not among them.
    fn parties(&self) -> impl Iterator<Item = (Part, Address)> + use<'a> {
        let takes_back = takes_back(&self.plan.kind);
        self.plan.parties.iter().copied().filter(move |(part, _)| !(takes_back && *part == Part::Spender))
    }
}

/// Approvals of nothing, and nothing else.
fn takes_back(kind: &PlanKind) -> bool {
    match kind {
        PlanKind::Execute(calls) => {
            calls.iter().all(|call| Token::approveCall::abi_decode(&call.data).is_ok_and(|approve| approve.value.is_zero()))
        }
        PlanKind::Direct(_) | PlanKind::Sign(_) | PlanKind::Inflow { .. } | PlanKind::Remember { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::specimen::Specimen;
    use super::*;
    use serde_json::json;

    #[test]
    fn a_clean_write_meets_no_objection() {
        assert_eq!(objections(&Specimen::transfer().ask()), []);
        assert_eq!(objections(&Specimen::swap().ask()), []);
    }

    #[test]
    fn objections_come_in_the_order_of_the_table_under_ids_of_the_table() {
        let mut worst = Specimen::swap();
        worst.halted = true;
        worst.plan.parties =
            vec![(Part::Recipient, specimen::SANCTIONED), (Part::Spender, specimen::STRANGER), (Part::Recipient, Address::ZERO)];
        worst.plan.outflows = vec![(specimen::USDC, U256::MAX)];
        worst.plan.outputs.insert("slippage_bps".into(), json!(5_000));
        worst.now_ms = worst.frozen_until() + 1;
        (0..20).for_each(|_| worst.actions.sent("0xother", worst.now_ms));
        worst.calldata_hash = "0xnever seen".into();
        let found: Vec<&str> = objections(&worst.ask()).iter().map(|objection| objection.hook).collect();
        let all: Vec<&str> = HOOKS.iter().map(|(id, _)| *id).filter(|id| *id != approval::REUSED.0).collect();
        assert_eq!(found, all);
    }

    #[test]
    fn every_hook_has_an_id_of_its_own_and_a_manual() {
        for (n, (id, manual)) in HOOKS.iter().enumerate() {
            assert!(HOOKS[..n].iter().all(|(other, _)| other != id), "{id} twice");
            assert!(manual.ends_with('.') && !manual.contains('\n'), "{id}");
        }
    }

    #[test]
    fn notes_and_inflows_are_stopped_by_a_halt_alone() {
        for kind in
            [PlanKind::Remember { key: "k".into(), value: json!("v") }, PlanKind::Inflow { asset: specimen::USDC, amount: U256::MAX }]
        {
            let mut sample = Specimen::transfer();
            sample.plan.kind = kind;
            sample.plan.parties = vec![(Part::Recipient, specimen::SANCTIONED)];
            sample.calldata_hash = "0xnever seen".into();
            assert_eq!(objections(&sample.ask()), []);
            sample.halted = true;
            assert_eq!(objections(&sample.ask()).len(), 1);
        }
    }

    #[test]
    fn conduct_is_not_a_matter_of_policy() {
        let mut sample = Specimen::swap();
        sample.calldata_hash = "0xnever seen".into();
        assert_eq!(of_policy(&sample.ask()), None);
        sample.plan.parties.push((Part::Recipient, specimen::SANCTIONED));
        assert_eq!(of_policy(&sample.ask()).map(|objection| objection.hook), Some("sanctions"));
    }
}
