//! Terms of an order that a hand-over gives in words: "Sell 100 USDC for WETH on Base".

use super::intent_terms::{IntentTerms, intent_context, payee_meaning, spend_meaning};
use crate::compare::{ValueContext, ValueMeaning, asset_of_token, meaning};
use crate::evidence::Evidence;
use lexical::sentences;
use model::ParamKind;
use serde_json::{Map, Value, json};

/// Verbs whose object leaves the account, and verbs whose object comes in.
const SPENDING: [&str; 18] = [
    "sell", "swap", "convert", "exchange", "trade", "spend", "pay", "send", "transfer", "bridge", "deposit", "stake", "lend", "supply",
    "put", "move", "repay", "invest",
];
const BUYING: [&str; 6] = ["buy", "purchase", "acquire", "get", "receive", "obtain"];
/// Words before what is given, and before what is wanted for it.
const GIVING: [&str; 3] = ["with", "from", "using"];
const WANTING: [&str; 3] = ["for", "into", "to"];
const NEGATIONS: [&str; 4] = ["not", "never", "don't", "dont"];
/// Words before the name of a chain.
const PLACES: [&str; 7] = ["on", "at", "from", "to", "chain", "chains", "network"];

/// Direction of the last verb or preposition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OrderDirection {
    Spends,
    Buys,
}

/// Returns the terms in the texts of a hand-over. A sentence that forbids what it names states no term.
pub(crate) fn told_terms(evidence: &Evidence<'_>, params: &Map<String, Value>) -> IntentTerms {
    let context = intent_context(evidence);
    let mut terms = IntentTerms::default();
    for sentence in params.values().flat_map(texts).flat_map(sentences) {
        read_sentence(evidence, &context, &sentence, &mut terms);
    }
    // "Sell 100 USDC for WETH. Leave the other USDC alone." buys no USDC.
    let spent: Vec<ValueMeaning> = terms.spend.iter().map(|(token, _)| token.clone()).collect();
    terms.receive.retain(|token| !spent.contains(token));
    terms
}

fn read_sentence(evidence: &Evidence<'_>, context: &ValueContext<'_>, sentence: &str, terms: &mut IntentTerms) {
    let words: Vec<&str> = sentence.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric())).collect();
    let lower: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    if is_forbidden(&lower) {
        return;
    }
    let mut last_chain: Option<usize> = None;
    let (mut verb, mut cue) = (OrderDirection::Spends, OrderDirection::Spends);
    for (at, word) in lower.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| lower.get(at)).map_or("", String::as_str);
        if let Some(direction) = verb_direction(word) {
            (verb, cue) = (direction, direction);
        } else if GIVING.contains(&word.as_str()) {
            cue = OrderDirection::Spends;
        } else if WANTING.contains(&word.as_str()) {
            cue = if verb == OrderDirection::Buys { OrderDirection::Spends } else { OrderDirection::Buys };
        } else if is_token(context, words[at]) && !NEGATIONS.contains(&before) {
            let token = json!(words[at]);
            // "for 90 USDC" and "90 USDC worth of LINK" are prices.
            let is_price = lower.get(at + 1).is_some_and(|next| next == "worth");
            match (cue, figure(before)) {
                (OrderDirection::Spends, Some(amount)) => terms.spend.push(spend_meaning(context, &token, &json!(amount))),
                (OrderDirection::Buys, Some(amount)) if is_price => terms.spend.push(spend_meaning(context, &token, &json!(amount))),
                (OrderDirection::Buys, _) => push_new(&mut terms.receive, meaning(context, Some(&ParamKind::Token(None)), &token)),
                (OrderDirection::Spends, None) => {}
            }
        } else if (PLACES.contains(&before) || last_chain.is_some_and(|last| at - last <= 2))
            && let Some(chain) = evidence.workspace.chain(word)
        {
            // "On Base and Arbitrum" names two.
            last_chain = Some(at);
            push_new(&mut terms.chains, ValueMeaning::Chain(chain.id));
        } else if word.starts_with("0x") && ["to", "recipient", "payee"].contains(&before) {
            push_new(&mut terms.payees, payee_meaning(evidence, context, &json!(words[at])));
        }
    }
}

fn verb_direction(word: &str) -> Option<OrderDirection> {
    let is = |verbs: &[&str]| verbs.contains(&word);
    if is(&SPENDING) { Some(OrderDirection::Spends) } else { is(&BUYING).then_some(OrderDirection::Buys) }
}

/// Reports whether a negation precedes the verb of the sentence.
fn is_forbidden(words: &[String]) -> bool {
    let verb = words.iter().position(|word| verb_direction(word).is_some());
    let negation = words.iter().position(|word| NEGATIONS.contains(&word.as_str()));
    verb.zip(negation).is_some_and(|(verb, negation)| negation < verb)
}

/// Reports whether a word is the symbol of a token, written in capitals as symbols are: "base" and "link" are words too.
fn is_token(context: &ValueContext<'_>, word: &str) -> bool {
    word.chars().filter(|letter| letter.is_uppercase()).count() >= 2 && asset_of_token(context, &json!(word)).is_some()
}

/// Returns a number without separators of thousands.
fn figure(word: &str) -> Option<String> {
    let plain = word.replace(',', "");
    (!plain.is_empty() && plain.chars().all(|c| c.is_ascii_digit() || c == '.')).then_some(plain)
}

fn push_new(found: &mut Vec<ValueMeaning>, value: ValueMeaning) {
    if !found.contains(&value) {
        found.push(value);
    }
}

/// Returns the texts of a value that are more than a name or a figure.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) if text.split_whitespace().count() >= 3 => vec![text],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(fields) => fields.values().flat_map(texts).collect(),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => vec![],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::EvidenceFixture;
    use crate::facts::intent_terms::terms_of_intent;

    /// Returns which of spend, receive and chains the text states as the case wants them: 100 USDC for WETH on Base.
    fn stated(text: &str) -> (bool, bool, bool) {
        let specimen = EvidenceFixture::of("desk_hands_a_swap_over", vec![]);
        let evidence = specimen.evidence();
        let wanted = terms_of_intent(&evidence);
        let told = told_terms(&evidence, json!({"task": text}).as_object().unwrap_or(&Map::new()));
        (told.spend == wanted.spend, told.receive == wanted.receive, told.chains == wanted.chains)
    }

    #[test]
    fn order_in_words_states_its_terms() {
        for text in [
            "Sell 100 USDC for WETH on Base.",
            "Please swap 100.0 USDC into WETH on base, slippage 0.5%.",
            "The user wants to buy WETH with 100 USDC on Base.",
            "Buy 100 USDC worth of WETH on Base.",
            "Sell 100 USDC for at least 0.03 WETH on Base. Leave the other USDC alone.",
        ] {
            assert_eq!(stated(text), (true, true, true), "{text}");
        }
    }

    /// Texts that mention every figure and ask for something else.
    #[test]
    fn other_orders_do_not_state_them() {
        let is_spent = |text: &str| stated(text).0;
        for text in [
            "Buy 100 USDC with WETH on Base.",
            "Do not sell 100 USDC for WETH on Base.",
            "Sell 1000 USDC for WETH on Base.",
            "Sell 100 USDC and then 100 ETH for WETH on Base.",
            "100 is the amount; USDC, WETH and Base were named.",
        ] {
            assert!(!is_spent(text), "{text}");
        }
        assert!(!stated("Sell 100 USDC for DAI on Base, not WETH.").1);
        assert!(!stated("Sell 100 USDC for WETH on Ethereum.").2);
        assert!(!stated("Sell 100 USDC for WETH.").2);
    }
}
