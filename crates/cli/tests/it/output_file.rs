//! `-o FILE` writes through devices, pipes and links, and replaces only regular files.

use crate::harness::TestFolder;
use crate::isolation::unprivileged::{EVALUATOR, UserFolder, command_as};
use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

const LIST: &[&str] = &["list", "profiles", "--embedded"];

fn expected() -> String {
    TestFolder::new().run(LIST).assert_exit(0).stdout
}

fn written_to(folder: &TestFolder, target: &str) -> crate::harness::ProgramOutput {
    folder.run(&[LIST, &["-o", target]].concat())
}

#[test]
fn a_regular_file_is_replaced_with_its_permissions() {
    let folder = TestFolder::new();
    folder.write("report.txt", "old");
    fs::set_permissions(folder.path("report.txt"), fs::Permissions::from_mode(0o640)).unwrap();
    written_to(&folder, "report.txt").assert_exit(0);
    assert_eq!(folder.read("report.txt"), expected());
    assert_eq!(fs::metadata(folder.path("report.txt")).unwrap().permissions().mode() & 0o777, 0o640);
    written_to(&folder, "deep/below/report.txt").assert_exit(0);
    assert_eq!(folder.read("deep/below/report.txt"), expected());
    assert_eq!(folder.files().len(), 2, "no draft is left: {:?}", folder.files());
}

#[test]
fn a_link_stays_and_its_target_is_written() {
    let folder = TestFolder::new();
    folder.write("target.txt", "old");
    symlink("target.txt", folder.path("link")).unwrap();
    symlink("later.txt", folder.path("dangling")).unwrap();
    symlink("second", folder.path("first")).unwrap();
    symlink("last.txt", folder.path("second")).unwrap();
    for link in ["link", "dangling", "first"] {
        written_to(&folder, link).assert_exit(0);
    }
    for (link, target) in [("link", "target.txt"), ("dangling", "later.txt"), ("first", "last.txt"), ("second", "last.txt")] {
        assert!(fs::symlink_metadata(folder.path(link)).unwrap().is_symlink(), "{link}");
        assert_eq!(folder.read(target), expected(), "{target}");
    }
}

#[test]
fn a_pipe_is_written_to_and_stays() {
    let folder = TestFolder::new();
    let pipe = folder.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = Command::new("cat").arg(&pipe).stdout(Stdio::piped()).spawn().unwrap();
    written_to(&folder, "pipe").assert_exit(0);
    let read = reader.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(read.stdout).unwrap(), expected());
    assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
}

#[test]
fn devices_and_process_substitution_are_written_to() {
    let folder = TestFolder::new();
    written_to(&folder, "/dev/null").assert_exit(0);
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    let program = env!("CARGO_BIN_EXE_bardo-eval");
    for script in ["\"$0\" list profiles --embedded -o /dev/stdout | cat", "\"$0\" list profiles --embedded -o >(cat); wait"] {
        let ran = Command::new("bash").args(["-c", script, program]).current_dir(folder.path("")).output().unwrap();
        assert_eq!(String::from_utf8(ran.stdout).unwrap(), expected(), "{script}: {}", String::from_utf8_lossy(&ran.stderr));
    }
}

/// A descriptor of the process may be a file that the shell writes to before and after.
#[test]
fn files_behind_descriptors_are_appended_to() {
    let folder = TestFolder::new();
    let program = env!("CARGO_BIN_EXE_bardo-eval");
    let run = "\"$0\" list profiles --embedded -o";
    for (script, expected) in [
        (format!("{{ echo before; {run} /dev/stdout; echo after; }} > log"), format!("before\n{}after\n", expected())),
        (format!("echo before > log; {run} /dev/stdout >> log"), format!("before\n{}", expected())),
        (format!("echo before > log; {run} /dev/fd/2 2>> log"), format!("before\n{}", expected())),
        (format!("echo before > log; {run} /dev/fd/3 3>> log"), format!("before\n{}", expected())),
    ] {
        let ran = Command::new("bash").args(["-c", &script, program]).current_dir(folder.path("")).output().unwrap();
        assert!(ran.status.success(), "{script}: {}", String::from_utf8_lossy(&ran.stderr));
        assert_eq!(folder.read("log"), expected, "{script}");
    }
    assert_eq!(folder.files(), ["log"]);
}

