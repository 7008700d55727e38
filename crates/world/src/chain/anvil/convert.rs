//! Between our types and what an Ethereum node reads and writes as JSON.

use super::super::{AccountChange, Block, Changes, Log, Outcome, Status, Tx};
use crate::chain::BASE_FEE;
use alloy_primitives::{Address, B256, Bytes, KECCAK256_EMPTY, U64, U256, keccak256};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn hex(number: u64) -> String {
    format!("{number:#x}")
}

/// A transaction with everything said, so that the node fills in nothing.
pub(super) fn transaction(tx: &Tx, nonce: u64, chain: u64) -> Value {
    let mut out = call(tx);
    out["type"] = if tx.authorizations.is_empty() { "0x2" } else { "0x4" }.into();
    out["chainId"] = hex(chain).into();
    out["nonce"] = hex(nonce).into();
    out["maxFeePerGas"] = hex(BASE_FEE).into();
    out["maxPriorityFeePerGas"] = "0x0".into();
    out
}

/// A transaction that costs nothing and has no nonce of its own.
pub(super) fn call(tx: &Tx) -> Value {
    let mut out = json!({
        "from": tx.from,
        "gas": hex(tx.gas_limit()),
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
                let parity = hex(signed.y_parity().into());
                let (chain, address, nonce) = (signed.chain_id(), signed.address(), hex(signed.nonce()));
                json!({"chainId": chain, "address": address, "nonce": nonce, "yParity": parity, "r": signed.r(), "s": signed.s()})
            })
            .collect();
    }
    out
}

#[derive(Debug, Deserialize)]
pub(super) struct BlockReply {
    number: U64,
    timestamp: U64,
    #[serde(default)]
    pub(super) transactions: Vec<B256>,
}

impl BlockReply {
    pub(super) fn block(&self) -> Block {
        Block { number: self.number.to(), unix_s: self.timestamp.to() }
    }
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

    pub(super) fn is_in(&self, block: Block) -> bool {
        self.block_number == U64::from(block.number)
    }

    pub(super) fn gas_used(&self) -> u64 {
        self.gas_used.to()
    }

    pub(super) fn logs(self) -> Vec<Log> {
        self.logs.into_iter().map(|LogReply { address, topics, data }| Log { address, topics, data }).collect()
    }
}

/// The outermost call as geth's `callTracer` tells it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Frame {
    gas_used: U64,
    #[serde(default)]
    output: Bytes,
    #[serde(default)]
    error: Option<String>,
}

impl Frame {
    pub(super) fn outcome(self) -> Outcome {
        let (status, output) = match self.error.as_deref() {
            None => (Status::Success, self.output),
            Some("execution reverted") => (Status::Reverted, self.output),
            Some(_) => (Status::Halted, Bytes::new()),
        };
        Outcome { status, gas_used: self.gas_used.to(), output }
    }
}

/// geth's `prestateTracer` with `diffMode`. `pre` holds every changed account as it was, `post` what is different now; zeros, empty
/// code and accounts that did not exist are left out on both sides.
#[derive(Debug, Deserialize)]
pub(super) struct Diff {
    pre: BTreeMap<Address, Side>,
    post: BTreeMap<Address, Side>,
}

#[derive(Debug, Default, Deserialize)]
struct Side {
    balance: Option<U256>,
    nonce: Option<U64>,
    code: Option<Bytes>,
    #[serde(default)]
    storage: BTreeMap<B256, B256>,
}

impl Diff {
    /// Accounts of which the diff does not say whether their code is still there. Only EIP-7702 takes code away from an account that stays.
    pub(super) fn unsure_of_code(&self) -> Vec<Address> {
        let delegates = |side: &Side| side.code.as_ref().is_some_and(|code| code.starts_with(&[0xef, 0x01, 0x00]));
        let silent = |at: &Address| self.post.get(at).is_some_and(|after| after.code.is_none());
        self.pre.iter().filter(|(at, before)| delegates(before) && silent(at)).map(|(at, _)| *at).collect()
    }

