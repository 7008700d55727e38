//! Descendants of a process, and their end.

use std::collections::BTreeSet;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

/// Time within which a signal ends the evaluator and all that it started. It takes milliseconds on an idle machine.
pub(super) const END_TIMEOUT: Duration = Duration::from_secs(30);

/// Process that is told from a later one with the same number by its start time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct KnownProcess {
    pid: u32,
    start: String,
    name: String,
}

#[derive(Debug)]
struct ProcessRow {
    process: KnownProcess,
    parent: u32,
    dead: bool,
}

fn rows() -> Vec<ProcessRow> {
    let pids = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(|pid| parse(pid, &fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)).collect()
}

fn parse(pid: u32, stat: &str) -> Option<ProcessRow> {
    let (before, after) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = after.split_whitespace().collect();
    let name = before.split_once('(')?.1.to_owned();
    let process = KnownProcess { pid, start: (*fields.get(19)?).to_owned(), name };
    Some(ProcessRow { process, parent: fields.get(1)?.parse().ok()?, dead: matches!(fields[0], "Z" | "X") })
}

/// Returns the living descendants of a process.
pub(super) fn descendants(root: u32) -> BTreeSet<KnownProcess> {
    let all = rows();
    let mut pids = BTreeSet::from([root]);
    loop {
        let before = pids.len();
        let more: Vec<u32> = all.iter().filter(|row| pids.contains(&row.parent)).map(|row| row.process.pid).collect();
        pids.extend(more);
        if pids.len() == before {
            break;
        }
    }
    all.into_iter().filter(|row| !row.dead && row.process.pid != root && pids.contains(&row.process.pid)).map(|row| row.process).collect()
}

/// Waits until the descendants fulfil a condition.
pub(super) fn wait_for_descendants(root: u32, what: &str, fulfils: impl Fn(&BTreeSet<KnownProcess>) -> bool) -> BTreeSet<KnownProcess> {
    let start = Instant::now();
    loop {
        let found = descendants(root);
        if fulfils(&found) {
            return found;
        }
        assert!(start.elapsed() < Duration::from_secs(40), "{what} did not happen: {found:?}");
        thread::sleep(Duration::from_millis(20));
    }
}

pub(super) fn named(processes: &BTreeSet<KnownProcess>, name: &str) -> usize {
    processes.iter().filter(|process| process.name == name).count()
}

/// Fails unless all of these processes end in time.
#[track_caller]
pub(super) fn assert_ended(processes: &BTreeSet<KnownProcess>, what: &str) {
    let start = Instant::now();
    loop {
        let alive: BTreeSet<KnownProcess> = rows().into_iter().filter(|row| !row.dead).map(|row| row.process).collect();
        let left: Vec<&KnownProcess> = processes.iter().filter(|process| alive.contains(process)).collect();
        if left.is_empty() {
            return;
        }
        assert!(start.elapsed() < END_TIMEOUT, "{what}: still running: {left:?}");
        thread::sleep(Duration::from_millis(20));
    }
}

impl KnownProcess {
    pub(super) fn pid(&self) -> u32 {
        self.pid
    }
}
