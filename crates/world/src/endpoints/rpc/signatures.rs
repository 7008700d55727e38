//! Signs messages and typed data. Every request is recorded before it is signed.

use alloy_primitives::{Address, eip191_hash_message, hex, keccak256};
use model::transcript::SignatureRequest;
use serde_json::{Map, Value};

use super::RpcContext;
use super::error::RpcError;
use super::params::{RpcParams, data};
use super::typed_data::check_typed_data;
use crate::chain::{TypedData, signed_typed};

/// Maximum size of typed data. Hashing more can take very long.
const MAX_TYPED_DATA_BYTES: usize = 64 * 1024;
/// Bytes of a message that are recorded. The hash of a longer one is recorded too.
const MAX_RECORDED_BYTES: usize = 4 * 1024;

impl RpcContext<'_> {
    fn require_own_account(&self, signer: Address) -> Result<(), RpcError> {
        if signer == self.world.signer().address() { Ok(()) } else { Err(RpcError::refused("unknown account")) }
    }

    /// Signs a message with the prefix of EIP-191. Its bytes are recorded as they are, because their meaning is unknown.
    pub(super) async fn sign_message(&mut self, method: &str, signer: Address, text: &str) -> Result<Value, RpcError> {
        self.require_own_account(signer)?;
        let message = match text.strip_prefix("0x") {
            Some(digits) => hex::decode(digits).map_err(|_| RpcError::params("the message is not hexadecimal"))?,
            None if method == "eth_sign" => return Err(RpcError::params("the message is not hexadecimal")),
            None => text.as_bytes().to_vec(),
        };
        let mut facts = Map::from_iter([
            ("method".to_owned(), method.into()),
            ("bytes".to_owned(), data(&message[..message.len().min(MAX_RECORDED_BYTES)])),
        ]);
        if message.len() > MAX_RECORDED_BYTES {
            facts.insert("length".to_owned(), message.len().into());
            facts.insert("keccak256".to_owned(), data(keccak256(&message).as_slice()));
        }
        if let Some(text) = std::str::from_utf8(&message).ok().filter(|text| !text.chars().any(|c| c.is_control() && !c.is_whitespace())) {
            facts.insert("text".to_owned(), text.chars().take(MAX_RECORDED_BYTES).collect::<String>().into());
        }
        let signer = self.world.address_book(self.chain).await?.party(signer);
        self.record_signed(SignatureRequest::Typed { signer, domain: Map::new(), primary: "RawMessage".to_owned(), message: facts });
        Ok(data(&self.world.signer().sign(eip191_hash_message(&message))))
    }

    pub(super) async fn sign_typed(&mut self, params: RpcParams<'_>) -> Result<Value, RpcError> {
        let signer = params.address(0)?;
        self.require_own_account(signer)?;
        let invalid = |why: String| RpcError::params(format!("parameter 1 is not typed data: {}", crate::mcp::printable(&why, 200)));
        let text = match params.get(1) {
            Some(Value::String(text)) => text.clone(),
            Some(object @ Value::Object(_)) => object.to_string(),
            Some(_) | None => return Err(invalid("it is neither an object nor a string".to_owned())),
        };
        if text.len() > MAX_TYPED_DATA_BYTES {
            return Err(invalid(format!("it is longer than {MAX_TYPED_DATA_BYTES} bytes")));
        }
        let value: Value = serde_json::from_str(&text).map_err(|error| invalid(error.to_string()))?;
        check_typed_data(&value).map_err(|error| invalid(error.to_string()))?;
        let typed: TypedData = serde_json::from_value(value).map_err(|error| invalid(error.to_string()))?;
        let hash = typed.eip712_signing_hash().map_err(|error| invalid(error.to_string()))?;
        let request = signed_typed(self.world.address_book(self.chain).await?, signer, &typed);
        self.record_signed(request);
        Ok(data(&self.world.signer().sign(hash)))
    }
}
