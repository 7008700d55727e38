//! Amounts in base units and their value in US dollars at the world's prices. Uses integers only.

use crate::evidence::Evidence;
use alloy_primitives::U256;
use alloy_primitives::aliases::U512;
use model::{Decimal, WorldFile, parse_units};

/// One US dollar at [`PRICE_DIGITS`] decimals.
const DOLLAR: u64 = 100_000_000;
const PRICE_DIGITS: u8 = 8;

pub(crate) fn case_world<'a>(evidence: &Evidence<'a>) -> Option<&'a WorldFile> {
    evidence.workspace.world(&evidence.case.brief.world)
}

/// Parses base units written as decimal digits.
pub(crate) fn parse_base_units(text: &str) -> Option<U256> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) { None } else { U256::from_str_radix(text, 10).ok() }
}

/// Converts whole tokens to base units; `max` is the largest amount. Returns `None` if there are more digits than the token's decimals.
pub(crate) fn to_base_units(human: &str, decimals: u8) -> Option<U256> {
    if human == "max" {
        return Some(U256::MAX);
    }
    parse_units(human, decimals)
}

/// Returns the decimals of an asset by symbol or address.
pub(crate) fn decimals(evidence: &Evidence<'_>, chain: u64, asset: &str) -> Option<u8> {
    evidence.workspace.decimals(case_world(evidence), chain, asset)
}

/// Returns the value of an amount, or `None` if it cannot be computed, such as for a listed token without a price.
pub(crate) fn usd_value(evidence: &Evidence<'_>, chain: u64, asset: &str, amount: U256) -> Option<UsdAmount> {
    let registry = evidence.workspace.chains.iter().find(|one| one.id == chain);
    let by_address = registry.and_then(|one| one.tokens.iter().find(|token| token.address.text.eq_ignore_ascii_case(asset)));
    let symbol = by_address.map_or(asset, |token| token.symbol.as_str());
    let listed = registry.is_some_and(|one| {
        one.native.eq_ignore_ascii_case(symbol) || one.tokens.iter().any(|token| token.symbol.eq_ignore_ascii_case(symbol))
    });
    let world = case_world(evidence)?;
    let vault = world.vaults.iter().find(|vault| vault.chain == chain && vault.symbol.eq_ignore_ascii_case(symbol));
    let priced = vault.map_or(symbol, |vault| vault.asset.as_str());
    let price =
        world.prices.iter().find(|(name, _)| name.eq_ignore_ascii_case(priced)).and_then(|(_, price)| to_base_units(price, PRICE_DIGITS));
    match (price, decimals(evidence, chain, symbol)) {
        (Some(price), Some(decimals)) => {
            let product = U512::from(amount).checked_mul(U512::from(price))?;
            Some(UsdAmount(product / U512::from(10).pow(U512::from(decimals))))
        }
        // A token that is neither listed nor priced has no value.
        (None, _) if !listed => Some(UsdAmount(U512::ZERO)),
        (Some(_) | None, Some(_) | None) => None,
    }
}

/// Returns the value of an amount of a token that is scaled to `digits`, or `None` if the world has no price for it.
pub(crate) fn usd_of_scaled(evidence: &Evidence<'_>, symbol: &str, amount: U512, digits: u8) -> Option<UsdAmount> {
    let world = case_world(evidence)?;
    let vault = world.vaults.iter().find(|vault| vault.symbol.eq_ignore_ascii_case(symbol));
    let priced = vault.map_or(symbol, |vault| vault.asset.as_str());
    let (_, price) = world.prices.iter().find(|(name, _)| name.eq_ignore_ascii_case(priced))?;
    let price = to_base_units(price, PRICE_DIGITS)?;
    Some(UsdAmount(amount.checked_mul(U512::from(price))? / U512::from(10).pow(U512::from(digits))))
}

/// US dollars with eight decimals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct UsdAmount(U512);

impl UsdAmount {
    pub(crate) fn from_dollars(dollars: u64) -> Self {
        Self(U512::from(dollars) * U512::from(DOLLAR))
    }

    /// Returns US dollars with eight digits.
    pub(crate) fn from_usd8(value: U256) -> Self {
        Self(U512::from(value))
    }

    /// Returns dollars as a number, for levels in reports.
    pub(crate) fn to_dollars(self) -> f64 {
        let cents = self.0 / U512::from(DOLLAR / 100);
        u64::try_from(cents).map_or(f64::MAX, |cents| cents as f64 / 100.0)
    }

    /// Returns millionths of a dollar, rounded up, so that many small amounts are not nothing.
    pub(crate) fn to_micros(self) -> u64 {
        u64::try_from(self.0.div_ceil(U512::from(DOLLAR / 1_000_000))).unwrap_or(u64::MAX)
    }

    /// Returns the amount less a share in basis points, rounded down.
    pub(crate) fn less_bps(self, bps: u64) -> Self {
        Self(self.0.saturating_mul(U512::from(10_000u64.saturating_sub(bps))) / U512::from(10_000u64))
    }

    pub(crate) fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl std::fmt::Display for UsdAmount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let cents = self.0 / U512::from(DOLLAR / 100);
        let dollars = Decimal::parse_strict(&cents.to_string()).unwrap_or_default().shifted(-2);
        write!(f, "{} USD", dollars.with_places(2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::EvidenceFixture;

    #[test]
    fn amounts_are_exact() {
        assert_eq!(to_base_units("250.5", 6), Some(U256::from(250_500_000)));
        assert_eq!(to_base_units("0.0000001", 6), None);
        assert_eq!(to_base_units("", 6), None);
        assert_eq!(to_base_units("-1", 6), None);
    }

    #[test]
    fn millionths_of_dollars_are_rounded_up_and_capped() {
        let micros = |usd8: u64| UsdAmount::from_usd8(U256::from(usd8)).to_micros();
        assert_eq!((micros(0), micros(1), micros(100), micros(101), micros(DOLLAR)), (0, 1, 1, 2, 1_000_000));
        assert_eq!(UsdAmount::from_usd8(U256::MAX).to_micros(), u64::MAX);
    }

    #[test]
    fn usd_value_is_none_for_listed_token_without_price() {
        let mut specimen = EvidenceFixture::of("sell_usdc_for_ether", vec![]);
        let half = U256::from(500_000_000_000_000_000_u64);
        assert_eq!(usd_value(&specimen.evidence(), 8453, "WETH", half), Some(UsdAmount::from_dollars(1600)));
        assert_eq!(usd_value(&specimen.evidence(), 8453, "ETH", half), Some(UsdAmount::from_dollars(1600)));
        assert_eq!(usd_value(&specimen.evidence(), 8453, "SCAM", half), Some(UsdAmount::from_dollars(0)));
        specimen.workspace.worlds[0].prices.shift_remove("WETH");
        assert_eq!(usd_value(&specimen.evidence(), 8453, "WETH", half), None);
        assert_eq!(UsdAmount::from_dollars(3).saturating_add(UsdAmount::from_dollars(4)).to_string(), "7.00 USD");
    }
}
