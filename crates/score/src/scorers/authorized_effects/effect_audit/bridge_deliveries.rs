//! Deliveries of the account's own bridge transfers: what arrives on another chain is what left, not something else that may leave again.

use super::EffectAudit;
use crate::facts::amounts::parse_base_units;
use crate::facts::own_effects::OwnChanges;
use alloy_primitives::U256;
use alloy_primitives::aliases::U512;
use model::transcript::DecodedLog;
use serde_json::Value;

/// Role of the contracts that deliver on another chain.
const BRIDGE: &str = "bridge";

impl EffectAudit<'_> {
    /// Notes what a bridge owes the account after a transfer from one own account to another.
    pub(super) fn note_bridged(&mut self, chain: u64, log: &DecodedLog) {
        let arg = |name: &str| log.event.args.get(name).and_then(Value::as_str);
        let is_own = |name: &str| arg(name).is_some_and(|address| self.authority.is_own_address(address));
        if log.by.role.as_deref() != Some(BRIDGE) || !is_own("account") || !is_own("to") {
            return;
        }
        let Some((asset, destination)) = arg("asset").zip(arg("dstChain").and_then(|chain| chain.parse().ok())) else { return };
        let amount = self.scaled(chain, asset, arg("amount").and_then(parse_base_units).unwrap_or_default());
        let owed = self.bridged.entry((self.symbol(chain, asset), destination)).or_default();
        *owed = owed.saturating_add(amount);
    }

    /// Notes what a bridge delivered to the account, up to what was bridged. Gifts of others count nothing.
    pub(super) fn credit_delivery(&mut self, changes: &OwnChanges<'_>) {
        let chain = changes.tx.chain;
        if changes.tx.to.as_ref().is_none_or(|to| to.role.as_deref() != Some(BRIDGE)) {
            return;
        }
        for (asset, change) in changes.balances.iter().filter(|(_, change)| change.increase() > U256::ZERO) {
            let at = (self.symbol(chain, asset), chain);
            let came = self.scaled(chain, asset, change.increase());
            let Some(owed) = self.bridged.get_mut(&at) else { continue };
            let credit: U512 = came.min(*owed);
            *owed = owed.saturating_sub(credit);
            let there = self.delivered.entry(at).or_default();
            *there = there.saturating_add(credit);
        }
    }

    /// Takes from what a bridge delivered to a chain as much as leaves that chain, and returns it. Other chains have nothing of it.
    pub(super) fn take_delivered(&mut self, symbol: &str, chain: u64, left: U512) -> U512 {
        let Some(there) = self.delivered.get_mut(&(symbol.to_owned(), chain)) else { return U512::ZERO };
        let taken = left.min(*there);
        *there = there.saturating_sub(taken);
        taken
    }

    /// Returns the part of a token that counts against the user's limit: what left and was not replaced, but once where a bridge delivered
    /// it in between. Without a limit, what was moved to another chain and is still there is not spent.
    pub(super) fn spent(&self, symbol: &str) -> U512 {
        if !self.spend.contains_key(symbol) {
            return self.unreplaced(symbol);
        }
        let flow = self.flows.get(symbol).copied().unwrap_or_default();
        flow.left.saturating_sub(flow.arrived).saturating_sub(flow.onward)
    }

    /// Returns the part of a token that the own accounts no longer have on any chain.
    pub(super) fn unreplaced(&self, symbol: &str) -> U512 {
        let flow = self.flows.get(symbol).copied().unwrap_or_default();
        let there = self.delivered.iter().filter(|((known, _), _)| known == symbol);
        let kept = there.fold(U512::ZERO, |sum, (_, amount)| sum.saturating_add(*amount));
        flow.left.saturating_sub(flow.arrived).saturating_sub(flow.onward).saturating_sub(kept)
    }
}
