//! Tools under names that mean nothing: what is left of the hit rate shows how much the baseline reads beyond names.

use crate::baseline::harness::hits;
use bardo_eval_run::subjects::BaselineIndex;
use model::{Files, Workspace};
use std::collections::BTreeMap;
use std::sync::Arc;
use testkit::{load, reference_files, reference_workspace};

/// The same workspace with every tool called by a number, wherever it is named.
fn renamed() -> Arc<Workspace> {
    let mut names = BTreeMap::new();
    for (n, tool) in reference_workspace().tools.iter().enumerate() {
        for name in tool.aliases.iter().chain([&tool.name]) {
            names.insert(name.value.clone(), format!("x{n}_{}", names.len()));
        }
    }
    let files: Files = reference_files().iter().map(|(path, text)| (path, replaced(text, &names))).collect();
    load(&files)
}

/// Replaces names everywhere but in `acts`, where an operation may share the word of an alias.
fn replaced(text: &str, names: &BTreeMap<String, String>) -> String {
    let line = |line: &str| if line.trim_start().starts_with("acts:") { line.to_owned() } else { replaced_words(line, names) };
    text.split_inclusive('\n').map(line).collect()
}

fn replaced_words(text: &str, names: &BTreeMap<String, String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut word = String::new();
    for letter in text.chars() {
        if letter.is_ascii_alphanumeric() || letter == '_' {
            word.push(letter);
            continue;
        }
        out.push_str(names.get(&word).unwrap_or(&word));
        word.clear();
        out.push(letter);
    }
    out.push_str(names.get(&word).unwrap_or(&word));
    out
}

struct Rate {
    hit: usize,
    of: usize,
}

async fn rate(workspace: &Arc<Workspace>) -> Rate {
    let index = Arc::new(BaselineIndex::new(workspace));
    let mut rate = Rate { hit: 0, of: 0 };
    for case in workspace.cases() {
        if let Some(hit) = hits(workspace, &index, case).await {
            rate.of += 1;
            rate.hit += usize::from(hit);
        }
    }
    rate
}

#[tokio::test]
async fn without_meaningful_names_it_still_works_from_descriptions_but_worse() {
    let (named, nameless) = (rate(&reference_workspace()).await, rate(&renamed()).await);
    assert_eq!(named.of, nameless.of);
    let share = |rate: &Rate| rate.hit as f64 / rate.of as f64;
    let report = format!("hits with names {} of {}, without {} of {}", named.hit, named.of, nameless.hit, nameless.of);
    #[expect(clippy::print_stdout, reason = "the drop is a figure people ask for")]
    {
        println!("{report}");
    }
    assert!(share(&nameless) >= 0.5 * share(&named), "{report}");
    assert!(nameless.hit < named.hit, "{report}");
}
