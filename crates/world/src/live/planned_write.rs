//! Write about to be executed: its request, plan and origin.

use super::tool_request::ToolRequest;
use super::tx_plan::TxPlan;
use model::transcript::ActionOrigin;

#[derive(Debug)]
pub(super) struct PlannedWrite<'a> {
    pub request: &'a ToolRequest<'a>,
    pub plan: TxPlan,
    pub origin: ActionOrigin,
}

impl PlannedWrite<'_> {
    pub(super) fn calldata_hash(&self) -> &str {
        self.origin.calldata_hash.as_deref().unwrap_or_default()
    }
}
