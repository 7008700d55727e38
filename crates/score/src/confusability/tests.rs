//! Ranking of a few small documents.

use super::{ConfusablePair, ToolDoc, WARN_SIMILARITY, rank_confusable};
use lexical::{TermSplit, stem};

fn doc<'a>(name: &'a str, description: &'a str, params: &[&'a str]) -> ToolDoc<'a> {
    ToolDoc { name, description, params: params.to_vec() }
}

fn sample_docs() -> Vec<ToolDoc<'static>> {
    vec![
        doc("lp_collect_fees", "Collects the fees a liquidity position has earned.", &["position_id", "chain"]),
        doc("vault_collect_fees", "Collects management fees a vault has earned.", &["vault", "chain"]),
        doc("bridge_execute", "Moves a token to another chain through a bridge.", &["token", "amount", "destination"]),
        doc("memory_search", "Finds earlier episodes by meaning.", &["query", "limit"]),
        doc("bridge_compare", "Compares bridges for moving a token to another chain.", &["token", "amount", "destination"]),
    ]
}

fn find_pair<'a>(pairs: &'a [ConfusablePair], a: &str, b: &str) -> Option<&'a ConfusablePair> {
    pairs.iter().find(|pair| (pair.a == a && pair.b == b) || (pair.a == b && pair.b == a))
}

#[test]
fn equal_docs_score_one_and_unrelated_none() {
    let twin = doc("get_price", "Current price of one token.", &["token"]);
    let pairs = rank_confusable(&[twin.clone(), twin.clone(), doc("write_memory", "Keeps a note.", &["text"])]);
    assert_eq!(pairs.len(), 1, "{pairs:?}");
    assert_eq!(pairs[0].similarity, 1.0);
    assert!(rank_confusable(&[twin]).is_empty());
    assert!(rank_confusable(&[doc("", "", &[]), doc("", "", &[])]).is_empty(), "no words, nothing to confuse");
}

#[test]
fn rank_confusable_ignores_input_order() {
    let forward = rank_confusable(&sample_docs());
    let mut docs = sample_docs();
    docs.reverse();
    assert_eq!(forward, rank_confusable(&docs));
    docs.rotate_left(2);
    assert_eq!(forward, rank_confusable(&docs));
    assert!(forward.iter().all(|pair| pair.a < pair.b));
    assert!(forward.windows(2).all(|two| two[0].similarity >= two[1].similarity));
}

#[test]
fn near_duplicates_rank_first() {
    let pairs = rank_confusable(&sample_docs());
    assert_eq!((pairs[0].a.as_str(), pairs[0].b.as_str()), ("lp_collect_fees", "vault_collect_fees"));
    assert!(find_pair(&pairs, "bridge_compare", "bridge_execute").is_some());
    assert!(find_pair(&pairs, "memory_search", "bridge_execute").is_none());
    assert!(pairs[0].similarity >= WARN_SIMILARITY, "{pairs:?}");
}

#[test]
fn pair_words_occur_in_both_docs() {
    let docs = sample_docs();
    let stems = |name: &str| -> Vec<String> {
        let doc = docs.iter().find(|doc| doc.name == name).unwrap();
        let text = format!("{} {} {}", doc.name, doc.description, doc.params.join(" "));
        lexical::stems(&text, TermSplit::Catalogue)
    };
    let pairs = rank_confusable(&docs);
    for pair in &pairs {
        assert!(!pair.words.is_empty());
        for word in &pair.words {
            assert!(stems(&pair.a).contains(&stem(word)) && stems(&pair.b).contains(&stem(word)), "{word} in {pair:?}");
        }
    }
    assert_eq!(pairs[0].words[..2], ["collect", "fees"], "strongest first");
}
