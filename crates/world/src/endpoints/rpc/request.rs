//! Parses one JSON-RPC request.

use serde_json::Value;

use super::error::RpcError;

#[derive(Debug, PartialEq)]
pub(super) struct RpcRequest<'r> {
    pub(super) method: &'r str,
    pub(super) params: &'r [Value],
}

/// Returns the id of a request, also of an invalid one, so that the client can match the error. Null if there is none.
pub(super) fn request_id(value: &Value) -> Value {
    match value.get("id") {
        Some(id @ (Value::String(_) | Value::Number(_))) => id.clone(),
        Some(_) | None => Value::Null,
    }
}

impl<'r> RpcRequest<'r> {
    pub(super) fn read(value: &'r Value) -> Result<Self, RpcError> {
        let Value::Object(fields) = value else {
            return Err(RpcError::request("a request must be an object"));
        };
        if request_id(value).is_null() {
            return Err(RpcError::request("a request must have an id that is a number or a string"));
        }
        if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return Err(RpcError::request("a request must have \"jsonrpc\": \"2.0\""));
        }
        let method = fields.get("method").and_then(Value::as_str).ok_or_else(|| RpcError::request("a request must have a method"))?;
        let params = match fields.get("params") {
            None | Some(Value::Null) => &[],
            Some(Value::Array(params)) => params.as_slice(),
            Some(_) => return Err(RpcError::params("params must be an array")),
        };
        Ok(Self { method, params })
    }
}

#[cfg(test)]
mod tests {
    use super::{RpcRequest, request_id};
    use serde_json::{Value, json};

    #[test]
    fn invalid_request_error_keeps_its_id() {
        for (value, expected, code) in [
            (json!(1), Value::Null, -32600),
            (json!({}), Value::Null, -32600),
            (json!({ "jsonrpc": "2.0", "method": "eth_chainId" }), Value::Null, -32600),
            (json!({ "jsonrpc": "2.0", "id": {}, "method": "eth_chainId" }), Value::Null, -32600),
            (json!({ "id": 7, "method": "eth_chainId" }), json!(7), -32600),
            (json!({ "jsonrpc": "2.0", "id": 7 }), json!(7), -32600),
            (json!({ "jsonrpc": "2.0", "id": "a", "method": 3 }), json!("a"), -32600),
            (json!({ "jsonrpc": "2.0", "id": 7, "method": "x", "params": {} }), json!(7), -32602),
        ] {
            assert_eq!((request_id(&value), RpcRequest::read(&value).unwrap_err().code), (expected, code), "{value}");
        }
    }
}
