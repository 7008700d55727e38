//! Hit rate with meaningless tool names, which shows how much the baseline relies on names.

use crate::baseline::harness::selects_expected_tools;
use bardo_eval_run::subjects::BaselineIndex;
use model::{Workspace, WorkspaceFiles};
use std::collections::BTreeMap;
use std::sync::Arc;
use testkit::{load_workspace, reference_files, reference_workspace};

/// Reference workspace with every tool name replaced by a number.
fn workspace_with_renamed_tools() -> Arc<Workspace> {
    let mut names = BTreeMap::new();
    for (n, tool) in reference_workspace().tools.iter().enumerate() {
        for name in tool.aliases.iter().chain([&tool.name]) {
            names.insert(name.value.clone(), format!("x{n}_{}", names.len()));
        }
    }
    let files: WorkspaceFiles = reference_files().iter().map(|(path, text)| (path, replace_names(text, &names))).collect();
    load_workspace(&files)
}

/// Replaces names everywhere but in `acts`, where an operation may share the word of an alias.
fn replace_names(text: &str, names: &BTreeMap<String, String>) -> String {
    let line = |line: &str| if line.trim_start().starts_with("acts:") { line.to_owned() } else { replace_words(line, names) };
    text.split_inclusive('\n').map(line).collect()
}

fn replace_words(text: &str, names: &BTreeMap<String, String>) -> String {
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

struct HitRate {
    hit: usize,
    of: usize,
}

async fn hit_rate(workspace: &Arc<Workspace>) -> HitRate {
    let index = Arc::new(BaselineIndex::new(workspace));
    let mut rate = HitRate { hit: 0, of: 0 };
    for case in workspace.cases() {
        if let Some(hit) = selects_expected_tools(workspace, &index, case).await {
            rate.of += 1;
            rate.hit += usize::from(hit);
        }
    }
    rate
}

#[tokio::test]
async fn hit_rate_drops_but_holds_with_renamed_tools() {
    let (named, nameless) = (hit_rate(&reference_workspace()).await, hit_rate(&workspace_with_renamed_tools()).await);
    assert_eq!(named.of, nameless.of);
    let share = |rate: &HitRate| rate.hit as f64 / rate.of as f64;
    let report = format!("hits with names {} of {}, without {} of {}", named.hit, named.of, nameless.hit, nameless.of);
    #[expect(clippy::print_stdout, reason = "the test log shows the drop")]
    {
        println!("{report}");
    }
    assert!(share(&nameless) >= 0.5 * share(&named), "{report}");
    assert!(nameless.hit < named.hit, "{report}");
}
