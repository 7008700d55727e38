//! Malicious or nonsensical folders and files: a clear error that names the file, exit 2, no panic, bounded memory, no hang.

use crate::harness::{ProgramOutput, TestFolder};

/// Memory limit for any input.
const MAX_MEMORY_MB: u64 = 150;

/// Runs smoke on `evals/` and asserts that it is refused.
#[track_caller]
fn assert_refused(folder: &TestFolder, file: &str, what: &str) -> ProgramOutput {
    let ran = folder.run(&["smoke", "--workspace", "evals"]).assert_exit(2);
    assert!(ran.stdout.is_empty(), "{}", ran.stdout);
    assert!(ran.stderr.len() < 20_000, "{} bytes of complaint", ran.stderr.len());
    assert!(ran.peak_mb.is_none_or(|peak| peak < MAX_MEMORY_MB), "{:?} MB for {file}", ran.peak_mb);
    ran.assert_stderr(file).assert_stderr(what).assert_stderr("nothing was run")
}

/// Asserts that the minimal workspace with this `gates.yaml` is refused.
#[track_caller]
fn refuse_gates_file(content: impl AsRef<[u8]>, what: &str) -> ProgramOutput {
    let folder = TestFolder::with_minimal();
    folder.write("evals/gates.yaml", content);
    assert_refused(&folder, "evals/gates.yaml", what).assert_stderr("1 problem;")
}

#[test]
fn empty_folder_is_refused() {
    let folder = TestFolder::new();
    std::fs::create_dir(folder.path("evals")).unwrap();
    assert_refused(&folder, "evals  not a workspace", "write one with `bardo-eval init`");
}

#[test]
fn missing_folder_is_refused() {
    let ran = TestFolder::new().run(&["smoke", "-w", "no/such/folder"]).assert_exit(2);
    ran.assert_stderr("no/such/folder  cannot be read: it does not exist; check the path").assert_stderr("1 problem; nothing was run");
}

#[test]
fn file_in_place_of_folder_is_refused() {
    let folder = TestFolder::new();
    folder.write("evals", "gates: []\n");
    assert_refused(&folder, "evals  this is not a folder", "give the folder of a workspace");
    folder.run(&["smoke", "-w", "evals/below"]).assert_exit(2).assert_stderr("evals/below  cannot be read: ");
}

