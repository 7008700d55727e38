//! Calls every tool in every world: writes are signed or mined, all other tools answer.

use crate::live::harness::{LiveTrial, is_mined, is_signed, text_field, workspace, world_template};
use crate::live::samples::ArgSampler;
use bardo_eval_world::{WorldSettings, WorldTemplate};
use model::transcript::{ToolAnswer, TxOutcome};
use model::{EventKind, LiveView, OpClass, Tool, Workspace, WorldFile};
use serde_json::{Value, json};
use std::sync::Arc;

/// Outcome of a tool on one chain, from worst to best.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ToolOutcome {
    /// Neither a signature nor an answer.
    Nothing(String),
    /// Mined, but reverted.
    Reverted(String),
    /// Read whose fixture is an error.
    Failed(String),
    Fine,
}

impl ToolOutcome {
    fn rank(&self) -> u8 {
        match self {
            ToolOutcome::Nothing(_) => 0,
            ToolOutcome::Reverted(_) => 1,
            ToolOutcome::Failed(_) => 2,
            ToolOutcome::Fine => 3,
        }
    }
}

/// Runs one tool on one chain in a new trial.
async fn run_tool(stage: &Arc<WorldTemplate>, sampler: ArgSampler<'_>, tool: &Tool) -> ToolOutcome {
    let mut trial = LiveTrial::open(stage, WorldSettings::default());
    let mut args = Value::Object(sampler.args(tool));
    if let Some((name, value)) = prerequisite_arg(&mut trial, &sampler, tool).await {
        args[name] = value;
    }
    if tool.writes() && tool.acts.class() == OpClass::PassThrough && prepares_first(tool) {
        let quote = trial.call("uniswap_get_quote", sampler.swap()).await;
        let ToolAnswer::Result(quote) = quote else { return ToolOutcome::Nothing(format!("no quote: {quote:?}")) };
        if args.get("quote").is_some() {
            args["quote"] = json!({ "action_id": text_field(&quote, "action_id") });
        } else {
            args["permit_id"] = quote["permit_id"].clone();
        }
        trial.events.clear();
    }
    let answer = trial.call(&tool.name, args.clone()).await;
    if tool.writes() { write_outcome(&trial, tool, &answer, &args) } else { read_outcome(&trial, tool, &answer, &args) }
}

/// Sends the transaction or order that a status tool asks about and returns the argument for it.
async fn prerequisite_arg(trial: &mut LiveTrial, sampler: &ArgSampler<'_>, tool: &Tool) -> Option<(&'static str, Value)> {
    let (with, key, name) = if tool.view == Some(LiveView::Transaction) {
        ("uniswap_execute_swap", "tx_hash", "transaction_hashes")
    } else if tool.view == Some(LiveView::Orders) && tool.params.contains_key("order_id") {
        ("uniswap_submit_uniswapx_order", "order_id", "order_id")
    } else {
        return None;
    };
    let hash = match trial.call(with, sampler.swap()).await {
        ToolAnswer::Result(value) => value[key].clone(),
        // A reverted transaction is mined too; its error message starts with the hash.
        ToolAnswer::Error { message, .. } => json!(message.split_whitespace().next()),
    };
    trial.events.clear();
    Some((name, if name == "order_id" { hash } else { json!([hash]) }))
}

fn prepares_first(tool: &Tool) -> bool {
    tool.params.contains_key("quote") || tool.params.contains_key("permit_id")
}

fn write_outcome(trial: &LiveTrial, tool: &Tool, answer: &ToolAnswer, args: &Value) -> ToolOutcome {
    if tool.acts.class() == OpClass::Remember {
        let kept = trial.count(|happened| matches!(happened, EventKind::Remembered { .. }));
        return if kept == 1 { ToolOutcome::Fine } else { ToolOutcome::Nothing(format!("{answer:?} {args}")) };
    }
    let reverted = trial.events().find_map(|happened| {
        let EventKind::Mined { what, .. } = happened else { return None };
        (what.outcome != TxOutcome::Success).then(|| format!("{:?} {args}", what.outcome))
    });
    match (trial.count(is_signed) + trial.count(is_mined), reverted) {
        (0, _) => ToolOutcome::Nothing(format!("{answer:?} {args}")),
        (_, Some(why)) => ToolOutcome::Reverted(why),
        (_, None) if matches!(answer, ToolAnswer::Error { .. }) => ToolOutcome::Reverted(format!("{answer:?} {args}")),
        (_, None) => ToolOutcome::Fine,
    }
}

fn read_outcome(trial: &LiveTrial, tool: &Tool, answer: &ToolAnswer, args: &Value) -> ToolOutcome {
    let touched = trial.count(is_signed) + trial.count(is_mined);
    assert_eq!(touched, 0, "{} only reads", *tool.name);
    match answer {
        ToolAnswer::Error { code, message } => {
            let ours = code == "DATA_UNAVAILABLE" || code.starts_with("VALIDATION_") || code.starts_with("CONFIG_");
            let details = format!("{code} {message} {args}");
            if ours { ToolOutcome::Nothing(details) } else { ToolOutcome::Failed(details) }
        }
        ToolAnswer::Result(_) => {
            let prepared = trial.count(|happened| matches!(happened, EventKind::Prepared { .. }));
            let simulated = trial.count(|happened| matches!(happened, EventKind::Simulated { .. }));
            let class = tool.acts.class();
            if (class == OpClass::Quote && prepared != 1) || (class == OpClass::Simulate && simulated != 1) {
                return ToolOutcome::Nothing(format!("prepared {prepared}, simulated {simulated}: {args}"));
            }
            ToolOutcome::Fine
        }
    }
}

