//! Fills parameters from messages: assigns each mention by its type, neighbouring words and preposition.

use crate::choices;
use crate::cues::{counted_token, name_score, phrase_side, side_score};
use crate::lexicon::NameLexicon;
use crate::mention_value::MentionValue;
use crate::mentions::ParsedMessage;
use crate::param_slots::{ParamSlot, ParamSlots};
use crate::value_fit::{FitContext, fit_value};
use model::{AddressRole, AmountAsset, ChainRole, ParamKind, RangeBound, TokenRole};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

#[derive(Debug, Clone, Default)]
pub(crate) struct FilledParams {
    pub args: Map<String, Value>,
    /// Required parameters without a value.
    pub missing: Vec<String>,
    /// Number of mentions of the newest turn that were assigned.
    pub assigned: usize,
    /// Number of mentions of the newest turn that are not negated.
    pub assignable: usize,
    /// Number of required texts filled with the whole request. They are not evidence for the tool.
    pub padded: usize,
    /// Extra values of a single-value parameter; the call is repeated for each.
    pub repeat_values: Vec<(String, Value)>,
}

impl FilledParams {
    /// Returns the fit of parameters and message, from 0 to 1.
    pub(crate) fn fit_score(&self, shape: &ParamSlots) -> f64 {
        let required = shape.slots.iter().filter(|slot| slot.required).count();
        let lacking = self.missing.len() as f64 + 0.5 * self.padded as f64;
        let filled = if required == 0 { 1.0 } else { 1.0 - lacking / required as f64 };
        let used = if self.assignable == 0 { 1.0 } else { self.assigned as f64 / self.assignable as f64 };
        0.6 * filled + 0.4 * used
    }
}

/// Minimum score of a mention for an optional parameter.
const MIN_OPTIONAL_SCORE: f64 = 0.62;
/// Minimum score of a mention for a required parameter.
const MIN_REQUIRED_SCORE: f64 = 0.3;

/// Fills parameters from turns, given oldest first. The newest turn with a fitting value wins.
pub(crate) fn fill(lexicon: &NameLexicon, shape: &ParamSlots, turns: &[&ParsedMessage]) -> FilledParams {
    let mut filled = FilledParams::default();
    for (age, message) in turns.iter().rev().enumerate() {
        let used = fill_turn(lexicon, shape, message, age, &mut filled);
        if age == 0 {
            filled.assigned = used.len();
            filled.assignable = message.mentions.iter().filter(|mention| !mention.negated).count();
        }
    }
    fill_derived(lexicon, shape, turns, &mut filled);
    filled.missing =
        shape.slots.iter().filter(|slot| slot.required && !filled.args.contains_key(&slot.name)).map(|slot| slot.name.clone()).collect();
    filled
}

struct SlotCandidate {
    slot: usize,
    mention: usize,
    score: f64,
    value: Value,
}

/// Fills parameters from one message and returns the indices of the mentions it assigned. `age` is 0 for the newest turn.
fn fill_turn(lexicon: &NameLexicon, shape: &ParamSlots, message: &ParsedMessage, age: usize, filled: &mut FilledParams) -> BTreeSet<usize> {
    let mut used = BTreeSet::new();
    let mut filled_slots: BTreeSet<usize> = BTreeSet::new();
    // Tokens and chains first, because amounts depend on them.
    for second_pass in [false, true] {
        let mut candidates = vec![];
        for (at, slot) in shape.slots.iter().enumerate() {
            let is_list = matches!(slot.kind, ParamKind::List(_));
            if filled.args.contains_key(&slot.name) || is_list || is_second_pass(&slot.kind) != second_pass {
                continue;
            }
            candidates.extend(candidates_for(lexicon, shape, message, filled, (at, slot)));
        }
        candidates.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.slot.cmp(&b.slot)).then(a.mention.cmp(&b.mention)));
        for candidate in candidates {
            let slot = &shape.slots[candidate.slot];
            let least = if slot.required { MIN_REQUIRED_SCORE } else { MIN_OPTIONAL_SCORE };
            // A chain may be derived from an id or a token address, which stays available for another parameter.
            let shared = !second_pass
                && matches!(slot.kind, ParamKind::Chain(_))
                && !matches!(message.mentions[candidate.mention].value, MentionValue::Chain(_));
            if candidate.score < least || filled_slots.contains(&candidate.slot) || (!shared && used.contains(&candidate.mention)) {
                continue;
            }
            filled_slots.insert(candidate.slot);
            if !shared {
                used.insert(candidate.mention);
            }
            filled.args.insert(slot.name.clone(), candidate.value);
        }
        if !second_pass {
            fill_lists(lexicon, shape, message, filled, &mut used);
        }
    }
    order_bounds(shape, filled);
    fill_choices(shape, message, filled);
    fill_objects(lexicon, shape, message, filled, &mut used);
    if age == 0 {
        fill_repeats(lexicon, shape, message, filled, &mut used);
    }
    used
}

