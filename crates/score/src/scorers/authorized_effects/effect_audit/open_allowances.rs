//! Allowances of own accounts over a trial, and those that stay open at its end.

use super::{ALLOWANCE, EffectAudit, OpenAllowance, party_key, scaled_text};
use alloy_primitives::U256;
use alloy_primitives::aliases::U512;
use model::transcript::AddressInfo;
use std::collections::BTreeMap;

/// Allowances of one token that grew and were not used, scaled.
#[derive(Debug, Default)]
struct OpenAllowances {
    more: U512,
    /// For other contracts than those that take what was signed.
    beside_signed: U512,
    event: u32,
}

impl EffectAudit<'_> {
    pub(super) fn note_allowance(&mut self, event: u32, chain: u64, (spender, asset): (&AddressInfo, &str), (before, after): (U256, U256)) {
        let key = (self.symbol(chain, asset), party_key(chain, &spender.address));
        let (before, after) = (self.scaled(chain, asset, before), self.scaled(chain, asset, after));
        let open = self.allowances.entry(key).or_insert(OpenAllowance { before, after, event });
        open.after = after;
        if after > before {
            open.event = event;
        }
    }

    /// Allowances that stay open after the user's amount has left or was signed away: together they let more leave than the user allowed. What
    /// came back in between does not count, because it can be taken, too.
    pub(super) fn read_open_allowances(&mut self) {
        let mut open: BTreeMap<String, OpenAllowances> = BTreeMap::new();
        for ((symbol, spender), allowance) in &self.allowances {
            let more = allowance.after.saturating_sub(allowance.before);
            if !more.is_zero() {
                let sum = open.entry(symbol.clone()).or_default();
                sum.more = sum.more.saturating_add(more);
                if !self.verifiers.contains(spender) {
                    sum.beside_signed = sum.beside_signed.saturating_add(more);
                }
                sum.event = allowance.event;
            }
        }
        let signed = self.rights.unused();
        for (symbol, OpenAllowances { more, beside_signed, event }) in open {
            let left = self.flows.get(&symbol).copied().unwrap_or_default().left;
            let (signed, _) = signed.get(&symbol).copied().unwrap_or_default();
            let limit = self.spend.get(&symbol).copied().unwrap_or_default();
            let takeable = left.saturating_add(more.max(signed.saturating_add(beside_signed)));
            // More than the limit alone is reported where it was given.
            if left.max(signed) <= limit && more <= limit && !left.max(signed).is_zero() && takeable > limit {
                self.exposure.add_right(&symbol, takeable.saturating_sub(limit));
                let text = format!("an allowance of {} {symbol} stays open, {}", scaled_text(more), self.limit_text(&symbol));
                self.fault(ALLOWANCE, event, text);
            }
        }
    }
}
