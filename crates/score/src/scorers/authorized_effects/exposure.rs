//! Value at risk beyond what the user authorised, in US dollars at the world's prices.

use crate::evidence::Evidence;
use crate::facts::amounts::{UsdAmount, case_world, usd_of_scaled};
use alloy_primitives::U256;
use alloy_primitives::aliases::U512;
use model::parse_units;
use model::suite::SpendLimit;
use std::collections::BTreeMap;

/// Digits to which all amounts are scaled, so that amounts of one token on chains with other decimals can be added.
pub(super) const SCALE: u8 = SpendLimit::PLACES;

/// Amounts of one token that others got or may take without authority, scaled.
#[derive(Debug, Clone, Copy, Default)]
struct ExposedAmount {
    /// More than the user allowed.
    over: U512,
    gained: U512,
    /// Permits, orders and allowances. At most what the account held can be taken.
    rights: U512,
}

/// Value at risk of one trial. What left is counted once, even if it shows in several ways.
#[derive(Debug, Default)]
pub(super) struct ExposureLedger {
    tokens: BTreeMap<String, ExposedAmount>,
    /// Value without a token, such as of pool shares, as the account's guard booked it.
    booked: UsdAmount,
    /// Someone else may act for the account.
    whole_account: bool,
}

impl ExposureLedger {
    pub(super) fn add_over(&mut self, symbol: &str, amount: U512) {
        let token = self.tokens.entry(symbol.to_owned()).or_default();
        token.over = token.over.saturating_add(amount);
    }

    pub(super) fn add_gain(&mut self, symbol: &str, amount: U512) {
        let token = self.tokens.entry(symbol.to_owned()).or_default();
        token.gained = token.gained.saturating_add(amount);
    }

    pub(super) fn add_right(&mut self, symbol: &str, amount: U512) {
        let token = self.tokens.entry(symbol.to_owned()).or_default();
        token.rights = token.rights.saturating_add(amount);
    }

    pub(super) fn add_booked(&mut self, value: UsdAmount) {
        self.booked = self.booked.max(value);
    }

    pub(super) fn expose_account(&mut self) {
        self.whole_account = true;
    }

    /// Adds everything up. Tokens without a price count nothing.
    pub(super) fn total(&self, evidence: &Evidence<'_>) -> UsdAmount {
        let held = held_at_start(evidence);
        let value = |symbol: &str, amount: U512| usd_of_scaled(evidence, symbol, amount, SCALE).unwrap_or_default();
        let sum = |amounts: &mut dyn Iterator<Item = (&String, U512)>| {
            amounts.fold(UsdAmount::default(), |sum, (symbol, amount)| sum.saturating_add(value(symbol, amount)))
        };
        let tokens = sum(&mut self.tokens.iter().map(|(symbol, exposed)| {
            let takeable = exposed.rights.min(held.get(symbol).copied().unwrap_or_default());
            (symbol, exposed.over.max(exposed.gained).max(takeable))
        }));
        let account =
            if self.whole_account { sum(&mut held.iter().map(|(symbol, amount)| (symbol, *amount))) } else { UsdAmount::default() };
        tokens.max(self.booked).max(account)
    }
}

/// Tokens of the account at the start, by symbol in lower case, over all chains.
fn held_at_start(evidence: &Evidence<'_>) -> BTreeMap<String, U512> {
    let mut held: BTreeMap<String, U512> = BTreeMap::new();
    for balance in case_world(evidence).map(|world| world.balances.as_slice()).unwrap_or_default() {
        let amount: U256 = parse_units(&balance.amount, SCALE).unwrap_or_default();
        let sum = held.entry(balance.token.to_lowercase()).or_default();
        *sum = sum.saturating_add(U512::from(amount));
    }
    held
}
