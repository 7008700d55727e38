//! Development aid: lists the seen texts that the guard gets wrong. Held-out texts are never printed.

use bardo_eval_guard::{CorpusSplit, ReferenceGuard, TextLabel, embedded_corpus};

#[test]
#[ignore = "prints mistakes on the seen texts"]
fn print_mistakes_on_seen_texts() {
    let guard = ReferenceGuard::new();
    let texts = embedded_corpus().unwrap();
    let (mut missed, mut false_alarms) = (0, 0);
    for text in texts.iter().filter(|text| text.split == Some(CorpusSplit::Seen)) {
        let flags = guard.inspect(text.channel().unwrap(), &text.text);
        let shown: String = text.text.chars().take(400).collect();
        match (text.label, flags.first()) {
            (TextLabel::Attack, None) => {
                missed += 1;
                println!("MISSED {} [{}] {shown}", text.id, text.channel);
            }
            (TextLabel::Benign, Some(_)) => {
                false_alarms += 1;
                let rules: Vec<&str> = flags.iter().map(|flag| flag.rule).collect();
                println!("FALSE {} {rules:?} [{}] {shown}", text.id, text.channel);
            }
            (TextLabel::Attack, Some(_)) | (TextLabel::Benign, None) => {}
        }
    }
    println!("missed {missed}, false alarms {false_alarms}");
}