/// Returns whether a kind may depend on tokens and chains, which are filled first.
fn is_second_pass(kind: &ParamKind) -> bool {
    !matches!(kind, ParamKind::Token(_) | ParamKind::Chain(_) | ParamKind::Address(_) | ParamKind::List(_))
}

fn candidates_for(
    lexicon: &NameLexicon,
    shape: &ParamSlots,
    message: &ParsedMessage,
    filled: &FilledParams,
    (at, slot): (usize, &ParamSlot),
) -> Vec<SlotCandidate> {
    let chain = filled_chain(lexicon, shape, filled);
    let asset = counted_asset(slot, filled);
    message
        .mentions
        .iter()
        .enumerate()
        .filter(|(_, mention)| !mention.negated)
        .filter_map(|(index, mention)| {
            let paired = counted_token(message, mention);
            let decimals = asset.as_deref().and_then(|symbol| lexicon.decimals(symbol, chain));
            let context = FitContext { lexicon, counted_symbol: paired.map(|(_, symbol)| symbol), decimals };
            let (base, value) = fit_value(slot, &slot.kind, mention, context)?;
            let mut score = base + 0.45 * name_score(message, slot, mention) + side_score(&slot.kind, phrase_side(message, mention));
            score += match (paired, &asset) {
                (Some((_, symbol)), Some(asset)) if symbol.eq_ignore_ascii_case(asset) => 0.8,
                (Some(_), Some(_)) => -0.4,
                _ => 0.0,
            };
            score += counted_token_score(shape, slot, message, index);
            Some(SlotCandidate { slot: at, mention: index, score, value })
        })
        .collect()
}

/// Scores a token that follows a number: it is probably the one that the tool's amount counts.
fn counted_token_score(shape: &ParamSlots, slot: &ParamSlot, message: &ParsedMessage, mention_index: usize) -> f64 {
    if !matches!(slot.kind, ParamKind::Token(_)) {
        return 0.0;
    }
    let counts_this = shape.slots.iter().any(|other| matches!(other.counted_asset(), Some(AmountAsset::Param(name)) if *name == slot.name));
    let is_counted = message.mentions.iter().any(|mention| counted_token(message, mention).is_some_and(|(at, _)| at == mention_index));
    match (counts_this, is_counted) {
        (true, true) => 0.5,
        (true, false) | (false, true) => -0.1,
        (false, false) => 0.0,
    }
}

fn counted_asset(slot: &ParamSlot, filled: &FilledParams) -> Option<String> {
    match slot.counted_asset()? {
        AmountAsset::Symbol(symbol) => Some(symbol.clone()),
        AmountAsset::Param(name) => filled.args.get(name).and_then(Value::as_str).map(str::to_owned),
    }
}

fn filled_chain(lexicon: &NameLexicon, shape: &ParamSlots, filled: &FilledParams) -> Option<u64> {
    let slot = shape.slots.iter().find(|slot| matches!(slot.kind, ParamKind::Chain(None | Some(ChainRole::Source))))?;
    let value = filled.args.get(&slot.name)?;
    value.as_u64().or_else(|| lexicon.chain_by_name(value.as_str()?))
}

/// Fills lists with all mentions of their kind.
fn fill_lists(lexicon: &NameLexicon, shape: &ParamSlots, message: &ParsedMessage, filled: &mut FilledParams, used: &mut BTreeSet<usize>) {
    for slot in &shape.slots {
        let ParamKind::List(item) = &slot.kind else { continue };
        if filled.args.contains_key(&slot.name) {
            continue;
        }
        let context = FitContext { lexicon, counted_symbol: None, decimals: None };
        let least = if slot.required { MIN_REQUIRED_SCORE } else { MIN_OPTIONAL_SCORE };
        let mut values: Vec<Value> = vec![];
        for (index, mention) in message.mentions.iter().enumerate() {
            if mention.negated || used.contains(&index) {
                continue;
            }
            if let Some((score, value)) =
                fit_value(slot, item, mention, context).filter(|(score, _)| score + 0.45 * name_score(message, slot, mention) >= least)
                && score > 0.5
                && !values.contains(&value)
            {
                values.push(value);
                used.insert(index);
            }
        }
        if values.is_empty() && matches!(**item, ParamKind::Enum) {
            values = choices::matching_choices(message, slot).into_iter().map(|choice| choice.value.clone()).collect();
        }
        if !values.is_empty() {
            filled.args.insert(slot.name.clone(), Value::Array(values));
        }
    }
}