    /// `codes` answers for [`Self::unsure_of_code`].
    pub(super) fn changes(&self, codes: &BTreeMap<Address, Bytes>) -> Changes {
        let (absent, addresses) = (Side::default(), self.pre.keys().chain(self.post.keys()).collect::<BTreeSet<_>>());
        let change = |at: &Address| {
            let before = self.pre.get(at).unwrap_or(&absent);
            match self.post.get(at) {
                Some(after) => before.became(after, codes.get(at)),
                None => before.vanished(),
            }
        };
        let accounts = addresses.into_iter().map(|at| (*at, change(at))).filter(|(_, change)| !change.is_empty()).collect();
        Changes { accounts }
    }
}

impl Side {
    fn became(&self, after: &Side, code: Option<&Bytes>) -> AccountChange {
        let (balance, nonce) = (self.balance.unwrap_or_default(), self.nonce.unwrap_or_default());
        AccountChange {
            balance: differ(balance, after.balance.unwrap_or(balance)),
            nonce: differ(nonce.to(), after.nonce.unwrap_or(nonce).to()),
            code: after.code.as_ref().or(code).and_then(|code| differ(self.code_hash(), hash(code))),
            storage: self.slots(&after.storage),
        }
    }

    /// An account that ended in the transaction that created it, perhaps funded long before.
    fn vanished(&self) -> AccountChange {
        AccountChange {
            balance: differ(self.balance.unwrap_or_default(), U256::ZERO),
            nonce: differ(self.nonce.unwrap_or_default().to(), 0),
            code: differ(self.code_hash(), KECCAK256_EMPTY),
            storage: self.slots(&BTreeMap::new()),
        }
    }

    fn code_hash(&self) -> B256 {
        self.code.as_ref().map_or(KECCAK256_EMPTY, hash)
    }

    fn slots(&self, after: &BTreeMap<B256, B256>) -> BTreeMap<U256, (U256, U256)> {
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

fn differ<T: PartialEq>(before: T, after: T) -> Option<(T, T)> {
    (before != after).then_some((before, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(pre: Value, post: Value, codes: &[(Address, Bytes)]) -> Changes {
        let diff: Diff = serde_json::from_value(json!({"pre": pre, "post": post})).expect("a diff");
        assert_eq!(diff.unsure_of_code(), codes.iter().map(|(at, _)| *at).collect::<Vec<_>>());
        diff.changes(&codes.iter().cloned().collect())
    }

    #[test]
    fn what_a_diff_leaves_out_is_zero_or_unchanged() {
        let at = Address::repeat_byte(0x11);
        let pre = json!({at.to_string(): {"balance": "0x5", "code": "0x00", "storage": {B256::ZERO.to_string(): B256::repeat_byte(7)}}});
        let all = changes(pre, json!({at.to_string(): {"nonce": 1}}), &[]);
        let change = &all.accounts[&at];
        assert_eq!((change.balance, change.nonce, change.code), (None, Some((0, 1)), None));
        assert_eq!(change.storage[&U256::ZERO], (B256::repeat_byte(7).into(), U256::ZERO));
    }

    #[test]
    fn a_revoked_delegation_is_a_change_of_code_and_a_kept_one_is_not() {
        let (at, code) = (Address::repeat_byte(0x11), Bytes::from([&[0xef, 0x01, 0x00][..], &[0x22; 20]].concat()));
        let pre = json!({at.to_string(): {"balance": "0x5", "code": code}});
        let revoked = changes(pre.clone(), json!({at.to_string(): {"nonce": 1}}), &[(at, Bytes::new())]);
        assert_eq!(revoked.accounts[&at].code, Some((keccak256(&code), KECCAK256_EMPTY)));
        let kept = changes(pre, json!({at.to_string(): {"nonce": 1}}), &[(at, code)]);
        assert_eq!(kept.accounts[&at].code, None);
    }

    #[test]
    fn an_account_that_vanished_lost_what_it_had() {
        let at = Address::repeat_byte(0x11);
        let all = changes(json!({at.to_string(): {"balance": "0x4d2"}}), json!({}), &[]);
        assert_eq!(all.accounts[&at].balance, Some((U256::from(0x4d2), U256::ZERO)));
    }

    #[test]
    fn what_ended_badly_is_told_from_what_was_reverted() {
        let frame = |error: &str| -> Frame {
            serde_json::from_value(json!({"gasUsed": "0x1", "output": "0x01", "error": error})).expect("a frame")
        };
        assert_eq!(frame("execution reverted").outcome().status, Status::Reverted);
        let halted = frame("out of gas").outcome();
        assert_eq!((halted.status, halted.output), (Status::Halted, Bytes::new()));
    }
}
