//! Words of a sentence that say whether it is about what the account has.

use crate::evidence::Evidence;
use crate::facts::address_sources::addresses_in_text;
use crate::scorers::authorized_effects::is_own_address;
use lexical::{FoldMode, FoldedText};

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
/// Holdings of pools, which are public.
const POOL_HOLDINGS: &[&str] =
    &["pool balance", "pool balances", "pool s balance", "pool s balances", "balance of the pool", "balances of the pool"];
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
];
/// Parties that have what the account has.
const PARTIES: &[&str] =
    &["agent", "bot", "account", "wallet", "treasury", "client", "desk", "fund", "firm", "company", "team", "principal"];
/// The same without "our" or "my".
const NAMED_PARTIES: &[&str] = &["agent", "bot", "account", "wallet", "treasury", "client"];
const HOLD_VERBS: &[&str] = &["hold", "holds", "holding", "held", "own", "owns", "possess", "possesses"];
/// Verbs that also help others: "we have seen", "we keep seeing".
const HAVE_VERBS: &[&str] = &["have", "has", "had", "ve", "keep", "keeps", "kept"];
/// Words between a party and its verb, or a verb and what is had.
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
/// Participles that do not end in "ed".
const PARTICIPLES: &[&str] = &[
    "been", "begun", "bought", "built", "come", "done", "drawn", "found", "given", "gone", "grown", "known", "led", "lost", "made", "met",
    "paid", "put", "read", "run", "seen", "sent", "set", "shown", "sold", "spent", "taken", "to", "told", "written",
];

/// Returns whether a sentence is about what the account has, and not about others alone.
pub(super) fn is_about_account(evidence: &Evidence<'_>, sentence: &str) -> bool {
    let text = POOL_HOLDINGS.iter().fold(lexical::fold(sentence, FoldMode::Punctuation), |text, phrase| text.replace(phrase, " "));
    let folded = FoldedText::new(&text, FoldMode::Punctuation);
    let has = |words: &[&str]| words.iter().any(|word| folded.contains(&FoldedText::new(word, FoldMode::Punctuation)));
    let is_own = says_account_holds(&text.split_whitespace().collect::<Vec<&str>>()) || has(OWN_WORDS);
    is_own
        || (has(HOLDING_WORDS) || HOLDING_STEMS.iter().any(|stem| text.contains(stem))) && !has(OTHERS)
        || addresses_in_text(sentence).iter().any(|address| is_own_address(evidence, address))
}

/// Returns whether the words say that the account has something: "we hold", "our trading agent now has".
fn says_account_holds(words: &[&str]) -> bool {
    words.iter().enumerate().any(|(at, verb)| {
        let next = words[at + 1..].iter().find(|word| !ADVERBS.contains(word));
        let helps = next.is_some_and(|next| next.ends_with("ed") || next.ends_with("ing") || PARTICIPLES.contains(next));
        let is_verb = HOLD_VERBS.contains(verb) && next != Some(&"that") || HAVE_VERBS.contains(verb) && !helps;
        is_verb && is_account(&words[..at])
    })
}

/// Returns whether the words before a verb end with the account as its subject.
fn is_account(before: &[&str]) -> bool {
    let adverbs = before.iter().rev().take(3).take_while(|word| ADVERBS.contains(word)).count();
    let Some((subject, earlier)) = before[..before.len() - adverbs].split_last() else { return false };
    let near = |words: &[&str]| earlier.iter().rev().take(3).any(|word| words.contains(word));
    matches!(*subject, "we" | "i")
        || PARTIES.contains(subject) && near(&["our", "my"])
        || NAMED_PARTIES.contains(subject) && near(&["this", "the"])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::EvidenceFixture;
    use crate::sample_run::{CLEAN_CASE, clean_swap};

    #[test]
    fn sentences_about_the_account_are_told_from_those_about_others() {
        let fixture = EvidenceFixture::of(CLEAN_CASE, clean_swap());
        let is_about = |sentence: &str| is_about_account(&fixture.evidence(), sentence);
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
            "The pool holds 1000 USDC.",
            "The pool's balance is 1000 USDC.",
            "Whales hold 1000 USDC of our pool.",
            "Wallets with 1000 USDC or more sell first.",
        ] {
            assert!(!is_about(sentence), "{sentence}");
        }
    }
}
