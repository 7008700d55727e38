//! Tools of the corpus: `cargo run -p bardo-eval-guard --example corpus -- FOLDER` writes the corpus that the sources make today, and
//! the texts that it would take from the reference workspace of today; `-- missed` lists the seen attacks that the rules do not flag.
#![expect(clippy::unwrap_used, reason = "a tool that cannot go on should say where")]

mod generator;
mod sources;

use bardo_eval_guard::{CorpusSplit, LabelledText, ReferenceGuard, TextLabel, embedded_corpus};
use std::path::Path;

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("missed") => print_missed_attacks(),
        Some(folder) => write_corpus(Path::new(folder)),
        None => panic!("name a folder for the files, or `missed`"),
    }
}

/// Writes the files of the corpus. The frozen files in the repository stay as they are: detection rates before and after a change would
/// not compare.
#[expect(clippy::disallowed_methods, reason = "a tool that writes files")]
fn write_corpus(folder: &Path) {
    for (name, content) in generator::corpus_files() {
        std::fs::write(folder.join(name), content).unwrap();
    }
    std::fs::write(folder.join("workspace.jsonl"), sources::workspace_texts()).unwrap();
}

/// Lists the seen attacks that no rule flags; some wordings are beyond rules. Held-out texts are not read.
#[expect(clippy::print_stdout, reason = "the list is the result")]
fn print_missed_attacks() {
    let guard = ReferenceGuard::new();
    let texts = embedded_corpus().unwrap();
    let is_missed = |text: &&LabelledText| {
        let is_seen_attack = text.split == Some(CorpusSplit::Seen) && text.label == TextLabel::Attack;
        is_seen_attack && guard.inspect(text.channel().unwrap(), &text.text).is_empty()
    };
    for text in texts.iter().filter(is_missed) {
        println!("{} {}", text.family, text.text);
    }
}
