//! Assets a call is about.

use crate::live::args::{Args, word};
use crate::live::tool_error::{ToolError, shown};
use crate::live::tx_builder::{Asset, TxBuilder};
use model::transcript::ToolErrorCode;
use model::{AddressRole, Kind, TokenRole};

/// Returns the asset of an operation: a token parameter, the fixed asset of the tool, or the asset of the position it names.
pub(super) fn main_asset(builder: &TxBuilder<'_>, fixed: Option<&str>, args: &Args<'_>, roles: &[TokenRole]) -> Result<Asset, ToolError> {
    if let Some(text) = roles.iter().find_map(|role| args.token(*role)).or_else(|| fixed.map(str::to_owned)).or_else(|| args.any_token()) {
        return builder.asset(&text);
    }
    named(builder, args)?.into_iter().next().ok_or_else(|| ToolError::new(ToolErrorCode::InvalidArguments, "the call names no asset"))
}

/// Returns the assets behind the first id or address that is known.
pub(super) fn named(builder: &TxBuilder<'_>, args: &Args<'_>) -> Result<Vec<Asset>, ToolError> {
    let names = args.of_kind(|kind| {
        matches!(kind, Kind::Id(_))
            || matches!(kind, Kind::Address(AddressRole::Pool | AddressRole::Vault | AddressRole::Market | AddressRole::Contract))
            || matches!(kind, Kind::List(inner) if matches!(**inner, Kind::Id(_) | Kind::Address(_)))
    });
    let mut tried = None;
    for (_, _, value) in names {
        let texts = match value.as_array() {
            Some(items) => items.iter().map(word).collect(),
            None => vec![word(value)],
        };
        for text in texts {
            match builder.behind(&text) {
                Ok(assets) if !assets.is_empty() => return Ok(assets),
                Ok(_) => tried = Some(ToolError::new(ToolErrorCode::NotFound, format!("{} holds no asset", shown(&text)))),
                Err(error) => tried = Some(error),
            }
        }
    }
    Err(tried.unwrap_or_else(|| ToolError::new(ToolErrorCode::InvalidArguments, "the call names nothing to act on")))
}
