//! Reads contract artifacts of solc, Foundry and Hardhat.

use alloy_json_abi::JsonAbi;
use alloy_primitives::{Bytes, hex};
use serde_json::Value;

/// Largest creation code (EIP-3860).
const MAX_CREATION_BYTES: usize = 49_152;
/// Largest runtime code (EIP-170).
const MAX_RUNTIME_BYTES: usize = 24_576;

/// Message and remedy.
type ArtifactError = (String, String);

/// ABI of an artifact and its JSON, from which code is taken when it is needed.
#[derive(Debug)]
pub(super) struct ContractFile {
    pub abi: JsonAbi,
    json: Value,
}

impl ContractFile {
    pub(super) fn parse(path: &str, text: &str) -> Result<Self, ArtifactError> {
        let again = || "give the JSON file of one contract, as solc, Foundry or Hardhat write it".to_owned();
        let json: Value = serde_json::from_str(text).map_err(|error| (format!("{path} is not JSON: {error}"), again()))?;
        let Some(abi) = json.get("abi") else {
            return Err((format!("{path} has no abi"), again()));
        };
        let abi = serde_json::from_value(abi.clone()).map_err(|error| (format!("{path} has an invalid abi: {error}"), again()))?;
        Ok(Self { abi, json })
    }

    /// Returns the creation code.
    pub(super) fn creation(&self, path: &str) -> Result<Bytes, ArtifactError> {
        self.code(path, &["bytecode"], MAX_CREATION_BYTES)
    }

    /// Returns the runtime code, for a contract whose constructor is not run.
    pub(super) fn runtime(&self, path: &str) -> Result<Bytes, ArtifactError> {
        let object = self.entry("deployedBytecode").and_then(|code| code.get("immutableReferences")).and_then(Value::as_object);
        if object.is_some_and(|immutables| !immutables.is_empty()) {
            let what = format!("{path} has immutables, which only its constructor sets");
            return Err((what, "write constructor in place of storage".to_owned()));
        }
        self.code(path, &["deployedBytecode", "deployed"], MAX_RUNTIME_BYTES)
    }

    /// Returns an entry of the artifact, at the top or in `evm` as solc writes it.
    fn entry(&self, key: &str) -> Option<&Value> {
        self.json.get(key).or_else(|| self.json.get("evm")?.get(key))
    }

    fn code(&self, path: &str, keys: &[&str], max: usize) -> Result<Bytes, ArtifactError> {
        let name = keys[0];
        let entry = keys.iter().find_map(|key| self.entry(key));
        let text = entry.and_then(|entry| entry.as_str().or_else(|| entry.get("object")?.as_str()));
        let text = text.map(|text| text.trim_start_matches("0x")).filter(|text| !text.is_empty());
        let Some(text) = text else {
            let what = format!("{path} has no {name}: a text, or an object with a text");
            return Err((what, "an interface or abstract contract has no code; give the contract that is deployed".to_owned()));
        };
        if text.contains("__") {
            return Err((
                format!("{name} of {path} is not linked with its libraries"),
                "link them, or make their functions internal".to_owned(),
            ));
        }
        let code = hex::decode(text).map_err(|error| (format!("{name} of {path} is not hex: {error}"), "compile it again".to_owned()))?;
        if code.len() > max {
            return Err((
                format!("{name} of {path} has {} bytes, a chain takes at most {max}", code.len()),
                "split the contract".to_owned(),
            ));
        }
        Ok(code.into())
    }
}
