//! One request out of a body: the shape that JSON-RPC prescribes, or what is wrong with it.

use serde_json::Value;

use super::error::RpcError;

#[derive(Debug, PartialEq)]
pub(super) struct RpcRequest<'r> {
    pub(super) method: &'r str,
    pub(super) params: &'r [Value],
}

/// As far as there is one, also for what is no request: the client has to know which one it was.
pub(super) fn request_id(value: &Value) -> Value {
    match value.get("id") {
        Some(id @ (Value::String(_) | Value::Number(_))) => id.clone(),
        Some(_) | None => Value::Null,
    }
}

impl<'r> RpcRequest<'r> {
    pub(super) fn read(value: &'r Value) -> Result<Self, RpcError> {
        let Value::Object(fields) = value else {
            return Err(RpcError::request("a request is an object"));
        };
        if request_id(value).is_null() {
            return Err(RpcError::request("a request needs an id that is a number or a text"));
        }
        if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return Err(RpcError::request("a request says \"jsonrpc\": \"2.0\""));
        }
        let method = fields.get("method").and_then(Value::as_str).ok_or_else(|| RpcError::request("a request names a method"))?;
        let params = match fields.get("params") {
            None | Some(Value::Null) => &[],
            Some(Value::Array(params)) => params.as_slice(),
            Some(_) => return Err(RpcError::params("parameters are a list")),
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
