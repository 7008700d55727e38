//! Accounts and calls: what can be asked without leaving a trace.

use serde_json::Value;

use super::Turn;
use super::error::RpcError;
use super::params::{Params, big, data, quantity};
use crate::chain::{BLOCK_GAS, Outcome, Status, Tx};

impl Turn<'_> {
    pub(super) async fn balance(&mut self, params: Params<'_>) -> Result<Value, RpcError> {
        let of = params.address(0)?;
        self.must_be_latest(params.get(1)).await?;
        Ok(big(self.chain().await?.balance(of).await?))
    }

    pub(super) async fn transaction_count(&mut self, params: Params<'_>) -> Result<Value, RpcError> {
        let of = params.address(0)?;
        self.must_be_latest(params.get(1)).await?;
        Ok(quantity(self.chain().await?.nonce(of).await?))
    }

    pub(super) async fn code(&mut self, params: Params<'_>) -> Result<Value, RpcError> {
        let of = params.address(0)?;
        self.must_be_latest(params.get(1)).await?;
        Ok(data(&self.chain().await?.code(of).await?))
    }

    pub(super) async fn storage(&mut self, params: Params<'_>) -> Result<Value, RpcError> {
        let (of, slot) = (params.address(0)?, params.slot(1)?);
        self.must_be_latest(params.get(2)).await?;
        Ok(data(self.chain().await?.storage(of, slot).await?.as_slice()))
    }

    async fn tried(&mut self, params: Params<'_>) -> Result<Tx, RpcError> {
        let mut tx = params.call(0)?.tx(self.chain)?;
        if params.get(2).and_then(Value::as_object).is_some_and(|overrides| !overrides.is_empty()) {
            return Err(RpcError::params("state overrides are not supported"));
        }
        self.must_be_latest(params.get(1)).await?;
        if tx.gas == 0 {
            tx.gas = BLOCK_GAS;
        }
        Ok(tx)
    }

    pub(super) async fn call(&mut self, params: Params<'_>) -> Result<Value, RpcError> {
        let tx = self.tried(params).await?;
        let outcome = self.run(&tx).await?;
        Ok(data(&outcome.output))
    }

    /// Enough gas, not the least: refunds and what calls hold back make that more than was used.
    pub(super) async fn estimate(&mut self, params: Params<'_>) -> Result<Value, RpcError> {
        let mut tx = self.tried(params).await?;
        let most = tx.gas;
        let mut guess = self.run(&tx).await?.gas_used;
        // A plain payment takes exactly what it takes.
        if guess > 21_000 {
            guess += guess / 4;
        }
        loop {
            tx.gas = guess.min(most);
            if tx.gas == most || self.chain().await?.call(&tx).await.is_ok_and(|outcome| outcome.status == Status::Success) {
                return Ok(quantity(tx.gas));
            }
            guess = guess.saturating_mul(2);
        }
    }

    async fn run(&mut self, tx: &Tx) -> Result<Outcome, RpcError> {
        let outcome = self.chain().await?.call(tx).await?;
        match outcome.status {
            Status::Success => Ok(outcome),
            Status::Reverted => Err(RpcError::reverted(&outcome.output)),
            Status::Halted => Err(RpcError::refused("out of gas or invalid opcode")),
        }
    }
}
