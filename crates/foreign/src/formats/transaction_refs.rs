//! Hashes of transactions in the arguments, results and attributes of tool spans.

use super::otlp_attributes::{ARGUMENT_ENDINGS, ARGUMENT_KEYS, RESULT_ENDINGS, RESULT_KEYS, first_of};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Deepest value that is searched, and the most hashes of one span.
const MAX_DEPTH: usize = 8;
const MAX_FOUND: usize = 100;

/// Transaction by its hash.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TransactionRef {
    pub hash: String,
    /// Absent if the span does not name the chain by its number.
    pub chain: Option<u64>,
    /// Name of the chain, if the span has one instead.
    #[serde(default)]
    pub chain_name: Option<String>,
    pub tool: String,
    /// The result or an attribute names it: the call says that it sent it. Arguments name transactions that are asked about.
    #[serde(default)]
    pub is_sent: bool,
}

/// Names under which tools report the hash of a transaction.
const HASH_NAMES: &[&str] = &["transaction_hash", "transactionhash", "tx_hash", "txhash", "tx", "hash"];
const CHAIN_NAMES: &[&str] = &["chain_id", "chainId", "chain"];
/// Attributes of instrumented wallets and nodes.
const HASH_ATTRIBUTES: &[&str] =
    &["blockchain.transaction.hash", "ethereum.transaction.hash", "transaction.hash", "tx.hash", "web3.transaction.hash"];
const CHAIN_ATTRIBUTES: &[&str] = &["blockchain.chain.id", "blockchain.chain_id", "ethereum.chain_id", "chain.id", "web3.chain_id"];

/// Chain as a span names it.
#[derive(Debug, Clone, Default)]
struct NamedChain {
    id: Option<u64>,
    name: Option<String>,
}

impl NamedChain {
    fn of(value: &Value) -> Self {
        let id = value.as_u64().or_else(|| value.as_str()?.parse().ok());
        let name = value.as_str().filter(|_| id.is_none()).map(crate::recording::shorten);
        Self { id, name }
    }

    fn of_members(members: &Map<String, Value>) -> Option<Self> {
        CHAIN_NAMES.iter().find_map(|key| members.get(*key)).map(Self::of)
    }
}

struct HashSearch<'t> {
    tool: &'t str,
    is_sent: bool,
    found: BTreeSet<TransactionRef>,
}

/// Returns the transactions that a tool span names.
pub(super) fn transaction_refs(tool: &str, attributes: &Map<String, Value>) -> BTreeSet<TransactionRef> {
    let parsed = |value: &Value| value.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok()).unwrap_or_else(|| value.clone());
    let args = first_of(attributes, ARGUMENT_KEYS, ARGUMENT_ENDINGS).map(parsed);
    let result = first_of(attributes, RESULT_KEYS, RESULT_ENDINGS).map(parsed);
    // A result often leaves the chain to the arguments.
    let given = args.as_ref().and_then(Value::as_object).and_then(NamedChain::of_members);
    let attribute = CHAIN_ATTRIBUTES.iter().find_map(|key| attributes.get(*key)).map(NamedChain::of);
    let chain = attribute.or(given).unwrap_or_default();
    let mut search = HashSearch { tool, is_sent: true, found: BTreeSet::new() };
    for hash in HASH_ATTRIBUTES.iter().filter_map(|key| attributes.get(*key)).filter_map(Value::as_str).filter(|text| is_hash(text)) {
        search.add(hash, &chain);
    }
    if let Some(result) = &result {
        search.visit(result, &chain, 0);
    }
    search.is_sent = false;
    if let Some(args) = &args {
        search.visit(args, &chain, 0);
    }
    let sent: BTreeSet<String> = search.found.iter().filter(|found| found.is_sent).map(|found| found.hash.clone()).collect();
    search.found.retain(|found| found.is_sent || !sent.contains(&found.hash));
    search.found
}

impl HashSearch<'_> {
    fn add(&mut self, hash: &str, chain: &NamedChain) {
        if self.found.len() < MAX_FOUND {
            let NamedChain { id, name } = chain.clone();
            let (hash, tool) = (hash.to_ascii_lowercase(), self.tool.to_owned());
            self.found.insert(TransactionRef { hash, chain: id, chain_name: name, tool, is_sent: self.is_sent });
        }
    }

    fn visit(&mut self, value: &Value, chain: &NamedChain, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.visit(item, chain, depth + 1)),
            Value::Object(members) => {
                let chain = NamedChain::of_members(members).unwrap_or_else(|| chain.clone());
                for (key, member) in members {
                    match member.as_str() {
                        Some(hash) if HASH_NAMES.contains(&key.to_ascii_lowercase().as_str()) && is_hash(hash) => self.add(hash, &chain),
                        Some(_) => {}
                        None => self.visit(member, &chain, depth + 1),
                    }
                }
            }
            _ => {}
        }
    }
}

fn is_hash(text: &str) -> bool {
    text.strip_prefix("0x").is_some_and(|digits| digits.len() == 64 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn refs(attributes: Value) -> Vec<(String, Option<u64>, Option<String>, bool)> {
        let found = transaction_refs("t", attributes.as_object().unwrap());
        found.into_iter().map(|found| (found.hash[..4].to_owned(), found.chain, found.chain_name, found.is_sent)).collect()
    }

    #[test]
    fn hashes_are_found_in_results_arguments_and_attributes() {
        let hash = |digit: &str| format!("0x{}", digit.repeat(64));
        let result = json!({ "receipts": [{ "tx_hash": hash("A") }] }).to_string();
        let args = json!({ "chain": "base", "hash": hash("b") }).to_string();
        let found = refs(json!({ "gen_ai.tool.call.result": result, "gen_ai.tool.call.arguments": args }));
        let base = Some("base".to_owned());
        assert_eq!(found, [("0xaa".into(), None, base.clone(), true), ("0xbb".into(), None, base, false)]);
        let known = refs(json!({ "blockchain.transaction.hash": hash("c"), "blockchain.chain_id": 10 }));
        assert_eq!(known, [("0xcc".into(), Some(10), None, true)]);
        // The same hash in both places was sent, and other texts are no hashes.
        let both = json!({ "tx": hash("d"), "memo": hash("e"), "hash": "0x12" }).to_string();
        assert_eq!(refs(json!({ "gen_ai.tool.call.result": both, "gen_ai.tool.call.arguments": both })).len(), 1);
    }
}
