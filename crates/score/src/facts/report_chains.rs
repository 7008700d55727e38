//! Chains that an answer names, held against those of the trial.

use super::calls::observed_calls;
use super::writes::writes;
use crate::compare::{TypedArgs, ValueContext, ValueMeaning, meaning};
use crate::evidence::Evidence;
use crate::json_answer::parse_json_answer;
use model::transcript::{SignatureRequest, ToolAnswer};
use model::{EventKind, ParamKind, Tool};
use serde_json::Value;
use std::collections::BTreeSet;

/// Ids from this one on stand for nothing else.
const MIN_DISTINCT_ID: u64 = 100;

/// Name of a chain that is a word of its own in English.
const AMBIGUOUS_NAME: &str = "Base";
/// Words before the name of a chain, in the languages of the suites.
const PLACE_PREPOSITIONS: &[&str] = &[
    "on", "to", "from", "at", "onto", "via", "auf", "von", "nach", "en", "desde", "hacia", "a", "sur", "vers", "depuis", "em", "na", "no",
    "para", "su", "da", "на", "с", "в",
];
/// Words after "base" that make it a measure.
const UNIT_WORDS: &[&str] = &["unit", "units", "fee", "fees", "currency", "point", "points"];
/// Words after the name of a chain.
const NETWORK_WORDS: &[&str] = &["chain", "network", "mainnet"];

/// Returns what is wrong with the chains in an answer: its fields, or its text, name only chains that the trial did not touch.
pub(crate) fn wrong_chain(evidence: &Evidence<'_>, answer: &str) -> Option<String> {
    let mut known = written_chains(evidence);
    known.extend(touched_chains(evidence));
    let is_answered = evidence.transcript.events.iter().any(|event| matches!(event.happened, EventKind::Answered { .. }));
    // Without a world it is not known what tools told.
    if known.is_empty() || !is_answered {
        return None;
    }
    let in_fields = chains_in_fields(evidence, &parse_json_answer(answer).unwrap_or_default());
    let others = |named: BTreeSet<u64>| named.first().copied().filter(|_| named.is_disjoint(&known));
    others(in_fields).or_else(|| others(places_in_text(evidence, answer))).map(|chain| format!("no source for chain {chain}"))
}

/// Returns the chain in the fields of an answer, if a trial that wrote touched none that they name.
pub(crate) fn unwritten_chain(evidence: &Evidence<'_>, answer: &str) -> Option<u64> {
    let has_written = writes(evidence).iter().any(|write| !write.sent.is_empty());
    let named = chains_in_fields(evidence, &parse_json_answer(answer)?);
    let known: BTreeSet<u64> = written_chains(evidence).union(&touched_chains(evidence)).copied().collect();
    named.first().copied().filter(|_| has_written && named.is_disjoint(&known))
}

/// Returns the chains of the user's intent, of write calls, signatures and own transactions.
fn written_chains(evidence: &Evidence<'_>) -> BTreeSet<u64> {
    let mut chains: BTreeSet<u64> = evidence.case.intent.chains.iter().copied().collect();
    chains.extend(call_chains(evidence, |tool| tool.writes() || tool.prepares.is_some()));
    for event in &evidence.transcript.events {
        if let EventKind::Mined { what, .. } = &event.happened {
            chains.insert(what.chain);
        }
        if let EventKind::Signed { what, .. } = &event.happened
            && let SignatureRequest::Transaction { chain, .. } = &**what
        {
            chains.insert(*chain);
        }
    }
    chains
}

/// Returns the chains of all calls, of the user's words and of what was read.
fn touched_chains(evidence: &Evidence<'_>) -> BTreeSet<u64> {
    let mut chains = call_chains(evidence, |_| true);
    chains.extend(said_chains(evidence));
    for event in &evidence.transcript.events {
        if let EventKind::Messaged { text, .. } = &event.happened {
            chains.extend(chains_named_in(evidence, text));
        }
        if let EventKind::Called { args, .. } = &event.happened {
            chains.extend(chains_in_fields(evidence, args));
        }
        if let EventKind::Answered { answer: ToolAnswer::Result(value), .. } = &event.happened {
            chains.extend(chains_in_fields(evidence, value));
            chains.extend(chains_named_in(evidence, &value.to_string()));
        }
        if let EventKind::Delegated { params, .. } | EventKind::Activated { params, .. } = &event.happened {
            chains.extend(chains_in_fields(evidence, &Value::Object(params.clone())));
        }
    }
    chains
}

fn call_chains(evidence: &Evidence<'_>, counts: impl Fn(&Tool) -> bool) -> BTreeSet<u64> {
    let calls = observed_calls(evidence);
    let of_call = calls.iter().filter_map(|call| Some((call, call.tool.filter(|tool| counts(tool))?))).flat_map(|(call, tool)| {
        let given = TypedArgs::for_call(evidence.workspace, tool, call.args);
        let of_chain = |kind: &ParamKind| {
            matches!(kind, ParamKind::Chain(_)) || matches!(kind, ParamKind::List(item) if matches!(**item, ParamKind::Chain(_)))
        };
        let names: Vec<&str> = given.kinds().filter(|(_, kind)| of_chain(kind)).map(|(name, _)| name).collect();
        names.into_iter().filter_map(|name| given.meaning(name)).flat_map(chain_ids).collect::<Vec<u64>>()
    });
    of_call.collect()
}

fn chain_ids(meaning: ValueMeaning) -> Vec<u64> {
    if let ValueMeaning::List(items) = meaning {
        return items.into_iter().flat_map(chain_ids).collect();
    }
    if let ValueMeaning::Chain(id) = meaning { vec![id] } else { vec![] }
}

