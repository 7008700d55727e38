//! Folders and files that mean harm or make no sense: a clear error that names the file, exit 2, no panic, little memory, no hang.

use crate::harness::{Folder, Ran};

/// What the program may hold at most, whatever it is given.
const MEGABYTES: u64 = 150;

/// Smoke on `evals/` as it stands; every bad input ends the same way.
#[track_caller]
fn refused(folder: &Folder, file: &str, what: &str) -> Ran {
    let ran = folder.run(&["smoke", "--workspace", "evals"]).exits(2);
    assert!(ran.stdout.is_empty(), "{}", ran.stdout);
    assert!(ran.stderr.len() < 20_000, "{} bytes of complaint", ran.stderr.len());
    assert!(ran.peak_mb.is_none_or(|peak| peak < MEGABYTES), "{:?} MB for {file}", ran.peak_mb);
    ran.says(file).says(what).says("nothing was run")
}

/// `gates.yaml` with this content, in a workspace that is otherwise the minimal one.
#[track_caller]
fn gates(content: impl AsRef<[u8]>, what: &str) -> Ran {
    let folder = Folder::with_minimal();
    folder.write("evals/gates.yaml", content);
    refused(&folder, "evals/gates.yaml", what).says("1 problem;")
}

#[test]
fn an_empty_folder() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("evals")).unwrap();
    refused(&folder, "evals  there is no workspace here", "run `bardo-eval init`");
}

#[test]
fn a_folder_that_is_not_there() {
    let ran = Folder::new().run(&["smoke", "-w", "no/such/folder"]).exits(2);
    ran.says("no/such/folder  cannot be read: it does not exist  check the path").says("1 problem; nothing was run");
}

#[test]
fn a_file_in_place_of_the_folder_or_on_the_way_to_it() {
    let folder = Folder::new();
    folder.write("evals", "gates: []\n");
    refused(&folder, "evals  this is not a folder", "give the folder of a workspace");
    folder.run(&["smoke", "-w", "evals/below"]).exits(2).says("evals/below  cannot be read: ");
}

