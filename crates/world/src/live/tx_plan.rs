//! Plan of a write before signing: account calls, a signature, an inflow or a note.

use crate::chain::genesis::{ACCOUNT, execute, execute_batch};
use crate::chain::{Tx, TypedData, calldata_hash};
use alloy_primitives::{Address, B256, U256, hex, keccak256};
use model::transcript::TradeTerms;
use serde_json::{Map, Value};

#[derive(Debug, Clone)]
pub(crate) struct TxPlan {
    pub chain: u64,
    pub kind: PlanKind,
    pub trade: Option<TradeTerms>,
    /// Planned outflows of the account: asset and base units.
    pub outflows: Vec<(Address, U256)>,
    /// Recipients, spenders and assets.
    pub parties: Vec<(PartyRole, Address)>,
    /// Fields for the tool's answer.
    pub outputs: Map<String, Value>,
    pub follow_up: Option<FollowUp>,
}

/// Kind of a planned write.
#[derive(Debug, Clone)]
pub(crate) enum PlanKind {
    /// Calls made by the account.
    Execute(Vec<ContractCall>),
    /// Calldata that the operator sends to the account itself.
    Direct(Vec<u8>),
    Sign(Box<TypedData>),
    /// Funds sent to the account from outside.
    Inflow {
        asset: Address,
        amount: U256,
    },
    Remember {
        key: String,
        value: Value,
    },
}

#[derive(Debug, Clone)]
pub(crate) struct ContractCall {
    pub to: Address,
    pub value: U256,
    pub data: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PartyRole {
    Recipient,
    Spender,
    Asset,
}

/// Follow-up of a successful plan.
#[derive(Debug, Clone)]
pub(crate) enum FollowUp {
    /// Funds arrive on another chain.
    Arrive { chain: u64, symbol: String, decimals: u8, amount: U256, to: Address },
    /// The account gets a position with a new id.
    Position { assets: Vec<String> },
}

impl TxPlan {
    pub(crate) fn new(chain: u64, kind: PlanKind) -> Self {
        Self { chain, kind, trade: None, outflows: vec![], parties: vec![], outputs: Map::new(), follow_up: None }
    }

    /// Returns the transaction that the operator would sign, if the plan has one.
    pub(crate) fn transaction(&self, operator: Address) -> Option<Tx> {
        let data = match &self.kind {
            PlanKind::Execute(calls) => match calls.as_slice() {
                [call] => execute(call.to, call.value, call.data.clone()),
                calls => execute_batch(calls.iter().map(|call| (call.to, call.value, call.data.clone()))),
            },
            PlanKind::Direct(data) => data.clone(),
            PlanKind::Sign(_) | PlanKind::Inflow { .. } | PlanKind::Remember { .. } => return None,
        };
        Some(Tx::call(operator, ACCOUNT, data))
    }

    /// Returns the hash of everything that would be signed.
    pub(crate) fn calldata_hash(&self, operator: Address) -> String {
        let hash: B256 = match &self.kind {
            PlanKind::Execute(_) | PlanKind::Direct(_) => {
                let data = self.transaction(operator).map(|tx| tx.data).unwrap_or_default();
                return calldata_hash(self.chain, ACCOUNT, &data);
            }
            PlanKind::Sign(data) => data.eip712_signing_hash().unwrap_or_else(|_| keccak256(format!("{data:?}"))),
            PlanKind::Inflow { asset, amount } => {
                keccak256([b"inflow".as_slice(), asset.as_slice(), amount.to_be_bytes::<32>().as_slice()].concat())
            }
            PlanKind::Remember { key, value } => keccak256(format!("{key}\u{0}{value}")),
        };
        hex::encode_prefixed(hash)
    }
}
