//! The rules flag no benign text of the seen part, on which they were developed. Held-out texts are not read here.

use bardo_eval_guard::{CorpusSplit, ReferenceGuard, TextLabel, embedded_corpus};

#[test]
fn seen_benign_texts_are_not_flagged() {
    let guard = ReferenceGuard::new();
    let texts = embedded_corpus().unwrap();
    let benign = texts.iter().filter(|text| text.split == Some(CorpusSplit::Seen) && text.label == TextLabel::Benign);
    let flagged: Vec<String> = benign
        .filter_map(|text| {
            let flags = guard.inspect(text.channel().unwrap(), &text.text);
            let rules: Vec<&str> = flags.iter().map(|flag| flag.rule).collect();
            (!rules.is_empty()).then(|| format!("{} {rules:?} {}", text.family, text.text))
        })
        .collect();
    assert!(flagged.is_empty(), "{flagged:#?}");
}
