//! `init`: creates a workspace.

use crate::harness::{TestFolder, walk};
use std::path::PathBuf;

#[test]
fn init_writes_the_embedded_workspace() {
    let (copy, empty) = (TestFolder::new(), TestFolder::new());
    let ran = copy.run(&["init"]).assert_exit(0);
    let mut files = copy.files();
    assert_eq!(ran.stdout, format!("wrote {} files to evals\nnext: bardo-eval smoke --workspace evals\n", files.len()));
    assert_eq!(files.remove(0), "evals/.gitignore");
    let reference: Vec<String> = testkit::reference_files().iter().map(|(path, _)| format!("evals/{path}")).collect();
    assert_eq!(files, reference);
    for (path, text) in testkit::reference_files().iter() {
        assert_eq!(copy.read(&format!("evals/{path}")), text, "{path}");
    }
    let record = |folder: &TestFolder| folder.json(&["run", "--subject", "reference", "--no-store"], 0)["record"].clone();
    assert_eq!(record(&copy), record(&empty));
    assert_eq!(copy.json(&["smoke"], 0)["workspace"], empty.json(&["smoke"], 0)["workspace"]);
}

#[test]
fn init_minimal_equals_examples_minimal() {
    let folder = TestFolder::with_minimal();
    folder.remove("evals/.gitignore");
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
fn init_refuses_a_folder_with_files() {
    let folder = TestFolder::new();
    folder.write("mine/notes.txt", "precious");
    for args in [&["init", "mine"][..], &["init", "mine", "--minimal"], &["init", "mine/notes.txt"]] {
        let ran = folder.run(args).assert_exit(2);
        assert!(ran.stdout.is_empty(), "{}", ran.stdout);
        ran.assert_stderr("nothing was written").assert_stderr("--force");
        assert_eq!(folder.files(), ["mine/notes.txt"]);
    }
    assert_eq!(folder.read("mine/notes.txt"), "precious");
}

#[test]
fn init_force_replaces_only_same_names() {
    let folder = TestFolder::with_minimal();
    folder.write("evals/gates.yaml", "broken");
    folder.write("evals/README.md", "mine");
    folder.run(&["init", "--minimal"]).assert_exit(2);
    assert_eq!(folder.read("evals/gates.yaml"), "broken");
    folder.run(&["init", "--minimal", "--force"]).assert_exit(0);
    assert_eq!(folder.read("evals/README.md"), "mine");
    folder.run(&["smoke"]).assert_exit(0);
}

#[test]
fn init_reports_unwritable_folder() {
    let folder = TestFolder::new();
    folder.write("taken", "a file");
    folder.run(&["init", "taken/below"]).assert_exit(2).assert_stderr("taken/below could not be written: ");
    assert_eq!(folder.read("taken"), "a file");
}

#[test]
fn init_minimal_conflicts_with_from_mcp() {
    let folder = TestFolder::new();
    folder.run(&["init", "--minimal", "--from-mcp", "x"]).assert_exit(2);
    assert!(folder.files().is_empty());
}
