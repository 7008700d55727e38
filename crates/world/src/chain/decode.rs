//! Decodes calldata, logs and reverts with the ABIs of our contracts.

use super::contracts::{self, ContractArtifact};
use super::{AddressBook, Log};
use alloy_dyn_abi::{DynSolEvent, DynSolType, DynSolValue, JsonAbiExt, Specifier};
use alloy_json_abi::{Error as AbiError, Event, Function, Param};
use alloy_primitives::map::{B256Map, HashMap};
use alloy_primitives::{Address, Selector, U256, hex};
use model::transcript::{DecodedItem, DecodedLog, InnerCall};
use serde_json::{Map, Value};
use std::sync::LazyLock;

/// ABI entries by selector. Types are resolved once, because parsing them for every log costs more than executing the transaction.
struct AbiIndex {
    functions: HashMap<Selector, Vec<ResolvedFunction>>,
    events: B256Map<Vec<ResolvedEvent>>,
    errors: HashMap<Selector, &'static AbiError>,
}

struct ResolvedFunction {
    contract: &'static str,
    function: &'static Function,
    inputs: DynSolType,
}

struct ResolvedEvent {
    contract: &'static str,
    event: &'static Event,
    shape: DynSolEvent,
}

static INDEX: LazyLock<AbiIndex> = LazyLock::new(|| {
    let mut index = AbiIndex { functions: HashMap::default(), events: B256Map::default(), errors: HashMap::default() };
    for ContractArtifact { name, abi, .. } in contracts::all() {
        for function in abi.functions() {
            let inputs =
                function.inputs.iter().map(|input| input.resolve().unwrap_or_else(|error| panic!("{name}.{}: {error}", function.name)));
            let ready = ResolvedFunction { contract: name, function, inputs: DynSolType::Tuple(inputs.collect()) };
            index.functions.entry(function.selector()).or_default().push(ready);
        }
        for event in abi.events() {
            let shape = event.resolve().unwrap_or_else(|error| panic!("{name}.{}: {error}", event.name));
            index.events.entry(event.selector()).or_default().push(ResolvedEvent { contract: name, event, shape });
        }
        for error in abi.errors() {
            index.errors.entry(error.selector()).or_insert(error);
        }
    }
    index
});

impl ResolvedFunction {
    fn decode(&self, data: &[u8]) -> Option<Vec<DynSolValue>> {
        let DynSolValue::Tuple(values) = self.inputs.abi_decode_params(data).ok()? else { return None };
        Some(values)
    }

    fn to_decoded(&self, book: &AddressBook, values: &[DynSolValue]) -> DecodedItem {
        DecodedItem { name: self.function.name.clone(), args: named_args(book, &self.function.inputs, values) }
    }
}

/// Returns the candidates of the contract at the address first, then the others.
fn own_contract_first<'i, T>(candidates: &'i [T], contract: Option<&'i str>, of: fn(&T) -> &'static str) -> impl Iterator<Item = &'i T> {
    let own = candidates.iter().filter(move |one| contract == Some(of(one)));
    own.chain(candidates.iter().filter(move |one| contract != Some(of(one))))
}

/// Decodes the call of a transaction, and the inner calls if it is an account's `execute` or `executeBatch`, or a batch of Multicall3.
pub(crate) fn decode_calls(book: &AddressBook, to: Option<Address>, data: &[u8]) -> (Option<DecodedItem>, Vec<InnerCall>) {
    let Some((ready, values)) = decode_function(book, to, data) else { return (None, vec![]) };
    let inner = match (ready.contract, ready.function.name.as_str(), values.as_slice()) {
        ("PolicyCage", "execute", parts) => decode_inner_call(book, parts).into_iter().collect(),
        ("PolicyCage", "executeBatch", [DynSolValue::Array(calls)]) => {
            calls.iter().filter_map(|call| decode_inner_call(book, struct_fields(call)?)).collect()
        }
        ("Multicall3", _, [DynSolValue::Array(calls)] | [_, DynSolValue::Array(calls)]) => {
            calls.iter().filter_map(|call| decode_inner_call(book, struct_fields(call)?)).collect()
        }
        (_, _, _) => vec![],
    };
    (Some(ready.to_decoded(book, &values)), inner)
}

/// Returns the fields of a struct, which is a tuple with names if the ABI names it.
fn struct_fields(value: &DynSolValue) -> Option<&[DynSolValue]> {
    if let DynSolValue::CustomStruct { tuple, .. } = value { Some(tuple) } else { value.as_tuple() }
}

fn decode_function(book: &AddressBook, to: Option<Address>, data: &[u8]) -> Option<(&'static ResolvedFunction, Vec<DynSolValue>)> {
    let (selector, arguments) = data.split_first_chunk::<4>()?;
    let candidates = INDEX.functions.get(&Selector::from(*selector))?;
    let contract = to.and_then(|to| book.get(to)).and_then(|entry| entry.contract);
    own_contract_first(candidates, contract, |ready| ready.contract).find_map(|ready| Some((ready, ready.decode(arguments)?)))
}

/// Returns the name of the error in revert data.
pub(crate) fn revert_name(data: &[u8]) -> String {
    decode_revert(data).name
}

