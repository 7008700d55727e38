//! Amounts a call names, in base units.

use crate::live::args::Args;
use crate::live::tool_error::ToolError;
use crate::live::tx_builder::{Asset, TxBuilder};
use alloy_primitives::U256;
use model::Kind;
use model::transcript::ToolErrorCode;

/// Returns the first amount of the call; fails if it is missing or zero.
pub(super) fn amount(builder: &TxBuilder<'_>, args: &Args<'_>, asset: &Asset) -> Result<U256, ToolError> {
    maybe_amount(builder, args, asset)?.ok_or_else(|| ToolError::new(ToolErrorCode::InvalidAmount, "the call names no amount"))
}

pub(super) fn maybe_amount(builder: &TxBuilder<'_>, args: &Args<'_>, asset: &Asset) -> Result<Option<U256>, ToolError> {
    let Some((name, kind, value)) = first_amount(args) else { return Ok(None) };
    let amount = builder.amount(args, name, kind, value, asset)?;
    if amount.is_zero() {
        return Err(ToolError::new(ToolErrorCode::InvalidAmount, format!("{name}: nothing would move")));
    }
    Ok(Some(amount))
}

/// Returns the first amount, also inside a list; skips amounts in US dollars.
pub(super) fn first_amount<'a>(args: &Args<'a>) -> Option<(&'a str, &'a Kind, &'a serde_json::Value)> {
    let usd = |kind: &Kind| matches!(kind, Kind::Amount { unit: model::Unit::Usd, .. });
    let lists = args.of_kind(|kind| matches!(kind, Kind::List(inner) if matches!(**inner, Kind::Amount { .. }))).filter_map(
        |(name, kind, value)| match (kind, value) {
            (Kind::List(inner), serde_json::Value::Array(items)) => items.first().map(|item| (name, inner.as_ref(), item)),
            (_, _) => None,
        },
    );
    args.amounts().find(|(_, kind, _)| !usd(kind)).or_else(|| lists.into_iter().next())
}

/// Replaces "everything" by the balance of the account.
pub(super) async fn all_of(builder: &mut TxBuilder<'_>, asset: &Asset, amount: U256) -> Result<U256, ToolError> {
    if amount == U256::MAX { builder.holding(asset.at).await } else { Ok(amount) }
}
