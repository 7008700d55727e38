//! Amount arguments in base units.

use crate::live::args::ToolArgs;
use crate::live::tool_error::ToolError;
use crate::live::tx_builder::{AssetInfo, TxBuilder};
use alloy_primitives::U256;
use model::ParamKind;
use model::transcript::ToolErrorCode;

/// Returns the first amount of the call; fails if it is missing or zero.
pub(super) fn amount(builder: &TxBuilder<'_>, args: &ToolArgs<'_>, asset: &AssetInfo) -> Result<U256, ToolError> {
    optional_amount(builder, args, asset)?.ok_or_else(|| ToolError::new(ToolErrorCode::InvalidAmount, "no amount specified"))
}

pub(super) fn optional_amount(builder: &TxBuilder<'_>, args: &ToolArgs<'_>, asset: &AssetInfo) -> Result<Option<U256>, ToolError> {
    let Some((name, kind, value)) = first_amount(args) else { return Ok(None) };
    let amount = builder.amount(args, name, kind, value, asset)?;
    if amount.is_zero() {
        return Err(ToolError::new(ToolErrorCode::InvalidAmount, format!("{name}: amount must be greater than zero")));
    }
    Ok(Some(amount))
}

/// Returns the first amount, also inside a list; skips amounts in US dollars.
pub(super) fn first_amount<'a>(args: &ToolArgs<'a>) -> Option<(&'a str, &'a ParamKind, &'a serde_json::Value)> {
    let usd = |kind: &ParamKind| matches!(kind, ParamKind::Amount { unit: model::AmountUnit::Usd, .. });
    let lists = args.of_kind(|kind| matches!(kind, ParamKind::List(inner) if matches!(**inner, ParamKind::Amount { .. }))).filter_map(
        |(name, kind, value)| match (kind, value) {
            (ParamKind::List(inner), serde_json::Value::Array(items)) => items.first().map(|item| (name, inner.as_ref(), item)),
            (_, _) => None,
        },
    );
    args.amounts().find(|(_, kind, _)| !usd(kind)).or_else(|| lists.into_iter().next())
}

/// Replaces `U256::MAX`, which means all, by the balance of the account.
pub(super) async fn resolve_max(builder: &mut TxBuilder<'_>, asset: &AssetInfo, amount: U256) -> Result<U256, ToolError> {
    if amount == U256::MAX { builder.own_balance(asset.at).await } else { Ok(amount) }
}
