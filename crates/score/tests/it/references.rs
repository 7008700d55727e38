//! The reference run of every case in the reference workspace, written down as it would happen, offends no scorer.

#![allow(clippy::disallowed_methods, reason = "the test reads the reference workspace")]

use bardo_eval_score::quality::rehearse;
use bardo_eval_score::scorers::{Evidence, score};
use model::transcript::Decision;
use model::{Files, Workspace};
use std::path::Path;

fn workspace() -> Workspace {
    fn walk(root: &Path, folder: &Path, files: &mut Files) {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                walk(root, &path, files);
            } else {
                let name = path.strip_prefix(root).expect("below the root").to_string_lossy().into_owned();
                files.insert(name, std::fs::read_to_string(&path).expect("text"));
            }
        }
    }
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../evals"));
    let mut files = Files::default();
    walk(root, root, &mut files);
    Workspace::load(&files).unwrap_or_else(|problems| panic!("{problems:#?}"))
}

#[test]
fn references_offend_no_scorer() {
    let workspace = workspace();
    let (mut cases, mut offences) = (0, vec![]);
    for case in workspace.cases().filter(|case| case.expect.post.is_empty()) {
        cases += 1;
        let transcript = rehearse(&workspace, case, &case.reference, Decision::Approve);
        for score in score(&Evidence::new(&workspace, case, &transcript)) {
            if score.reading.is_violation() {
                let because: Vec<_> = score.because.iter().map(|because| because.what.as_str()).collect();
                offences.push(format!("{} {}: {}", case.id.value, score.scorer, because.join("; ")));
            }
        }
    }
    assert!(cases > 0, "no cases");
    assert!(offences.is_empty(), "{} offences in {cases} cases: {offences:#?}", offences.len());
}
