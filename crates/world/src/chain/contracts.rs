//! Artifacts of our contracts: ABI, creation and runtime code, storage slots.

use alloy_json_abi::JsonAbi;
use alloy_primitives::{Bytes, hex};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::LazyLock;

#[derive(Debug)]
pub struct ContractArtifact {
    pub name: &'static str,
    pub abi: JsonAbi,
    pub creation: Bytes,
    pub runtime: Bytes,
    /// Storage slot by variable name.
    pub storage: BTreeMap<String, u64>,
}

macro_rules! artifacts {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../../contracts/artifacts/", $name, ".json")))),*]
    };
}

static ARTIFACTS: &[(&str, &str)] = artifacts![
    "AmmFactory",
    "AmmPair",
    "AmmQuoter",
    "AmmRouter",
    "FeeBurner",
    "FeeToken",
    "HookToken",
    "IdentityRegistry",
    "LyingToken",
    "Multicall3",
    "Permit2",
    "PolicyCage",
    "SanctionsList",
    "SetupAccount",
    "Token",
    "Vault",
    "Venue",
    "Weth",
];

static CONTRACTS: LazyLock<Vec<ContractArtifact>> =
    LazyLock::new(|| ARTIFACTS.iter().map(|(name, text)| parse_artifact(name, text)).collect());

pub fn all() -> &'static [ContractArtifact] {
    &CONTRACTS
}

/// Returns a contract by name.
///
/// # Panics
///
/// Panics if there is no such contract: names are literals of this crate.
pub fn contract(name: &str) -> &'static ContractArtifact {
    all().iter().find(|contract| contract.name == name).unwrap_or_else(|| panic!("there is no contract {name}"))
}

fn parse_artifact(name: &'static str, text: &str) -> ContractArtifact {
    let artifact: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("artifact of {name}: {error}"));
    let abi = serde_json::from_value(artifact["abi"].clone()).unwrap_or_else(|error| panic!("abi of {name}: {error}"));
    let code = |key: &str| -> Bytes {
        let text = artifact[key].as_str().unwrap_or_default();
        hex::decode(text).unwrap_or_else(|error| panic!("{key} of {name}: {error}")).into()
    };
    let (creation, runtime) = (code("bytecode"), code("deployed"));
    let storage = artifact["storage"].as_object().into_iter().flatten();
    let storage = storage.filter_map(|(label, slot)| slot.as_u64().map(|slot| (label.clone(), slot))).collect();
    ContractArtifact { name, abi, creation, runtime, storage }
}
