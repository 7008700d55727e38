//! Reads the transactions that traces name from a node of their chain, until there is a final answer, which is stored and never asked for again.

use model::{UserError, Workspace};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use store::StoreError;
use store::production::{ProductionCounter, ProductionStore, WantedReceipt};
use world::chain::{ChainReader, ObservedTransaction, ReadFailure, registry_book};

/// Time for one answer of a node.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Attempts until a transaction counts as not decoded, with a pause that doubles.
const ATTEMPTS: u32 = 6;
const FIRST_PAUSE_MS: u64 = 1_000;
/// Transactions that are read in one step.
const STEP: usize = 16;

/// Final answer about a transaction, as stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReceiptAnswer {
    Decoded(Box<ObservedTransaction>),
    NotDecoded { why: String },
}

/// Reader of the transactions of one chain.
#[derive(Debug)]
pub struct ReceiptFetcher {
    chain: u64,
    store: ProductionStore,
    reader: ChainReader,
}

impl ReceiptFetcher {
    /// Prepares a node. Nothing is asked yet.
    ///
    /// # Errors
    ///
    /// Fails if the chain has no registry, no wallet is known, or the URL is not one of HTTP.
    pub fn new(workspace: &Workspace, store: ProductionStore, chain: u64, url: &str) -> Result<Self, UserError> {
        let wallets = &workspace.production.wallets;
        if wallets.is_empty() {
            let remedy = "list the addresses of the agents as wallets in production.yaml";
            return Err(UserError::new("an RPC needs wallets, otherwise no transaction counts as the agents' own", remedy));
        }
        let book = registry_book(workspace, chain, wallets);
        let book = book.ok_or_else(|| UserError::new(format!("the workspace does not know chain {chain}"), "add registry/NAME.yaml"))?;
        Ok(Self { chain, store, reader: ChainReader::new(book, url, TIMEOUT)? })
    }

    /// Reads what is due and stores the answers. Returns their number.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be used; failures of the node are tried again, and are answers in the end.
    pub async fn step(&mut self, now_ms: u64) -> Result<usize, StoreError> {
        let due = self.store.due_receipts(self.chain, now_ms, STEP)?;
        let count = due.len();
        for wanted in due {
            let read = match wanted.hash.parse() {
                Ok(hash) => self.reader.read(hash).await,
                Err(_) => Err(ReadFailure::Wrong("it is not the hash of a transaction".into())),
            };
            self.store_answer(&wanted, read, now_ms)?;
        }
        Ok(count)
    }

    fn store_answer(&self, wanted: &WantedReceipt, read: Result<ObservedTransaction, ReadFailure>, now_ms: u64) -> Result<(), StoreError> {
        let (answer, counter) = match read {
            Ok(read) => (ReceiptAnswer::Decoded(Box::new(read)), ProductionCounter::ReceiptsDecoded),
            Err(ReadFailure::Later(_)) if wanted.attempts + 1 < ATTEMPTS => {
                return self.store.retry_receipt(wanted, now_ms + (FIRST_PAUSE_MS << wanted.attempts));
            }
            Err(failure) => (ReceiptAnswer::NotDecoded { why: failure.to_string() }, ProductionCounter::ReceiptsFailed),
        };
        // Answers are plain data, so serialization cannot fail.
        let body = serde_json::to_string(&answer).unwrap_or_else(|error| panic!("a receipt cannot be serialized: {error}"));
        self.store.answer_receipt(wanted, &body, counter)
    }
}
