//! Sends transactions, signed by the client or with our key, and records them.

use alloy_consensus::Transaction;
use alloy_primitives::{B256, U256, hex, keccak256};
use model::EventKind;
use model::transcript::{ActionOrigin, SignatureRequest};
use serde_json::{Value, json};

use super::RpcContext;
use super::error::RpcError;
use super::params::RpcParams;
use super::raw_transaction::RawTransaction;
use crate::chain::{BASE_FEE, SignedForm, Tx, TxSubmission, signed_authorization, signed_transaction};

impl RpcContext<'_> {
    pub(super) fn record_signed(&mut self, what: SignatureRequest) {
        self.world.note_on_chain(self.who, EventKind::Signed { origin: ActionOrigin::default(), what: Box::new(what) });
    }

    async fn require_unknown(&mut self, hash: B256) -> Result<(), RpcError> {
        if self.ledger().await?.by_hash(hash).is_some() { Err(RpcError::refused("already known")) } else { Ok(()) }
    }

    pub(super) async fn send_raw(&mut self, params: RpcParams<'_>) -> Result<Value, RpcError> {
        Ok(json!(self.send_bytes(params).await?))
    }

    /// Sends a signed transaction and returns its receipt (EIP-7966).
    pub(super) async fn send_raw_and_wait(&mut self, params: RpcParams<'_>) -> Result<Value, RpcError> {
        let hash = self.send_bytes(params).await?;
        self.receipt(hash).await
    }

    async fn send_bytes(&mut self, params: RpcParams<'_>) -> Result<B256, RpcError> {
        let raw = RawTransaction::read(params.bytes(0)?)?;
        self.require_unknown(raw.hash).await?;
        self.record_signatures(&raw).await?;
        self.submit(raw).await
    }

    /// Records the signatures made with our key, which the agent may hold itself. Those of other keys are not recorded, their effects are.
    async fn record_signatures(&mut self, raw: &RawTransaction) -> Result<(), RpcError> {
        if !self.client.mark_seen(raw.hash) {
            return Ok(());
        }
        let tx = raw.tx();
        self.record_authorizations(&tx).await?;
        if raw.from == self.world.signer().address() {
            let mut transaction = signed_transaction(self.world.address_book(self.chain).await?, &tx);
            // It may be signed for a chain other than the one it is sent to.
            if let (SignatureRequest::Transaction { chain, .. }, Some(id)) = (&mut transaction, raw.envelope.chain_id()) {
                *chain = id;
            }
            self.record_signed(transaction);
        }
        Ok(())
    }

    /// Records authorizations signed with our key, each once: also if it is seen in an estimate and never sent, because it stays valid.
    pub(super) async fn record_authorizations(&mut self, tx: &Tx) -> Result<(), RpcError> {
        let own = self.world.signer().address();
        for one in &tx.authorizations {
            if !one.recover_authority().is_ok_and(|authority| authority == own) {
                continue;
            }
            let signature = [one.signature_hash().as_slice(), &one.r().to_be_bytes::<32>(), &one.s().to_be_bytes::<32>()].concat();
            if self.client.mark_seen(keccak256(signature)) {
                let what = signed_authorization(self.world.address_book(self.chain).await?, own, one.inner());
                self.record_signed(what);
            }
        }
        Ok(())
    }

    pub(super) async fn send(&mut self, params: RpcParams<'_>) -> Result<Value, RpcError> {
        let raw = self.sign_with_own_key(params).await?;
        Ok(json!(self.submit(raw).await?))
    }

    pub(super) async fn sign_transaction(&mut self, params: RpcParams<'_>) -> Result<Value, RpcError> {
        let raw = self.sign_with_own_key(params).await?;
        let mut tx = serde_json::to_value(&raw.envelope).unwrap_or_default();
        tx["hash"] = json!(raw.hash);
        tx["from"] = json!(raw.from);
        Ok(json!({ "raw": hex::encode_prefixed(&raw.bytes), "tx": tx }))
    }

    /// Signs without simulating first, so that transactions that would revert are recorded too.
    async fn sign_with_own_key(&mut self, params: RpcParams<'_>) -> Result<RawTransaction, RpcError> {
        let request = params.call(0)?;
        let own = self.world.signer().address();
        if request.from.is_some_and(|from| from != own) {
            return Err(RpcError::refused("unknown account"));
        }
        let fee = request.max_fee_per_gas.or(request.gas_price).unwrap_or(U256::from(BASE_FEE));
        let fee = u128::try_from(fee).map_err(|_| RpcError::params("the fee is too high"))?;
        let given = request.nonce.map(|nonce| nonce.to::<u64>());
        let mut tx = request.tx(self.chain)?;
        tx.from = own;
        let nonce = match given {
            Some(nonce) => nonce,
            None => self.chain().await?.nonce(own).await?,
        };
        self.record_authorizations(&tx).await?;
        let book = self.world.address_book(self.chain).await?;
        let what = signed_transaction(book, &tx);
        self.record_signed(what);
        let raw = RawTransaction::sign(self.world.signer(), self.chain, &tx, nonce, fee)?;
        self.client.mark_seen(raw.hash);
        Ok(raw)
    }

    /// Broadcasts a transaction. Rejections use the texts of geth, which clients match.
    async fn submit(&mut self, raw: RawTransaction) -> Result<B256, RpcError> {
        raw.check(self.chain)?;
        self.require_unknown(raw.hash).await?;
        let tx = raw.tx();
        let (given, chain) = (raw.envelope.nonce(), self.chain().await?);
        let (next, funds) = (chain.nonce(raw.from).await?, chain.balance(raw.from).await?);
        if given != next {
            let side = if given < next { "low" } else { "high" };
            return Err(RpcError::refused(format!("nonce too {side}: next nonce {next}, tx nonce {given}")));
        }
        let gas = U256::from(tx.gas).saturating_mul(U256::from(raw.envelope.max_fee_per_gas()));
        let cost = gas.saturating_add(tx.value);
        if cost > funds {
            return Err(RpcError::refused(format!("insufficient funds for gas * price + value: balance {funds}, tx cost {cost}")));
        }
        let signed = Some(SignedForm { hash: raw.hash, envelope: raw.envelope });
        self.world.broadcast(self.who, self.chain, ActionOrigin::default(), TxSubmission { tx, signed }).await?;
        Ok(raw.hash)
    }
}
