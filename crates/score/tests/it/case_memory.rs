//! Memory of cases: what most cases do not have takes no room in each of them.

use bardo_eval_score::example::ExampleWorkspace;
use model::suite::Case;
use model::{CaseTexts, Workspace};

/// Bytes of a case without its texts and arguments. A larger case needs more memory in workspaces of 100,000 cases.
const MAX_CASE_BYTES: usize = 640;

#[test]
fn case_is_small() {
    let size = size_of::<Case>();
    assert!(size <= MAX_CASE_BYTES, "a case has {size} bytes");
}

#[test]
fn texts_of_cases_are_kept_only_where_they_are_read() {
    let load = |example: &ExampleWorkspace, texts| Workspace::load_from(example.files().clone(), texts).expect("a workspace");
    let example = ExampleWorkspace::minimal();
    let (kept, dropped) = (load(&example, CaseTexts::Kept), load(&example, CaseTexts::Dropped));
    assert!(kept.cases().count() > 3);
    for (with, without) in kept.cases().zip(dropped.cases()) {
        assert!(with.written.starts_with('{') && without.written.is_empty(), "{}", *with.id);
        assert_eq!((&with.hash, &with.id.value), (&without.hash, &without.id.value), "the text is not part of what a case is");
    }
    // Scorers of the workspace are given the text.
    let scored = example.with("scorers.yaml", "scorers: [{ id: politeness, about: x, command: [y] }]\n");
    assert!(load(&scored, CaseTexts::Dropped).cases().all(|case| case.written.starts_with('{')));
}

#[test]
fn shared_expectations_change_in_one_case_only() {
    let workspace = ExampleWorkspace::minimal().load().expect("a workspace");
    let plain = workspace.cases().find(|case| case.expect.ask.is_empty()).expect("a case without a question");
    let mut changed = plain.clone();
    changed.expect.ask.push("amount".to_owned());
    changed.intent.chains.push(7);
    assert!(plain.expect.ask.is_empty() && !plain.intent.chains.contains(&7));
    assert_eq!((changed.expect.ask.len(), changed.intent.chains.last()), (1, Some(&7)));
}
