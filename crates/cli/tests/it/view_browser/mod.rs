//! The viewer in Chromium: every page as people use it, texts of attackers in every field, and pages of other sites.

mod hostile_store;

use crate::harness::TestFolder;
use crate::production::collecting::{CollectProcess, tool_trace};
use crate::view::ViewerProcess;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Time limit of one script, several times what it needs.
const LIMIT: Duration = Duration::from_secs(300);
/// Agent that needs some time for its only move.
const SLOW_AGENT: &str = "read -r line\nsleep 0.4\necho '{\"say\":\"hm\"}'\nread -r line\n";

fn tools() -> PathBuf {
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.tools");
    let found = tools.join("node_modules/playwright-core").exists() && tools.join("node_modules/axe-core").exists();
    assert!(found, "playwright-core and axe-core are missing: run scripts/install-test-tools");
    tools.canonicalize().unwrap()
}

/// Runs a script of this folder in Chromium and returns what it printed. A line `live` on standard error calls `on_live`.
fn run_script(name: &str, variables: &[(&str, String)], mut on_live: impl FnMut()) -> Value {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/view_browser").join(name);
    let mut command = Command::new("node");
    command.arg(script).env("TOOLS", tools()).envs(variables.iter().map(|(key, value)| (key, value)));
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("node is needed");
    let mut stdout = child.stdout.take().unwrap();
    let printed = std::thread::spawn(move || {
        let mut text = String::new();
        stdout.read_to_string(&mut text).unwrap();
        text
    });
    let (stderr, started) = (BufReader::new(child.stderr.take().unwrap()), Instant::now());
    let mut complaints = vec![];
    for line in stderr.lines().map_while(Result::ok) {
        assert!(started.elapsed() < LIMIT, "{name} hangs: {complaints:?}");
        if line == "live" {
            on_live();
        } else {
            complaints.push(line);
        }
    }
    let status = child.wait().unwrap();
    assert!(status.success(), "{name}:\n{}", complaints.join("\n"));
    serde_json::from_str(&printed.join().unwrap()).unwrap()
}

/// Plays a run and returns its address.
fn play(folder: &TestFolder, args: &[&str]) -> String {
    folder.run(&[args, &["--run-id-file", "id"]].concat());
    format!("/runs/{}", &folder.read("id").trim()[..12])
}

fn text_of(store: &Connection, sql: &str) -> String {
    store.query_row(sql, [], |row| row.get(0)).unwrap_or_else(|error| panic!("{sql}: {error}"))
}

#[test]
fn chromium_shows_every_page() {
    let folder = TestFolder::with_reference();
    folder.write("evals/production.yaml", crate::production::KEEP_ALL);
    let chosen = ["--suite", "tool_selection/trader"];
    let reference = play(&folder, &[&["run", "--subject", "reference"], &chosen[..]].concat());
    let run = play(&folder, &[&["run", "--subject", "baseline", "--trials", "2"], &chosen[..]].concat());
    let sliced = play(&folder, &["run", "--subject", "baseline"]);
    let attacked = play(&folder, &["redteam", "--probe", "objective_swap", "--subject", "gullible"]);
    let collector = CollectProcess::start(&folder, &[]);
    (0..3).for_each(|n| drop(collector.post(&tool_trace(n))));
    collector.wait_for_kept(3);
    drop(collector);
    folder.write("agent.sh", SLOW_AGENT);
    let store = Connection::open(folder.path(".bardo-eval/store.sqlite")).unwrap();
    let own = "run = 2";
    let trials: u64 = store.query_row(&format!("SELECT count(*) FROM trials WHERE {own}"), [], |row| row.get(0)).unwrap();
    assert!(trials > 100, "{trials} trials need one page only");
    let tool = format!("SELECT happened ->> '$.called.tool' FROM events WHERE {own} AND happened ->> '$.called.tool' IS NOT NULL LIMIT 1");
    let suite = folder.read("evals/suites/tool_selection/trader.yaml");
    let tag = suite.split("tags: [").nth(1).and_then(|rest| rest.split([',', ']']).next()).expect("a tag");
    let names = json!({
        "run": run, "sliced": sliced, "attacked": attacked, "trials": trials, "word": "usdc", "suite": "tool_selection/trader", "scorer": "hit", "tag": tag,
        "compare": format!("/compare?a={}&b={}", &reference[6..], &run[6..]),
        "tool": text_of(&store, &tool), "case": text_of(&store, &format!("SELECT case_id FROM trials WHERE {own} LIMIT 1")),
    });
    let viewer = ViewerProcess::spawn(&folder);
    let mut slow: Option<Child> = None;
    let start_slow = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bardo-eval"));
        command.args([
            "run",
            "--subject",
            "process:bash agent.sh",
            "--suite",
            "tool_selection/trader",
            "--limit",
            "16",
            "--concurrency",
            "1",
        ]);
        command.current_dir(folder.path("")).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
        slow = Some(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    };
    let found = run_script("pages.mjs", &[("VIEW_URL", viewer.url()), ("PAGES", names.to_string())], start_slow);
    slow.expect("the script opens a run in progress").wait().unwrap();
    for (page, bytes) in found["sizes"].as_object().unwrap() {
        assert!(bytes.as_u64().unwrap() <= 200_000, "{page} has {bytes} bytes");
    }
    assert!(found["progress"].as_str().unwrap().contains("left"), "{found}");
}

#[test]
fn chromium_runs_no_script_of_others() {
    let folder = hostile_store::hostile_folder();
    let viewer = ViewerProcess::spawn(&folder);
    let addresses = hostile_store::addresses(&folder);
    let report = format!("file://{}", folder.path("report.html").display());
    let variables = [("VIEW_URL", viewer.url()), ("PAGES", json!(addresses).to_string()), ("REPORT", report)];
    let found = run_script("hostile.mjs", &variables, || {});
    assert_eq!(found["pages"], addresses.len() + 1, "{found}");
    let run = ["", "/trials", "/trials/N", "/trials/N/raw", "/trials/N/input", "/redteam"].map(|end| format!("/runs/ID{end}"));
    let others = ["/runs", "/search", "/compare", "/compare/trials", "/redteam", "/production", "/workspace", "report"].map(str::to_owned);
    for kind in run.iter().chain(&others) {
        assert!(found["marks"][kind].as_u64() > Some(0), "no payload is on pages {kind}: {found}");
    }
}

#[test]
fn chromium_keeps_other_sites_out() {
    let folder = TestFolder::with_minimal();
    play(&folder, &["run", "--subject", "echo"]);
    let viewer = ViewerProcess::spawn(&folder);
    let found = run_script("other_sites.mjs", &[("VIEW_URL", viewer.url())], || {});
    assert_eq!(found["attempts"], found["refused"], "{found}");
    assert!(found["attempts"].as_u64().unwrap() >= 10, "{found}");
}
