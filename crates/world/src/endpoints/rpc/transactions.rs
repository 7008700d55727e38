//! Sends transactions, signed by the client or with our key, and records them.

use alloy_consensus::Transaction;
use alloy_primitives::{U256, hex};
use model::EventKind;
use model::transcript::{ActionOrigin, SignatureRequest};
use serde_json::{Value, json};

use super::RpcContext;
use super::error::RpcError;
use super::history::RpcTransaction;
use super::params::RpcParams;
use super::raw_transaction::RawTransaction;
use crate::chain::{BASE_FEE, signed_authorization, signed_transaction};

impl RpcContext<'_> {
    pub(super) fn record_signed(&mut self, what: SignatureRequest) {
        self.world.note_on_chain(self.who, EventKind::Signed { origin: ActionOrigin::default(), what: Box::new(what) });
    }

    pub(super) async fn send_raw(&mut self, params: RpcParams<'_>) -> Result<Value, RpcError> {
        let raw = RawTransaction::read(params.bytes(0)?)?;
        if self.history.contains(raw.hash) {
            return Err(RpcError::refused("already known"));
        }
        self.record_signatures(&raw).await?;
        self.submit(raw).await
    }

    /// Records the signatures made with our key, which the agent may hold itself. Those of other keys are not recorded, their effects are.
    async fn record_signatures(&mut self, raw: &RawTransaction) -> Result<(), RpcError> {
        if !self.history.mark_seen(raw.hash) {
            return Ok(());
        }
        let own = self.world.signer().address();
        let tx = raw.tx();
        let book = self.world.address_book(self.chain).await?;
        let mut signed: Vec<SignatureRequest> = tx
            .authorizations
            .iter()
            .filter(|one| one.recover_authority().is_ok_and(|authority| authority == own))
            .map(|one| signed_authorization(book, own, one.inner()))
            .collect();
        if raw.from == own {
            let mut transaction = signed_transaction(book, &tx);
            // It may be signed for a chain other than the one it is sent to.
            if let (SignatureRequest::Transaction { chain, .. }, Some(id)) = (&mut transaction, raw.envelope.chain_id()) {
                *chain = id;
            }
            signed.push(transaction);
        }
        for what in signed {
            self.record_signed(what);
        }
        Ok(())
    }

    pub(super) async fn send(&mut self, params: RpcParams<'_>) -> Result<Value, RpcError> {
        let raw = self.sign_with_own_key(params).await?;
        self.submit(raw).await
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
        let book = self.world.address_book(self.chain).await?;
        let what = signed_transaction(book, &tx);
        self.record_signed(what);
        let raw = RawTransaction::sign(self.world.signer(), self.chain, &tx, nonce, fee)?;
        self.history.mark_seen(raw.hash);
        Ok(raw)
    }

    /// Broadcasts a transaction. Rejections use the texts of geth, which clients match.
    async fn submit(&mut self, raw: RawTransaction) -> Result<Value, RpcError> {
        raw.check(self.chain)?;
        if self.history.contains(raw.hash) {
            return Err(RpcError::refused("already known"));
        }
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
        let receipt = self.world.broadcast(self.who, self.chain, ActionOrigin::default(), tx).await?;
        let hash = raw.hash;
        self.history.insert(RpcTransaction { hash, envelope: raw.envelope, from: raw.from, receipt });
        Ok(json!(hash))
    }
}
