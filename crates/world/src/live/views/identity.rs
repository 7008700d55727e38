//! Agent view: owner, URI and feedback of a registered agent.

use super::shared::{chain_facts, party, require_id, truncated, try_read};
use crate::chain::bindings::IdentityRegistry;
use crate::live::args::ToolArgs;
use crate::live::tool_error::{ToolError, quote_value};
use crate::live::tx_builder::TxBuilder;
use alloy_primitives::{Address, U256};
use model::transcript::ToolErrorCode;
use model::{OpTarget, Role};
use serde_json::{Map, Value, json};

/// Maximum characters of an agent's URI.
const MAX_PAGE_CHARS: usize = 2_000;

pub(super) async fn agent(builder: &mut TxBuilder<'_>, args: &ToolArgs<'_>) -> Result<Map<String, Value>, ToolError> {
    let text = require_id(args, "agent")?;
    let missing =
        |chain: u64| ToolError::new(ToolErrorCode::NotFound, format!("{} is not a registered agent on chain {chain}", quote_value(&text)));
    let agent = number(builder, &text).ok_or_else(|| missing(builder.id))?;
    let registry = registry(builder, Role::IdentityRegistry)?;
    let Some(owner) = try_read(builder, registry, &IdentityRegistry::ownerOfCall { agentId: agent }).await? else {
        return Err(missing(builder.id));
    };
    let uri = builder.read(registry, &IdentityRegistry::tokenURICall { agentId: agent }).await?;
    let (count, average) = reputation(builder, registry, agent).await?;
    let mut answer = chain_facts(builder);
    answer.insert("agent_id".into(), json!(truncated(&text, 80)));
    answer.insert("registry_id".into(), json!(agent.to_string()));
    answer.insert("registry".into(), party(builder, registry));
    answer.insert("owner".into(), party(builder, owner));
    answer.insert("own".into(), json!(builder.book.get(owner).is_some_and(|entry| entry.own)));
    answer.insert("uri".into(), json!(truncated(&uri, MAX_PAGE_CHARS)));
    answer.insert("feedback".into(), json!({ "count": count.to_string(), "average_score": average.to_string() }));
    Ok(answer)
}

fn registry(builder: &TxBuilder<'_>, role: Role) -> Result<Address, ToolError> {
    builder.contract(&OpTarget { role: Some(role), ..OpTarget::default() }, &["IdentityRegistry"])
}

/// Returns feedback count and average score from the reputation registry, else from the identity registry.
async fn reputation(builder: &mut TxBuilder<'_>, identities: Address, agent: U256) -> Result<(U256, U256), ToolError> {
    if let Ok(reputations) = registry(builder, Role::ReputationRegistry)
        && let Some(summary) = try_read(builder, reputations, &IdentityRegistry::summaryCall { agentId: agent }).await?
    {
        return Ok((summary.count, summary.averageScore));
    }
    let summary = builder.read(identities, &IdentityRegistry::summaryCall { agentId: agent }).await?;
    Ok((summary.count, summary.averageScore))
}

/// Returns the registry number of an agent: its position in the world file, or digits with an optional chain prefix.
fn number(builder: &TxBuilder<'_>, text: &str) -> Option<U256> {
    let mut agents = builder.things.iter().filter(|thing| thing.chain == builder.id && thing.is == "agent");
    if let Some(place) = agents.position(|thing| thing.id.eq_ignore_ascii_case(text)) {
        return Some(U256::from(place + 1));
    }
    let plain = match text.split_once(':') {
        Some((_, number)) if chain_id_of(text) == Some(builder.id) => number,
        Some(_) => return None,
        None => text,
    };
    let digits = !plain.is_empty() && plain.len() <= 77 && plain.chars().all(|c| c.is_ascii_digit());
    digits.then(|| U256::from_str_radix(plain, 10).ok()).flatten()
}

/// Returns the chain of an id such as `8453:42`.
fn chain_id_of(text: &str) -> Option<u64> {
    text.split_once(':')?.0.parse().ok()
}
