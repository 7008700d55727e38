//! Strict parsing of positional parameters. Errors name the position.

use alloy_eip7702::{Authorization, SignedAuthorization};
use alloy_primitives::{Address, B256, Bytes, U64, U256, hex};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::error::RpcError;
use crate::chain::{BLOCK_GAS, Tx};

#[derive(Debug, Clone, Copy)]
pub(super) struct RpcParams<'p>(pub(super) &'p [Value]);

pub(super) fn quantity(number: u64) -> Value {
    format!("{number:#x}").into()
}

pub(super) fn big_quantity(number: U256) -> Value {
    format!("{number:#x}").into()
}

pub(super) fn data(bytes: &[u8]) -> Value {
    hex::encode_prefixed(bytes).into()
}

impl<'p> RpcParams<'p> {
    pub(super) fn get(self, at: usize) -> Option<&'p Value> {
        self.0.get(at).filter(|value| !value.is_null())
    }

    fn read<T: DeserializeOwned>(self, at: usize, what: &str) -> Result<T, RpcError> {
        let value = self.get(at).ok_or_else(|| RpcError::params(format!("parameter {at} is missing: {what}")))?;
        serde_json::from_value(value.clone())
            .map_err(|error| RpcError::params(format!("parameter {at} is not {what}: {}", crate::mcp::printable(&error.to_string(), 200))))
    }

    pub(super) fn address(self, at: usize) -> Result<Address, RpcError> {
        self.read(at, "an address")
    }

    pub(super) fn hash(self, at: usize) -> Result<B256, RpcError> {
        self.read(at, "a hash")
    }

    pub(super) fn slot(self, at: usize) -> Result<U256, RpcError> {
        self.read(at, "a storage slot")
    }

    pub(super) fn bytes(self, at: usize) -> Result<Bytes, RpcError> {
        self.read(at, "hexadecimal bytes")
    }

    pub(super) fn number(self, at: usize) -> Result<u64, RpcError> {
        self.read::<U64>(at, "a number").map(|number| number.to())
    }

    pub(super) fn text(self, at: usize) -> Result<&'p str, RpcError> {
        self.get(at).and_then(Value::as_str).ok_or_else(|| RpcError::params(format!("parameter {at} is not a string")))
    }

    pub(super) fn flag(self, at: usize) -> bool {
        self.get(at).and_then(Value::as_bool).unwrap_or(false)
    }

    pub(super) fn call(self, at: usize) -> Result<CallRequest, RpcError> {
        self.read(at, "a transaction")
    }

    /// Parses a block given by number, tag, object or bare hash.
    pub(super) fn block_or_hash(self, at: usize) -> Result<BlockSelector, RpcError> {
        match self.get(at) {
            Some(Value::String(text)) if text.len() == 66 => self.hash(at).map(BlockSelector::Hash),
            other => BlockSelector::read(other),
        }
    }

    /// Parses the parameters of `personal_sign`: message, then signer. Old clients send them in the other order.
    pub(super) fn message_and_signer(self) -> Result<(&'p str, Address), RpcError> {
        match (self.address(1), self.address(0)) {
            (Ok(signer), _) => Ok((self.text(0)?, signer)),
            (Err(_), Ok(signer)) => Ok((self.text(1)?, signer)),
            (Err(error), Err(_)) => Err(error),
        }
    }
}

/// Block whose state is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockSelector {
    Latest,
    Earliest,
    Number(u64),
    Hash(B256),
}

impl BlockSelector {
    pub(super) fn read(value: Option<&Value>) -> Result<Self, RpcError> {
        let wrong = || {
            RpcError::params("a block must be a hexadecimal number, a tag such as \"latest\", or an object with blockNumber or blockHash")
        };
        match value {
            None | Some(Value::Null) => Ok(Self::Latest),
            Some(Value::String(name)) => match name.as_str() {
                "latest" | "pending" | "safe" | "finalized" => Ok(Self::Latest),
                "earliest" => Ok(Self::Earliest),
                number => number
                    .strip_prefix("0x")
                    .filter(|digits| digits.len() <= 16)
                    .and_then(|digits| u64::from_str_radix(digits, 16).ok())
                    .map(Self::Number)
                    .ok_or_else(wrong),
            },
            Some(Value::Object(fields)) => match (fields.get("blockNumber"), fields.get("blockHash")) {
                (Some(number @ Value::String(_)), None) => Self::read(Some(number)),
                (None, Some(hash)) => serde_json::from_value(hash.clone()).map(Self::Hash).map_err(|_| wrong()),
                (Some(_) | None, Some(_) | None) => Err(wrong()),
            },
            Some(Value::Bool(_) | Value::Number(_) | Value::Array(_)) => Err(wrong()),
        }
    }
}

