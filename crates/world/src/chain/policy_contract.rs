//! Own policy contract of a workspace: reads its artifact, checks its interface and prepares its deployment.

mod artifact;

use super::contracts;
use super::genesis_step::{ACCOUNT, GenesisStep, KEEPER};
use alloy_dyn_abi::{DynSolType, DynSolValue, Specifier};
use alloy_json_abi::{JsonAbi, StateMutability};
use alloy_primitives::{Address, Bytes, U256};
use artifact::ContractFile;
use model::{ContractState, PolicyContract, Problem, Workspace};
use serde_json::Value;

/// Functions that the account needs: every transaction of the operator goes through one of them.
pub const REQUIRED_FUNCTIONS: &[&str] = &["execute(address,uint256,bytes)", "executeBatch((address,uint256,bytes)[])"];
/// Functions that some tools need, with their use.
const OPTIONAL_FUNCTIONS: &[(&str, &str)] =
    &[("halt()", "emergency_halt reverts"), ("isValidSignature(bytes32,bytes)", "permits of the account are not valid")];

/// Own policy contract, ready to be placed at the account's address.
#[derive(Debug, Clone)]
pub struct PolicyDeployment {
    abi: JsonAbi,
    code: DeploymentCode,
    path: String,
}

#[derive(Debug, Clone)]
enum DeploymentCode {
    /// Creation code and the arguments of its constructor.
    Construct { creation: Bytes, types: Vec<DynSolType>, args: Vec<Value> },
    /// Runtime code and its storage.
    Etch { runtime: Bytes, storage: Vec<(U256, U256)> },
}

/// Reads the own policy contract of a workspace, if it has one.
///
/// # Errors
///
/// Fails if the artifact cannot be read, lacks a required function or does not fit its constructor arguments or storage.
pub fn policy_deployment(workspace: &Workspace) -> Result<Option<PolicyDeployment>, Problem> {
    let Some(contract) = workspace.policy.as_ref().and_then(|policy| policy.contract.as_ref()) else { return Ok(None) };
    let problem = |(what, remedy): (String, String)| Problem { at: contract.artifact.at.clone(), what, remedy };
    PolicyDeployment::read(contract).map(Some).map_err(problem)
}

/// Returns what is not decoded of an own policy contract, as a sentence for the user.
pub fn policy_notice(workspace: &Workspace) -> Option<String> {
    policy_deployment(workspace).ok().flatten().map(|deployment| deployment.notice())
}

impl PolicyDeployment {
    fn read(contract: &PolicyContract) -> Result<Self, (String, String)> {
        let path = contract.artifact.value.clone();
        if let Some(address) = contract.address.as_ref().filter(|address| address.address != ACCOUNT) {
            let what = format!("the policy contract cannot stand at {}", address.text);
            return Err((what, format!("leave address out or write {}, the account's address in every world", ACCOUNT.to_checksum(None))));
        }
        let file = ContractFile::parse(&path, &contract.text)?;
        let found: Vec<String> = file.abi.functions().map(alloy_json_abi::Function::signature).collect();
        let missing: Vec<&str> = REQUIRED_FUNCTIONS.iter().copied().filter(|needed| !found.iter().any(|one| one == needed)).collect();
        if !missing.is_empty() {
            let what = format!("{path} lacks {}", missing.join(" and "));
            return Err((what, format!("the account must have {}", REQUIRED_FUNCTIONS.join(" and "))));
        }
        let code = match &contract.initial {
            ContractState::Constructor(args) => {
                let types = constructor_types(&path, &file.abi)?;
                let code = DeploymentCode::Construct { creation: file.creation(&path)?, types, args: args.clone() };
                // The operator differs by world, its type does not.
                code.creation_with_args(&path, Address::ZERO)?;
                code
            }
            ContractState::Storage(entries) => {
                let word = |text: &String| {
                    let hint = "write a slot or value as a number, decimal or with 0x".to_owned();
                    text.parse::<U256>().map_err(|_| (format!("storage of {path}: {text} is not a number of 32 bytes"), hint))
                };
                let entry =
                    |(slot, value): (&String, &String)| -> Result<(U256, U256), (String, String)> { Ok((word(slot)?, word(value)?)) };
                let storage = entries.iter().map(entry).collect::<Result<_, _>>()?;
                DeploymentCode::Etch { runtime: file.runtime(&path)?, storage }
            }
        };
        Ok(Self { abi: file.abi, code, path })
    }

