//! Transactions of a trial on one chain, as a node would list them, and the blocks around them.

use alloy_consensus::TxEnvelope;
use alloy_primitives::{B256, keccak256};
use std::collections::BTreeMap;

use super::{BlockInfo, ChainBackend, ChainError, Receipt, Tx};

/// Empty blocks after every transaction of a trial, so that clients that wait for confirmations get them at once. They depend on nothing
/// that a client does, so the record is the same in every run.
pub const CONFIRMATION_BLOCKS: u64 = 63;

/// Transaction to broadcast.
#[derive(Debug, Clone)]
pub struct TxSubmission {
    pub tx: Tx,
    /// Signed form, if a client sent one.
    pub signed: Option<SignedForm>,
}

impl From<Tx> for TxSubmission {
    fn from(tx: Tx) -> Self {
        Self { tx, signed: None }
    }
}

/// Signed transaction with the hash of its bytes.
#[derive(Debug, Clone)]
pub struct SignedForm {
    pub hash: B256,
    pub envelope: TxEnvelope,
}

/// Mined transaction of a trial.
#[derive(Debug, Clone)]
pub struct LedgerTx {
    /// Hash of the signed bytes. If there are none, derived from chain, sender, nonce and data, so that it is equal on every chain backend.
    pub hash: B256,
    pub tx: Tx,
    pub nonce: u64,
    pub envelope: Option<TxEnvelope>,
    pub receipt: Receipt,
}

/// All transactions of a trial on one chain: by tools, over RPC, and by third parties.
#[derive(Debug)]
pub struct ChainLedger {
    chain: u64,
    opened: BlockInfo,
    sent: Vec<LedgerTx>,
    by_hash: BTreeMap<B256, usize>,
}

impl ChainLedger {
    /// Creates a ledger. `opened` is the latest block before the trial.
    pub fn new(chain: u64, opened: BlockInfo) -> Self {
        Self { chain, opened, sent: vec![], by_hash: BTreeMap::new() }
    }

    /// Sends a transaction, mines [`CONFIRMATION_BLOCKS`] after it, and lists it.
    pub async fn send(&mut self, chain: &mut dyn ChainBackend, submission: &TxSubmission) -> Result<&LedgerTx, ChainError> {
        let TxSubmission { tx, signed } = submission;
        let nonce = chain.nonce(tx.from).await?;
        let receipt = chain.send(tx).await?;
        chain.mine_empty(CONFIRMATION_BLOCKS).await?;
        let (hash, envelope) = match signed {
            Some(SignedForm { hash, envelope }) => (*hash, Some(envelope.clone())),
            None => (transaction_id(self.chain, receipt.block.number, nonce, tx), None),
        };
        let at = self.sent.len();
        self.by_hash.insert(hash, at);
        self.sent.push(LedgerTx { hash, tx: tx.clone(), nonce, envelope, receipt });
        Ok(&self.sent[at])
    }

    pub fn chain(&self) -> u64 {
        self.chain
    }

    pub fn transactions(&self) -> &[LedgerTx] {
        &self.sent
    }

    pub fn by_hash(&self, hash: B256) -> Option<&LedgerTx> {
        self.by_hash.get(&hash).map(|at| &self.sent[*at])
    }

    /// Returns the transaction of a block. A block has at most one.
    pub fn in_block(&self, number: u64) -> Option<&LedgerTx> {
        self.sent.binary_search_by_key(&number, |sent| sent.receipt.block.number).ok().map(|at| &self.sent[at])
    }

    /// Returns the first block with the present state: that of the last transaction, or the one before the trial.
    pub fn state_since(&self) -> u64 {
        self.sent.last().map_or(self.opened.number, |sent| sent.receipt.block.number)
    }

    /// Returns the time of a block: that of the last transaction up to it. Blocks of the set-up are counted back by one second each.
    pub fn block_time(&self, number: u64) -> u64 {
        let later = self.sent.partition_point(|sent| sent.receipt.block.number <= number);
        match later.checked_sub(1).map(|at| self.sent[at].receipt.block) {
            Some(block) => block.unix_s,
            None => self.opened.unix_s.saturating_sub(self.opened.number.saturating_sub(number)),
        }
    }

    /// Returns a synthetic block hash. Real hashes differ between the backends; this one is the same in every run.
    pub fn block_hash(&self, number: u64) -> B256 {
        block_hash(self.chain, number)
    }

    /// Returns the number that a hash of [`Self::block_hash`] stands for.
    pub fn block_number(&self, hash: B256) -> Option<u64> {
        let masked = u64::from_be_bytes(hash[24..].try_into().ok()?);
        let number = masked ^ block_mask(self.chain);
        (self.block_hash(number) == hash).then_some(number)
    }
}

/// Returns the hash of a block: 24 bytes of a digest, then the masked number, so that a hash can be looked up without a table.
pub(in crate::chain) fn block_hash(chain: u64, number: u64) -> B256 {
    let mut hash = keccak256([b"block".as_slice(), &chain.to_be_bytes(), &number.to_be_bytes()].concat());
    hash[24..].copy_from_slice(&(number ^ block_mask(chain)).to_be_bytes());
    hash
}

fn block_mask(chain: u64) -> u64 {
    let digest = keccak256([b"mask".as_slice(), &chain.to_be_bytes()].concat());
    u64::from_be_bytes(std::array::from_fn(|at| digest[at]))
}

/// Returns the id of a transaction without signed bytes. The sender is left out, because the operator of external agents is random; the
/// block tells transactions apart.
fn transaction_id(chain: u64, block: u64, nonce: u64, tx: &Tx) -> B256 {
    keccak256([&chain.to_be_bytes()[..], &block.to_be_bytes()[..], &nonce.to_be_bytes()[..], tx.data.as_ref()].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::EmbeddedChain;
    use alloy_primitives::{Address, U256};

    #[tokio::test]
    async fn blocks_have_stable_times_and_hashes() {
        let from = Address::repeat_byte(0x11);
        let mut chain = EmbeddedChain::new(1, 1_000);
        chain.mine_empty(10).await.unwrap();
        chain.set_balance(from, U256::MAX >> 1).await.unwrap();
        let mut ledger = ChainLedger::new(1, chain.latest().await.unwrap());
        let mut before: Vec<(u64, B256)> = (0..=10).map(|number| (ledger.block_time(number), ledger.block_hash(number))).collect();
        for unix_s in [2_000, 2_005] {
            chain.set_time(unix_s).await.unwrap();
            let block = ledger.send(&mut chain, &Tx::call(from, Address::ZERO, vec![]).into()).await.unwrap().receipt.block;
            assert_eq!((block.unix_s, ledger.state_since()), (unix_s, block.number));
            let head = chain.latest().await.unwrap();
            assert_eq!((head.number, head.unix_s), (block.number + CONFIRMATION_BLOCKS, unix_s));
            let now: Vec<(u64, B256)> = (0..=head.number).map(|number| (ledger.block_time(number), ledger.block_hash(number))).collect();
            assert_eq!(now[..before.len()], before, "blocks once shown do not change");
            assert!(now.windows(2).all(|pair| pair[0].0 <= pair[1].0), "time goes back");
            before = now;
        }
        for (number, (_, hash)) in before.iter().enumerate() {
            assert_eq!(ledger.block_number(*hash), Some(number as u64));
        }
        assert_eq!(ledger.block_number(B256::ZERO), None);
    }
}