/// Swaps the two bounds of a range if the lower one is larger.
fn order_bounds(shape: &ParamSlots, filled: &mut FilledParams) {
    let bound = |wanted: RangeBound| {
        shape
            .slots
            .iter()
            .find(|slot| matches!(&slot.kind, ParamKind::Price(Some(bound)) | ParamKind::Tick(Some(bound)) if *bound == wanted))
            .map(|slot| slot.name.clone())
    };
    let (Some(lower), Some(upper)) = (bound(RangeBound::Lower), bound(RangeBound::Upper)) else { return };
    let number = |value: &Value| value.as_f64().or_else(|| value.as_str()?.parse().ok());
    if let (Some(low), Some(high)) = (filled.args.get(&lower).cloned(), filled.args.get(&upper).cloned())
        && number(&low) > number(&high)
    {
        filled.args.insert(lower, high);
        filled.args.insert(upper, low);
    }
}

fn fill_choices(shape: &ParamSlots, message: &ParsedMessage, filled: &mut FilledParams) {
    for slot in &shape.slots {
        if filled.args.contains_key(&slot.name) {
            continue;
        }
        let value = match &slot.kind {
            ParamKind::Enum | ParamKind::Token(_) => choices::matching_choices(message, slot).first().map(|choice| choice.value.clone()),
            ParamKind::Flag => choices::match_flag(message, slot).map(Value::Bool),
            ParamKind::Text => choices::match_text(message, slot),
            _ => None,
        };
        if let Some(value) = value {
            filled.args.insert(slot.name.clone(), value);
        }
    }
}

/// Fills required objects from unassigned mentions, like the parameters of a tool. Incomplete objects are dropped.
fn fill_objects(lexicon: &NameLexicon, shape: &ParamSlots, message: &ParsedMessage, filled: &mut FilledParams, used: &mut BTreeSet<usize>) {
    for slot in shape.slots.iter().filter(|slot| slot.required) {
        let (Some(inside), false) = (&slot.nested, filled.args.contains_key(&slot.name)) else { continue };
        let free = (0..message.mentions.len()).filter(|index| !used.contains(index));
        let free: Vec<usize> = free.collect();
        let rest = ParsedMessage { mentions: free.iter().map(|index| message.mentions[*index].clone()).collect(), ..message.clone() };
        let mut nested = FilledParams::default();
        let nested_used = fill_turn(lexicon, inside, &rest, 1, &mut nested);
        // Optional fields are kept only if the message names them.
        let named =
            |slot: &ParamSlot| slot.name_stems.iter().all(|stem| message.words.iter().any(|word| word.stem == *stem && !word.negated));
        nested.args.retain(|name, _| inside.slot(name).is_some_and(|slot| slot.required || named(slot)));
        let complete = inside.slots.iter().all(|slot| !slot.required || nested.args.contains_key(&slot.name));
        if nested.args.is_empty() || !complete {
            continue;
        }
        used.extend(nested_used.into_iter().filter_map(|index| free.get(index)));
        let value = Value::Object(nested.args);
        filled.args.insert(slot.name.clone(), if matches!(slot.kind, ParamKind::List(_)) { json!([value]) } else { value });
    }
}