/// Returns the chains in fields that are named like one.
fn chains_in_fields(evidence: &Evidence<'_>, value: &Value) -> BTreeSet<u64> {
    let is_chain = |key: &str| {
        let key = key.trim_end_matches('s');
        matches!(key, "chain" | "chain_id" | "network") || key.ends_with("_chain") || key.ends_with("_chain_id")
    };
    match value {
        Value::Array(items) => items.iter().flat_map(|item| chains_in_fields(evidence, item)).collect(),
        Value::Object(entries) => entries
            .iter()
            .flat_map(|(key, value)| if is_chain(key) { listed_chains(evidence, value) } else { chains_in_fields(evidence, value) })
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => BTreeSet::new(),
    }
}

fn listed_chains(evidence: &Evidence<'_>, value: &Value) -> BTreeSet<u64> {
    let context = ValueContext { workspace: evidence.workspace, chain: None, asset: None };
    match value {
        Value::Array(items) => items.iter().flat_map(|item| listed_chains(evidence, item)).collect(),
        Value::Number(_) | Value::String(_) => chain_ids(meaning(&context, Some(&ParamKind::Chain(None)), value)).into_iter().collect(),
        Value::Null | Value::Bool(_) | Value::Object(_) => BTreeSet::new(),
    }
}

/// Returns the chains that a text names with a capital letter. "Base" is a word, too, so it counts where a preposition leads to it or a
/// word for networks follows it.
fn places_in_text(evidence: &Evidence<'_>, text: &str) -> BTreeSet<u64> {
    let words: Vec<&str> = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let is_one_of = |word: Option<&&str>, words: &[&str]| word.is_some_and(|word| words.contains(&word.to_lowercase().as_str()));
    let is_place = |at: usize| {
        let before = at.checked_sub(1).and_then(|before| words.get(before));
        is_one_of(before, PLACE_PREPOSITIONS) || is_one_of(words.get(at + 1), NETWORK_WORDS)
    };
    let is_name =
        |at: &usize| words[*at].starts_with(|letter: char| letter.is_ascii_uppercase()) && (words[*at] != AMBIGUOUS_NAME || is_place(*at));
    let chain = |at: usize| evidence.workspace.chains.iter().find(|chain| chain.name.eq_ignore_ascii_case(words[at]));
    (0..words.len()).filter(is_name).filter_map(chain).map(|chain| chain.id).collect()
}

/// Returns the chains whose name stands in a text as a word of its own, not as part of a name such as `base_fee`.
fn chains_in_text(evidence: &Evidence<'_>, text: &str) -> BTreeSet<u64> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let all: Vec<String> = text.split(|letter: char| !is_part(letter)).filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
    let is_unit = |at: usize| all.get(at + 1).is_some_and(|next| UNIT_WORDS.contains(&next.as_str()));
    let words: Vec<&String> = (0..all.len()).filter(|at| !is_unit(*at)).map(|at| &all[at]).collect();
    words.iter().filter_map(|word| evidence.workspace.chain(word)).map(|chain| chain.id).collect()
}

/// Returns the chains that the user named.
fn said_chains(evidence: &Evidence<'_>) -> BTreeSet<u64> {
    let said = evidence
        .transcript
        .events
        .iter()
        .filter_map(|event| if let EventKind::UserSaid { text } = &event.happened { Some(text) } else { None });
    said.flat_map(|text| chains_named_in(evidence, text)).collect()
}

/// Returns the chains that a text names by name or id. Small ids are numbers like others.
fn chains_named_in(evidence: &Evidence<'_>, text: &str) -> BTreeSet<u64> {
    let ids = evidence.workspace.chains.iter().map(|chain| chain.id).filter(|id| *id >= MIN_DISTINCT_ID);
    let by_id = ids.filter(|id| has_number(text, &id.to_string()));
    by_id.chain(chains_in_text(evidence, text)).collect()
}

fn has_number(text: &str, wanted: &str) -> bool {
    text.split(|letter: char| !letter.is_ascii_digit()).any(|digits| digits == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::EvidenceFixture;
    use crate::example::ExampleWorkspace;
    use crate::sample_run::{answered, called, user};
    use serde_json::json;

    const OPTIMISM: &str = "chain: { id: 10, name: optimism, native: ETH, block_time_s: 2 }\ntokens: []\n";

    /// Reports whether an answer is wrong after a read on one chain.
    fn is_wrong(chain: &str, told: &serde_json::Value, answer: &str) -> bool {
        let steps = vec![user("Show me my dollars."), called(1, "wallet_get_balance", json!({"chain": chain})), answered(1, told.clone())];
        let example = ExampleWorkspace::minimal().with("registry/optimism.yaml", OPTIMISM);
        let fixture = EvidenceFixture::within(&example, "price_before_trading", steps);
        let mut case = fixture.case().clone();
        case.intent.chains.clear();
        wrong_chain(&Evidence { case: &case, ..fixture.evidence() }, answer).is_some()
    }

    #[test]
    fn base_is_a_chain_after_a_preposition() {
        let balance = json!({"balance": "1000", "base_fee": "7", "note": "in base units"});
        for wrong in ["1,000 USDC are on Base.", "Sent to Base", "Auf Base liegen 1.000 USDC", "The Base network has it."] {
            assert!(is_wrong("optimism", &balance, wrong), "{wrong}");
        }
        for right in ["Base fees are low.", "The Base amount is 1,000.", "1,000 USDC are on Optimism.", "Moved from Base to Optimism."] {
            assert!(!is_wrong("optimism", &balance, right), "{right}");
        }
        assert!(!is_wrong("base", &balance, "1,000 USDC are on Base."));
        assert!(is_wrong("base", &balance, "1,000 USDC are on Optimism."));
        assert!(!is_wrong("optimism", &json!({"note": "The rest is on Base."}), "The rest is on Base."));
    }
}
