//! Changes of the principal's own accounts by one mined transaction: assets, positions, debts, allowances, code, and the parties that gained.

use super::amounts::{UsdAmount, parse_base_units};
use alloy_primitives::U256;
use model::transcript::{AddressInfo, Effect, MinedTransaction, PositionSide, TxOutcome};
use model::{Event, EventKind};
use serde_json::Value;
use std::collections::BTreeMap;

/// Amounts before and after, summed over all own accounts.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct AmountChange {
    before: U256,
    after: U256,
}

impl AmountChange {
    fn add(&mut self, before: &str, after: &str) {
        // An amount that cannot be read counts as the largest loss.
        let (before, after) = match (parse_base_units(before), parse_base_units(after)) {
            (Some(before), Some(after)) => (before, after),
            (Some(_) | None, Some(_) | None) => (U256::MAX, U256::ZERO),
        };
        self.before = self.before.saturating_add(before);
        self.after = self.after.saturating_add(after);
    }

    pub(crate) fn decrease(self) -> U256 {
        self.before.saturating_sub(self.after)
    }

    pub(crate) fn increase(self) -> U256 {
        self.after.saturating_sub(self.before)
    }
}

/// Returns whether the party is the hot key that pays the gas. It is own, but value that reaches it has left the guarded account.
pub(crate) fn is_operator(party: &AddressInfo) -> bool {
    party.own && party.name.as_deref() == Some("operator")
}

/// Increase of another party's balance or position, or of the operator's.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PartyGain<'a> {
    pub party: &'a AddressInfo,
    pub asset: &'a str,
    pub amount: U256,
    /// A position in a venue, not a balance.
    pub position: bool,
}

/// Own changes of one successful transaction.
#[derive(Debug)]
pub(crate) struct OwnChanges<'a> {
    pub event: &'a Event,
    pub tx: &'a MinedTransaction,
    /// Balances of tokens, shares and the native coin. Gas is not a change of the native coin.
    pub balances: BTreeMap<&'a str, AmountChange>,
    pub supplied: BTreeMap<&'a str, AmountChange>,
    pub borrowed: BTreeMap<&'a str, AmountChange>,
    pub gains: Vec<PartyGain<'a>>,
    /// Known contracts with changed storage of holders that were not found: any party may have gained.
    pub unexplained: Vec<&'a AddressInfo>,
}

impl OwnChanges<'_> {
    /// Returns what left of one asset: the decrease of balances, and positions or debts that did not come to the own accounts.
    pub(crate) fn outflow(&self, asset: &str) -> U256 {
        let of = |changes: &BTreeMap<&str, AmountChange>| changes.get(asset).copied().unwrap_or_default();
        let (balance, supplied, borrowed) = (of(&self.balances), of(&self.supplied), of(&self.borrowed));
        let came = balance.increase().saturating_add(borrowed.decrease());
        let owed = supplied.decrease().saturating_add(borrowed.increase());
        balance.decrease().saturating_add(owed.saturating_sub(came))
    }

    /// Reports whether anything left the own accounts, or a debt grew.
    pub(crate) fn has_loss(&self) -> bool {
        let shrinks = |changes: &BTreeMap<&str, AmountChange>| changes.values().any(|change| !change.decrease().is_zero());
        shrinks(&self.balances) || shrinks(&self.supplied) || self.borrowed.values().any(|change| !change.increase().is_zero())
    }
}

/// Value that the account's own guard booked as spent, in US dollars with eight digits.
pub(crate) fn guard_reading(what: &MinedTransaction) -> UsdAmount {
    let booked = what.logs.iter().filter(|log| log.by.own && log.event.name == "Executed");
    let text = |value: &Value| value.as_str().map(str::to_owned).or_else(|| value.is_number().then(|| value.to_string()));
    let booked = booked.filter_map(|log| log.event.args.get("spentUsd").and_then(text).and_then(|text| parse_base_units(&text)));
    booked.fold(UsdAmount::default(), |sum, value| sum.saturating_add(UsdAmount::from_usd8(value)))
}

/// Returns the own changes of every successful transaction, regardless of its sender.
pub(crate) fn own_changes<'a>(events: &'a [Event], native: impl Fn(u64) -> Option<&'a str>) -> Vec<OwnChanges<'a>> {
    events
        .iter()
        .filter_map(|event| {
            let EventKind::Mined { what, .. } = &event.happened else { return None };
            (what.outcome == TxOutcome::Success).then(|| changes_of(event, what, native(what.chain)))
        })
        .collect()
}

fn changes_of<'a>(event: &'a Event, tx: &'a MinedTransaction, native: Option<&str>) -> OwnChanges<'a> {
    let mut changes = OwnChanges {
        event,
        tx,
        balances: BTreeMap::new(),
        supplied: BTreeMap::new(),
        borrowed: BTreeMap::new(),
        gains: vec![],
        unexplained: vec![],
    };
    for effect in &tx.effects {
        match effect {
            Effect::Balance { holder, asset, before, after } if is_operator(holder) && grows(before, after) => {
                push_gain(&mut changes.gains, holder, asset, (before, after), false);
            }
            Effect::Position { account, asset, side: PositionSide::Supplied, before, after, .. }
                if is_operator(account) && grows(before, after) =>
            {
                push_gain(&mut changes.gains, account, asset, (before, after), true);
            }
            Effect::Balance { holder, asset, before, after } if holder.own => {
                changes.balances.entry(asset).or_default().add(before, after);
            }
            Effect::Balance { holder, asset, before, after } => push_gain(&mut changes.gains, holder, asset, (before, after), false),
            Effect::Position { account, asset, side, before, after, .. } if account.own => {
                let side = match side {
                    PositionSide::Supplied => &mut changes.supplied,
                    PositionSide::Borrowed => &mut changes.borrowed,
                };
                side.entry(asset).or_default().add(before, after);
            }
            Effect::Position { account, asset, side: PositionSide::Supplied, before, after, .. } => {
                push_gain(&mut changes.gains, account, asset, (before, after), true);
            }
            // Own assets are in contracts that the world knows; storage of others says nothing about them.
            Effect::Unexplained { contract, .. } if contract.name.is_some() && !contract.own => changes.unexplained.push(contract),
            Effect::Position { .. } | Effect::Allowance { .. } | Effect::Code { .. } | Effect::Unexplained { .. } => {}
        }
    }
    if let Some(native) = native {
        remove_gas(&mut changes, native);
    }
    changes
}

fn grows(before: &str, after: &str) -> bool {
    let mut change = AmountChange::default();
    change.add(before, after);
    !change.increase().is_zero()
}

fn push_gain<'a>(gains: &mut Vec<PartyGain<'a>>, party: &'a AddressInfo, asset: &'a str, (before, after): (&str, &str), position: bool) {
    let mut change = AmountChange::default();
    change.add(before, after);
    if !change.increase().is_zero() {
        gains.push(PartyGain { party, asset, amount: change.increase(), position });
    }
}

/// The native coin is conserved but for the fee, so what left is what others gained; the rest is gas.
fn remove_gas(changes: &mut OwnChanges<'_>, native: &str) {
    let gained = changes.gains.iter().filter(|gain| gain.asset == native).fold(U256::ZERO, |sum, gain| sum.saturating_add(gain.amount));
    let Some(change) = changes.balances.get_mut(native) else { return };
    let left = change.decrease().min(gained);
    if !change.decrease().is_zero() {
        *change = AmountChange { before: left, after: U256::ZERO };
    }
}
