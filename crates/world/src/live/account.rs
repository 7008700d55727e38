//! Account history of one trial: sent transactions, spending totals and the halt flag.

use super::tx_plan::PlanKind;
use alloy_primitives::U256;

#[derive(Debug, Default)]
pub(crate) struct AccountState {
    sent: Vec<SentTx>,
    spent: SpentTotals,
    /// Rights that were signed and not broadcast. They are not added to transactions, which may use them.
    signed: SpentTotals,
    halted: bool,
}

/// Transaction or signature sent by the account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SentTx {
    pub tx_hash: String,
    pub chain: u64,
    pub action_id: Option<String>,
    pub tool: String,
    pub ok: bool,
    pub block: u64,
    pub gas_used: u64,
}

/// USD value of all outflows on all chains, with 8 decimals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SpentTotals {
    pub session_usd8: U256,
    pub day_usd8: U256,
}

impl SpentTotals {
    pub(crate) fn plus(self, usd8: U256) -> Self {
        Self { session_usd8: self.session_usd8.saturating_add(usd8), day_usd8: self.day_usd8.saturating_add(usd8) }
    }
}

impl AccountState {
    #[cfg(test)]
    pub(crate) fn with_spent(spent: SpentTotals) -> Self {
        Self { spent, ..Self::default() }
    }

    pub(crate) fn sent(&self) -> &[SentTx] {
        &self.sent
    }

    pub(crate) fn add_sent(&mut self, tx: SentTx) {
        self.sent.push(tx);
    }

    pub(crate) fn spent(&self) -> &SpentTotals {
        &self.spent
    }

    /// Returns the totals that a plan adds to: those of signatures or those of transactions.
    pub(crate) fn spent_before(&self, kind: &PlanKind) -> SpentTotals {
        if matches!(kind, PlanKind::Sign(_)) { self.signed } else { self.spent }
    }

    pub(crate) fn add_spent(&mut self, usd8: U256) {
        self.spent = self.spent.plus(usd8);
    }

    pub(crate) fn add_signed(&mut self, usd8: U256) {
        self.signed = self.signed.plus(usd8);
    }

    pub(crate) fn is_halted(&self) -> bool {
        self.halted
    }

    pub(crate) fn halt(&mut self) {
        self.halted = true;
    }
}
