//! Transaction and order views of this trial.

use super::shared::{chain_facts, owner, require_id, truncated};
use crate::live::account::{AccountState, SentTx};
use crate::live::args::{ToolArgs, scalar_text};
use crate::live::tool_error::{ToolError, quote_value};
use crate::live::tx_builder::TxBuilder;
use model::ParamKind;
use model::transcript::ToolErrorCode;
use serde_json::{Map, Value, json};

/// Maximum lookups per call.
const MAX_LOOKUPS: usize = 100;

pub(super) fn transaction(builder: &TxBuilder<'_>, args: &ToolArgs<'_>, account: &AccountState) -> Result<Map<String, Value>, ToolError> {
    let hashes = match ids(args) {
        Some(hashes) => hashes,
        None => vec![require_id(args, "transaction")?],
    };
    let find = |hash: &String| account.sent().iter().find(|fact| fact.chain == builder.id && fact.tx_hash.eq_ignore_ascii_case(hash));
    if hashes.iter().all(|hash| find(hash).is_none()) {
        let what = hashes.first().map(|hash| quote_value(hash)).unwrap_or_default();
        return Err(ToolError::new(ToolErrorCode::NotFound, format!("transaction {what} not found on chain {}", builder.id)));
    }
    let missing = |hash: &str| json!({ "tx_hash": truncated(hash, 80), "status": "not_found" });
    let mut answer = chain_facts(builder);
    answer.insert("transactions".into(), hashes.iter().map(|hash| find(hash).map_or_else(|| missing(hash), tx_json)).collect());
    Ok(answer)
}

/// Returns the ids of a list parameter.
fn ids(args: &ToolArgs<'_>) -> Option<Vec<String>> {
    let (_, value) = args.first(|kind| matches!(kind, ParamKind::List(inner) if matches!(**inner, ParamKind::Id(_))))?;
    Some(value.as_array()?.iter().take(MAX_LOOKUPS).map(scalar_text).collect())
}

fn tx_json(fact: &SentTx) -> Value {
    json!({
        "tx_hash": fact.tx_hash,
        "status": if fact.ok { "success" } else { "failed" },
        "chain_id": fact.chain,
        "block": fact.block,
        "gas_used": fact.gas_used,
        "tool": fact.tool,
        "action_id": fact.action_id,
    })
}

pub(super) fn orders(builder: &TxBuilder<'_>, args: &ToolArgs<'_>, account: &AccountState) -> Result<Map<String, Value>, ToolError> {
    let one = args.first(|kind| matches!(kind, ParamKind::Id(_))).map(|(_, value)| scalar_text(value));
    let wanted = ids(args).or_else(|| one.clone().map(|id| vec![id]));
    let named = |fact: &SentTx| {
        let has_id = |id: &String| fact.tx_hash.eq_ignore_ascii_case(id) || fact.action_id.as_ref() == Some(id);
        wanted.as_ref().is_none_or(|wanted| wanted.iter().any(has_id))
    };
    let status = args.text("order_status");
    let fits = |fact: &SentTx| status.as_deref().is_none_or(|status| status == order_status(fact));
    let own = owner_is_own(builder, args)?;
    let found = account.sent().iter().filter(|fact| own && is_order(builder, fact) && named(fact) && fits(fact));
    let limit =
        args.get("limit").and_then(Value::as_u64).and_then(|limit| usize::try_from(limit).ok()).unwrap_or(MAX_LOOKUPS).min(MAX_LOOKUPS);
    // Orders of the world file are open.
    let open = own && status.as_deref().is_none_or(|status| status == "open");
    let older = builder.things.iter().filter(|thing| open && thing.is == "order" && thing.chain == builder.id);
    let older = older.filter(|thing| wanted.as_ref().is_none_or(|ids| ids.iter().any(|id| thing.id.eq_ignore_ascii_case(id))));
    let older = older.map(|thing| json!({ "order_id": thing.id.value, "status": "open", "chain_id": thing.chain }));
    let rows: Vec<Value> = found.map(order_json).chain(older).take(limit).collect();
    match one {
        Some(id) if rows.is_empty() => Err(ToolError::new(ToolErrorCode::NotFound, format!("order {} not found", quote_value(&id)))),
        Some(_) | None => Ok(Map::from_iter([("orders".to_owned(), Value::Array(rows))])),
    }
}

/// Returns whether a call is about the account itself. Orders of other accounts are unknown.
fn owner_is_own(builder: &TxBuilder<'_>, args: &ToolArgs<'_>) -> Result<bool, ToolError> {
    Ok(owner(builder, args)? == crate::chain::genesis::ACCOUNT)
}

fn is_order(builder: &TxBuilder<'_>, fact: &SentTx) -> bool {
    let signs_one = builder.workspace.tool(&fact.tool).is_some_and(|tool| tool.via.message.as_deref() == Some("Order"));
    signs_one || fact.tool.contains("order")
}

fn order_status(fact: &SentTx) -> &'static str {
    if fact.ok { "filled" } else { "error" }
}

fn order_json(fact: &SentTx) -> Value {
    json!({
        "order_id": fact.action_id.as_ref().unwrap_or(&fact.tx_hash),
        "status": order_status(fact),
        "tx_hash": fact.tx_hash,
        "chain_id": fact.chain,
        "block": fact.block,
        "tool": fact.tool,
    })
}