#[cfg(unix)]
#[test]
fn unreadable_folder_and_file_are_refused() {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    let folder = TestFolder::with_minimal();
    for (name, mode) in [("evals/agents", 0o000), ("evals/policy.yaml", 0o000)] {
        fs::set_permissions(folder.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    // Permissions do not apply to the superuser.
    let binds = fs::read_dir(folder.path("evals/agents")).is_err();
    if binds {
        assert_refused(&folder, "evals/agents  cannot be read: permission denied", "evals/policy.yaml  cannot be read: permission denied");
    }
    fs::set_permissions(folder.path("evals/agents"), fs::Permissions::from_mode(0o700)).unwrap();
}

#[cfg(unix)]
#[test]
fn symlinks_are_not_followed() {
    use std::os::unix::fs::symlink;
    let folder = TestFolder::with_minimal();
    symlink("..", folder.path("evals/tools/loop")).unwrap();
    symlink("nowhere", folder.path("evals/profiles/dangling.yaml")).unwrap();
    symlink("/etc/passwd", folder.path("evals/subjects/secret.yaml")).unwrap();
    let ran = assert_refused(&folder, "evals/tools/loop", "links are not followed");
    let ran = ran.assert_stderr("evals/profiles/dangling.yaml").assert_stderr("evals/subjects/secret.yaml").assert_stderr("3 problems;");
    assert!(!ran.stderr.contains("root:"), "{}", ran.stderr);
}

#[cfg(unix)]
#[test]
fn symlink_loop_is_refused() {
    let folder = TestFolder::new();
    std::os::unix::fs::symlink("evals", folder.path("evals")).unwrap();
    assert_refused(&folder, "evals  cannot be read: ", "check the path");
}

#[cfg(unix)]
#[test]
fn named_pipe_does_not_block() {
    let folder = TestFolder::with_minimal();
    let made = std::process::Command::new("mkfifo").arg(folder.path("evals/tools/pipe.yaml")).status().unwrap();
    assert!(made.success());
    assert_refused(&folder, "evals/tools/pipe.yaml", "neither a file nor a folder");
}

#[test]
fn deeply_nested_folders_are_refused() {
    let folder = TestFolder::with_minimal();
    folder.write(&format!("evals/tools/{}x.yaml", "a/".repeat(100)), "category: x\n");
    assert_refused(&folder, "evals/tools/a/a/a", "nested more than 12 deep");
}

#[test]
fn oversized_file_is_refused() {
    refuse_gates_file("gates: []\n".repeat(5_000_000), "the file has 50000000 bytes, more than the limit of 4194304; split it");
}

#[test]
fn deep_yaml_flow_nesting_is_refused() {
    refuse_gates_file("[".repeat(10_000), "evals/gates.yaml:1  ");
    refuse_gates_file("{a: ".repeat(10_000), "evals/gates.yaml:1  ");
    refuse_gates_file(format!("gates: {}{}\n", "[".repeat(10_000), "]".repeat(10_000)), "evals/gates.yaml:1  ");
}

#[test]
fn deep_yaml_block_nesting_is_refused() {
    refuse_gates_file(format!("gates: \n  {}x\n", "- ".repeat(10_000)), "evals/gates.yaml:2  nested more than 48 levels deep; flatten");
    // One level per line; more levels would exceed the file size limit.
    let steps: String = (0..2_500).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    refuse_gates_file(steps, "evals/gates.yaml:49  nested more than 48 levels deep; flatten");
}

#[test]
fn yaml_alias_bombs_are_refused() {
    let first = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
    let next = |n: usize| format!("a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 10].join(","));
    refuse_gates_file(std::iter::once(first).chain((1..30).map(next)).collect::<String>(), "aliases expanded");
    refuse_gates_file("a: &a [*a]\n", "evals/gates.yaml:1  an alias refers to the anchor that contains it");
}

#[test]
fn yaml_alias_bomb_of_long_values_is_refused() {
    let (long, aliases) = ("x".repeat(1_000_000), vec!["*a"; 20_000].join(","));
    refuse_gates_file(format!("a: &a {long}\nb: [{aliases}]\n"), "the aliases of the file repeat more than");
    refuse_gates_file(format!("a: &a {{\"{long}\": 1}}\nb: [{aliases}]\n"), "the aliases of the file repeat more than");
}

#[test]
fn too_many_yaml_values_are_refused() {
    refuse_gates_file(format!("[{}]", "x,".repeat(2_000_000)), "more than 200000 values");
    refuse_gates_file(format!("[{}]", "a: ".repeat(1_300_000)), "more than 200000 values");
    refuse_gates_file(format!("gates:\n{}", "- x\n".repeat(1_000_000)), "more than 200000 values");
}

#[test]
fn repeated_and_unknown_keys_are_refused() {
    refuse_gates_file("a: 1\n".repeat(100_000), "evals/gates.yaml:100000  the file has more than 200000 values");
    let folder = TestFolder::with_minimal();
    folder.write("evals/gates.yaml", "gates: x\n".repeat(90_000));
    assert_refused(&folder, "evals/gates.yaml:2  \"gates\" is given twice; the first is on line 1", "100 problems (50 not shown");
    folder.write("evals/gates.yaml", (0..90_000).map(|n| format!("key{n}: 1\n")).collect::<String>());
    assert_refused(&folder, "evals/gates.yaml:1  gates.yaml has no key \"key0\"", "100 problems (50 not shown");
}

#[test]
fn megabyte_line_is_refused() {
    let long = "x".repeat(1_000_000);
    refuse_gates_file(&long, "gates.yaml must be a mapping, found \"xxx");
    refuse_gates_file(format!("gates: {long}\n"), "expected a list, found \"xxx");
    refuse_gates_file(format!("gates: []\n{long}: 1\n"), "evals/gates.yaml:2  ");
    refuse_gates_file(format!("gates: []\nn: \"{long}"), "not valid YAML");
}

#[test]
fn binary_files_are_refused() {
    let garbage: Vec<u8> = (0..100_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    refuse_gates_file(garbage, "the file is not text (UTF-8); remove it or convert it");
    refuse_gates_file(b"gates: \xff\xfe []\n", "the file is not text (UTF-8)");
    refuse_gates_file(b"gates: []\0\n", "the file is not text (UTF-8)");
    refuse_gates_file(b"\xff\xfeg\0a\0t\0e\0s\0", "the file is not text (UTF-8)");
    refuse_gates_file("", "evals/gates.yaml:1  the file is empty; write its content or delete the file");
}

#[test]
fn invalid_yaml_is_refused() {
    for text in ["\u{1}\u{2}\u{3}", "a: b: c", "\t- x", "%YAML 9\n%%\n", "'", "{", "? [", "&", "*unknown", "- |9x", "a: \"\\q\""] {
        refuse_gates_file(text, "evals/gates.yaml:");
    }
}

#[test]
fn yaml_tags_are_refused() {
    let folder = TestFolder::with_minimal();
    let file = "evals/suites/behavior/trader.yaml";
    let line = folder.edit(file, "id: sell_usdc_for_ether", "id: !!python/object/apply:os.system [touch pwned]");
    assert_refused(&folder, &format!("{file}:{line}"), "YAML tags are not supported: data is inert; remove the !tag");
    assert!(!folder.path("pwned").exists());
    refuse_gates_file("gates: {<<: {a: 1}}\n", "merge keys are not supported");
    refuse_gates_file("gates: []\n---\ngates: []\n", "evals/gates.yaml:2  a second document starts here");
}

#[test]
fn names_are_escaped_for_the_terminal() {
    for ran in [
        refuse_gates_file("gates: []\n\"\\e[31m\\e]0;owned\\a\": 1\n", "\\u{1b}[31m"),
        refuse_gates_file("gates: []\n\u{9b}31m: 1\n", "\\u{9b}31m"),
    ] {
        assert!(!ran.stderr.chars().any(|c| c.is_control() && c != '\n'), "{:?}", ran.stderr);
    }
    // Also in findings of smoke and in the output of a run.
    let folder = TestFolder::with_minimal();
    folder.edit("evals/suites/tool_selection/trader.yaml", "token: USDC, chain: base } }]]", "\"\\e[31mred\": USDC, chain: base } }]]");
    let ran = folder.run(&["smoke"]).assert_exit(1).assert_stdout("\\u{1b}[31mred");
    assert!(!ran.stdout.chars().any(|c| c.is_control() && c != '\n'), "{:?}", ran.stdout);
    for format in ["text", "json", "junit", "markdown"] {
        for command in [&["smoke"][..], &["run", "--subject", "reference", "--no-store"], &["list", "cases"]] {
            let ran = folder.run(&[command, &["--format", format]].concat());
            assert!(!ran.stdout.contains('\u{1b}'), "{command:?} {format}: {:?}", ran.stdout);
        }
    }
}

#[test]
fn unread_file_is_reported() {
    let folder = TestFolder::with_minimal();
    folder.write("evals/gate.yaml", "gates: []\n");
    folder.write("evals/tool/more.yaml", "tools: []\n");
    folder.write("evals/agents/trader.txt", "---\n");
    assert_refused(&folder, "evals/gate.yaml", "did you mean \"gates.yaml\"?")
        .assert_stderr("did you mean \"tools\"?")
        .assert_stderr("end in .md")
        .assert_stderr("3 problems;");
}

#[test]
fn paths_are_escaped_for_the_terminal() {
    let ran = TestFolder::new().run(&["smoke", "-w", "\u{1b}[31mred"]).assert_exit(2);
    assert!(!ran.stderr.contains('\u{1b}'), "{:?}", ran.stderr);
}
