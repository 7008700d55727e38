//! Signing key of the agent, and decoding of signature requests so that they are recorded even if nothing is broadcast.

use super::{AddressBook, Tx, decode};
use alloy_dyn_abi::DynSolValue;
use alloy_eip7702::{Authorization, SignedAuthorization};
use alloy_primitives::{Address, B256, Signature, U256, hex, keccak256};
use k256::ecdsa::SigningKey;
use model::transcript::SignatureRequest;
use serde_json::{Map, Value};
use std::fmt;

/// EIP-712 data as `eth_signTypedData_v4` takes it.
pub use alloy_dyn_abi::TypedData;

/// Signing key of a simulated world, never a real one.
pub struct Signer {
    key: SigningKey,
}

/// First of the well-known development keys.
const DEVELOPMENT_KEY: [u8; 32] = hex!("ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80");

impl Signer {
    /// Returns the well-known key, for subjects that cannot sign by themselves.
    pub fn development() -> Self {
        // Cannot fail: the constant is a valid scalar.
        Self { key: SigningKey::from_bytes(&DEVELOPMENT_KEY.into()).unwrap_or_else(|error| panic!("the development key: {error}")) }
    }

    /// Returns the key with these bytes, if they are one.
    pub(crate) fn from_bytes(bytes: &[u8; 32]) -> Option<Self> {
        SigningKey::from_bytes(&(*bytes).into()).ok().map(|key| Self { key })
    }

    pub fn address(&self) -> Address {
        let point = self.key.verifying_key().to_encoded_point(false);
        Address::from_slice(&keccak256(&point.as_bytes()[1..])[12..])
    }

    /// Signs a hash. Returns 65 bytes: r, s, v (27 or 28).
    pub fn sign(&self, hash: B256) -> [u8; 65] {
        self.signature(hash).as_bytes()
    }

    pub fn authorize(&self, chain: u64, delegate: Address, nonce: u64) -> SignedAuthorization {
        let authorization = Authorization { chain_id: U256::from(chain), address: delegate, nonce };
        let signature = self.signature(authorization.signature_hash());
        authorization.into_signed(signature)
    }

    fn signature(&self, hash: B256) -> Signature {
        let (signature, parity) = self.key.sign_prehash_recoverable(hash.as_slice()).unwrap_or_else(|error| panic!("signing: {error}"));
        Signature::from_signature_and_parity(signature, parity.is_y_odd())
    }
}

/// Shows the address, never the key.
impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signer").field("address", &self.address()).finish()
    }
}

/// Describes a transaction to be signed.
pub fn signed_transaction(book: &AddressBook, tx: &Tx) -> SignatureRequest {
    let (call, inner) = decode::decode_calls(book, tx.to, &tx.data);
    let to = tx.to.map(|to| book.party(to));
    SignatureRequest::Transaction { chain: book.chain, from: book.party(tx.from), to, value: tx.value.to_string(), call, inner }
}

/// Describes typed data to be signed: permits, orders, delegations. The message has the fields that are hashed, as they are hashed: fields that
/// `types` does not declare are left out, because a verifier never sees them.
pub fn signed_typed(book: &AddressBook, signer: Address, data: &TypedData) -> SignatureRequest {
    let domain = serde_json::to_value(&data.domain).ok().and_then(|domain| domain.as_object().cloned()).unwrap_or_default();
    SignatureRequest::Typed { signer: book.party(signer), domain, primary: data.primary_type.clone(), message: hashed_fields(book, data) }
}

/// Returns the fields of a message that its hash covers. A message that cannot be hashed is kept as text, which no reader takes for fields.
fn hashed_fields(book: &AddressBook, data: &TypedData) -> Map<String, Value> {
    match data.coerce().map(|value| hashed_value(book, &value)) {
        Ok(Value::Object(fields)) => fields,
        Ok(_) | Err(_) => Map::from_iter([("message".to_owned(), truncated_text(&data.message))]),
    }
}

fn hashed_value(book: &AddressBook, value: &DynSolValue) -> Value {
    match value {
        DynSolValue::CustomStruct { prop_names, tuple, .. } => {
            Value::Object(prop_names.iter().cloned().zip(tuple.iter().map(|field| hashed_value(book, field))).collect())
        }
        DynSolValue::Array(items) | DynSolValue::FixedArray(items) | DynSolValue::Tuple(items) => {
            Value::Array(items.iter().map(|item| hashed_value(book, item)).collect())
        }
        DynSolValue::Bool(_)
        | DynSolValue::Int(..)
        | DynSolValue::Uint(..)
        | DynSolValue::FixedBytes(..)
        | DynSolValue::Address(_)
        | DynSolValue::Function(_)
        | DynSolValue::Bytes(_)
        | DynSolValue::String(_) => decode::to_json(book, value),
    }
}

/// Describes an EIP-7702 authorization to be signed.
pub fn signed_authorization(book: &AddressBook, signer: Address, authorization: &Authorization) -> SignatureRequest {
    SignatureRequest::Authorization {
        signer: book.party(signer),
        chain: u64::try_from(authorization.chain_id).unwrap_or(u64::MAX),
        delegate: book.party(authorization.address),
        nonce: authorization.nonce,
    }
}

/// Truncates a message that is not valid typed data, for the record.
fn truncated_text(value: &Value) -> Value {
    Value::String(value.to_string().chars().take(1000).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn development_signer_has_its_known_address() {
        let signer = Signer::development();
        assert_eq!(signer.address().to_checksum(None), "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266");
        let hash = keccak256("x");
        let signature = Signature::try_from(signer.sign(hash).as_slice()).unwrap();
        assert_eq!(signature.recover_address_from_prehash(&hash).unwrap(), signer.address());
        assert!(!format!("{signer:?}").contains("ac0974"));
    }
}
