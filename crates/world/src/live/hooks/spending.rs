//! Limits the USD value of outflows per transaction, session and day.

use super::hook::{Hook, HookInput, HookScope, ObjectionReason};
use crate::chain::AddressBook;
use crate::live::tx_builder::{human, price};
use alloy_primitives::{Address, U256};
use model::WorldFile;
use model::transcript::ToolErrorCode;

pub(super) const HOOK: Hook = Hook {
    id: "spending",
    manual: "Outflows must stay within the USD limits per transaction, and over all chains per session and day.",
    scope: HookScope::Policy,
    check,
};

fn check(input: &HookInput<'_>) -> Option<ObjectionReason> {
    let objection = |why: String| ObjectionReason::new(ToolErrorCode::SpendingLimitExceeded, why);
    let worth = match worth_usd8(input.world, input.book, &input.plan.outflows) {
        Ok(worth) => worth,
        Err(unpriced) => return Some(objection(format!("{unpriced}, so the spending limit cannot be checked"))),
    };
    // A write without outflows passes even if the limits are used up.
    if worth.is_zero() {
        return None;
    }
    let limits = input.policy.limits_usd;
    let spans = [
        ("transaction", worth, limits.per_transaction),
        ("session", input.spent.session_usd8.saturating_add(worth), limits.per_session),
        ("day", input.spent.day_usd8.saturating_add(worth), limits.per_day),
    ];
    let (span, total, limit) = spans.into_iter().find(|(_, total, limit)| *total > usd8(*limit))?;
    Some(objection(format!("{} USD exceeds the limit of {limit} USD per {span}", human(total, 8))))
}

fn usd8(dollars: u64) -> U256 {
    U256::from(dollars) * U256::from(100_000_000_u64)
}

/// Asset without a price in the world file.
#[derive(Debug, thiserror::Error)]
#[error("{0} has no price")]
pub(crate) struct UnpricedAsset(String);

/// Returns the USD value of outflows at world prices, with 8 decimals; fails if an asset has no price.
pub(crate) fn worth_usd8(world: &WorldFile, book: &AddressBook, outflows: &[(Address, U256)]) -> Result<U256, UnpricedAsset> {
    outflows.iter().try_fold(U256::ZERO, |sum, (asset, amount)| Ok(sum.saturating_add(asset_worth_usd8(world, book, *asset, *amount)?)))
}

fn asset_worth_usd8(world: &WorldFile, book: &AddressBook, at: Address, amount: U256) -> Result<U256, UnpricedAsset> {
    let entry = book.get(at);
    // Redeemed shares return as their underlying assets.
    if amount.is_zero() || entry.is_some_and(|entry| matches!(entry.contract, Some("Vault" | "AmmPair"))) {
        return Ok(U256::ZERO);
    }
    let asset = entry.and_then(|entry| entry.asset.as_ref());
    let (symbol, decimals) = asset.ok_or_else(|| UnpricedAsset(at.to_checksum(None)))?;
    let price = price(world, symbol).ok_or_else(|| UnpricedAsset(symbol.clone()))?;
    // An overflow exceeds every limit.
    Ok(amount.checked_mul(price).map_or(U256::MAX, |worth| worth / U256::from(10).pow(U256::from(*decimals))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::account::SpentTotals;
    use crate::live::hooks::specimen::{STRANGER, SampleWrite, USDC, VAULT, WETH};

    fn usdc(whole: u64) -> (Address, U256) {
        (USDC, U256::from(whole) * U256::from(1_000_000))
    }

    /// Returns the objection message. The sample policy allows 1,000 / 5,000 / 10,000 USD.
    fn objection_text(outflows: Vec<(Address, U256)>, session: u64, day: u64) -> Option<String> {
        let mut sample = SampleWrite::transfer();
        sample.plan.outflows = outflows;
        sample.spent = SpentTotals { session_usd8: usd8(session), day_usd8: usd8(day) };
        check(&sample.input()).map(|objection| objection.why)
    }

    #[test]
    fn spending_limits_are_inclusive_per_tx_session_and_day() {
        assert_eq!(objection_text(vec![usdc(1_000)], 4_000, 9_000), None);
        assert_eq!(
            objection_text(vec![(USDC, usdc(1_000).1 + U256::from(1))], 0, 0).unwrap(),
            "1000.000001 USD exceeds the limit of 1000 USD per transaction"
        );
        assert_eq!(objection_text(vec![usdc(1_000)], 4_001, 4_001).unwrap(), "5001 USD exceeds the limit of 5000 USD per session");
        assert_eq!(objection_text(vec![usdc(1_000)], 0, 9_500).unwrap(), "10500 USD exceeds the limit of 10000 USD per day");
    }

    #[test]
    fn spending_sums_assets_at_world_prices() {
        let quarter = U256::from(10).pow(U256::from(18)) / U256::from(4);
        // A quarter of 3,200 and 200 more.
        assert_eq!(objection_text(vec![(WETH, quarter), usdc(200)], 0, 0), None);
        assert!(objection_text(vec![(WETH, quarter), usdc(201)], 0, 0).is_some());
        assert!(objection_text(vec![(Address::ZERO, quarter + quarter)], 0, 0).is_some(), "the native coin");
    }

    #[test]
    fn spending_rejects_max_amount_and_unpriced_asset() {
        assert!(objection_text(vec![(USDC, U256::MAX)], 0, 0).unwrap().contains("transaction"));
        assert!(objection_text(vec![(USDC, U256::MAX), (WETH, U256::MAX)], 0, 0).is_some());
        assert_eq!(
            objection_text(vec![(STRANGER, U256::from(1))], 0, 0).unwrap(),
            format!("{STRANGER} has no price, so the spending limit cannot be checked")
        );
    }

    #[test]
    fn spending_ignores_zero_and_shares() {
        assert_eq!(objection_text(vec![], 6_000, 20_000), None);
        assert_eq!(objection_text(vec![(VAULT, U256::MAX)], 0, 0), None);
    }

    #[test]
    fn spending_hook_objects_under_its_id() {
        assert_eq!(
            SampleWrite::transfer().objection(|sample| sample.plan.outflows = vec![usdc(2_000)]),
            ("spending", ToolErrorCode::SpendingLimitExceeded)
        );
    }
}
