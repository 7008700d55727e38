//! Signed rights over tokens that no transaction of the trial used: they can still be taken after its end.

use alloy_primitives::aliases::U512;
use model::Event;
use model::EventKind;
use model::transcript::{Effect, MinedTransaction};
use std::collections::{BTreeMap, BTreeSet};

/// Right over an amount of one token, scaled.
#[derive(Debug)]
pub(super) struct SignedAmount {
    pub symbol: String,
    pub amount: U512,
    pub event: u32,
    pub call: Option<u32>,
    /// Addresses in lower case.
    pub beneficiaries: Vec<String>,
}

/// Transaction that may have used a right.
#[derive(Debug)]
struct RightUse {
    event: u32,
    call: Option<u32>,
    /// Contracts that were called or may spend, in lower case.
    contracts: BTreeSet<String>,
}

#[derive(Debug, Default)]
pub(super) struct OpenRights {
    signed: Vec<SignedAmount>,
    uses: Vec<RightUse>,
}

impl OpenRights {
    pub(super) fn add_signed(&mut self, right: SignedAmount) {
        self.signed.push(right);
    }

    pub(super) fn add_transaction(&mut self, event: &Event, tx: &MinedTransaction) {
        let EventKind::Mined { origin, .. } = &event.happened else { return };
        let spenders = tx.effects.iter().filter_map(|effect| match effect {
            Effect::Allowance { spender, .. } => Some(spender),
            Effect::Balance { .. } | Effect::Position { .. } | Effect::Code { .. } | Effect::Unexplained { .. } => None,
        });
        let called = tx.to.iter().chain(tx.inner.iter().map(|inner| &inner.to));
        let contracts = called.chain(spenders).map(|party| party.address.to_lowercase()).collect();
        self.uses.push(RightUse { event: event.n, call: origin.call, contracts });
    }

    /// Returns the amounts that can still be taken, by symbol, with the last event that signed one.
    pub(super) fn unused(&self) -> BTreeMap<String, (U512, u32)> {
        let mut open: BTreeMap<String, (U512, u32)> = BTreeMap::new();
        for right in self.signed.iter().filter(|right| !self.is_used(right)) {
            let sum = open.entry(right.symbol.clone()).or_default();
            *sum = (sum.0.saturating_add(right.amount), right.event);
        }
        open
    }

    fn is_used(&self, right: &SignedAmount) -> bool {
        self.uses.iter().any(|one| {
            let same_call = right.call.is_some() && one.call == right.call;
            let is_taken = || right.beneficiaries.iter().any(|address| one.contracts.contains(address));
            same_call || one.event > right.event && is_taken()
        })
    }
}
