//! Own policy contract of a workspace. It takes the place of the built-in account contract in every world.

use crate::files::WorkspaceFiles;
use crate::location::Spanned;
use crate::problem::{Problem, ProblemReport};
use crate::registry::{AddressText, address};
use crate::yaml::{YamlFields, YamlNode, json, list, map, spanned, text};
use indexmap::IndexMap;
use serde_json::Value;
use std::sync::Arc;

/// Largest artifact file. The largest contract of EIP-170 with ABI and metadata is far smaller.
const MAX_ARTIFACT_BYTES: usize = 2 << 20;

#[derive(Debug, Clone)]
pub struct PolicyContract {
    /// Path of the artifact in the workspace, in `contracts/`.
    pub artifact: Spanned<String>,
    /// Address of the account, if stated.
    pub address: Option<Spanned<AddressText>>,
    pub initial: ContractState,
    /// Text of the artifact file.
    pub text: Arc<str>,
}

/// Initial state of an own policy contract.
#[derive(Debug, Clone, PartialEq)]
pub enum ContractState {
    /// Arguments of the constructor.
    Constructor(Vec<Value>),
    /// Value by storage slot. The constructor is not run.
    Storage(IndexMap<String, String>),
}

pub(super) fn read_contract(node: &YamlNode, report: &ProblemReport) -> Option<PolicyContract> {
    let fields = YamlFields::open(node, "the policy contract", report)?;
    let artifact = fields.required("artifact", spanned(text));
    let address = fields.optional("address", spanned(address));
    let constructor = fields.optional("constructor", list(json));
    let storage = fields.optional("storage", map(text));
    fields.close();
    let initial = match (constructor, storage) {
        (Some(_), Some(_)) => {
            report.add(
                node.line,
                "the policy contract has a constructor and storage",
                "keep one of them: storage replaces the constructor",
            );
            return None;
        }
        (None, Some(storage)) => ContractState::Storage(storage),
        (constructor, None) => ContractState::Constructor(constructor.unwrap_or_default()),
    };
    Some(PolicyContract { artifact: artifact?, address, initial, text: Arc::from("") })
}

impl PolicyContract {
    /// Takes the text of the artifact from the workspace.
    pub(crate) fn load_artifact(&mut self, files: &WorkspaceFiles) -> Result<(), Problem> {
        let problem = |what: String, remedy: &str| Problem { at: self.artifact.at.clone(), what, remedy: remedy.to_owned() };
        let path = self.artifact.value.as_str();
        let Some(text) = files.get(path).filter(|_| path.starts_with("contracts/")) else {
            let what = format!("there is no artifact {path} in the workspace");
            return Err(problem(what, "put the JSON file of the compiler into contracts/ and write contracts/NAME.json"));
        };
        if text.len() > MAX_ARTIFACT_BYTES {
            let what = format!("{path} has {} bytes, more than {MAX_ARTIFACT_BYTES}", text.len());
            return Err(problem(what, "keep abi, bytecode and deployedBytecode of one contract"));
        }
        self.text = Arc::from(text);
        Ok(())
    }
}
