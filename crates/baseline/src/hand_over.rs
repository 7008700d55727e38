//! Hand-overs: the user's values under the parameter names that the receiving agent needs.

use crate::baseline_index::{BaselineIndex, KnownTool};
use crate::cues::counted_token;
use crate::fill::{FilledParams, fill};
use crate::lexicon::NameLexicon;
use crate::mention_value::MentionValue;
use crate::mentions::ParsedMessage;
use crate::param_slots::ParamSlots;
use crate::rank::{UserRequest, rank_tools};
use model::{AddressRole, Agent, AmountAsset, ParamKind, TokenRole};
use serde_json::{Map, Value, json};

/// The user's terms for an action, derived from its arguments.
#[derive(Debug, Clone, Default)]
pub(crate) struct ActionTerms {
    pub spend: Vec<(String, String)>,
    pub receive: Vec<String>,
    pub chains: Vec<u64>,
    pub payees: Vec<String>,
    pub slippage_bps: Option<Value>,
    pub deadline: Option<Value>,
}

pub(crate) fn action_terms(lexicon: &NameLexicon, shape: &ParamSlots, filled: &FilledParams, turns: &[&ParsedMessage]) -> ActionTerms {
    let mut terms = ActionTerms::default();
    let text = |name: &str| filled.args.get(name).map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
    for slot in &shape.slots {
        let Some(value) = filled.args.get(&slot.name) else { continue };
        match &slot.kind {
            ParamKind::Amount { of: Some(AmountAsset::Param(token)), unit: model::AmountUnit::Human } => {
                let sold = shape.slot(token).is_some_and(
                    |slot| matches!(&slot.kind, ParamKind::Token(role) if !matches!(role, Some(TokenRole::Out | TokenRole::Debt))),
                );
                if let (true, Some(token), Some(amount)) = (sold, text(token), text(&slot.name)) {
                    terms.spend.push((token, amount));
                }
            }
            ParamKind::Amount { of: Some(AmountAsset::Symbol(symbol)), .. } => {
                terms.spend.extend(text(&slot.name).map(|amount| (symbol.clone(), amount)))
            }
            ParamKind::Token(Some(TokenRole::Out)) => terms.receive.extend(text(&slot.name)),
            ParamKind::Chain(_) => terms.chains.extend(value.as_u64().or_else(|| lexicon.chain_by_name(value.as_str()?))),
            ParamKind::Address(AddressRole::Recipient) => terms.payees.extend(text(&slot.name)),
            ParamKind::Bps if slot.name.contains("slippage") => terms.slippage_bps = Some(value.clone()),
            ParamKind::Deadline => terms.deadline = Some(value.clone()),
            _ => {}
        }
    }
    if terms.spend.is_empty() {
        terms.spend = turns.iter().flat_map(|said| mentioned_amounts(said)).collect();
    }
    if terms.receive.is_empty() && terms.spend.is_empty() {
        terms.receive = turns.iter().flat_map(|said| said.tokens()).map(str::to_owned).collect();
    }
    if terms.chains.is_empty() {
        terms.chains = turns.iter().flat_map(|said| said.chains()).collect();
    }
    terms.receive.dedup();
    terms.chains.dedup();
    terms
}

/// Returns the amounts in a message: numbers that count a token.
fn mentioned_amounts(said: &ParsedMessage) -> Vec<(String, String)> {
    let amounts = said.mentions.iter().filter_map(|mention| {
        let MentionValue::Number(number) = &mention.value else { return None };
        counted_token(said, mention).map(|(_, symbol)| (symbol.to_owned(), number.to_string()))
    });
    amounts.collect()
}

impl ActionTerms {
    /// Returns the terms under the name of an agent's need.
    pub(crate) fn value_for_need(&self, need: &str) -> Option<Value> {
        match need {
            "spend" if !self.spend.is_empty() => {
                Some(self.spend.iter().map(|(token, amount)| json!({ "token": token, "at_most": amount })).collect())
            }
            "receive" if !self.receive.is_empty() => Some(json!(self.receive)),
            "chains" if !self.chains.is_empty() => Some(json!(self.chains)),
            "payees" if self.payees.is_empty() => Some(json!(["self"])),
            "payees" => Some(json!(self.payees)),
            "slippage_bps" => self.slippage_bps.clone(),
            "deadline" => self.deadline.clone(),
            _ => None,
        }
    }
}

/// Builds the hand-over to an agent: its needs, and the task in the user's words.
pub(crate) fn hand_over(index: &BaselineIndex, agent: &Agent, request: UserRequest<'_>, task: &str) -> Map<String, Value> {
    let tools: Vec<&KnownTool> = agent.tools.iter().filter_map(|name| index.tool(name)).collect();
    let turns = request.turns;
    let target = rank_tools(index, &tools, request).into_iter().next();
    let terms = target.as_ref().map(|target| action_terms(&index.lexicon, &target.tool.shape, &target.filled, turns)).unwrap_or_default();
    let mut params = Map::new();
    params.insert("task".into(), json!(task));
    for need in &agent.needs {
        let value = terms.value_for_need(need).or_else(|| value_from_tools(index, &tools, need, turns));
        if let Some(value) = value {
            params.insert(need.clone(), value);
        }
    }
    params
}

/// Returns the value of a need that is a parameter of one of the agent's tools, by the same name or as its prefix.
fn value_from_tools(index: &BaselineIndex, tools: &[&KnownTool], need: &str, turns: &[&ParsedMessage]) -> Option<Value> {
    let named = |tool: &&KnownTool| {
        tool.shape.slots.iter().find(|slot| slot.name == need || slot.name.starts_with(&format!("{need}_"))).map(|slot| slot.name.clone())
    };
    tools.iter().find_map(|tool| {
        let name = named(tool)?;
        let filled = fill(&index.lexicon, &tool.shape, turns);
        let slot = tool.shape.slot(&name)?;
        filled.args.get(&name).filter(|_| !matches!(slot.kind, ParamKind::Text)).cloned()
    })
}

/// Converts a hand-over to text, so that it is parsed like a message.
pub(crate) fn hand_over_text(lexicon: &NameLexicon, params: &Map<String, Value>) -> String {
    let mut parts = vec![];
    for (name, value) in params {
        let items: Vec<&Value> = match value {
            Value::Array(items) => items.iter().collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => vec![value],
        };
        for item in items {
            let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let said = match (name.as_str(), item) {
                ("chains" | "chain" | "chain_id", _) => {
                    let id = item.as_u64().or_else(|| lexicon.chain_by_name(item.as_str()?));
                    id.and_then(|id| lexicon.chain_name(id)).map(|name| format!("on {name}"))
                }
                ("receive", _) => Some(format!("for {}", plain(item))),
                (_, Value::Object(map)) => {
                    let amount = map.get("at_most").or_else(|| map.get("amount")).map(plain).unwrap_or_default();
                    Some(format!("{name} {amount} {}", map.get("token").map(plain).unwrap_or_default()))
                }
                (name, _) if name.ends_with("_bps") => {
                    Some(format!("{} {} bps", name.trim_end_matches("_bps").replace('_', " "), plain(item)))
                }
                (_, Value::String(text)) if text == "self" => None,
                (name, _) => Some(format!("{} {}", name.replace('_', " "), plain(item))),
            };
            parts.extend(said);
        }
    }
    parts.join(", ")
}
