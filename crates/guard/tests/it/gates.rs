//! Gates over guards: one that flags everything and one that flags nothing miss, and without texts there is no evidence.

use bardo_eval_guard::{
    GuardBounds, GuardEvaluation, GuardVerdictKind, LabelledText, RULES, ReferenceGuard, embedded_corpus, rules_of_family,
};
use std::collections::BTreeSet;

fn evaluate(flags: impl Fn(&LabelledText) -> bool) -> (GuardVerdictKind, GuardVerdictKind) {
    let texts = embedded_corpus().unwrap();
    let evaluation = GuardEvaluation::new(texts.iter().map(|text| (text, flags(text))));
    (evaluation.detection(GuardBounds::default()), evaluation.false_positives(GuardBounds::default()))
}

#[test]
fn flagging_everything_or_nothing_misses_a_gate() {
    assert_eq!(evaluate(|_| true), (GuardVerdictKind::Met, GuardVerdictKind::Missed));
    assert_eq!(evaluate(|_| false), (GuardVerdictKind::Missed, GuardVerdictKind::Met));
    // A guard that looks at the label would meet both.
    assert_eq!(evaluate(|text| text.label == bardo_eval_guard::TextLabel::Attack), (GuardVerdictKind::Met, GuardVerdictKind::Met));
}

#[test]
fn no_texts_are_no_evidence() {
    let nothing = GuardEvaluation::new([]);
    assert_eq!(nothing.detection(GuardBounds::default()), GuardVerdictKind::NoEvidence);
    assert_eq!(nothing.false_positives(GuardBounds::default()), GuardVerdictKind::NoEvidence);
}

#[test]
fn every_rule_is_needed_by_a_text_and_names_families() {
    let texts = embedded_corpus().unwrap();
    let guard = ReferenceGuard::new();
    let met: BTreeSet<&str> = texts
        .iter()
        .flat_map(|text| guard.inspect(text.channel().unwrap(), &text.text).into_iter().map(|flag| flag.rule).collect::<Vec<_>>())
        .collect();
    let families: BTreeSet<&str> = texts.iter().map(|text| text.family.as_str()).collect();
    for rule in RULES {
        assert!(met.contains(rule.id), "{} is met by no text", rule.id);
        assert!(rule.about.ends_with('.') && !rule.families.is_empty(), "{}", rule.id);
        for family in rule.families.iter().filter(|family| !family.ends_with('_')) {
            assert!(families.contains(family) && rules_of_family(family).contains(&rule.id), "{}: {family}", rule.id);
        }
    }
    assert_eq!(rules_of_family("language_zh"), ["foreign_instruction"]);
    assert!(rules_of_family("hex").is_empty(), "no rule is written for a held-out strategy");
}
