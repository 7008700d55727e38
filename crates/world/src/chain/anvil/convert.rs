//! Conversions between the types of this crate and the JSON of Ethereum nodes.

use super::super::{AccountChange, BlockInfo, CallOutcome, Log, StateChanges, Tx, TxStatus};
use crate::chain::{AccessedState, BASE_FEE};
use alloy_primitives::{Address, B256, Bytes, KECCAK256_EMPTY, U64, U256, keccak256};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

pub(in crate::chain) fn hex_quantity(number: u64) -> String {
    format!("{number:#x}")
}

/// Returns a transaction request with all fields set, so that the node adds no defaults.
pub(super) fn transaction_json(tx: &Tx, nonce: u64, chain: u64) -> Value {
    let mut out = call_json(tx);
    out["type"] = if tx.authorizations.is_empty() { "0x2" } else { "0x4" }.into();
    out["chainId"] = hex_quantity(chain).into();
    out["nonce"] = hex_quantity(nonce).into();
    out["maxFeePerGas"] = hex_quantity(BASE_FEE).into();
    out["maxPriorityFeePerGas"] = "0x0".into();
    out
}

/// Returns a call request: a transaction without fees and nonce.
pub(super) fn call_json(tx: &Tx) -> Value {
    let mut out = json!({
        "from": tx.from,
        "gas": hex_quantity(tx.gas_limit()),
        "value": tx.value,
        "input": tx.data,
    });
    if let Some(to) = tx.to {
        out["to"] = json!(to);
    }
    if !tx.authorizations.is_empty() {
        out["authorizationList"] = tx
            .authorizations
            .iter()
            .map(|signed| {
                let parity = hex_quantity(signed.y_parity().into());
                let (chain, address, nonce) = (signed.chain_id(), signed.address(), hex_quantity(signed.nonce()));
                json!({"chainId": chain, "address": address, "nonce": nonce, "yParity": parity, "r": signed.r(), "s": signed.s()})
            })
            .collect();
    }
    out
}

/// Last second that a block may have: the end of the year 2199.
pub(in crate::chain) const MAX_UNIX_S: u64 = 7_258_118_399;

/// Block of a node. Number and time are bounded, so that they can be added to.
#[derive(Debug, Deserialize)]
pub(super) struct BlockReply {
    #[serde(deserialize_with = "bounded_quantity")]
    number: u64,
    #[serde(deserialize_with = "bounded_quantity")]
    timestamp: u64,
    #[serde(default)]
    pub(super) transactions: Vec<B256>,
}

impl BlockReply {
    pub(super) fn block(&self) -> BlockInfo {
        BlockInfo { number: self.number, unix_s: self.timestamp }
    }
}

/// Reads the number or time of a block. No chain has more blocks than a block may have seconds.
fn bounded_quantity<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let quantity: u64 = U64::deserialize(deserializer)?.to();
    if quantity > MAX_UNIX_S {
        return Err(D::Error::custom(format!("{quantity} is not the number or the time of a block")));
    }
    Ok(quantity)
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReceiptReply {
    status: U64,
    gas_used: U64,
    block_number: U64,
    logs: Vec<LogReply>,
}

#[derive(Debug, Deserialize)]
struct LogReply {
    address: Address,
    topics: Vec<B256>,
    data: Bytes,
}

impl ReceiptReply {
    pub(super) fn succeeded(&self) -> bool {
        self.status == U64::from(1)
    }

    pub(super) fn is_in(&self, block: BlockInfo) -> bool {
        self.block_number == U64::from(block.number)
    }

    pub(super) fn gas_used(&self) -> u64 {
        self.gas_used.to()
    }

    pub(super) fn logs(self) -> Vec<Log> {
        self.logs.into_iter().map(|LogReply { address, topics, data }| Log { address, topics, data }).collect()
    }
}

/// Outermost call of geth's `callTracer`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::chain) struct CallFrame {
    gas_used: U64,
    #[serde(default)]
    output: Bytes,
    #[serde(default)]
    error: Option<String>,
}

impl CallFrame {
    pub(in crate::chain) fn outcome(self) -> CallOutcome {
        let (status, output) = match self.error.as_deref() {
            None => (TxStatus::Success, self.output),
            Some("execution reverted") => (TxStatus::Reverted, self.output),
            Some(_) => (TxStatus::Halted, Bytes::new()),
        };
        CallOutcome { status, gas_used: self.gas_used.to(), output }
    }
}

