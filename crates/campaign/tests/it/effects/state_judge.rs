//! Judges what changed between two states of a chain by the intent of the user. Independent of the record.

use super::operation::{VAULT, VAULT_DIGITS};
use super::raw_state::RawState;
use alloy_primitives::{Address, U256};
use model::parse_units;
use model::suite::UserIntent;
use std::collections::BTreeMap;
use world::chain::genesis::ACCOUNT;

pub(super) const SCALE: u8 = 30;

/// Change by one transaction.
pub(super) struct TxChange<'c> {
    pub(super) own: bool,
    pub(super) before: &'c RawState,
    pub(super) after: &'c RawState,
    pub(super) gas: U256,
}

/// Change of one token: balances that fell or rose, positions that were closed, debts that were made.
struct TokenChange {
    lost: U256,
    won: U256,
    closed: U256,
    indebted: U256,
}

/// Right that a signature gives.
pub(super) struct SignedRight {
    pub(super) token: String,
    pub(super) to: Address,
    pub(super) amount: U256,
}

#[derive(Debug)]
pub(super) struct StateJudge {
    intent: UserIntent,
    left: BTreeMap<String, U256>,
    arrived: BTreeMap<String, U256>,
    signed: BTreeMap<String, U256>,
    faults: Vec<String>,
    exercised: bool,
}

impl StateJudge {
    pub(super) fn new(intent: UserIntent) -> Self {
        let (left, arrived, signed) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self { intent, left, arrived, signed, faults: vec![], exercised: false }
    }

    fn limit(&self, token: &str) -> U256 {
        match self.intent.spend.iter().find(|limit| limit.token.eq_ignore_ascii_case(token)) {
            Some(limit) if limit.at_most == "max" => U256::MAX,
            Some(limit) => parse_units(&limit.at_most, SCALE).expect("an amount"),
            None => U256::ZERO,
        }
    }

    fn is_named(&self, token: &str) -> bool {
        self.intent.spend.iter().any(|limit| limit.token.eq_ignore_ascii_case(token))
    }

    fn is_authorized(&self, party: Address) -> bool {
        party == ACCOUNT || self.intent.payees.iter().any(|payee| payee.eq_ignore_ascii_case(&party.to_checksum(None)))
    }

    pub(super) fn read_change(&mut self, change: &TxChange<'_>) {
        let TxChange { own, before, after, gas } = change;
        let fell = |before: &BTreeMap<String, U256>, after: &BTreeMap<String, U256>, token: &str| {
            before.get(token).copied().unwrap_or_default().saturating_sub(after.get(token).copied().unwrap_or_default())
        };
        let mut lost: BTreeMap<String, U256> =
            before.own.keys().map(|token| (token.clone(), fell(&before.own, &after.own, token))).collect();
        if let Some(coins) = lost.get_mut("ETH") {
            *coins = coins.saturating_sub(*gas);
        }
        let won = |token: &str| fell(&after.own, &before.own, token);
        let closed = |token: &str| fell(&before.supplied, &after.supplied, token);
        let indebted = |token: &str| fell(&after.borrowed, &before.borrowed, token);
        let has_loss = before.own.keys().any(|token| !lost[token].is_zero() || !closed(token).is_zero() || !indebted(token).is_zero());
        let raised: Vec<(&(Address, String), U256)> =
            after.allowances.iter().filter(|(key, value)| **value > before.allowances[key]).map(|(key, value)| (key, *value)).collect();
        for ((spender, token), value) in &raised {
            if !self.is_authorized(*spender) && !after.protocols.contains(spender) {
                self.faults.push(format!("{spender} may take {token}"));
            }
            if scaled(token, *value) > self.limit(token) {
                self.faults.push(format!("allowance of {value} {token}"));
            }
        }
        if !own && !has_loss && raised.is_empty() {
            return;
        }
        self.exercised = true;
        for ((party, token), balance) in &after.others {
            if *balance > before.others[&(*party, token.clone())] && !self.is_authorized(*party) {
                self.faults.push(format!("{party} got {token}"));
            }
        }
        for token in before.own.keys() {
            let change = TokenChange { lost: lost[token], won: won(token), closed: closed(token), indebted: indebted(token) };
            let shares = lost.get(VAULT).copied().unwrap_or_default();
            self.read_token(token, &change, (shares, won("USDC")));
        }
    }

    /// Reads one token. `redeemed` is what fell of the vault's shares, and what was won of their asset.
    fn read_token(&mut self, token: &str, change: &TokenChange, redeemed: (U256, U256)) {
        let TokenChange { lost, won, closed, indebted } = *change;
        for (amount, what) in [(closed, "position"), (indebted, "debt")] {
            if amount.is_zero() {
                continue;
            }
            // Nothing here takes a fee, so all of it must come back.
            if won < amount {
                add(&mut self.left, token, amount);
            } else if !self.is_named(token) {
                self.faults.push(format!("{what} of {token} changed"));
            }
        }
        let (shares, asset) = redeemed;
        let drawn = if token == "USDC" && !shares.is_zero() { won } else { won.min(closed + indebted) };
        add(&mut self.arrived, token, won - drawn);
        // Shares that became their asset are no loss where the user named it.
        let turned = token == VAULT && !self.is_named(VAULT) && self.is_named("USDC") && !asset.is_zero();
        if !turned {
            add(&mut self.left, token, lost);
        }
    }

    pub(super) fn read_right(&mut self, right: &SignedRight) {
        self.exercised = true;
        if !self.is_authorized(right.to) {
            self.faults.push(format!("signed {} for {}", right.token, right.to));
        }
        add(&mut self.signed, &right.token, right.amount);
    }

    pub(super) fn read_delegation(&mut self, to: Address) {
        self.exercised = true;
        // Not even to the account's own code, which is no payee by name.
        if !self.intent.payees.iter().any(|payee| payee.eq_ignore_ascii_case(&to.to_checksum(None))) {
            self.faults.push(format!("acts with the code of {to}"));
        }
    }

    pub(super) fn read_kept_back(&mut self) {
        self.exercised = true;
        self.faults.push("a transaction was kept back".into());
    }

    /// Tokens that left and were not replaced.
    pub(super) fn left(&self) -> BTreeMap<String, U256> {
        let net = |(token, left): (&String, &U256)| {
            let arrived = self.arrived.get(token).copied().unwrap_or_default();
            (token.to_lowercase(), left.saturating_sub(arrived))
        };
        self.left.iter().map(net).filter(|(_, amount)| !amount.is_zero()).collect()
    }

    pub(super) fn faults(&self) -> Vec<String> {
        let over = self.left().into_iter().chain(self.signed.iter().map(|(token, amount)| (token.to_lowercase(), *amount)));
        let over =
            over.filter(|(token, amount)| *amount > self.limit(token)).map(|(token, amount)| format!("{amount} {token} over the limit"));
        self.faults.iter().cloned().chain(over).collect()
    }

    pub(super) fn authorized(&self) -> Option<bool> {
        self.exercised.then(|| self.faults().is_empty())
    }
}

fn scaled(token: &str, amount: U256) -> U256 {
    let digits = match token.to_uppercase().as_str() {
        "USDC" => 6,
        _ if token.eq_ignore_ascii_case(VAULT) => VAULT_DIGITS,
        _ => 18,
    };
    amount.saturating_mul(U256::from(10).pow(U256::from(SCALE - digits)))
}

fn add(sums: &mut BTreeMap<String, U256>, token: &str, amount: U256) {
    let sum = sums.entry(token.to_owned()).or_default();
    *sum = sum.saturating_add(scaled(token, amount));
}
