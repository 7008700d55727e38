//! One request out of a body: the shape that JSON-RPC prescribes, or what is wrong with it.

use serde_json::Value;

use super::error::RpcError;

#[derive(Debug, PartialEq)]
pub(super) struct Request<'r> {
    pub(super) id: Value,
    pub(super) method: &'r str,
    pub(super) params: &'r [Value],
}

impl<'r> Request<'r> {
    /// On failure also the id, as far as there is one: the client has to know which request it was.
    pub(super) fn read(value: &'r Value) -> Result<Self, (Value, RpcError)> {
        let Value::Object(fields) = value else {
            return Err((Value::Null, RpcError::request("a request is an object")));
        };
        let id = match fields.get("id") {
            Some(id @ (Value::String(_) | Value::Number(_))) => id.clone(),
            Some(_) | None => return Err((Value::Null, RpcError::request("a request needs an id that is a number or a text"))),
        };
        if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return Err((id, RpcError::request("a request says \"jsonrpc\": \"2.0\"")));
        }
        let Some(method) = fields.get("method").and_then(Value::as_str) else {
            return Err((id, RpcError::request("a request names a method")));
        };
        let params = match fields.get("params") {
            None | Some(Value::Null) => &[],
            Some(Value::Array(params)) => params.as_slice(),
            Some(_) => return Err((id, RpcError::params("parameters are a list"))),
        };
        Ok(Self { id, method, params })
    }
}

#[cfg(test)]
mod tests {
    use super::Request;
    use serde_json::{Value, json};

    #[test]
    fn what_is_no_request_is_told_with_its_id() {
        for (value, id, code) in [
            (json!(1), Value::Null, -32600),
            (json!({}), Value::Null, -32600),
            (json!({ "jsonrpc": "2.0", "method": "eth_chainId" }), Value::Null, -32600),
            (json!({ "jsonrpc": "2.0", "id": {}, "method": "eth_chainId" }), Value::Null, -32600),
            (json!({ "id": 7, "method": "eth_chainId" }), json!(7), -32600),
            (json!({ "jsonrpc": "2.0", "id": 7 }), json!(7), -32600),
            (json!({ "jsonrpc": "2.0", "id": "a", "method": 3 }), json!("a"), -32600),
            (json!({ "jsonrpc": "2.0", "id": 7, "method": "x", "params": {} }), json!(7), -32602),
        ] {
            let (told, error) = Request::read(&value).unwrap_err();
            assert_eq!((told, error.code), (id, code), "{value}");
        }
    }
}
