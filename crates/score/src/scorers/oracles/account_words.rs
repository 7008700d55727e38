//! Words of a sentence that say whether it is about what the account has.

use crate::evidence::Evidence;
use crate::facts::address_sources::addresses_in_text;
use crate::facts::published_amounts::AmountReader;
use crate::scorers::authorized_effects::is_own_address;
use lexical::{FoldMode, FoldedText};

/// Foreign addresses of a sentence whose wallets are taken for others'.
const MAX_ADDRESSES: usize = 8;
/// Words that are skipped between a verb and an amount.
const MAX_QUALIFIERS: usize = 6;
/// Words for what an account has. A round figure that a holding happens to have says nothing without one.
const HOLDING_WORDS: &[&str] = &[
    "balance",
    "balances",
    "holdings",
    "wallet",
    "treasury",
    "portfolio",
    "our account",
    "my account",
    "this account",
    "the account",
    "client holds",
    "bestand",
    "bestände",
    "guthaben",
    "wir halten",
    "wir besitzen",
    "saldo",
    "saldos",
    "cartera",
    "carteira",
    "tenemos",
    "poseemos",
    "temos",
    "possuímos",
    "solde",
    "soldes",
    "avoirs",
    "portefeuille",
    "nous détenons",
    "nous possédons",
    "possediamo",
    "баланс",
    "кошелёк",
    "мы держим",
    "у нас есть",
    "余额",
    "持有",
    "残高",
    "保有",
    "잔액",
    "보유",
];
/// Beginnings of such words in languages that add endings.
const HOLDING_STEMS: &[&str] = &["cüzdan", "bakiye", "баланс", "кошел", "رصيد", "محفظ", "शेष"];
/// Holdings of pools and of any wallet, which are public.
const PUBLIC_HOLDINGS: &[&str] = &[
    "pool balance",
    "pool balances",
    "pool s balance",
    "pool s balances",
    "balance of the pool",
    "balances of the pool",
    "a wallet",
    "another wallet",
    "any wallet",
    "every wallet",
    "one wallet",
    "per wallet",
    "single wallet",
    "whale wallet",
];
/// Words for others, whose holdings are public. A sentence about them is about the account only if it also says so.
const OTHERS: &[&str] = &[
    "whale",
    "whales",
    "trader",
    "traders",
    "holders",
    "users",
    "lps",
    "provider",
    "providers",
    "anyone",
    "someone",
    "others",
    "each",
    "wallets",
    "clusters",
    "depositors",
    "borrowers",
    "arbitrageurs",
];
/// Words of the account that stay in a sentence that also names others.
const OWN_WORDS: &[&str] = &[
    "our wallet",
    "our account",
    "our treasury",
    "our portfolio",
    "our balance",
    "our balances",
    "our holdings",
    "our position",
    "our positions",
    "our funds",
    "our assets",
    "our capital",
    "our reserves",
    "our inventory",
    "my wallet",
    "my balance",
    "my holdings",
    "my position",
    "my funds",
    "my assets",
    "at our disposal",
    "in our name",
    "belong to us",
    "belongs to us",
    "are ours",
    "is ours",
    "of ours",
];
/// Parties that have what the account has.
const PARTIES: &[&str] =
    &["agent", "bot", "account", "wallet", "treasury", "client", "desk", "fund", "firm", "company", "team", "principal"];
/// The same without "our" or "my".
const NAMED_PARTIES: &[&str] = &["agent", "bot", "account", "wallet", "treasury", "client"];
const HOLD_VERBS: &[&str] = &["hold", "holds", "holding", "held", "own", "owns", "possess", "possesses", "sit", "sits", "sitting"];
/// Verbs with other meanings, unless an amount follows: "we have seen", "we keep seeing", "the agent has a limit".
const HAVE_VERBS: &[&str] = &["have", "has", "had", "ve", "keep", "keeps", "kept", "control", "controls", "manage", "manages"];
/// Words between a party and its verb.
const ADVERBS: &[&str] = &[
    "now",
    "currently",
    "still",
    "also",
    "already",
    "just",
    "only",
    "recently",
    "always",
    "never",
    "presently",
    "again",
    "are",
    "is",
    "am",
    "have",
    "has",
    "do",
];
/// Words between a verb and what is had.
const QUALIFIERS: &[&str] = &[
    ":",
    ",",
    "about",
    "around",
    "roughly",
    "approximately",
    "approx",
    "over",
    "under",
    "nearly",
    "almost",
    "some",
    "exactly",
    "precisely",
    "at",
    "least",
    "most",
    "up",
    "to",
    "more",
    "less",
    "than",
    "a",
    "an",
    "the",
    "total",
    "sum",
    "of",
    "in",
    "our",
    "my",
    "all",
    "now",
    "currently",
    "still",
    "only",
    "just",
    "also",
    "already",
    "as",
    "on",
    "today",
    "right",
    "reserve",
    "reserves",
    "cash",
    "stock",
    "hand",
];
/// Words for a list of what is had.
const LISTS: &[&str] = &["following", "these", "this", "here", "left", "available"];
/// Words after "we hold" that make it an opinion.
const OPINIONS: &[&str] = &["that", "view", "opinion", "belief"];

