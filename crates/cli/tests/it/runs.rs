//! Stored runs: listed, shown, removed, resumed.

use crate::harness::TestFolder;
use serde_json::json;

#[test]
fn runs_are_listed_shown_and_removed() {
    let folder = TestFolder::with_minimal();
    folder.run(&["runs", "list"]).assert_exit(2).assert_stderr("no runs in ");
    let first = folder.json(&["run", "--subject", "reference"], 0)["record"].as_str().unwrap().to_owned();
    folder.run(&["run", "--subject", "echo"]).assert_exit(1);
    let listed = folder.json(&["runs", "list"], 0);
    let items = listed["items"].as_array().unwrap();
    assert_eq!((items.len(), &items[0]["subjects"], &items[1]["record"]), (2, &json!(["echo"]), &json!(first)));
    assert_eq!(items[1]["trials"], json!({ "planned": 5, "ended": 5, "passed": 5, "aborted": 0 }));
    folder.run(&["runs", "show", &first[..8]]).assert_exit(0).assert_stdout(&first).assert_stdout("5 of 5 ended, 5 passed");
    let shown = folder.json(&["runs", "show"], 0);
    assert_eq!(shown["run"]["settings"]["subjects"], json!(["echo"]));
    folder.run(&["runs", "rm", "0000"]).assert_exit(2).assert_stderr("there is no run \"0000\"");
    folder.run(&["runs", "rm", &first[..8]]).assert_exit(0).assert_stdout("removed ");
    assert_eq!(folder.json(&["runs", "list"], 0)["items"].as_array().unwrap().len(), 1);
    folder.run(&["run", "--resume"]).assert_exit(2).assert_stderr("there is nothing to resume");
}

/// The file system is mounted in a namespace of its own, which any user may do.
#[cfg(target_os = "linux")]
#[test]
fn store_on_read_only_media_is_read_and_not_written_to() {
    const SCRIPT: &str = r#"set -e
        mount -t tmpfs tmpfs media
        cp store.sqlite "media/a #1?.sqlite"
        touch media/torn.sqlite-wal
        cp store.sqlite media/torn.sqlite
        echo pages > media/torn.sqlite-wal
        mount -o remount,ro media
        for command in "runs list" "runs show" "show how_much_usdc" "score" "cost" "run --subject echo" "run --resume"; do
            code=0
            "$0" $command --store "media/a #1?.sqlite" > /dev/null 2> said || code=$?
            echo "$command: $code"
        done
        "$0" runs list --store media/torn.sqlite 2>&1 || true"#;
    let folder = TestFolder::with_minimal();
    folder.run(&["run", "--subject", "echo", "--store", "store.sqlite"]).assert_exit(1);
    std::fs::create_dir(folder.path("media")).unwrap();
    let mut command = std::process::Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "bash", "-c", SCRIPT, env!("CARGO_BIN_EXE_bardo-eval")]);
    let ran = command.current_dir(folder.path("")).output().unwrap();
    let said = String::from_utf8(ran.stdout).unwrap();
    let (codes, torn) = said.split_at(said.rfind("run --resume: 2\n").unwrap_or_else(|| panic!("{said}")) + "run --resume: 2\n".len());
    let expected = "runs list: 0\nruns show: 0\nshow how_much_usdc: 0\nscore: 1\ncost: 0\nrun --subject echo: 2\nrun --resume: 2\n";
    assert_eq!(codes, expected, "{}", String::from_utf8_lossy(&ran.stderr));
    assert!(torn.contains("read-only file system, and it was copied while a run was written to it"), "{torn}");
}

#[test]
fn refused_run_is_not_stored() {
    let folder = TestFolder::with_minimal();
    for wrong in [["--imported-tools", "nonsense"], ["--subject", "unknown"], ["--chain", "hardhat"], ["--judge", "unknown"]] {
        folder.run(&[&["run", "--case", "how_much_usdc"], &wrong[..]].concat()).assert_exit(2);
        folder.run(&["runs", "list"]).assert_exit(2).assert_stderr("no runs in ");
    }
}

#[test]
fn last_failed_reruns_failed_cases() {
    let folder = TestFolder::with_minimal();
    folder.run(&["run", "--last-failed"]).assert_exit(2).assert_stderr("no runs in ");
    folder.run(&["run", "--subject", "echo", "--case", "how_*", "--case", "price_before_trading"]).assert_exit(1);
    let planned = folder.json(&["run", "--subject", "reference", "--last-failed", "--dry-run"], 0);
    assert_eq!(planned["trials"].as_array().unwrap().len(), 2, "{planned:#}");
    // --case narrows as the other filters do.
    let narrowed = folder.json(&["run", "--subject", "reference", "--last-failed", "--case", "how_*", "--dry-run"], 0);
    assert_eq!(narrowed["trials"].as_array().unwrap().len(), 1, "{narrowed:#}");
    let passed = ["run", "--subject", "reference", "--last-failed", "--case", "sell_usdc_for_ether"];
    folder.run(&passed).assert_exit(3).assert_stderr("no case of --case failed in run").assert_stderr("nothing was run");
    folder.run(&["run", "--last-failed", "--case", "nothing_*"]).assert_exit(2).assert_stderr("there is no case \"nothing_*\"");
    folder.run(&["run", "--subject", "reference", "--last-failed"]).assert_exit(0);
    folder.run(&["run", "--subject", "reference", "--last-failed"]).assert_exit(3).assert_stderr("no case failed");
    folder.run(&["run", "--case", "nothing_*"]).assert_exit(2).assert_stderr("there is no case \"nothing_*\"");
}

#[test]
fn run_uses_workspace_defaults() {
    let folder = TestFolder::with_minimal();
    folder.write("evals/bardo-eval.yaml", "subject: echo\nbudget_usd: 0.50\n");
    folder.run(&["run"]).assert_exit(1).assert_stdout("subject echo,");
    folder.run(&["run", "--subject", "reference"]).assert_exit(0);
    folder.write("evals/bardo-eval.yaml", "subject: echo\nbudget_usd: much\nspeed: 1\n");
    folder.run(&["run"]).assert_exit(2).assert_stderr("bardo-eval.yaml:2").assert_stderr("bardo-eval.yaml:3");
}
