//! The suites of the reference workspace tell right runs from nearly right ones, and the checks that say so look at all of them.

#![allow(clippy::disallowed_methods, reason = "the test reads the reference workspace")]

use bardo_eval_score::checks::{CHECKS, Findings, Level};
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
fn the_suites_tell_right_from_nearly_right() {
    let workspace = workspace();
    let mut wrong = vec![];
    for id in ["cross_play", "mutants_caught", "names_alone"] {
        let check = CHECKS.iter().find(|check| check.id() == id).expect("a check");
        let mut found = Findings::of(id, 1);
        check.check(&workspace, &mut found);
        let result = found.finish();
        assert!(result.looked_at > 0 && !result.notes.is_empty(), "{id} measured nothing");
        let errors = result.findings.iter().filter(|finding| finding.level == Level::Error);
        wrong.extend(errors.map(ToString::to_string));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
