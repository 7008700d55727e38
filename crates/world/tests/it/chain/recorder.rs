//! Runs steps on a chain and records their outcomes, for comparison with another chain.

use alloy_primitives::{Address, Bytes, U256};
use alloy_sol_types::SolCall;
use bardo_eval_world::chain::{CallOutcome, ChainBackend, ChainError, Receipt, SnapshotId, Tx, TxStatus};
use std::fmt::Debug;

/// Step with its outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RecordedStep {
    pub(crate) what: String,
    pub(crate) outcome: String,
}

pub(crate) struct ChainRecorder<'a> {
    pub(crate) chain: &'a mut dyn ChainBackend,
    pub(crate) steps: Vec<RecordedStep>,
}

impl<'a> ChainRecorder<'a> {
    pub(crate) fn new(chain: &'a mut dyn ChainBackend) -> Self {
        Self { chain, steps: vec![] }
    }

    fn note(&mut self, what: &str, outcome: impl Debug) {
        self.steps.push(RecordedStep { what: what.to_owned(), outcome: format!("{outcome:#?}") });
    }

    /// Sends a transaction that must have this status and records its receipt.
    pub(crate) async fn send(&mut self, what: &str, tx: Tx, status: TxStatus) -> Receipt {
        let receipt = self.chain.send(&tx).await.unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(receipt.status, status, "{what}: {receipt:#?}");
        self.note(what, &receipt);
        receipt
    }

    pub(crate) async fn succeeds<C: SolCall>(&mut self, what: &str, from: Address, to: Address, call: C) -> Receipt {
        self.send(what, Tx::call(from, to, call.abi_encode()), TxStatus::Success).await
    }

    pub(crate) async fn reverts<C: SolCall>(&mut self, what: &str, from: Address, to: Address, call: C) -> Receipt {
        self.send(what, Tx::call(from, to, call.abi_encode()), TxStatus::Reverted).await
    }

    /// Sends a transaction that must be refused without a new block.
    pub(crate) async fn refused(&mut self, what: &str, tx: Tx) {
        let before = self.chain.latest().await.unwrap();
        let error = self.chain.send(&tx).await.expect_err(what);
        assert!(matches!(error, ChainError::Refused(_)), "{what}: {error}");
        assert_eq!(self.chain.latest().await.unwrap(), before, "{what}: a block was mined");
        self.note(what, "refused");
    }

    pub(crate) async fn call(&mut self, what: &str, tx: Tx) -> CallOutcome {
        let outcome = self.chain.call(&tx).await.unwrap_or_else(|error| panic!("{what}: {error}"));
        self.note(what, &outcome);
        outcome
    }

    pub(crate) async fn call_refused(&mut self, what: &str, tx: Tx) {
        let error = self.chain.call(&tx).await.expect_err(what);
        assert!(matches!(error, ChainError::Refused(_)), "{what}: {error}");
        self.note(what, "refused");
    }

    pub(crate) async fn account(&mut self, what: &str, of: Address) {
        let balance = self.chain.balance(of).await.unwrap();
        let (nonce, code) = (self.chain.nonce(of).await.unwrap(), self.chain.code(of).await.unwrap());
        let mut slots = vec![];
        for slot in 0..8 {
            slots.push(self.chain.storage(of, U256::from(slot)).await.unwrap());
        }
        let latest = self.chain.latest().await.unwrap();
        self.note(what, (balance, nonce, code, slots, latest));
    }

    pub(crate) async fn etch(&mut self, at: Address, code: impl Into<Bytes>) {
        self.chain.etch(at, code.into()).await.unwrap();
    }

    pub(crate) async fn fund(&mut self, of: Address, wei: U256) {
        self.chain.set_balance(of, wei).await.unwrap();
    }

    pub(crate) async fn snapshot(&mut self) -> SnapshotId {
        let snapshot = self.chain.snapshot().await.unwrap();
        self.note("snapshot", snapshot);
        snapshot
    }

    pub(crate) async fn restore(&mut self, to: SnapshotId) {
        self.chain.restore(to).await.unwrap();
        self.account("restored", Address::ZERO).await;
    }
}
