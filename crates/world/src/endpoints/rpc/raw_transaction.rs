//! Signed transactions as bytes: decoded from a client, or signed with our key.

use alloy_consensus::transaction::SignerRecoverable;
use alloy_consensus::{SignableTransaction, Transaction, TxEip1559, TxEip7702, TxEnvelope};
use alloy_eips::Decodable2718;
use alloy_eips::eip2718::Encodable2718;
use alloy_primitives::{Address, B256, Bytes, Signature, TxKind, keccak256};

use super::error::RpcError;
use crate::chain::{BASE_FEE, Signer, Tx};

/// Maximum size of a transaction, as in real nodes.
const MAX_TRANSACTION_BYTES: usize = 128 * 1024;

/// Transaction with its signature, sender and hash.
#[derive(Debug)]
pub(super) struct RawTransaction {
    pub(super) bytes: Bytes,
    pub(super) hash: B256,
    pub(super) envelope: TxEnvelope,
    pub(super) from: Address,
}

impl RawTransaction {
    pub(super) fn read(bytes: Bytes) -> Result<Self, RpcError> {
        if bytes.len() > MAX_TRANSACTION_BYTES {
            return Err(RpcError::refused(format!("oversized data: transaction size {}, limit {MAX_TRANSACTION_BYTES}", bytes.len())));
        }
        let mut rest = bytes.as_ref();
        let envelope = TxEnvelope::decode_2718(&mut rest).map_err(|error| RpcError::params(format!("invalid transaction: {error}")))?;
        if !rest.is_empty() {
            return Err(RpcError::params(format!("invalid transaction: {}", model::count(rest.len(), "trailing byte"))));
        }
        let from = envelope.recover_signer().map_err(|_| RpcError::refused("invalid signature: no sender can be recovered"))?;
        Ok(Self { hash: keccak256(&bytes), bytes, envelope, from })
    }

    /// Signs with our key. The caller must have recorded the request.
    pub(super) fn sign(signer: &Signer, chain: u64, tx: &Tx, nonce: u64, max_fee: u128) -> Result<Self, RpcError> {
        let (gas_limit, value, input) = (tx.gas_limit(), tx.value, tx.data.clone());
        let sign_hash =
            |hash: B256| Signature::try_from(signer.sign(hash).as_slice()).map_err(|error| RpcError::internal(error.to_string()));
        let envelope = match tx.to {
            Some(to) if !tx.authorizations.is_empty() => {
                let unsigned = TxEip7702 {
                    chain_id: chain,
                    nonce,
                    gas_limit,
                    max_fee_per_gas: max_fee,
                    max_priority_fee_per_gas: 0,
                    to,
                    value,
                    access_list: Default::default(),
                    authorization_list: tx.authorizations.clone(),
                    input,
                };
                let signature = sign_hash(unsigned.signature_hash())?;
                TxEnvelope::from(unsigned.into_signed(signature))
            }
            Some(_) | None => {
                let unsigned = TxEip1559 {
                    chain_id: chain,
                    nonce,
                    gas_limit,
                    max_fee_per_gas: max_fee,
                    max_priority_fee_per_gas: 0,
                    to: tx.to.map_or(TxKind::Create, TxKind::Call),
                    value,
                    access_list: Default::default(),
                    input,
                };
                let signature = sign_hash(unsigned.signature_hash())?;
                TxEnvelope::from(unsigned.into_signed(signature))
            }
        };
        let bytes = Bytes::from(envelope.encoded_2718());
        Ok(Self { hash: keccak256(&bytes), bytes, envelope, from: signer.address() })
    }

    /// Converts to the transaction for the chain.
    pub(super) fn tx(&self) -> Tx {
        Tx {
            from: self.from,
            to: self.envelope.to(),
            value: self.envelope.value(),
            data: self.envelope.input().clone(),
            gas: self.envelope.gas_limit(),
            nonce: Some(self.envelope.nonce()),
            authorizations: self.envelope.authorization_list().map(<[_]>::to_vec).unwrap_or_default(),
        }
    }

    /// Fails for transactions that no block of this chain can include.
    pub(super) fn check(&self, chain: u64) -> Result<(), RpcError> {
        match self.envelope.chain_id() {
            Some(id) if id == chain => {}
            Some(id) => return Err(RpcError::refused(format!("invalid chain id for signer: have {id} want {chain}"))),
            None => return Err(RpcError::refused("only replay-protected (EIP-155) transactions allowed over RPC")),
        }
        if matches!(self.envelope, TxEnvelope::Eip4844(_)) {
            return Err(RpcError::refused("transaction type not supported: blobs (EIP-4844)"));
        }
        if self.envelope.max_fee_per_gas() < u128::from(BASE_FEE) {
            let fee = self.envelope.max_fee_per_gas();
            return Err(RpcError::refused(format!("max fee per gas less than block base fee: maxFeePerGas: {fee}, baseFee: {BASE_FEE}")));
        }
        // Checked here, because 0 means the default limit in `Tx`.
        if self.envelope.gas_limit() < 21_000 {
            return Err(RpcError::refused(format!("intrinsic gas too low: gas {}, minimum needed 21000", self.envelope.gas_limit())));
        }
        Ok(())
    }
}
