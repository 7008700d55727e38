//! Agent registry writes: registration, feedback, metadata and validation requests.

use super::calls::{contract_call, plan};
use super::configure::{args_text, truncate_bytes};
use crate::chain::bindings::IdentityRegistry;
use crate::chain::genesis::ACCOUNT;
use crate::live::args::{ToolArgs, scalar_text};
use crate::live::tool_error::{ToolError, quote_value};
use crate::live::tx_builder::TxBuilder;
use crate::live::tx_plan::TxPlan;
use alloy_primitives::{Address, U256, keccak256};
use model::transcript::ToolErrorCode;
use model::{AddressRole, IdKind, OpTarget, ParamKind, Role, Tool, WorldObject};
use serde_json::json;

const MOST_UPDATES: usize = 16;
const LONGEST_TAG: usize = 64;
const LONGEST_VALUE: usize = 1_000;

fn registry(builder: &TxBuilder<'_>, tool: &Tool) -> Result<Address, ToolError> {
    let role = tool.via.role.or(Some(Role::IdentityRegistry));
    builder.contract(&OpTarget { role, contract: tool.via.contract.clone(), ..OpTarget::default() }, &["IdentityRegistry"])
}

/// Returns the registry number of the agent that a call names.
fn agent(builder: &TxBuilder<'_>, args: &ToolArgs<'_>) -> Result<U256, ToolError> {
    let named = args.first(|kind| matches!(kind, ParamKind::Id(IdKind::Agent) | ParamKind::Address(AddressRole::Agent)));
    let text = named.map(|(_, value)| scalar_text(value));
    agent_number(builder.things, builder.id, text.as_deref()).ok_or_else(|| {
        let what = text.map_or_else(|| "no agent specified".to_owned(), |text| format!("{} is not a valid agent id", quote_value(&text)));
        ToolError::new(ToolErrorCode::InvalidArguments, what)
    })
}

/// Returns the number of an agent: its position in the world file, else the trailing digits of its id.
/// A call on a vault that names no agent means its manager, the first agent.
fn agent_number(things: &[WorldObject], chain: u64, text: Option<&str>) -> Option<U256> {
    let mut agents = things.iter().filter(|thing| thing.is == "agent" && thing.chain == chain);
    let Some(text) = text else { return agents.next().map(|_| U256::from(1)) };
    if let Some(place) = agents.position(|agent| agent.id.eq_ignore_ascii_case(text)) {
        return Some(U256::from(place + 1));
    }
    let digits = text.rsplit(|c: char| !c.is_ascii_digit()).next().filter(|digits| !digits.is_empty())?;
    U256::from_str_radix(digits, 10).ok()
}

pub(super) fn register(builder: &TxBuilder<'_>, tool: &Tool, args: &ToolArgs<'_>) -> Result<TxPlan, ToolError> {
    let registry = registry(builder, tool)?;
    let mut plan = plan(builder, vec![contract_call(registry, &IdentityRegistry::registerCall { uri: args_text(args) })], vec![], vec![]);
    plan.outputs.insert("registry".into(), json!(registry.to_checksum(None)));
    Ok(plan)
}

pub(super) fn feedback(builder: &TxBuilder<'_>, tool: &Tool, args: &ToolArgs<'_>) -> Result<TxPlan, ToolError> {
    let (registry, agent) = (registry(builder, tool)?, agent(builder, args)?);
    let score = score(args)?;
    let tag = |name: &str| truncate_bytes(args.text(name).unwrap_or_default(), LONGEST_TAG);
    let give = IdentityRegistry::giveFeedbackCall { agentId: agent, score, tag1: tag("tag1"), tag2: tag("tag2"), uri: args_text(args) };
    let mut plan = plan(builder, vec![contract_call(registry, &give)], vec![], vec![]);
    plan.outputs.insert("agent_number".into(), json!(agent.to_string()));
    plan.outputs.insert("score_of_100".into(), json!(score));
    Ok(plan)
}

