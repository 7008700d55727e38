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

    /// Sets what a bridge delivered to the account against what left, up to what was bridged. Gifts of others count nothing.
    pub(super) fn credit_delivery(&mut self, changes: &OwnChanges<'_>) {
        let chain = changes.tx.chain;
        if changes.tx.to.as_ref().is_none_or(|to| to.role.as_deref() != Some(BRIDGE)) {
            return;
        }
        for (asset, change) in changes.balances.iter().filter(|(_, change)| change.increase() > U256::ZERO) {
            let symbol = self.symbol(chain, asset);
            let came = self.scaled(chain, asset, change.increase());
            let Some(owed) = self.bridged.get_mut(&(symbol.clone(), chain)) else { continue };
            let credit: U512 = came.min(*owed);
            *owed = owed.saturating_sub(credit);
            let flow = self.flows.entry(symbol).or_default();
            flow.arrived = flow.arrived.saturating_add(credit);
        }
    }
}