#[test]
fn a_draft_of_a_killed_process_is_not_in_the_way() {
    let folder = TestFolder::new();
    let program = env!("CARGO_BIN_EXE_bardo-eval");
    // The shell becomes the program, so both have the same process id.
    let script = "touch .report.txt.$$.0; exec \"$0\" list profiles --embedded -o report.txt";
    let ran = Command::new("bash").args(["-c", script, program]).current_dir(folder.path("")).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    assert_eq!(folder.read("report.txt"), expected());
}

#[test]
fn a_full_device_and_a_folder_are_errors() {
    let folder = TestFolder::new();
    written_to(&folder, "/dev/full").assert_exit(3).assert_stderr("the result could not be written");
    fs::create_dir(folder.path("folder")).unwrap();
    written_to(&folder, "folder").assert_exit(3).assert_stderr("the result could not be written to folder: it is a folder");
    assert!(fs::metadata("/dev/full").unwrap().file_type().is_char_device());
}

/// The disk is a file system of a few pages in a mount namespace, for the user of the tests and for one without rights.
#[test]
fn a_full_disk_leaves_the_file_as_it_was() {
    const SCRIPT: &str = r#"set -e
        mount -t tmpfs -o size=16k tmpfs "$1"
        cd "$1"
        printf old > report.txt
        ln -s report.txt link
        head -c 8192 /dev/zero > filler
        for target in report.txt link new.txt; do
            code=0
            "$0" list cases --embedded -o "$target" 2> /dev/null || code=$?
            echo "$target $code"
        done
        cat report.txt
        echo
        ls -A"#;
    let folder = UserFolder::new();
    for mut command in [Command::new("unshare"), command_as(EVALUATOR, Path::new("unshare"))] {
        command.args(["--user", "--map-root-user", "--mount", "bash", "-c", SCRIPT]).args([folder.program(), folder.path("tmp")]);
        let ran = command.output().unwrap();
        let said = String::from_utf8(ran.stdout).unwrap();
        let expected = "report.txt 3\nlink 3\nnew.txt 3\nold\nfiller\nlink\nreport.txt\n";
        assert_eq!(said, expected, "{command:?}: {}", String::from_utf8_lossy(&ran.stderr));
    }
}

#[test]
fn a_user_without_rights_writes_to_all_targets() {
    const SCRIPT: &str = r#"set -e
        cd "$1"
        run() { "$0" list profiles --embedded -o "$1"; }
        printf old > report.txt
        ln -s report.txt link
        mkfifo pipe
        run link
        cat link
        cat pipe & run pipe; wait
        run /dev/stdout | cat
        run >(cat); wait
        run /dev/null
        run /dev/full 2> /dev/null && exit 9
        [ -L link ] && [ -p pipe ] && [ -c /dev/full ] && ls -A"#;
    let folder = UserFolder::new();
    let mut command = command_as(EVALUATOR, Path::new("bash"));
    let ran = command.args(["-c", SCRIPT]).args([folder.program(), folder.path("tmp")]).output().unwrap();
    let said = String::from_utf8(ran.stdout).unwrap();
    assert_eq!(said, format!("{}link\npipe\nreport.txt\n", expected().repeat(4)), "{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn mistakes_are_messages_beside_a_report_in_a_file() {
    let folder = TestFolder::with_minimal();
    folder.edit("evals/gates.yaml", "gates:", "gtes:");
    for command in ["smoke", "run"] {
        for format in ["text", "json", "junit", "markdown", "github", "sarif"] {
            let ran = folder.run(&[command, "--format", format, "-o", "report"]).assert_exit(2);
            assert!(ran.stderr.contains("gates.yaml") && ran.stderr.contains("nothing was run"), "{command} {format}: {ran:?}");
        }
    }
}

#[test]
fn run_names_no_report_that_was_not_written() {
    let folder = TestFolder::with_minimal();
    let ran = folder.run(&["run", "--subject", "reference", "--no-store", "-o", "/dev/full"]).assert_exit(3);
    assert!(ran.stderr.contains("could not be written to /dev/full") && !ran.stderr.contains("report in"), "{ran:?}");
    let ran = folder.run(&["run", "--subject", "reference", "-o", "evals"]).assert_exit(2);
    assert!(ran.stderr.contains("--output evals is a folder") && ran.stderr.contains("nothing was run"), "{ran:?}");
    folder.run(&["runs", "list"]).assert_exit(2);
}