/// Returns a score from 0 to 100: `score` scaled by its schema maximum, or a ratio in percent.
fn score(args: &ToolArgs<'_>) -> Result<u8, ToolError> {
    if let Some(given) = args.get("score") {
        let most = args.tool.params.get("score").and_then(|param| param.schema.get("maximum")?.as_u64());
        let score = given.as_u64().and_then(|given| scale_to_100(given, most));
        return score.ok_or_else(|| {
            ToolError::new(ToolErrorCode::InvalidArguments, format!("score: {} is not a valid rating", quote_value(&scalar_text(given))))
        });
    }
    let ratio = args.first(|kind| matches!(kind, ParamKind::Ratio)).and_then(|(_, value)| value.as_f64());
    // Clamped to 100, so it fits.
    let percent = ratio.map(|ratio| (ratio * 100.0).round().clamp(0.0, 100.0) as u8);
    percent.ok_or_else(|| ToolError::new(ToolErrorCode::InvalidArguments, "no score specified"))
}

fn scale_to_100(given: u64, most: Option<u64>) -> Option<u8> {
    let most = most.filter(|most| *most > 0).unwrap_or(100);
    u8::try_from(u128::from(given) * 100 / u128::from(most)).ok().filter(|score| *score <= 100)
}

/// Plans one call per metadata entry, all in one transaction.
pub(super) fn metadata(builder: &TxBuilder<'_>, tool: &Tool, args: &ToolArgs<'_>) -> Result<TxPlan, ToolError> {
    let (registry, agent) = (registry(builder, tool)?, agent(builder, args)?);
    let updates = args.first(|kind| matches!(kind, ParamKind::Object)).and_then(|(_, value)| value.as_object());
    let updates = updates.filter(|updates| (1..=MOST_UPDATES).contains(&updates.len()));
    let updates =
        updates.ok_or_else(|| ToolError::new(ToolErrorCode::InvalidArguments, format!("expected 1 to {MOST_UPDATES} updates")))?;
    let calls = updates.iter().map(|(key, value)| {
        let value = truncate_bytes(scalar_text(value), LONGEST_VALUE).into_bytes().into();
        contract_call(registry, &IdentityRegistry::setMetadataCall { agentId: agent, key: truncate_bytes(key.clone(), LONGEST_TAG), value })
    });
    let mut plan = plan(builder, calls.collect(), vec![], vec![]);
    plan.outputs.insert("agent_number".into(), json!(agent.to_string()));
    plan.outputs.insert("updates".into(), json!(updates.len()));
    Ok(plan)
}

pub(super) fn validate(builder: &TxBuilder<'_>, tool: &Tool, args: &ToolArgs<'_>) -> Result<TxPlan, ToolError> {
    let (registry, agent) = (registry(builder, tool)?, agent(builder, args)?);
    let uri = args_text(args);
    let request = keccak256(uri.as_bytes());
    let ask = IdentityRegistry::validationRequestCall { validator: ACCOUNT, agentId: agent, uri, request };
    let mut plan = plan(builder, vec![contract_call(registry, &ask)], vec![], vec![]);
    plan.outputs.insert("agent_number".into(), json!(agent.to_string()));
    plan.outputs.insert("request".into(), json!(request.to_string()));
    Ok(plan)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Location, Spanned};

    fn thing(id: &str, is: &str, chain: u64) -> WorldObject {
        WorldObject {
            id: Spanned::new(id.to_owned(), Location::new("", 0)),
            is: is.into(),
            chain,
            assets: vec![],
            role: None,
            contract: None,
            market: None,
            holds: None,
            owes: None,
            claimable: None,
        }
    }

    #[test]
    fn agent_numbers_follow_the_world_file() {
        let things =
            [thing("1:77", "agent", 1), thing("8453:1842", "agent", 8453), thing("7", "golem", 8453), thing("8453:9", "agent", 8453)];
        for (text, number_) in [("8453:1842", 1), ("8453:9", 2), ("8453:42", 42), ("17", 17), ("1:77", 77), ("agent-5", 5)] {
            assert_eq!(agent_number(&things, 8453, Some(text)), Some(U256::from(number_)), "{text}");
        }
        for text in ["", "the best one", "8453:", "9".repeat(90).as_str()] {
            assert_eq!(agent_number(&things, 8453, Some(text)), None, "{text}");
        }
        assert_eq!(agent_number(&things, 8453, None), Some(U256::from(1)));
        assert_eq!(agent_number(&things, 10, None), None);
    }

    #[test]
    fn ratings_are_scaled_to_a_hundred() {
        assert_eq!(scale_to_100(450, Some(500)), Some(90));
        assert_eq!(scale_to_100(80, None), Some(80));
        assert_eq!(scale_to_100(101, None), None);
        assert_eq!(scale_to_100(u64::MAX, Some(1)), None);
        assert_eq!(scale_to_100(500, Some(0)), None);
    }
}