    /// Returns the steps that put the contract in the place of the account.
    pub(super) fn steps(&self, operator: Address) -> Result<Vec<GenesisStep>, (String, String)> {
        let at = ACCOUNT;
        Ok(match &self.code {
            DeploymentCode::Construct { .. } => {
                let code = self.code.creation_with_args(&self.path, operator)?;
                vec![GenesisStep::Construct { at, code, what: self.path.clone() }]
            }
            DeploymentCode::Etch { runtime, storage } => {
                let what = format!("the storage of {}", self.path);
                let write = GenesisStep::Send { from: KEEPER, to: at, data: Bytes::new(), value: U256::ZERO, what };
                vec![
                    GenesisStep::EtchCode { at, code: storage_writer(storage) },
                    write,
                    GenesisStep::EtchCode { at, code: runtime.clone() },
                ]
            }
        })
    }

    fn notice(&self) -> String {
        let known_errors: Vec<_> =
            contracts::all().iter().flat_map(|contract| contract.abi.errors()).map(|error| error.selector()).collect();
        let known_events: Vec<_> =
            contracts::all().iter().flat_map(|contract| contract.abi.events()).map(|event| event.selector()).collect();
        let errors = self.abi.errors().filter(|error| !known_errors.contains(&error.selector())).map(|error| error.signature());
        let events = self.abi.events().filter(|event| !known_events.contains(&event.selector())).map(|event| event.signature());
        let raw: Vec<String> = errors.chain(events).collect();
        let raw = if raw.is_empty() { "none of its errors and events".to_owned() } else { raw.join(", ") };
        let found: Vec<String> = self.abi.functions().map(alloy_json_abi::Function::signature).collect();
        let lacks = OPTIONAL_FUNCTIONS.iter().filter(|(needed, _)| !found.iter().any(|one| one == needed));
        let lacks: String = lacks.map(|(needed, effect)| format!("; it has no {needed}, so {effect}")).collect();
        let pays = self.abi.receive.is_some()
            || self.abi.fallback.as_ref().is_some_and(|fallback| fallback.state_mutability == StateMutability::Payable);
        let pays = if pays { "" } else { "; it cannot receive the native coin" };
        format!(
            "the account is the policy contract {}. Recorded as raw data: {raw}. Its storage is not decoded, and what it books as spent is \
             not read: scorers value what left the account{lacks}{pays}",
            self.path
        )
    }
}

impl DeploymentCode {
    fn creation_with_args(&self, path: &str, operator: Address) -> Result<Bytes, (String, String)> {
        let DeploymentCode::Construct { creation, types, args } = self else { return Ok(Bytes::new()) };
        let listed = || types.iter().map(|one| one.sol_type_name().into_owned()).collect::<Vec<_>>().join(", ");
        if types.len() != args.len() {
            let what = format!("the constructor of {path} takes ({}), {} given", listed(), model::count(args.len(), "argument"));
            return Err((what, "list its arguments in order under constructor".to_owned()));
        }
        let value = |(shape, arg): (&DynSolType, &Value)| {
            let text = constructor_text(arg, operator);
            let hint = "for an address also owner, operator or account".to_owned();
            shape.coerce_str(&text).map_err(|_| (format!("constructor of {path}: {text} is not of type {}", shape.sol_type_name()), hint))
        };
        let values: Vec<DynSolValue> = types.iter().zip(args).map(value).collect::<Result<_, _>>()?;
        Ok([creation.as_ref(), DynSolValue::Tuple(values).abi_encode_params().as_slice()].concat().into())
    }
}

fn constructor_types(path: &str, abi: &JsonAbi) -> Result<Vec<DynSolType>, (String, String)> {
    let inputs = abi.constructor.iter().flat_map(|constructor| &constructor.inputs);
    let unknown = |input: &alloy_json_abi::Param| {
        (format!("the constructor of {path} has a parameter of type {}, which is unknown", input.ty), "compile it again".to_owned())
    };
    inputs.map(|input| input.resolve().map_err(|_| unknown(input))).collect()
}

/// Returns an argument as text. The words `owner`, `operator` and `account` stand for addresses of the world.
fn constructor_text(arg: &Value, operator: Address) -> String {
    match arg {
        Value::String(text) => match text.as_str() {
            "owner" => KEEPER.to_string(),
            "operator" => operator.to_string(),
            "account" => ACCOUNT.to_string(),
            _ => text.clone(),
        },
        Value::Array(items) => format!("[{}]", items.iter().map(|item| constructor_text(item, operator)).collect::<Vec<_>>().join(",")),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => arg.to_string(),
    }
}

/// Returns code that writes these slots when it is called.
fn storage_writer(storage: &[(U256, U256)]) -> Bytes {
    const PUSH32: u8 = 0x7f;
    const SSTORE: u8 = 0x55;
    const STOP: u8 = 0x00;
    let write = |(slot, value): &(U256, U256)| {
        [&[PUSH32][..], &value.to_be_bytes::<32>(), &[PUSH32], &slot.to_be_bytes::<32>(), &[SSTORE]].concat()
    };
    storage.iter().flat_map(write).chain([STOP]).collect::<Vec<u8>>().into()
}

#[cfg(test)]
mod tests;
