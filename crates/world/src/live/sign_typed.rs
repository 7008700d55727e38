//! Signs typed data that is not broadcast, such as orders and permits.

use super::account::SentTx;
use super::hooks::worth_usd8;
use super::planned_write::PlannedWrite;
use super::tool_error::ToolError;
use super::trial_state::TrialState;
use super::world_template::WorldTemplate;
use crate::chain::{TypedData, signed_typed};
use alloy_primitives::hex;
use model::EventKind;
use model::transcript::{ToolAnswer, ToolErrorCode};
use serde_json::{Value, json};

pub(super) async fn sign_typed(
    template: &WorldTemplate,
    state: &mut TrialState,
    write: &PlannedWrite<'_>,
    data: &TypedData,
) -> Result<ToolAnswer, ToolError> {
    let hash = data.eip712_signing_hash().map_err(|error| ToolError::new(ToolErrorCode::SigningFailed, error.to_string()))?;
    let id = hex::encode_prefixed(hash);
    let chain = state.chain(write.plan.chain).await?;
    let what = Box::new(signed_typed(chain.address_book(), template.operator(), data));
    let worth = worth_usd8(template.file(), chain.address_book(), &write.plan.outflows).unwrap_or_default();
    let block = chain.node().latest().await?.number;
    state.account.add_signed(worth);
    state.account.add_sent(SentTx {
        tx_hash: id.clone(),
        chain: write.plan.chain,
        action_id: write.origin.action_id.clone(),
        tool: write.request.tool.name.value.clone(),
        ok: true,
        block,
        gas_used: 0,
    });
    state.record.note(write.request.who, EventKind::Signed { origin: write.origin.clone(), what });
    state.actions.record_write(write.calldata_hash(), state.record.now_ms());
    let mut answer = write.plan.outputs.clone();
    answer.insert("status".into(), json!("signed"));
    answer.insert("order_id".into(), json!(id));
    answer.insert("signature".into(), json!(hex::encode_prefixed(template.signer().sign(hash))));
    answer.insert("chain_id".into(), json!(write.plan.chain));
    Ok(ToolAnswer::Result(Value::Object(answer)))
}