/// Result of geth's `prestateTracer` with `diffMode`. `pre` holds every changed account before the transaction, `post` only the
/// changed fields. Both omit zeros, empty code and accounts that do not exist.
#[derive(Debug, Deserialize)]
pub(in crate::chain) struct PrestateDiff {
    pre: BTreeMap<Address, PrestateAccount>,
    post: BTreeMap<Address, PrestateAccount>,
}

#[derive(Debug, Default, Deserialize)]
struct PrestateAccount {
    balance: Option<U256>,
    nonce: Option<U64>,
    code: Option<Bytes>,
    #[serde(default)]
    storage: BTreeMap<B256, B256>,
}

/// Converts the result of geth's `prestateTracer` without `diffMode`: all accounts of a call with the slots it read or wrote.
pub(super) fn accessed_state(touched: Value) -> Result<AccessedState, serde_json::Error> {
    let accounts: BTreeMap<Address, PrestateAccount> = serde_json::from_value(touched)?;
    Ok(accounts.into_iter().map(|(at, account)| (at, account.storage.into_keys().collect())).collect())
}

impl PrestateDiff {
    /// Returns the nonce of an account after the transaction, if it changed.
    pub(in crate::chain) fn nonce_after(&self, at: Address) -> Option<u64> {
        let nonce = |side: &BTreeMap<Address, PrestateAccount>| side.get(&at).and_then(|account| account.nonce).map(|nonce| nonce.to());
        nonce(&self.post).filter(|after| nonce(&self.pre) != Some(*after))
    }

    /// Returns the accounts whose code after the transaction is not in the diff. Only EIP-7702 can remove the code of an existing account.
    pub(in crate::chain) fn unknown_code_addresses(&self) -> Vec<Address> {
        let is_delegated = |side: &PrestateAccount| side.code.as_ref().is_some_and(|code| code.starts_with(&[0xef, 0x01, 0x00]));
        let omits_code = |at: &Address| self.post.get(at).is_some_and(|after| after.code.is_none());
        self.pre.iter().filter(|(at, before)| is_delegated(before) && omits_code(at)).map(|(at, _)| *at).collect()
    }

    /// Returns the state changes. `codes` holds the current code of [`Self::unknown_code_addresses`].
    pub(in crate::chain) fn changes(&self, codes: &BTreeMap<Address, Bytes>) -> StateChanges {
        let (absent, addresses) = (PrestateAccount::default(), self.pre.keys().chain(self.post.keys()).collect::<BTreeSet<_>>());
        let change = |at: &Address| {
            let before = self.pre.get(at).unwrap_or(&absent);
            match self.post.get(at) {
                Some(after) => before.change_to(after, codes.get(at)),
                None => before.removal(),
            }
        };
        let accounts = addresses.into_iter().map(|at| (*at, change(at))).filter(|(_, change)| !change.is_empty()).collect();
        StateChanges { accounts }
    }
}

impl PrestateAccount {
    fn change_to(&self, after: &PrestateAccount, code: Option<&Bytes>) -> AccountChange {
        let (balance, nonce) = (self.balance.unwrap_or_default(), self.nonce.unwrap_or_default());
        AccountChange {
            balance: before_after(balance, after.balance.unwrap_or(balance)),
            nonce: before_after(nonce.to(), after.nonce.unwrap_or(nonce).to()),
            code: after.code.as_ref().or(code).and_then(|code| before_after(self.code_hash(), hash(code))),
            storage: self.storage_changes(&after.storage),
        }
    }

    /// Returns the change of an account that was destroyed in the transaction that created it. It may have had a balance before.
    fn removal(&self) -> AccountChange {
        AccountChange {
            balance: before_after(self.balance.unwrap_or_default(), U256::ZERO),
            nonce: before_after(self.nonce.unwrap_or_default().to(), 0),
            code: before_after(self.code_hash(), KECCAK256_EMPTY),
            storage: self.storage_changes(&BTreeMap::new()),
        }
    }

    fn code_hash(&self) -> B256 {
        self.code.as_ref().map_or(KECCAK256_EMPTY, hash)
    }

