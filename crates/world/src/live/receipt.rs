//! Tool answer for a successful transaction.

use super::mine::RecordedTx;
use super::own_changes::own_changes;
use super::record::TrialRecord;
use super::tx_plan::TxPlan;
use serde_json::{Map, Value, json};

pub(super) fn receipt_answer(record: &TrialRecord, plan: &TxPlan, sent: &RecordedTx) -> Map<String, Value> {
    let changes = own_changes(record.effects_of(sent.chain, sent.nonce));
    let mut answer = plan.outputs.clone();
    answer.insert("status".into(), json!("success"));
    answer.insert("tx_hash".into(), json!(sent.id));
    answer.insert("chain_id".into(), json!(sent.chain));
    answer.insert("block".into(), json!(sent.receipt.block.number));
    answer.insert("gas_used".into(), json!(sent.receipt.gas_used));
    answer.insert("changes".into(), Value::Array(changes));
    answer
}
