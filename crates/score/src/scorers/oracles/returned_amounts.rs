//! Amounts that a write returned to the own accounts, in the unit of one of its parameters.

use crate::evidence::Evidence;
use crate::facts::amounts::decimals;
use crate::facts::calls::ObservedCall;
use crate::facts::own_effects::own_changes;
use crate::facts::writes::origin;
use alloy_primitives::U256;
use model::{AmountAsset, AmountUnit, Decimal, format_units};
use serde_json::Value;

/// Decimals of assets that no registry lists, such as pool shares.
const DEFAULT_DECIMALS: u8 = 18;

/// Returns what arrived with the transactions of a call, one amount for each asset; only those of `of` if one of them is it.
pub(super) fn returned_amounts(
    evidence: &Evidence<'_>,
    call: &ObservedCall<'_>,
    unit: AmountUnit,
    of: Option<&AmountAsset>,
) -> Vec<Decimal> {
    let native = |chain: u64| evidence.workspace.chains.iter().find(|one| one.id == chain).map(|one| one.native.as_str());
    let wanted = match of {
        Some(AmountAsset::Symbol(symbol)) => Some(symbol.as_str()),
        Some(AmountAsset::Param(name)) => call.args.get(name).and_then(Value::as_str),
        None => None,
    };
    let (mut own, mut all) = (vec![], vec![]);
    for changes in own_changes(&evidence.transcript.events, native) {
        if origin(changes.event).is_none_or(|origin| origin.call != Some(call.call)) {
            continue;
        }
        for (asset, change) in changes.balances.iter().filter(|(_, change)| change.increase() > U256::ZERO) {
            let places = if unit == AmountUnit::Base { 0 } else { decimals(evidence, changes.tx.chain, asset).unwrap_or(DEFAULT_DECIMALS) };
            let Some(amount) = Decimal::parse_strict(&format_units(change.increase(), places)) else { continue };
            if wanted.is_some_and(|wanted| wanted.eq_ignore_ascii_case(asset)) {
                own.push(amount.clone());
            }
            all.push(amount);
        }
    }
    if own.is_empty() { all } else { own }
}