/// Transaction request of a client. The gas price is pinned, so fees are only checked when the transaction is signed.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CallRequest {
    pub(super) from: Option<Address>,
    to: Option<Address>,
    value: Option<U256>,
    data: Option<Bytes>,
    input: Option<Bytes>,
    gas: Option<U64>,
    pub(super) nonce: Option<U64>,
    chain_id: Option<U64>,
    pub(super) gas_price: Option<U256>,
    pub(super) max_fee_per_gas: Option<U256>,
    authorization_list: Option<Vec<AuthorizationRequest>>,
    blob_versioned_hashes: Option<Vec<Value>>,
}

impl CallRequest {
    /// Converts to a transaction without nonce, which is set when it is signed.
    pub(super) fn tx(self, chain: u64) -> Result<Tx, RpcError> {
        if self.chain_id.is_some_and(|id| id.to::<u64>() != chain) {
            return Err(RpcError::params(format!("chainId must be {chain} at this endpoint")));
        }
        if self.blob_versioned_hashes.is_some_and(|hashes| !hashes.is_empty()) {
            return Err(RpcError::refused("transaction type not supported: blobs (EIP-4844)"));
        }
        let authorizations = self.authorization_list.unwrap_or_default().into_iter().map(AuthorizationRequest::signed);
        let authorizations = authorizations.collect::<Result<_, _>>()?;
        let input = match (self.data, self.input) {
            (Some(data), Some(input)) if data != input => return Err(RpcError::params("data and input differ")),
            (Some(bytes), _) | (None, Some(bytes)) => bytes,
            (None, None) => Bytes::new(),
        };
        let gas = self.gas.map_or(0, |gas| gas.to::<u64>()).min(BLOCK_GAS);
        Ok(Tx {
            from: self.from.unwrap_or_default(),
            to: self.to,
            value: self.value.unwrap_or_default(),
            data: input,
            gas,
            authorizations,
            ..Tx::default()
        })
    }
}

/// Signed authorization of EIP-7702 as clients write it: with `yParity`, with `v`, or with both.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct AuthorizationRequest {
    chain_id: U256,
    address: Address,
    nonce: U64,
    y_parity: Option<U64>,
    v: Option<U64>,
    r: U256,
    s: U256,
}

impl AuthorizationRequest {
    fn signed(self) -> Result<SignedAuthorization, RpcError> {
        let Self { chain_id, address, nonce, y_parity, v, r, s } = self;
        let parity = match (y_parity.map(|parity| parity.to::<u64>()), v.map(|v| v.to::<u64>())) {
            (Some(parity @ (0 | 1)), _) | (None, Some(parity @ (0 | 1))) => parity,
            (None, Some(v @ (27 | 28))) => v - 27,
            (Some(_) | None, Some(_) | None) => return Err(RpcError::params("an authorization needs yParity 0 or 1")),
        };
        let authorization = Authorization { chain_id, address, nonce: nonce.to() };
        Ok(SignedAuthorization::new_unchecked(authorization, u8::from(parity == 1), r, s))
    }
}

#[cfg(test)]
mod tests {
    use super::{BlockSelector, RpcParams};
    use serde_json::json;

    #[test]
    fn block_selector_reads_tags_numbers_and_hashes() {
        assert_eq!(BlockSelector::read(None).unwrap(), BlockSelector::Latest);
        assert_eq!(BlockSelector::read(Some(&json!("pending"))).unwrap(), BlockSelector::Latest);
        assert_eq!(BlockSelector::read(Some(&json!("0x10"))).unwrap(), BlockSelector::Number(16));
        assert_eq!(BlockSelector::read(Some(&json!({ "blockNumber": "0x1" }))).unwrap(), BlockSelector::Number(1));
        for bad in
            [json!("soon"), json!("16"), json!("0x"), json!("0x10000000000000000"), json!(1), json!({}), json!({ "blockHash": "0x1" })]
        {
            assert_eq!(BlockSelector::read(Some(&bad)).unwrap_err().code, -32602, "{bad}");
        }
    }

    #[test]
    fn personal_sign_accepts_either_param_order() {
        let (address, message) = (json!("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"), json!("0x68690a"));
        for params in [[message.clone(), address.clone()], [address.clone(), message.clone()]] {
            assert_eq!(RpcParams(&params).message_and_signer().unwrap().0, "0x68690a");
        }
        assert!(RpcParams(&[message]).message_and_signer().is_err());
    }
}
