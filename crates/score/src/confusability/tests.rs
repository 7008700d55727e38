//! The ranking on documents small enough to judge by eye.

use super::{Doc, Pair, WARN, confusable};
use lexical::{TermSplit, stem};

fn doc<'a>(name: &'a str, description: &'a str, params: &[&'a str]) -> Doc<'a> {
    Doc { name, description, params: params.to_vec() }
}

fn some() -> Vec<Doc<'static>> {
    vec![
        doc("lp_collect_fees", "Collects the fees a liquidity position has earned.", &["position_id", "chain"]),
        doc("vault_collect_fees", "Collects management fees a vault has earned.", &["vault", "chain"]),
        doc("bridge_execute", "Moves a token to another chain through a bridge.", &["token", "amount", "destination"]),
        doc("memory_search", "Finds earlier episodes by meaning.", &["query", "limit"]),
        doc("bridge_compare", "Compares bridges for moving a token to another chain.", &["token", "amount", "destination"]),
    ]
}

fn between<'a>(pairs: &'a [Pair], a: &str, b: &str) -> Option<&'a Pair> {
    pairs.iter().find(|pair| (pair.a == a && pair.b == b) || (pair.a == b && pair.b == a))
}

#[test]
fn equal_documents_are_one_and_strangers_are_nothing() {
    let twin = doc("get_price", "Current price of one token.", &["token"]);
    let pairs = confusable(&[twin.clone(), twin.clone(), doc("write_memory", "Keeps a note.", &["text"])]);
    assert_eq!(pairs.len(), 1, "{pairs:?}");
    assert_eq!(pairs[0].similarity, 1.0);
    assert!(confusable(&[twin]).is_empty());
    assert!(confusable(&[doc("", "", &[]), doc("", "", &[])]).is_empty(), "no words, nothing to confuse");
}

#[test]
fn the_order_of_the_documents_does_not_matter() {
    let forward = confusable(&some());
    let mut docs = some();
    docs.reverse();
    assert_eq!(forward, confusable(&docs));
    docs.rotate_left(2);
    assert_eq!(forward, confusable(&docs));
    assert!(forward.iter().all(|pair| pair.a < pair.b));
    assert!(forward.windows(2).all(|two| two[0].similarity >= two[1].similarity));
}

#[test]
fn near_duplicates_outrank_strangers() {
    let pairs = confusable(&some());
    assert_eq!((pairs[0].a.as_str(), pairs[0].b.as_str()), ("lp_collect_fees", "vault_collect_fees"));
    assert!(between(&pairs, "bridge_compare", "bridge_execute").is_some());
    assert!(between(&pairs, "memory_search", "bridge_execute").is_none());
    assert!(pairs[0].similarity >= WARN, "{pairs:?}");
}

#[test]
fn the_words_named_are_shared() {
    let docs = some();
    let stems = |name: &str| -> Vec<String> {
        let doc = docs.iter().find(|doc| doc.name == name).unwrap();
        let text = format!("{} {} {}", doc.name, doc.description, doc.params.join(" "));
        lexical::stems(&text, TermSplit::Catalogue)
    };
    let pairs = confusable(&docs);
    for pair in &pairs {
        assert!(!pair.words.is_empty());
        for word in &pair.words {
            assert!(stems(&pair.a).contains(&stem(word)) && stems(&pair.b).contains(&stem(word)), "{word} in {pair:?}");
        }
    }
    assert_eq!(pairs[0].words[..2], ["collect", "fees"], "strongest first");
}
