//! Read-only RPC methods: accounts, storage, `eth_call` and gas estimates.

use alloy_primitives::Address;
use serde_json::{Value, json};

use super::RpcContext;
use super::error::RpcError;
use super::params::{RpcParams, big_quantity, data, quantity};
use crate::chain::{BLOCK_GAS, CallOutcome, Tx, TxStatus};

impl RpcContext<'_> {
    pub(super) async fn balance(&mut self, params: RpcParams<'_>) -> Result<Value, RpcError> {
        let of = params.address(0)?;
        self.require_latest_block(params.get(1)).await?;
        Ok(big_quantity(self.chain().await?.balance(of).await?))
    }

    pub(super) async fn transaction_count(&mut self, params: RpcParams<'_>) -> Result<Value, RpcError> {
        let of = params.address(0)?;
        self.require_latest_block(params.get(1)).await?;
        Ok(quantity(self.chain().await?.nonce(of).await?))
    }

    pub(super) async fn code(&mut self, params: RpcParams<'_>) -> Result<Value, RpcError> {
        let of = params.address(0)?;
        self.require_latest_block(params.get(1)).await?;
        Ok(data(&self.chain().await?.code(of).await?))
    }

    pub(super) async fn storage(&mut self, params: RpcParams<'_>) -> Result<Value, RpcError> {
        let (of, slot) = (params.address(0)?, params.slot(1)?);
        self.require_latest_block(params.get(2)).await?;
        Ok(data(self.chain().await?.storage(of, slot).await?.as_slice()))
    }

    async fn call_tx(&mut self, params: RpcParams<'_>) -> Result<Tx, RpcError> {
        let mut tx = params.call(0)?.tx(self.chain)?;
        if params.get(2).and_then(Value::as_object).is_some_and(|overrides| !overrides.is_empty()) {
            return Err(RpcError::params("state overrides are not supported"));
        }
        self.require_latest_block(params.get(1)).await?;
        if tx.gas == 0 {
            tx.gas = BLOCK_GAS;
        }
        self.record_authorizations(&tx).await?;
        Ok(tx)
    }

    /// Returns the accounts and slots that a call accesses. A call that fails is reported in the answer, as by real nodes.
    pub(super) async fn access_list(&mut self, params: RpcParams<'_>) -> Result<Value, RpcError> {
        let tx = self.call_tx(params).await?;
        let chain = self.chain().await?;
        let (accessed, outcome) = (chain.accessed(&tx).await?, chain.call(&tx).await?);
        let precompile = |at: &Address| at[..18] == [0; 18];
        // Sender and target are always warm; they are listed only for their slots.
        let listed = |at: &Address, slots: usize| !precompile(at) && (slots > 0 || (*at != tx.from && Some(*at) != tx.to));
        let list: Vec<Value> = accessed
            .iter()
            .filter(|(at, slots)| listed(at, slots.len()))
            .map(|(at, slots)| json!({ "address": at, "storageKeys": slots }))
            .collect();
        let mut answer = json!({ "accessList": list, "gasUsed": quantity(outcome.gas_used) });
        match outcome.status {
            TxStatus::Success => {}
            TxStatus::Reverted => answer["error"] = "execution reverted".into(),
            TxStatus::Halted => answer["error"] = "out of gas or invalid opcode".into(),
        }
        Ok(answer)
    }

    pub(super) async fn call(&mut self, params: RpcParams<'_>) -> Result<Value, RpcError> {
        let tx = self.call_tx(params).await?;
        let outcome = self.run_call(&tx).await?;
        Ok(data(&outcome.output))
    }

    /// Estimates a sufficient gas limit, not the minimum. Refunds and the gas held back by calls require more than the gas used.
    pub(super) async fn estimate(&mut self, params: RpcParams<'_>) -> Result<Value, RpcError> {
        let mut tx = self.call_tx(params).await?;
        let limit = tx.gas;
        let mut guess = self.run_call(&tx).await?.gas_used;
        // A plain payment needs exactly 21,000.
        if guess > 21_000 {
            guess += guess / 4;
        }
        loop {
            tx.gas = guess.min(limit);
            if tx.gas == limit || self.chain().await?.call(&tx).await.is_ok_and(|outcome| outcome.status == TxStatus::Success) {
                return Ok(quantity(tx.gas));
            }
            guess = guess.saturating_mul(2);
        }
    }

    async fn run_call(&mut self, tx: &Tx) -> Result<CallOutcome, RpcError> {
        let outcome = self.chain().await?.call(tx).await?;
        match outcome.status {
            TxStatus::Success => Ok(outcome),
            TxStatus::Reverted => Err(RpcError::reverted(&outcome.output)),
            TxStatus::Halted => Err(RpcError::refused("out of gas or invalid opcode")),
        }
    }
}