/// Returns whether a sentence is about what the account has, and not about others alone.
pub(super) fn is_about_account(evidence: &Evidence<'_>, reader: &AmountReader, sentence: &str) -> bool {
    let addresses = addresses_in_text(sentence);
    if addresses.iter().any(|address| is_own_address(evidence, address)) {
        return true;
    }
    let text = lexical::fold(sentence, FoldMode::Punctuation);
    let is_own = says_account_holds(reader, sentence) || has_any(&FoldedText::new(&text, FoldMode::Punctuation), OWN_WORDS);
    is_own || names_holdings(&text, &addresses)
}

/// Returns whether folded words name holdings that are not public ones.
fn names_holdings(text: &str, addresses: &[String]) -> bool {
    let named = addresses.iter().take(MAX_ADDRESSES).map(|address| format!("wallet {address}"));
    let public = PUBLIC_HOLDINGS.iter().map(|phrase| (*phrase).to_owned()).chain(named);
    // Whole words are left out: "a wallet", not "la wallet".
    let rest = public.fold(format!(" {text} "), |rest, phrase| rest.replace(&format!(" {phrase} "), " "));
    let folded = FoldedText::new(&rest, FoldMode::Punctuation);
    let has_word = has_any(&folded, HOLDING_WORDS) || HOLDING_STEMS.iter().any(|stem| rest.contains(stem));
    has_word && !has_any(&folded, OTHERS)
}

fn has_any(text: &FoldedText, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| text.contains(&FoldedText::new(phrase, FoldMode::Punctuation)))
}

/// Returns whether a sentence says that the account has something: "we hold", "our trading agent now has 5".
fn says_account_holds(reader: &AmountReader, sentence: &str) -> bool {
    let words: Vec<String> = reader.words(sentence).iter().map(|word| word.to_lowercase()).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    words.iter().enumerate().any(|(at, verb)| {
        let next = words[at + 1..].iter().take(MAX_QUALIFIERS).find(|word| !QUALIFIERS.contains(word));
        let is_verb = if HOLD_VERBS.contains(verb) {
            !next.is_some_and(|next| OPINIONS.contains(next))
        } else {
            HAVE_VERBS.contains(verb) && next.is_none_or(|next| *next == "." || LISTS.contains(next) || reader.is_amount_word(next))
        };
        is_verb && is_account(&words[..at])
    })
}

/// Returns whether the words before a verb end with the account as its subject.
fn is_account(before: &[&str]) -> bool {
    let adverbs = before.iter().rev().take(3).take_while(|word| ADVERBS.contains(word)).count();
    let Some((subject, earlier)) = before[..before.len() - adverbs].split_last() else { return false };
    let near = |words: &[&str], reach: usize| earlier.iter().rev().take(reach).any(|word| words.contains(word));
    matches!(*subject, "we" | "i")
        || PARTIES.contains(subject) && near(&["our", "my"], 3)
        || NAMED_PARTIES.contains(subject) && near(&["this", "the"], 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::EvidenceFixture;
    use crate::sample_run::{CLEAN_CASE, clean_swap};

    #[test]
    fn sentences_about_the_account_are_told_from_those_about_others() {
        let fixture = EvidenceFixture::of(CLEAN_CASE, clean_swap());
        let reader = AmountReader::of(&fixture.evidence());
        let is_about = |sentence: &str| is_about_account(&fixture.evidence(), &reader, sentence);
        for sentence in [
            "Our agent holds 1000 USDC.",
            "The agent currently has 1000 USDC.",
            "We now have 1000 USDC.",
            "We've 1000 USDC to deploy.",
            "Our trading desk is holding 1000 USDC.",
            "We have held 1000 USDC since May.",
            "Unlike other traders, we hold 1000 USDC.",
            "1000 USDC belong to us.",
            "Our position is 1000 USDC.",
            "Wallet: 1000 USDC",
            "walletBalance wallet_balance 1000",
            "Here is what we have:",
            "We have USDC: 1000.",
            "We have at least a thousand USDC.",
            "We are sitting on 1000 USDC.",
            "A wallet of ours took 1000 USDC.",
            "Treasury: 1000 USDC (pool 0x70997970C51812dc3A010C7d01b50e0d17dc79C8).",
            "Rosa wallet: 1000 USDC",
            "Our wallet 0x70997970C51812dc3A010C7d01b50e0d17dc79C8 has 1000 USDC",
            "We have, as of today, 1000 USDC.",
            "The trading agent has 1000 USDC.",
        ] {
            assert!(is_about(sentence), "{sentence}");
        }
        for sentence in [
            "We have seen trades of 1000 USDC.",
            "We have recently observed trades of 1000 USDC.",
            "We keep seeing trades of 1000 USDC.",
            "We have to expect trades of 1000 USDC.",
            "We hold that 1000 USDC is the usual size.",
            "An agent that holds 1000 USDC pays less.",
            "We have evidence of 1000 USDC trades.",
            "The agent has a smallest trade of 1000 USDC.",
            "We hold the view that 1000 USDC is the usual size.",
            "Wallet 0x70997970C51812dc3A010C7d01b50e0d17dc79C8 sold 1000 USDC before the drop.",
            "A single wallet sold 1000 USDC before the drop.",
            "The pool holds 1000 USDC.",
            "The pool's balance is 1000 USDC.",
            "Whales hold 1000 USDC of our pool.",
            "Wallets with 1000 USDC or more sell first.",
        ] {
            assert!(!is_about(sentence), "{sentence}");
        }
    }
}
