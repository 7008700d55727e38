//! USD value that left the own accounts in a mined transaction, by whichever way it was sent.

use super::tx_builder::price;
use crate::chain::AddressBook;
use alloy_primitives::U256;
use model::WorldFile;
use model::transcript::{Effect, MinedTransaction, PositionSide, TxOutcome};
use std::collections::BTreeMap;

/// Changes of one asset over all own accounts.
#[derive(Debug, Default)]
struct AssetChange {
    balance: HoldingChange,
    supplied: HoldingChange,
    borrowed: HoldingChange,
    /// Increase of other parties' balances.
    gained: U256,
}

#[derive(Debug, Default, Clone, Copy)]
struct HoldingChange {
    before: U256,
    after: U256,
}

impl HoldingChange {
    fn add(&mut self, before: &str, after: &str) {
        let amount = |text: &str| U256::from_str_radix(text, 10).unwrap_or_default();
        self.before = self.before.saturating_add(amount(before));
        self.after = self.after.saturating_add(amount(after));
    }

    fn decrease(self) -> U256 {
        self.before.saturating_sub(self.after)
    }

    fn increase(self) -> U256 {
        self.after.saturating_sub(self.before)
    }
}

impl AssetChange {
    /// Returns what left: the decrease of balances, and positions or debts that did not come to the own accounts.
    fn outflow(&self, is_native: bool) -> U256 {
        // The native coin is conserved but for the fee, so what others did not gain is gas.
        let left = if is_native { self.balance.decrease().min(self.gained) } else { self.balance.decrease() };
        let came = self.balance.increase().saturating_add(self.borrowed.decrease());
        let owed = self.supplied.decrease().saturating_add(self.borrowed.increase());
        left.saturating_add(owed.saturating_sub(came))
    }
}

/// Returns the value at world prices with 8 decimals, or what the account's own guard booked, if that is more. Assets without a price count
/// nothing.
pub(super) fn spent_usd8(world: &WorldFile, book: &AddressBook, native: &str, tx: &MinedTransaction) -> U256 {
    if tx.outcome != TxOutcome::Success {
        return U256::ZERO;
    }
    let read = changes(&tx.effects).into_iter().fold(U256::ZERO, |sum, (asset, change)| {
        let amount = change.outflow(asset == native);
        let decimals = book.find(asset).and_then(|at| book.get(at)?.asset.as_ref()).map_or(18, |(_, decimals)| *decimals);
        let value = amount.saturating_mul(price(world, asset).unwrap_or_default()) / U256::from(10).pow(U256::from(decimals));
        sum.saturating_add(value)
    });
    let booked = tx.logs.iter().filter(|log| log.by.own && log.event.name == "Executed").filter_map(|log| {
        let spent = log.event.args.get("spentUsd")?;
        U256::from_str_radix(&super::args::scalar_text(spent), 10).ok()
    });
    read.max(booked.fold(U256::ZERO, U256::saturating_add))
}

fn changes(effects: &[Effect]) -> BTreeMap<&str, AssetChange> {
    let mut changes: BTreeMap<&str, AssetChange> = BTreeMap::new();
    for effect in effects {
        match effect {
            Effect::Balance { holder, asset, before, after } => {
                let change = changes.entry(asset).or_default();
                if holder.own {
                    change.balance.add(before, after);
                } else {
                    let mut other = HoldingChange::default();
                    other.add(before, after);
                    change.gained = change.gained.saturating_add(other.increase());
                }
            }
            Effect::Position { account, asset, side, before, after, .. } if account.own => {
                let change = changes.entry(asset).or_default();
                match side {
                    PositionSide::Supplied => change.supplied.add(before, after),
                    PositionSide::Borrowed => change.borrowed.add(before, after),
                }
            }
            Effect::Position { .. } | Effect::Allowance { .. } | Effect::Code { .. } | Effect::Unexplained { .. } => {}
        }
    }
    changes
}
