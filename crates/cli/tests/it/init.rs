//! `init`: a workspace to start from.

use crate::harness::{Folder, walk};
use std::path::PathBuf;

#[test]
fn what_is_written_is_what_is_embedded() {
    let (copy, empty) = (Folder::new(), Folder::new());
    let ran = copy.run(&["init"]).exits(0);
    let files = copy.files();
    assert_eq!(ran.stdout, format!("wrote {} files to evals\nnext: bardo-eval smoke --workspace evals\n", files.len()));
    let reference: Vec<String> = testkit::reference_files().iter().map(|(path, _)| format!("evals/{path}")).collect();
    assert_eq!(files, reference);
    for (path, text) in testkit::reference_files().iter() {
        assert_eq!(copy.read(&format!("evals/{path}")), text, "{path}");
    }
    let record = |folder: &Folder| folder.json(&["run", "--subject", "reference", "--no-store"], 0)["record"].clone();
    assert_eq!(record(&copy), record(&empty));
    assert_eq!(copy.json(&["smoke"], 0)["workspace"], empty.json(&["smoke"], 0)["workspace"]);
}

#[test]
fn the_minimal_one_is_the_example_of_the_repository() {
    let folder = Folder::with_minimal();
    let source = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/minimal");
    let mut example = vec![];
    walk(&source, &source, &mut example);
    example.sort();
    assert_eq!(folder.files(), example.iter().map(|file| format!("evals/{file}")).collect::<Vec<_>>());
    for file in folder.files() {
        let example = source.join(file.strip_prefix("evals/").unwrap());
        assert_eq!(folder.read(&file), std::fs::read_to_string(&example).unwrap(), "{file}");
    }
}

#[test]
fn a_folder_with_files_is_left_alone() {
    let folder = Folder::new();
    folder.write("mine/notes.txt", "precious");
    for args in [&["init", "mine"][..], &["init", "mine", "--minimal"], &["init", "mine/notes.txt"]] {
        let ran = folder.run(args).exits(2);
        assert!(ran.stdout.is_empty(), "{}", ran.stdout);
        ran.says("nothing was written").says("--force");
        assert_eq!(folder.files(), ["mine/notes.txt"]);
    }
    assert_eq!(folder.read("mine/notes.txt"), "precious");
}

#[test]
fn force_replaces_files_of_the_same_name_and_keeps_others() {
    let folder = Folder::with_minimal();
    folder.write("evals/gates.yaml", "broken");
    folder.write("evals/README.md", "mine");
    folder.run(&["init", "--minimal"]).exits(2);
    assert_eq!(folder.read("evals/gates.yaml"), "broken");
    folder.run(&["init", "--minimal", "--force"]).exits(0);
    assert_eq!(folder.read("evals/README.md"), "mine");
    folder.run(&["smoke"]).exits(0);
}

#[test]
fn a_place_that_cannot_be_written_to() {
    let folder = Folder::new();
    folder.write("taken", "a file");
    folder.run(&["init", "taken/below"]).exits(2).says("taken/below could not be written: ");
    assert_eq!(folder.read("taken"), "a file");
}

#[test]
fn minimal_and_from_mcp_exclude_each_other() {
    let folder = Folder::new();
    folder.run(&["init", "--minimal", "--from-mcp", "x"]).exits(2);
    assert!(folder.files().is_empty());
}
