//! Settings that move no funds, and the emergency halt.

use super::calls::{contract_call, plan};
use crate::chain::bindings::{PolicyCage, Venue};
use crate::chain::genesis::market_id;
use crate::live::args::ToolArgs;
use crate::live::tool_error::ToolError;
use crate::live::tx_builder::TxBuilder;
use crate::live::tx_plan::{PartyRole, PlanKind, TxPlan};
use alloy_primitives::keccak256;
use alloy_sol_types::SolCall;
use model::{AddressRole, Tool};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Maximum bytes of arguments stored on chain; longer text is truncated.
const MAX_SETTING_BYTES: usize = 2_000;

/// Roles that gain control through a setting.
const PRIVILEGED_ROLES: &[AddressRole] = &[AddressRole::Recipient, AddressRole::Owner, AddressRole::Operator];

pub(super) fn configure(builder: &TxBuilder<'_>, tool: &Tool, args: &ToolArgs<'_>) -> Result<TxPlan, ToolError> {
    let venue = builder.contract(&tool.via, &["Venue"])?;
    let name = tool.via.market.as_deref().unwrap_or("lend");
    let set =
        Venue::configureCall { market: market_id(name), key: keccak256(tool.name.as_bytes()), value: args_text(args).into_bytes().into() };
    let mut parties = vec![];
    for role in PRIVILEGED_ROLES {
        parties.extend(args.address(*role)?.map(|address| (PartyRole::Recipient, address.address)));
    }
    let mut plan = plan(builder, vec![contract_call(venue, &set)], vec![], parties);
    plan.outputs.insert("configures".into(), json!({ "at": venue.to_checksum(None), "market": name, "setting": tool.name.value }));
    Ok(plan)
}

/// Serializes the arguments in key order. Omits `dry_run` and `action_id`, so that dry run and write have the same calldata.
pub(super) fn args_text(args: &ToolArgs<'_>) -> String {
    let stated: BTreeMap<&String, &Value> =
        args.as_map().iter().filter(|(name, value)| !matches!(name.as_str(), "dry_run" | "action_id") && !value.is_null()).collect();
    truncate_bytes(json!(stated).to_string(), MAX_SETTING_BYTES)
}

/// Truncates text to at most `max` bytes, at a character boundary.
pub(super) fn truncate_bytes(mut text: String, max: usize) -> String {
    text.truncate(text.floor_char_boundary(max));
    text
}

pub(super) fn halt(builder: &TxBuilder<'_>) -> TxPlan {
    TxPlan::new(builder.id, PlanKind::Direct(PolicyCage::haltCall {}.abi_encode()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncate_bytes_keeps_whole_characters() {
        assert_eq!(truncate_bytes("añb".into(), 2), "a");
        assert_eq!(truncate_bytes("añb".into(), 3), "añ");
        assert_eq!(truncate_bytes("añb".into(), 9), "añb");
    }
}