/// Returns the chains of a world, Base and mainnet first.
fn chains(world: &WorldFile) -> Vec<u64> {
    let mut chains = world.chains.clone();
    chains.sort_by_key(|id| (*id != 8453, *id != 1, *id));
    chains
}

/// Returns the best outcome of a tool on any chain.
async fn best_outcome(stage: &Arc<WorldTemplate>, workspace: &Workspace, world: &WorldFile, tool: &Tool) -> ToolOutcome {
    let mut best: Option<ToolOutcome> = None;
    for chain in chains(world) {
        let outcome = run_tool(stage, ArgSampler { workspace, world, chain }, tool).await;
        if best.as_ref().is_none_or(|best| outcome.rank() > best.rank()) {
            best = Some(outcome);
        }
        if best == Some(ToolOutcome::Fine) {
            break;
        }
    }
    best.expect("a world has a chain")
}

/// Returns the outcome of every tool of the catalogue in a world.
async fn run_every_tool(world: &str) -> Vec<(String, bool, ToolOutcome)> {
    let (workspace, stage) = (workspace(), world_template(world));
    let file = workspace.world(world).expect("the world");
    let mut rows = vec![];
    for tool in &workspace.tools {
        rows.push((tool.name.value.clone(), tool.writes(), best_outcome(&stage, &workspace, file, tool).await));
    }
    rows
}

/// Asserts that every write is signed or mined and every other tool answers; error fixtures are allowed only if `sources_fail`.
async fn assert_every_tool_works(world: &str, sources_fail: bool) -> Vec<(String, bool, ToolOutcome)> {
    let rows = run_every_tool(world).await;
    let silent: Vec<String> = rows
        .iter()
        .filter_map(|(name, _, outcome)| match outcome {
            ToolOutcome::Nothing(why) => Some(format!("{name}: {why}")),
            ToolOutcome::Failed(why) if !sources_fail => Some(format!("{name}: {why}")),
            ToolOutcome::Failed(_) | ToolOutcome::Reverted(_) | ToolOutcome::Fine => None,
        })
        .collect();
    assert!(silent.is_empty(), "{world}: {} of {} tools\n{}", silent.len(), rows.len(), silent.join("\n"));
    rows
}

/// Writes that must revert in the rich world, with their expected errors.
const MUST_REVERT: &[(&str, &str)] = &[
    // A burn takes 4,000 UNI; the account has 2,600.
    ("execute_burn", "InsufficientBalance"),
    // The agents of the registry have other owners.
    ("identity_update_metadata", "NotAgentOwner"),
    ("identity_verify_agent", "NotAgentOwner"),
];

#[tokio::test]
async fn every_tool_works_in_defi_rich() {
    assert_every_tool_works("defi_rich", false).await;
}

#[tokio::test]
async fn only_listed_writes_revert_in_defi_rich() {
    let rows = run_every_tool("defi_rich").await;
    let writes = rows.iter().filter(|(_, writes, _)| *writes).count();
    let reverted: Vec<(&str, &str)> = rows
        .iter()
        .filter_map(|(name, _, outcome)| if let ToolOutcome::Reverted(why) = outcome { Some((name.as_str(), why.as_str())) } else { None })
        .collect();
    let details: Vec<String> = reverted.iter().map(|(name, why)| format!("{name}: {why}")).collect();
    assert!(reverted.len() * 10 <= writes, "{} of {writes} writes revert\n{}", reverted.len(), details.join("\n"));
    let named: Vec<&str> = reverted.iter().map(|(name, _)| *name).collect();
    let expected: Vec<&str> = MUST_REVERT.iter().map(|(name, _)| *name).collect();
    assert_eq!(named, expected, "{}", details.join("\n"));
    for ((name, why), (_, error)) in reverted.iter().zip(MUST_REVERT) {
        assert!(why.contains(error), "{name} reverts for another reason: {why}");
    }
}

#[tokio::test]
async fn every_tool_works_in_defi_small() {
    assert_every_tool_works("defi_small", false).await;
}

#[tokio::test]
async fn every_tool_works_in_market_stress() {
    assert_every_tool_works("market_stress", true).await;
}

#[tokio::test]
async fn every_tool_works_in_wallet_empty() {
    assert_every_tool_works("wallet_empty", true).await;
}

#[tokio::test]
async fn every_tool_works_in_multi_chain() {
    assert_every_tool_works("multi_chain", false).await;
}

#[tokio::test]
async fn every_tool_works_in_registry_attacked() {
    assert_every_tool_works("registry_attacked", false).await;
}
