//! The corpus is large, covers every family, and does not change.

use attack::{STRATEGIES, is_held_out};
use bardo_eval_guard::{CORPUS_FILES, CorpusSplit, LabelledText, TextLabel, embedded_corpus};
use model::ContentHash;
use std::collections::{BTreeMap, BTreeSet};

/// SHA-256 of the files, fixed before the first rule was written. Never change a hash: detection rates before and after would not compare.
const HASHES: &[(&str, &str)] = &[
    ("seen.jsonl", "b2e7c379c1ff25f87de25683a836a1666e9d883ee6047c78d756afcbbce7cb49"),
    ("held_out.jsonl", "0fa2b86e77b7bf8244a35ca8e9f47d3c87f42719bc11471a46eb89cf5c02a733"),
];

#[test]
fn the_corpus_is_unchanged() {
    let hashes: Vec<(&str, String)> =
        CORPUS_FILES.iter().map(|(name, content)| (*name, ContentHash::of_text(content).as_str().to_owned())).collect();
    let pinned: Vec<(&str, String)> = HASHES.iter().map(|(name, hash)| (*name, (*hash).to_owned())).collect();
    assert_eq!(hashes, pinned);
}

fn count(texts: &[LabelledText], label: TextLabel, split: CorpusSplit) -> usize {
    texts.iter().filter(|text| text.label == label && text.split == Some(split)).count()
}

#[test]
fn both_labels_have_a_thousand_texts_in_both_splits() {
    let texts = embedded_corpus().unwrap();
    let counts = |label| (count(&texts, label, CorpusSplit::Seen), count(&texts, label, CorpusSplit::HeldOut));
    let (attacks, benign) = (counts(TextLabel::Attack), counts(TextLabel::Benign));
    assert!(attacks.0 + attacks.1 >= 1_000 && attacks.0.min(attacks.1) >= 300, "{attacks:?}");
    assert!(benign.0 + benign.1 >= 1_000 && benign.0.min(benign.1) >= 300, "{benign:?}");
}

#[test]
fn ids_and_benign_texts_are_distinct() {
    let texts = embedded_corpus().unwrap();
    let ids: BTreeSet<&str> = texts.iter().map(|text| text.id.as_str()).collect();
    assert_eq!(ids.len(), texts.len());
    let mut labels: BTreeMap<(&str, &str), TextLabel> = BTreeMap::new();
    for text in &texts {
        let known = labels.insert((&text.channel, &text.text), text.label);
        assert!(known.is_none_or(|label| label == text.label), "{} has two labels", text.id);
    }
}

#[test]
fn every_strategy_is_a_family_and_held_out_ones_are_never_seen() {
    let texts = embedded_corpus().unwrap();
    for strategy in STRATEGIES {
        let own: Vec<&LabelledText> = texts.iter().filter(|text| text.family == strategy.id()).collect();
        assert!(own.len() >= 30 && own.iter().all(|text| text.label == TextLabel::Attack), "{}: {}", strategy.id(), own.len());
        let seen = own.iter().any(|text| text.split == Some(CorpusSplit::Seen));
        assert_eq!(seen, !is_held_out(strategy.id()), "{}", strategy.id());
    }
}
