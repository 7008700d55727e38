//! Assets that a call names.

use crate::live::args::{ToolArgs, scalar_text};
use crate::live::tool_error::{ToolError, quote_value};
use crate::live::tx_builder::{AssetInfo, TxBuilder};
use model::transcript::ToolErrorCode;
use model::{AddressRole, ParamKind, TokenRole};

/// Returns the asset of an operation: a token parameter, the fixed asset of the tool, or the asset of the position it names.
pub(super) fn main_asset(
    builder: &TxBuilder<'_>,
    fixed: Option<&str>,
    args: &ToolArgs<'_>,
    roles: &[TokenRole],
) -> Result<AssetInfo, ToolError> {
    if let Some(text) = roles.iter().find_map(|role| args.token(*role)).or_else(|| fixed.map(str::to_owned)).or_else(|| args.any_token()) {
        return builder.asset(&text);
    }
    named_assets(builder, args)?.into_iter().next().ok_or_else(|| ToolError::new(ToolErrorCode::InvalidArguments, "no asset specified"))
}

/// Returns the assets behind the first id or address that is known.
pub(super) fn named_assets(builder: &TxBuilder<'_>, args: &ToolArgs<'_>) -> Result<Vec<AssetInfo>, ToolError> {
    let names = args.of_kind(|kind| {
        matches!(kind, ParamKind::Id(_))
            || matches!(kind, ParamKind::Address(AddressRole::Pool | AddressRole::Vault | AddressRole::Market | AddressRole::Contract))
            || matches!(kind, ParamKind::List(inner) if matches!(**inner, ParamKind::Id(_) | ParamKind::Address(_)))
    });
    let mut failure = None;
    for (_, _, value) in names {
        let texts = match value.as_array() {
            Some(items) => items.iter().map(scalar_text).collect(),
            None => vec![scalar_text(value)],
        };
        for text in texts {
            match builder.underlying_assets(&text) {
                Ok(assets) if !assets.is_empty() => return Ok(assets),
                Ok(_) => failure = Some(ToolError::new(ToolErrorCode::NotFound, format!("{} has no underlying asset", quote_value(&text)))),
                Err(error) => failure = Some(error),
            }
        }
    }
    Err(failure.unwrap_or_else(|| ToolError::new(ToolErrorCode::InvalidArguments, "no asset, pool, vault or position specified")))
}
