//! Ctrl-C at random moments of a run with an agent that is a program: no trial is booked on the agent, and the resumed run is the same.

use crate::harness::TestFolder;
use serde_json::Value;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const STORES: u64 = 12;
const INTERRUPTS_PER_STORE: u64 = 2;

/// Agent that needs some time for its only move, and would not survive a SIGINT.
const AGENT: &str = "read -r line\nsleep 0.08\necho '{\"say\":\"hm\"}'\nread -r line\n";

fn start(folder: &TestFolder, args: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bardo-eval"));
    command.args(args).current_dir(folder.path("")).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0).spawn().unwrap()
}

/// Returns all descendants of a process, the youngest first.
fn descendants(pid: u32) -> Vec<u32> {
    let parent = |pid: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse::<u32>().ok()
    };
    let all: Vec<(u32, u32)> = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(|pid| Some((pid, parent(pid)?)))
        .collect();
    let mut found = vec![pid];
    let mut at = 0;
    while at < found.len() {
        let parent_pid = found[at];
        found.extend(all.iter().filter(|(_, parent)| *parent == parent_pid).map(|(pid, _)| *pid));
        at += 1;
    }
    found.reverse();
    found
}

/// Sends SIGINT as a terminal does, to the process group, or as a CI runner may, to every process.
fn interrupt(child: &Child, everybody: bool) {
    let targets: Vec<String> =
        if everybody { descendants(child.id()).iter().map(u32::to_string).collect() } else { vec![format!("-{}", child.id())] };
    // Processes may have ended meanwhile.
    let _ = Command::new("kill").args(["-INT", "--"]).args(targets).stderr(Stdio::null()).status().unwrap();
}

#[test]
fn interrupts_are_never_booked_on_the_agent() {
    let folder = TestFolder::with_minimal();
    folder.write("agent.sh", AGENT);
    let args = ["run", "--subject", "process:bash agent.sh", "--case", "how_much_usdc", "--trials", "16", "--concurrency", "4"];
    let calm = folder.run(&[&args[..], &["--store", "calm.sqlite", "--format", "json"]].concat());
    let calm: Value = serde_json::from_str(&calm.stdout).unwrap();
    assert_eq!(calm["trials"]["finished"], 16, "{calm:#}");
    let mut cut_short = 0;
    for n in 0..STORES {
        let store = format!("store-{n}.sqlite");
        for m in 0..INTERRUPTS_PER_STORE {
            let first = [&args[..], &["--store", &store]].concat();
            let again = ["run", "--resume", "--store", &store];
            let mut child = start(&folder, if m == 0 { &first } else { &again });
            // Spread over the whole run by a fixed rule, so that failures can be reproduced.
            let moment = 120 + (n * INTERRUPTS_PER_STORE + m) * 7919 % 700;
            std::thread::sleep(Duration::from_millis(moment));
            interrupt(&child, n % 2 == 0);
            let status = child.wait().unwrap();
            cut_short += u64::from(status.code() == Some(3));
        }
        let stored = folder.run(&["runs", "list", "--store", &store, "--format", "json"]);
        if stored.code != Some(0) {
            // Interrupted before the store was there.
            continue;
        }
        let resumed = folder.run(&["run", "--resume", "--store", &store, "--format", "json"]);
        // A run that was over before its interrupt is complete; there is nothing to resume.
        let shown = if resumed.code == Some(2) { folder.run(&["score", "--store", &store, "--format", "json"]) } else { resumed };
        let document: Value = serde_json::from_str(&shown.stdout).unwrap_or_else(|error| panic!("{error}: {shown:?}"));
        assert_eq!(document["record"], calm["record"], "store {n}: {document:#}");
        let endings = endings(&folder, &store);
        assert!(endings.iter().all(|ending| ending == "finished"), "store {n}: {endings:?}");
    }
    assert!(cut_short >= STORES, "only {cut_short} runs were interrupted before their end");
}

/// Returns the endings of all trials in a store.
fn endings(folder: &TestFolder, store: &str) -> Vec<String> {
    let store = campaign::open_store(folder.path(store)).unwrap();
    let mut endings = vec![];
    for run in store.runs().unwrap() {
        store
            .for_each_ended(run.run, |ended| {
                endings.push(serde_json::to_value(&ended.ending).unwrap()["ending"].as_str().unwrap().to_owned());
            })
            .unwrap();
    }
    endings
}
