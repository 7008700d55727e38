//! Finds and kills processes that an agent leaves behind, by session, ancestry and a mark in the environment.

/// Environment variable that marks the processes of an agent.
pub(super) const AGENT_ENV_VAR: &str = "BARDO_EVAL_AGENT";

#[cfg(target_os = "linux")]
pub(super) use linux::{become_subreaper, descendants, is_busy, kill_descendants, register_agent};
#[cfg(not(target_os = "linux"))]
pub(super) use other_os::{become_subreaper, descendants, is_busy, kill_descendants, register_agent};

/// Stub for systems without /proc, where only the process group is killed, by the caller.
#[cfg(not(target_os = "linux"))]
mod other_os {
    pub(crate) fn become_subreaper() {}
    pub(crate) fn register_agent(_: u32) {}
    pub(crate) fn descendants(_: u32, _: &str) -> Vec<u32> {
        vec![]
    }
    pub(crate) fn kill_descendants(_: u32, _: &str, _: Vec<u32>) {}
    pub(crate) fn is_busy(_: u32) -> bool {
        false
    }
}

#[cfg(target_os = "linux")]
mod linux {
    #![expect(clippy::disallowed_methods, reason = "the process list is only available in /proc")]

    use super::AGENT_ENV_VAR;
    use launcher::with_started_programs;
    use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, kill_process_group, set_child_subreaper, waitpid};
    use std::collections::BTreeSet;
    use std::fs;
    use std::sync::{Mutex, Once, PoisonError};
    use std::time::Duration;

    /// Pids of running agents. Global, because child processes belong to the whole harness process.
    static RUNNING_AGENTS: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());
    /// Maximum kill rounds; several are needed for processes that keep forking.
    const MAX_KILL_ROUNDS: usize = 40;
    const KILL_PAUSE: Duration = Duration::from_millis(5);

    #[derive(Debug, Clone, Copy)]
    struct ProcessStat {
        pid: u32,
        parent: u32,
        session: u32,
        dead: bool,
    }

    /// Makes orphaned descendants children of this process instead of init, so that a double fork does not escape.
    pub(crate) fn become_subreaper() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            // An old kernel may refuse; session, ancestry and mark still apply.
            let _ = set_child_subreaper(Some(getpid()));
        });
    }

    pub(crate) fn register_agent(pid: u32) {
        with_running_agents(|all| all.insert(pid));
    }

    /// Reports whether a thread in the agent's session is runnable or in uninterruptible sleep.
    pub(crate) fn is_busy(agent: u32) -> bool {
        processes().iter().filter(|one| one.session == agent).any(|one| {
            let threads = fs::read_dir(format!("/proc/{}/task", one.pid)).into_iter().flatten().flatten();
            threads.filter_map(|thread| fs::read_to_string(thread.path().join("stat")).ok()).any(|stat| is_runnable(&stat))
        })
    }

    fn is_runnable(stat: &str) -> bool {
        stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with(['R', 'D']))
    }

    fn with_running_agents<T>(operation: impl FnOnce(&mut BTreeSet<u32>) -> T) -> T {
        operation(&mut RUNNING_AGENTS.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the processes that descend from the agent or carry its mark, without the agent itself.
    pub(crate) fn descendants(agent: u32, mark: &str) -> Vec<u32> {
        let all = processes();
        let mut found = BTreeSet::from([agent]);
        loop {
            let before = found.len();
            found.extend(
                all.iter().filter(|one| found.contains(&one.parent) || one.session == agent).map(|one| one.pid).collect::<Vec<_>>(),
            );
            if found.len() == before {
                break;
            }
        }
        let us = own_pid_and_session();
        let strays = with_started_programs(|started| all.iter().filter(|one| is_stray(one, us, started)).copied().collect::<Vec<_>>());
        found.extend(strays.iter().filter(|one| has_agent_mark(one.pid, mark)).map(|one| one.pid));
        found.into_iter().filter(|pid| *pid != agent && *pid != us.0).collect()
    }

    /// Kills the given processes and those that join them meanwhile. After the last agent, also kills stray children without a mark.
    pub(crate) fn kill_descendants(agent: u32, mark: &str, family: Vec<u32>) {
        let last = with_running_agents(|all| {
            all.remove(&agent);
            all.is_empty()
        });
        let mut left = family;
        for _ in 0..MAX_KILL_ROUNDS {
            kill_group(agent);
            left.iter().for_each(|pid| kill(*pid));
            std::thread::sleep(KILL_PAUSE);
            // Until the kill no program is started, so that a child that is unknown now is a stray and stays one.
            left = with_started_programs(|started| {
                let left = joined_processes(agent, mark, &left, last, started);
                left.iter().for_each(|pid| kill(*pid));
                left
            });
            if left.is_empty() {
                return;
            }
        }
    }

    /// Reaps dead strays and returns the processes that belong to the agent now, or to none if it was the last.
    fn joined_processes(agent: u32, mark: &str, left: &[u32], last: bool, started: &BTreeSet<u32>) -> Vec<u32> {
        let all = processes();
        let us = own_pid_and_session();
        let is_stray = |one: &ProcessStat| is_stray(one, us, started);
        for one in all.iter().filter(|one| one.dead && one.parent == us.0 && is_stray(one)) {
            reap(one.pid);
        }
        let joined = |one: &&ProcessStat| {
            left.contains(&one.pid)
                || left.contains(&one.parent)
                || one.session == agent
                || (is_stray(one) && (last && one.parent == us.0 || has_agent_mark(one.pid, mark)))
        };
        all.iter().filter(|one| !one.dead && one.pid != us.0).filter(joined).map(|one| one.pid).collect()
    }

    /// Returns our own pid and session. Processes of the harness share its session; agents do not.
    fn own_pid_and_session() -> (u32, u32) {
        let us = std::process::id();
        (us, fs::read_to_string("/proc/self/stat").ok().and_then(|stat| parse_stat(us, &stat)).map_or(0, |one| one.session))
    }

    /// Reports whether the process is a child of ours or of init that we did not start: agents and chain nodes are started programs.
    fn is_stray(one: &ProcessStat, us: (u32, u32), started: &BTreeSet<u32>) -> bool {
        (one.parent == us.0 || one.parent == 1) && one.session != us.1 && !started.contains(&one.pid)
    }

    fn has_agent_mark(pid: u32, mark: &str) -> bool {
        let wanted = format!("{AGENT_ENV_VAR}={mark}");
        fs::read(format!("/proc/{pid}/environ")).is_ok_and(|env| env.split(|byte| *byte == 0).any(|one| one == wanted.as_bytes()))
    }

    fn processes() -> Vec<ProcessStat> {
        let Ok(folder) = fs::read_dir("/proc") else { return vec![] };
        let pids = folder.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        pids.filter_map(|pid: u32| parse_stat(pid, &fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)).collect()
    }

    /// Parses `12 (any name) S 1 12 12 …`. The name may contain brackets, so the last one counts. In a container the session may be 0,
    /// which [`Pid`] cannot represent.
    fn parse_stat(pid: u32, stat: &str) -> Option<ProcessStat> {
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
        let state = fields.next()?;
        let parent = fields.next()?.parse().ok()?;
        let session = fields.nth(1)?.parse().ok()?;
        Some(ProcessStat { pid, parent, session, dead: matches!(state, "Z" | "X") })
    }

    fn killable_pid(number: u32) -> Option<Pid> {
        // 0 and 1 address our own process group, init or all processes.
        i32::try_from(number).ok().filter(|number| *number > 1).and_then(Pid::from_raw)
    }

    fn kill(number: u32) {
        if let Some(pid) = killable_pid(number) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }

    fn kill_group(number: u32) {
        if let Some(pid) = killable_pid(number) {
            let _ = kill_process_group(pid, Signal::KILL);
        }
    }

    fn reap(number: u32) {
        if let Some(pid) = killable_pid(number) {
            let _ = waitpid(Some(pid), WaitOptions::NOHANG);
        }
    }

    #[cfg(test)]
    mod tests {
        use super::{is_busy, is_runnable, parse_stat};

        #[test]
        fn parse_stat_ignores_brackets_in_process_name() {
            let one = parse_stat(12, "12 (a) S 1 1 1) S 7 12 9 0 -1").unwrap();
            assert_eq!((one.parent, one.session, one.dead), (7, 9, false));
            assert!(parse_stat(12, "12 (a) Z 7 12 9").unwrap().dead);
            assert!(parse_stat(12, "nothing").is_none());
        }

        #[test]
        fn is_busy_tells_running_from_sleeping_processes() {
            assert!(is_runnable("12 (a) S) R 7 12 9") && !is_runnable("12 (R) S 7 12 9"));
            let looked_at = |script: &str| {
                let mut child = std::process::Command::new("setsid").args(["sh", "-c", script]).spawn().unwrap();
                std::thread::sleep(std::time::Duration::from_millis(300));
                let busy = is_busy(child.id());
                child.kill().unwrap();
                child.wait().unwrap();
                busy
            };
            assert!(looked_at("while :; do :; done"));
            assert!(!looked_at("exec sleep 60"));
        }

        #[test]
        fn parse_stat_accepts_session_zero() {
            assert_eq!(parse_stat(12, "12 (a) S 1 1 0 0 -1").unwrap().session, 0);
        }
    }
}
