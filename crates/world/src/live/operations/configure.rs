//! Settings that move nothing, and the emergency stop.

use super::calls::{call, plan};
use crate::chain::bindings::{PolicyCage, Venue};
use crate::chain::genesis::market;
use crate::live::args::Args;
use crate::live::tool_error::ToolError;
use crate::live::tx_builder::TxBuilder;
use crate::live::tx_plan::{Part, PlanKind, TxPlan};
use alloy_primitives::keccak256;
use alloy_sol_types::SolCall;
use model::{AddressRole, Tool};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Bytes of arguments that go on chain.
const LONGEST: usize = 2_000;

/// Who gains power over something of ours by a setting.
const POWERS: &[AddressRole] = &[AddressRole::Recipient, AddressRole::Owner, AddressRole::Operator];

pub(super) fn configure(builder: &TxBuilder<'_>, tool: &Tool, args: &Args<'_>) -> Result<TxPlan, ToolError> {
    let venue = builder.contract(&tool.via, &["Venue"])?;
    let name = tool.via.market.as_deref().unwrap_or("lend");
    let set = Venue::configureCall { market: market(name), key: keccak256(tool.name.as_bytes()), value: said(args).into_bytes().into() };
    let mut parties = vec![];
    for role in POWERS {
        parties.extend(args.address(*role)?.map(|address| (Part::Recipient, address.address)));
    }
    let mut plan = plan(builder, vec![call(venue, &set)], vec![], parties);
    plan.outputs.insert("configures".into(), json!({ "at": venue.to_checksum(None), "market": name, "setting": tool.name.value }));
    Ok(plan)
}

/// What a call says, in one line and one order. Whether it is a rehearsal is not part of it: the calldata must be the same.
pub(super) fn said(args: &Args<'_>) -> String {
    let said: BTreeMap<&String, &Value> =
        args.given().iter().filter(|(name, value)| !matches!(name.as_str(), "dry_run" | "action_id") && !value.is_null()).collect();
    cut(json!(said).to_string(), LONGEST)
}

/// At most so many bytes, whole characters only.
pub(super) fn cut(mut text: String, most: usize) -> String {
    text.truncate(text.floor_char_boundary(most));
    text
}

pub(super) fn halt(builder: &TxBuilder<'_>) -> TxPlan {
    TxPlan::new(builder.id, PlanKind::Direct(PolicyCage::haltCall {}.abi_encode()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_between_characters() {
        assert_eq!(cut("añb".into(), 2), "a");
        assert_eq!(cut("añb".into(), 3), "añ");
        assert_eq!(cut("añb".into(), 9), "añb");
    }
}
