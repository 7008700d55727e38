//! Hook type: a pure check of one write.

use crate::chain::AddressBook;
use crate::chain::bindings::Token;
use crate::live::account::SpentTotals;
use crate::live::actions::ActionState;
use crate::live::args::ToolArgs;
use crate::live::tx_plan::{PartyRole, PlanKind, TxPlan};
use alloy_primitives::Address;
use alloy_sol_types::SolCall;
use model::transcript::ToolErrorCode;
use model::{Policy, Tool, WorldFile};
use serde_json::{Map, Value};

/// Row of the hook table.
#[derive(Debug, Clone, Copy)]
pub struct Hook {
    pub id: &'static str,
    /// Rule of the hook in one sentence.
    pub manual: &'static str,
    pub scope: HookScope,
    pub(super) check: fn(&HookInput<'_>) -> Option<ObjectionReason>,
}

/// Aspect of a write that a hook checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookScope {
    /// Account state; checked for every write, including notes and inflows.
    Account,
    /// The action itself, regardless of the agent's earlier steps.
    Policy,
    /// Steps the agent took before the write.
    Conduct,
}

/// Write about to be signed, with the state that hooks may read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HookInput<'a> {
    pub policy: &'a Policy,
    pub world: &'a WorldFile,
    /// Address book of the plan's chain.
    pub book: &'a AddressBook,
    pub actions: &'a ActionState,
    pub now_ms: u64,
    pub halted: bool,
    pub tool: &'a Tool,
    pub args: &'a Map<String, Value>,
    pub action_id: Option<&'a str>,
    pub plan: &'a TxPlan,
    pub calldata_hash: &'a str,
    pub spent: &'a SpentTotals,
}

/// Error code and message of an objection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ObjectionReason {
    pub code: ToolErrorCode,
    pub why: String,
}

impl ObjectionReason {
    pub(super) fn new(code: ToolErrorCode, why: impl Into<String>) -> Self {
        Self { code, why: why.into() }
    }
}

impl<'a> HookInput<'a> {
    pub(super) fn arguments(&self) -> ToolArgs<'a> {
        ToolArgs::new(self.tool, self.args)
    }

    /// Returns the recipients, spenders and assets of the plan. Omits spenders if the plan only revokes allowances.
    pub(super) fn parties(&self) -> impl Iterator<Item = (PartyRole, Address)> + use<'a> {
        let only_revokes = only_revokes(&self.plan.kind);
        self.plan.parties.iter().copied().filter(move |(part, _)| !(only_revokes && *part == PartyRole::Spender))
    }
}

/// Returns whether a plan only sets allowances to zero.
fn only_revokes(kind: &PlanKind) -> bool {
    match kind {
        PlanKind::Execute(calls) => {
            calls.iter().all(|call| Token::approveCall::abi_decode(&call.data).is_ok_and(|approve| approve.value.is_zero()))
        }
        PlanKind::Direct(_) | PlanKind::Sign(_) | PlanKind::Inflow { .. } | PlanKind::Remember { .. } => false,
    }
}