    fn storage_changes(&self, after: &BTreeMap<B256, B256>) -> BTreeMap<U256, (U256, U256)> {
        let value = |side: &BTreeMap<B256, B256>, slot: &B256| -> U256 { side.get(slot).copied().unwrap_or_default().into() };
        let slots: BTreeSet<&B256> = self.storage.keys().chain(after.keys()).collect();
        slots
            .into_iter()
            .map(|slot| ((*slot).into(), (value(&self.storage, slot), value(after, slot))))
            .filter(|(_, (a, b))| a != b)
            .collect()
    }
}

fn hash(code: &Bytes) -> B256 {
    if code.is_empty() { KECCAK256_EMPTY } else { keccak256(code) }
}

fn before_after<T: PartialEq>(before: T, after: T) -> Option<(T, T)> {
    (before != after).then_some((before, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(pre: Value, post: Value, codes: &[(Address, Bytes)]) -> StateChanges {
        let diff: PrestateDiff = serde_json::from_value(json!({"pre": pre, "post": post})).expect("a diff");
        assert_eq!(diff.unknown_code_addresses(), codes.iter().map(|(at, _)| *at).collect::<Vec<_>>());
        diff.changes(&codes.iter().cloned().collect())
    }

    #[test]
    fn blocks_that_no_chain_has_are_refused() {
        let read = |number: u64, timestamp: u64| {
            let reply = json!({"number": hex_quantity(number), "timestamp": hex_quantity(timestamp)});
            serde_json::from_value::<BlockReply>(reply).map(|reply| reply.block())
        };
        let last = read(MAX_UNIX_S, MAX_UNIX_S).expect("a block");
        assert_eq!((last.number, last.unix_s), (MAX_UNIX_S, MAX_UNIX_S));
        for (number, timestamp) in [(u64::MAX, 0), (0, u64::MAX), (0, MAX_UNIX_S + 1)] {
            let why = read(number, timestamp).expect_err("no block").to_string();
            assert!(why.contains("is not the number or the time of a block"), "{why}");
        }
    }

    #[test]
    fn diff_without_a_field_means_zero_or_unchanged() {
        let at = Address::repeat_byte(0x11);
        let pre = json!({at.to_string(): {"balance": "0x5", "code": "0x00", "storage": {B256::ZERO.to_string(): B256::repeat_byte(7)}}});
        let all = changes(pre, json!({at.to_string(): {"nonce": 1}}), &[]);
        let change = &all.accounts[&at];
        assert_eq!((change.balance, change.nonce, change.code), (None, Some((0, 1)), None));
        assert_eq!(change.storage[&U256::ZERO], (B256::repeat_byte(7).into(), U256::ZERO));
    }

    #[test]
    fn revoked_delegation_is_a_code_change() {
        let (at, code) = (Address::repeat_byte(0x11), Bytes::from([&[0xef, 0x01, 0x00][..], &[0x22; 20]].concat()));
        let pre = json!({at.to_string(): {"balance": "0x5", "code": code}});
        let revoked = changes(pre.clone(), json!({at.to_string(): {"nonce": 1}}), &[(at, Bytes::new())]);
        assert_eq!(revoked.accounts[&at].code, Some((keccak256(&code), KECCAK256_EMPTY)));
        let kept = changes(pre, json!({at.to_string(): {"nonce": 1}}), &[(at, code)]);
        assert_eq!(kept.accounts[&at].code, None);
    }

    #[test]
    fn removed_account_loses_its_balance() {
        let at = Address::repeat_byte(0x11);
        let all = changes(json!({at.to_string(): {"balance": "0x4d2"}}), json!({}), &[]);
        assert_eq!(all.accounts[&at].balance, Some((U256::from(0x4d2), U256::ZERO)));
    }

    #[test]
    fn call_frame_distinguishes_halt_from_revert() {
        let frame = |error: &str| -> CallFrame {
            serde_json::from_value(json!({"gasUsed": "0x1", "output": "0x01", "error": error})).expect("a frame")
        };
        assert_eq!(frame("execution reverted").outcome().status, TxStatus::Reverted);
        let halted = frame("out of gas").outcome();
        assert_eq!((halted.status, halted.output), (TxStatus::Halted, Bytes::new()));
    }
}