#[cfg(unix)]
#[test]
fn a_folder_and_a_file_without_permission() {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::with_minimal();
    for (name, mode) in [("evals/agents", 0o000), ("evals/policy.yaml", 0o000)] {
        fs::set_permissions(folder.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    // Permissions do not bind the superuser; there is nothing to be refused then.
    let binds = fs::read_dir(folder.path("evals/agents")).is_err();
    if binds {
        refused(&folder, "evals/agents  cannot be read: permission denied", "evals/policy.yaml  cannot be read: permission denied");
    }
    fs::set_permissions(folder.path("evals/agents"), fs::Permissions::from_mode(0o700)).unwrap();
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    use std::os::unix::fs::symlink;
    let folder = Folder::with_minimal();
    symlink("..", folder.path("evals/tools/loop")).unwrap();
    symlink("nowhere", folder.path("evals/profiles/dangling.yaml")).unwrap();
    symlink("/etc/passwd", folder.path("evals/subjects/secret.yaml")).unwrap();
    let ran = refused(&folder, "evals/tools/loop", "links are not followed");
    let ran = ran.says("evals/profiles/dangling.yaml").says("evals/subjects/secret.yaml").says("3 problems;");
    assert!(!ran.stderr.contains("root:"), "{}", ran.stderr);
}

#[cfg(unix)]
#[test]
fn a_link_to_itself_in_place_of_the_folder() {
    let folder = Folder::new();
    std::os::unix::fs::symlink("evals", folder.path("evals")).unwrap();
    refused(&folder, "evals  cannot be read: ", "check the path");
}

#[cfg(unix)]
#[test]
fn a_pipe_that_nobody_writes_to() {
    let folder = Folder::with_minimal();
    let made = std::process::Command::new("mkfifo").arg(folder.path("evals/tools/pipe.yaml")).status().unwrap();
    assert!(made.success());
    refused(&folder, "evals/tools/pipe.yaml", "neither a file nor a folder");
}

#[test]
fn folders_in_folders() {
    let folder = Folder::with_minimal();
    folder.write(&format!("evals/tools/{}x.yaml", "a/".repeat(100)), "category: x\n");
    refused(&folder, "evals/tools/a/a/a", "nested more than 12 deep");
}

#[test]
fn fifty_megabytes() {
    gates("gates: []\n".repeat(5_000_000), "the file has 50000000 bytes, more than the limit of 4194304  split it");
}

#[test]
fn deep_nesting_in_flow_style() {
    gates("[".repeat(10_000), "evals/gates.yaml:1  ");
    gates("{a: ".repeat(10_000), "evals/gates.yaml:1  ");
    gates(format!("gates: {}{}\n", "[".repeat(10_000), "]".repeat(10_000)), "evals/gates.yaml:1  ");
}

#[test]
fn deep_nesting_in_block_style() {
    gates(format!("gates: \n  {}x\n", "- ".repeat(10_000)), "evals/gates.yaml:2  nested more than 48 levels deep  flatten");
    // Indented by one more on each line; more levels do not fit into the size of a file.
    let steps: String = (0..2_500).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    gates(steps, "evals/gates.yaml:49  nested more than 48 levels deep  flatten");
}

#[test]
fn alias_bombs() {
    let first = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
    let next = |n: usize| format!("a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 10].join(","));
    gates(std::iter::once(first).chain((1..30).map(next)).collect::<String>(), "aliases expanded");
    gates("a: &a [*a]\n", "evals/gates.yaml:1  an alias stands inside its own anchor");
}

#[test]
fn alias_bombs_with_few_but_long_values() {
    let (long, aliases) = ("x".repeat(1_000_000), vec!["*a"; 20_000].join(","));
    gates(format!("a: &a {long}\nb: [{aliases}]\n"), "the aliases of the file repeat more than");
    gates(format!("a: &a {{\"{long}\": 1}}\nb: [{aliases}]\n"), "the aliases of the file repeat more than");
}

#[test]
fn more_values_than_a_parser_should_hold() {
    gates(format!("[{}]", "x,".repeat(2_000_000)), "more than 200000 values");
    gates(format!("[{}]", "a: ".repeat(1_300_000)), "more than 200000 values");
    gates(format!("gates:\n{}", "- x\n".repeat(1_000_000)), "more than 200000 values");
}

#[test]
fn keys_over_and_over() {
    gates("a: 1\n".repeat(100_000), "evals/gates.yaml:100000  the file has more than 200000 values");
    let folder = Folder::with_minimal();
    folder.write("evals/gates.yaml", "gates: x\n".repeat(90_000));
    refused(&folder, "evals/gates.yaml:2  \"gates\" is given twice  the first is on line 1", "100 problems (50 not shown");
    folder.write("evals/gates.yaml", (0..90_000).map(|n| format!("key{n}: 1\n")).collect::<String>());
    refused(&folder, "evals/gates.yaml:1  gates.yaml has no key \"key0\"", "100 problems (50 not shown");
}

#[test]
fn a_line_of_a_megabyte() {
    let long = "x".repeat(1_000_000);
    gates(&long, "gates.yaml must be a mapping, found \"xxx");
    gates(format!("gates: {long}\n"), "expected a list, found \"xxx");
    gates(format!("gates: []\n{long}: 1\n"), "evals/gates.yaml:2  ");
    gates(format!("gates: []\nn: \"{long}"), "not valid YAML");
}

#[test]
fn what_is_not_text() {
    let garbage: Vec<u8> = (0..100_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    gates(garbage, "the file is not text (UTF-8)  remove it or convert it");
    gates(b"gates: \xff\xfe []\n", "the file is not text (UTF-8)");
    gates(b"gates: []\0\n", "the file is not text (UTF-8)");
    gates(b"\xff\xfeg\0a\0t\0e\0s\0", "the file is not text (UTF-8)");
    gates("", "evals/gates.yaml:1  the file is empty  write its content or delete the file");
}

#[test]
fn text_that_is_not_yaml() {
    for text in ["\u{1}\u{2}\u{3}", "a: b: c", "\t- x", "%YAML 9\n%%\n", "'", "{", "? [", "&", "*nobody", "- |9x", "a: \"\\q\""] {
        gates(text, "evals/gates.yaml:");
    }
}

#[test]
fn values_that_would_run_code_elsewhere() {
    let folder = Folder::with_minimal();
    let file = "evals/suites/behavior/trader.yaml";
    let line = folder.edit(file, "id: sell_usdc_for_ether", "id: !!python/object/apply:os.system [touch pwned]");
    refused(&folder, &format!("{file}:{line}"), "YAML tags are not supported: data is inert  remove the !tag");
    assert!(!folder.path("pwned").exists());
    gates("gates: {<<: {a: 1}}\n", "merge keys are not supported");
    gates("gates: []\n---\ngates: []\n", "evals/gates.yaml:2  a second document starts here");
}

#[test]
fn names_cannot_steer_the_terminal() {
    for ran in [gates("gates: []\n\"\\e[31m\\e]0;owned\\a\": 1\n", "\\u{1b}[31m"), gates("gates: []\n\u{9b}31m: 1\n", "\\u{9b}31m")] {
        assert!(!ran.stderr.chars().any(|c| c.is_control() && c != '\n'), "{:?}", ran.stderr);
    }
    // In what smoke finds and what a run prints, too.
    let folder = Folder::with_minimal();
    folder.edit("evals/suites/tool_selection/trader.yaml", "token: USDC, chain: base } }]]", "\"\\e[31mred\": USDC, chain: base } }]]");
    let ran = folder.run(&["smoke"]).exits(1).prints("\\u{1b}[31mred");
    assert!(!ran.stdout.chars().any(|c| c.is_control() && c != '\n'), "{:?}", ran.stdout);
    for format in ["text", "json", "junit", "markdown"] {
        for command in [&["smoke"][..], &["run", "--subject", "reference", "--no-store"], &["list", "cases"]] {
            let ran = folder.run(&[command, &["--format", format]].concat());
            assert!(!ran.stdout.contains('\u{1b}'), "{command:?} {format}: {:?}", ran.stdout);
        }
    }
}

#[test]
fn a_file_that_nothing_reads_is_not_passed_over() {
    let folder = Folder::with_minimal();
    folder.write("evals/gate.yaml", "gates: []\n");
    folder.write("evals/tool/more.yaml", "tools: []\n");
    folder.write("evals/agents/trader.txt", "---\n");
    refused(&folder, "evals/gate.yaml", "did you mean \"gates.yaml\"?")
        .says("did you mean \"tools\"?")
        .says("end in .md")
        .says("3 problems;");
}

#[test]
fn a_path_cannot_steer_the_terminal_either() {
    let ran = Folder::new().run(&["smoke", "-w", "\u{1b}[31mred"]).exits(2);
    assert!(!ran.stderr.contains('\u{1b}'), "{:?}", ran.stderr);
}