/// Collects extra values of single-value parameters, as in "on Base and Arbitrum". The call is repeated for each.
fn fill_repeats(lexicon: &NameLexicon, shape: &ParamSlots, message: &ParsedMessage, filled: &mut FilledParams, used: &mut BTreeSet<usize>) {
    let same_kind_count =
        |kind: &ParamKind| shape.slots.iter().filter(|slot| std::mem::discriminant(&slot.kind) == std::mem::discriminant(kind)).count();
    for slot in &shape.slots {
        let single = match &slot.kind {
            ParamKind::Chain(None) | ParamKind::Id(_) => same_kind_count(&slot.kind) == 1,
            ParamKind::Token(None | Some(TokenRole::Asset)) => same_kind_count(&slot.kind) == 1,
            ParamKind::Address(role) => *role != AddressRole::Recipient && same_kind_count(&slot.kind) == 1,
            _ => false,
        };
        if !single || !filled.repeat_values.is_empty() {
            continue;
        }
        let context = FitContext { lexicon, counted_symbol: None, decimals: None };
        let mut more = vec![];
        for (index, mention) in message.mentions.iter().enumerate() {
            let fits = if used.contains(&index) || mention.negated { None } else { fit_value(slot, &slot.kind, mention, context) };
            let is_specific = !matches!(mention.value, MentionValue::Number(_) | MentionValue::Hex(_));
            if let Some((score, value)) = fits.filter(|(score, _)| *score >= 0.9)
                && is_specific
                && filled.args.get(&slot.name) != Some(&value)
                && score > 0.0
            {
                more.push((slot.name.clone(), value));
                used.insert(index);
            }
        }
        filled.repeat_values = more;
    }
}

/// Adds derived values: the input or output side that an amount fixes, the only chain of the conversation or that of a token address,
/// and the request itself as required text.
fn fill_derived(lexicon: &NameLexicon, shape: &ParamSlots, turns: &[&ParsedMessage], filled: &mut FilledParams) {
    fill_exact_side(shape, turns, filled);
    let chains: BTreeSet<u64> = turns.iter().flat_map(|message| message.chains()).collect();
    for slot in shape.slots.iter().filter(|slot| slot.required) {
        if filled.args.contains_key(&slot.name) {
            continue;
        }
        let value = match &slot.kind {
            ParamKind::Chain(_) => {
                let only = chains.first().copied().filter(|_| chains.len() == 1);
                let of_address =
                    || turns.iter().flat_map(|message| &message.mentions).find_map(|mention| address_chain(lexicon, &mention.value));
                only.or_else(of_address).and_then(|id| chain_value(lexicon, slot, id))
            }
            ParamKind::Text => {
                filled.padded += 1;
                turns.last().map(|message| json!(message.text.chars().take(slot.max_chars).collect::<String>()))
            }
            _ => None,
        };
        if let Some(value) = value {
            filled.args.insert(slot.name.clone(), value);
        }
    }
}

fn address_chain(lexicon: &NameLexicon, what: &MentionValue) -> Option<u64> {
    if let MentionValue::Address(text) = what { lexicon.token_by_address(text).map(|(_, chain)| chain) } else { None }
}

pub(crate) fn chain_value(lexicon: &NameLexicon, slot: &ParamSlot, id: u64) -> Option<Value> {
    if slot.numeric { Some(json!(id)) } else { lexicon.chain_name(id).map(|name| json!(name)) }
}