fn decode_inner_call(book: &AddressBook, parts: &[DynSolValue]) -> Option<InnerCall> {
    let (to, value, data) = match parts {
        [DynSolValue::Address(to), DynSolValue::Uint(value, _), DynSolValue::Bytes(data)]
        | [DynSolValue::Address(to), DynSolValue::Bool(_), DynSolValue::Uint(value, _), DynSolValue::Bytes(data)] => (to, *value, data),
        [DynSolValue::Address(to), DynSolValue::Bytes(data)]
        | [DynSolValue::Address(to), DynSolValue::Bool(_), DynSolValue::Bytes(data)] => (to, U256::ZERO, data),
        _ => return None,
    };
    Some(InnerCall {
        to: book.party(*to),
        value: value.to_string(),
        call: decode_function(book, Some(*to), data).map(|(ready, values)| ready.to_decoded(book, &values)),
    })
}

pub(crate) fn decode_log(book: &AddressBook, log: &Log) -> DecodedLog {
    let contract = book.get(log.address).and_then(|entry| entry.contract);
    let candidates = log.topics.first().and_then(|topic| INDEX.events.get(topic));
    let decoded = candidates.and_then(|candidates| {
        own_contract_first(candidates, contract, |ready| ready.contract).find_map(|ready| decode_event(book, ready, log))
    });
    let raw = || {
        let topics = log.topics.iter().map(|topic| Value::String(topic.to_string())).collect();
        let args =
            Map::from_iter([("topics".into(), Value::Array(topics)), ("data".into(), Value::String(hex::encode_prefixed(&log.data)))]);
        DecodedItem { name: "unknown".into(), args }
    };
    DecodedLog { by: book.party(log.address), event: decoded.unwrap_or_else(raw) }
}

fn decode_event(book: &AddressBook, ResolvedEvent { event, shape, .. }: &ResolvedEvent, log: &Log) -> Option<DecodedItem> {
    let decoded = shape.decode_log_parts(log.topics.iter().copied(), &log.data).ok()?;
    let (mut indexed, mut body) = (decoded.indexed.into_iter(), decoded.body.into_iter());
    let args = event
        .inputs
        .iter()
        .filter_map(|input| {
            let value = if input.indexed { indexed.next() } else { body.next() }?;
            Some((input.name.clone(), to_json(book, &value)))
        })
        .collect();
    Some(DecodedItem { name: event.name.clone(), args })
}

/// Decodes revert data: an error of our contracts, `Error(string)`, `Panic(uint256)`, or else raw.
pub(crate) fn decode_revert(data: &[u8]) -> DecodedItem {
    let known = data.get(..4).and_then(|head| Selector::try_from(head).ok()).and_then(|selector| INDEX.errors.get(&selector));
    if let Some(error) = known
        && let Ok(values) = error.abi_decode_input(&data[4..])
    {
        return DecodedItem { name: error.name.clone(), args: named_args(&AddressBook::default(), &error.inputs, &values) };
    }
    let text = |name: &str, key: &str, value: String| DecodedItem {
        name: name.into(),
        args: Map::from_iter([(key.to_owned(), Value::String(value))]),
    };
    match data {
        [0x08, 0xc3, 0x79, 0xa0, rest @ ..] => {
            let message = DynSolType::String.abi_decode(rest).ok().and_then(|value| value.as_str().map(str::to_owned));
            text("Error", "message", message.unwrap_or_default())
        }
        [0x4e, 0x48, 0x7b, 0x71, rest @ ..] if rest.len() == 32 => text("Panic", "code", U256::from_be_slice(rest).to_string()),
        _ => text("unknown", "data", hex::encode_prefixed(data.get(..256).unwrap_or(data))),
    }
}

fn named_args(book: &AddressBook, params: &[Param], values: &[DynSolValue]) -> Map<String, Value> {
    params
        .iter()
        .zip(values)
        .enumerate()
        .map(|(n, (param, value))| {
            let name = if param.name.is_empty() { format!("arg{n}") } else { param.name.clone() };
            (name, to_json(book, value))
        })
        .collect()
}

/// Converts a value to JSON: numbers as decimal text, addresses with checksum, bytes as hex.
pub(super) fn to_json(book: &AddressBook, value: &DynSolValue) -> Value {
    match value {
        DynSolValue::Bool(flag) => Value::Bool(*flag),
        DynSolValue::Int(number, _) => Value::String(number.to_string()),
        DynSolValue::Uint(number, _) => Value::String(number.to_string()),
        DynSolValue::FixedBytes(word, size) => Value::String(hex::encode_prefixed(&word[..*size])),
        DynSolValue::Address(address) => Value::String(book.checksummed(*address)),
        DynSolValue::Function(function) => Value::String(hex::encode_prefixed(function)),
        DynSolValue::Bytes(bytes) => Value::String(hex::encode_prefixed(bytes)),
        DynSolValue::String(text) => Value::String(text.clone()),
        DynSolValue::CustomStruct { tuple: items, .. }
        | DynSolValue::Array(items)
        | DynSolValue::FixedArray(items)
        | DynSolValue::Tuple(items) => Value::Array(items.iter().map(|item| to_json(book, item)).collect()),
    }
}
