//! Ends all descendants of the launcher, also those that moved to another session or forked twice.

#![expect(clippy::disallowed_methods, reason = "the process list is only available in /proc")]

use rustix::process::{Pid, Signal, WaitOptions, kill_process, wait};
use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

/// Rounds of killing; several are needed for processes that keep forking.
const MAX_ROUNDS: usize = 500;
const PAUSE: Duration = Duration::from_millis(2);

pub(super) fn end_all() {
    for _ in 0..MAX_ROUNDS {
        if !reap() {
            return;
        }
        for pid in descendants(std::process::id(), &parents()) {
            let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
            if let Some(pid) = pid {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
        std::thread::sleep(PAUSE);
    }
}

/// Reaps dead children. Returns false if none is left; then there are no descendants either, because orphans become our children.
fn reap() -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) => {}
            Ok(None) => return true,
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

/// Returns pid and parent of every process.
fn parents() -> Vec<(u32, u32)> {
    let Ok(folder) = fs::read_dir("/proc") else { return vec![] };
    let pids = folder.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid: u32| Some((pid, parent(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)?))).collect()
}

/// Parses the parent in `12 (any name) S 1 …`. The name may contain brackets, so the last one counts.
fn parent(stat: &str) -> Option<u32> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

fn descendants(root: u32, parents: &[(u32, u32)]) -> BTreeSet<u32> {
    let mut found = BTreeSet::from([root]);
    loop {
        let before = found.len();
        let more: Vec<u32> = parents.iter().filter(|(_, parent)| found.contains(parent)).map(|(pid, _)| *pid).collect();
        found.extend(more);
        if found.len() == before {
            break;
        }
    }
    found.remove(&root);
    found
}

#[cfg(test)]
mod tests {
    use super::{descendants, parent};

    #[test]
    fn descendants_are_found_over_generations() {
        let all = [(2, 1), (3, 2), (9, 8), (8, 3), (7, 1)];
        assert_eq!(descendants(2, &all).into_iter().collect::<Vec<_>>(), [3, 8, 9]);
    }

    #[test]
    fn parent_is_read_after_the_last_bracket() {
        assert_eq!(parent("12 (a) S 1 1) S 7 12 9"), Some(7));
        assert_eq!(parent("nothing"), None);
    }
}