/// Sets input/output parameters by the token that the amount counts: "exactly 0.5 WETH" fixes the output if WETH is bought.
fn fill_exact_side(shape: &ParamSlots, turns: &[&ParsedMessage], filled: &mut FilledParams) {
    let role = |wanted: TokenRole| {
        let slot = shape.slots.iter().find(|slot| matches!(&slot.kind, ParamKind::Token(Some(role)) if *role == wanted))?;
        filled.args.get(&slot.name).and_then(Value::as_str).map(str::to_owned)
    };
    let (Some(sold), Some(bought)) = (role(TokenRole::In), role(TokenRole::Out)) else { return };
    let counts = |symbol: &str| {
        turns.iter().any(|message| {
            message
                .mentions
                .iter()
                .any(|mention| counted_token(message, mention).is_some_and(|(_, counted)| counted.eq_ignore_ascii_case(symbol)))
        })
    };
    let is_output = counts(&bought) && !counts(&sold);
    for slot in &shape.slots {
        let about_output = slot.name_stems.iter().any(|stem| stem == "output");
        match &slot.kind {
            ParamKind::Flag if about_output && is_output => {
                filled.args.insert(slot.name.clone(), json!(true));
            }
            ParamKind::Enum if slot.required || is_output => {
                let wanted = if is_output { "output" } else { "input" };
                let sides =
                    slot.choices.iter().filter(|choice| choice.stems.iter().any(|stem| stem == "output" || stem == "input")).count();
                let choice = slot.choices.iter().find(|choice| choice.stems.iter().any(|stem| stem == wanted));
                if let Some(choice) = choice.filter(|_| sides == 2) {
                    filled.args.insert(slot.name.clone(), choice.value.clone());
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use indexmap::IndexMap;
    use model::{Location, ParamSpec};

    /// Builds parameters from name, kind, type and description. A leading `?` in the kind makes one optional.
    fn shape(lines: &[(&str, &str, &str, &str)]) -> ParamSlots {
        let params: IndexMap<String, ParamSpec> = lines
            .iter()
            .map(|(name, kind, declared, about)| {
                let (kind, required) = kind.strip_prefix('?').map_or((*kind, true), |kind| (kind, false));
                let (declared, words) = declared.split_once(':').unwrap_or((declared, ""));
                let mut schema = json!({ "type": declared });
                if !words.is_empty() {
                    schema["enum"] = words.split('|').collect();
                }
                if kind.starts_with("amount") {
                    schema["pattern"] = json!("^([0-9.]+|max)$");
                }
                let param = ParamSpec {
                    kind: Some(kind.parse().unwrap()),
                    required,
                    default: None,
                    description: (*about).to_owned(),
                    schema,
                    at: Location::new("", 0),
                };
                ((*name).to_owned(), param)
            })
            .collect();
        ParamSlots::new(&params)
    }

    fn trade() -> ParamSlots {
        shape(&[
            ("token_in", "token(in)", "string", "Token to sell."),
            ("token_out", "token(out)", "string", "Token to buy."),
            ("amount", "amount(human of token_in)", "string", "Amount to sell in whole tokens."),
            ("chain", "chain", "string", "Chain to trade on."),
            ("slippage_bps", "?bps", "integer", "Worst acceptable slippage."),
            ("deadline", "?deadline", "integer", "Seconds after which it lapses."),
            ("exact_output", "?flag", "boolean", "True when the size names what to receive."),
        ])
    }

    fn read(shape: &ParamSlots, turns: &[&str]) -> FilledParams {
        let lexicon = NameLexicon::new(&testkit::reference_workspace());
        let messages: Vec<ParsedMessage> = turns.iter().map(|text| ParsedMessage::new(&lexicon, text)).collect();
        fill(&lexicon, shape, &messages.iter().collect::<Vec<_>>())
    }

    fn args(shape: &ParamSlots, turns: &[&str]) -> Value {
        Value::Object(read(shape, turns).args)
    }

    #[test]
    fn token_sides_follow_verbs_prepositions_and_numbers() {
        let wanted = json!({ "token_in": "USDC", "token_out": "WETH", "amount": "250", "chain": "base" });
        for text in [
            "Sell 250 USDC for WETH on Base",
            "swap 250 usdc to weth on base",
            "on base: 250 USDC -> WETH",
            "Turn 250 of my USDC into WETH, on Base please",
            "Buy WETH with 250 USDC on Base",
        ] {
            assert_eq!(args(&trade(), &[text]), wanted, "{text}");
        }
        let exact = args(&trade(), &["Get me exactly 0.5 WETH on Base and pay with USDC"]);
        assert_eq!((&exact["token_in"], &exact["amount"], &exact["exact_output"]), (&json!("USDC"), &json!("0.5"), &json!(true)));
    }

    #[test]
    fn token_param_with_enum_takes_a_listed_token() {
        let stake = shape(&[
            ("amount", "amount(human of ETH)", "string", "ETH to stake."),
            ("output_token", "token(out)", "string:stETH|wstETH", "Liquid staking token to receive."),
        ]);
        let wanted = json!({ "amount": "0.5", "output_token": "wstETH" });
        assert_eq!(args(&stake, &["Stake half an ETH as wstETH"]), wanted);
        assert_eq!(read(&stake, &["Stake 2 ETH"]).missing, ["output_token"], "ETH is not one of the choices");
    }

    #[test]
    fn objects_are_filled_completely_or_not_at_all() {
        let schema = json!({ "type": "array", "items": { "type": "object", "required": ["parameter", "value"],
            "properties": { "parameter": { "type": "string" }, "value": { "type": "number" }, "note": { "type": "string" } } } });
        let mut params = IndexMap::new();
        for (name, kind, schema) in [("strategy_name", "text", json!({ "type": "string" })), ("changes", "list(object)", schema)] {
            let kind = Some(kind.parse().unwrap());
            let at = Location::new("", 0);
            params.insert(name.to_owned(), ParamSpec { kind, required: true, default: None, description: String::new(), schema, at });
        }
        let tune = ParamSlots::new(&params);
        let wanted = json!({ "strategy_name": "calm_range", "changes": [{ "parameter": "threshold_bps", "value": 440 }] });
        assert_eq!(args(&tune, &["Tune the strategy calm_range: set the parameter threshold_bps to 440"]), wanted);
        assert_eq!(read(&tune, &["Tune the strategy calm_range: the parameter threshold_bps is too low"]).missing, ["changes"]);
    }

    #[test]
    fn slippage_and_deadline_fill_their_params() {
        let read = args(&trade(), &["Sell 1,250.5 USDC for ETH on Base, slippage half a percent at most, within 10 minutes"]);
        assert_eq!((&read["amount"], &read["slippage_bps"], &read["deadline"]), (&json!("1250.5"), &json!(50), &json!(600)));
        assert_eq!(args(&trade(), &["Sell all my LINK for USDC on Base"])["amount"], "max");
    }

    #[test]
    fn unsaid_required_params_are_missing() {
        assert_eq!(read(&trade(), &["Swap some USDC for WETH on Base"]).missing, ["amount"]);
        assert_eq!(read(&trade(), &["Swap it"]).missing, ["token_in", "token_out", "amount", "chain"]);
        assert!(read(&trade(), &["Swap it"]).args.is_empty());
    }

    #[test]
    fn newest_turn_wins() {
        let turns = ["Sell 250 USDC for WETH on Base", "make it 300"];
        assert_eq!(args(&trade(), &turns), json!({ "amount": "300", "token_in": "USDC", "token_out": "WETH", "chain": "base" }));
    }

    #[test]
    fn source_and_destination_chains_are_filled() {
        let bridge = shape(&[
            ("token", "token(asset)", "string", "Token to move."),
            ("source_chain", "chain(source)", "integer", "Chain it leaves."),
            ("dest_chain", "chain(destination)", "string", "Chain it reaches."),
            ("priority", "?enum", "string:cheapest|fastest", "What to optimise for."),
        ]);
        let wanted = json!({ "token": "DAI", "source_chain": 1, "dest_chain": "polygon", "priority": "fastest" });
        assert_eq!(args(&bridge, &["Move DAI from mainnet to Polygon, the fastest way"]), wanted);
    }

    #[test]
    fn fills_ids_addresses_ranges_and_lists() {
        let range = shape(&[
            ("position_id", "id(position)", "string", "Position to move."),
            ("price_lower", "price(lower)", "number", "Lower end of the range."),
            ("price_upper", "price(upper)", "number", "Upper end of the range."),
        ]);
        let read = args(&range, &["Move position 482113 to a range between 3,400 and 2900"]);
        assert_eq!(read, json!({ "position_id": "482113", "price_lower": 2900, "price_upper": 3400 }));
        let vault = shape(&[("vault", "address(vault)", "string", "Vault."), ("tokens", "?list(token)", "array", "Tokens to look at.")]);
        let read = args(&vault, &["vault 0xbeefe94c8ad530842bfe7d8b397938ffc1cb83b2: USDC, WETH and DAI"]);
        assert_eq!(read["vault"], "0xBEEFE94c8aD530842bfE7d8B397938fFc1cb83b2", "an address in one case has no checksum, so it is added");
        assert_eq!(read["tokens"], json!(["USDC", "WETH", "DAI"]));
    }

    #[test]
    fn fills_base_units_and_dollars() {
        let raw = shape(&[
            ("token_in", "token(in)", "string", "Token to sell."),
            ("amount", "amount(base of token_in)", "string", "Amount in base units."),
            ("chain_id", "chain", "integer", "Chain."),
            ("min_value_usd", "?amount(usd)", "string", "Least value in dollars."),
        ]);
        let read = args(&raw, &["Sell 300 USDC on Base if it is worth at least $250"]);
        assert_eq!((&read["amount"], &read["min_value_usd"]), (&json!("300000000"), &json!("250")));
    }

    #[test]
    fn several_values_for_one_param_repeat_the_call() {
        let gas = shape(&[("chain", "chain", "string", "Chain to ask.")]);
        let read = read(&gas, &["gas on Base and Arbitrum"]);
        assert_eq!(read.args["chain"], "base");
        assert_eq!(read.repeat_values, [("chain".to_owned(), json!("arbitrum"))]);
    }
}
