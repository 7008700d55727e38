//! Process ids of the programs that this process has started and still holds. A search for orphans among our children must spare them.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Mutex, PoisonError};

static STARTED: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// Entry of one program, removed on drop.
#[derive(Debug)]
pub(crate) struct StartedProgram {
    pid: Option<u32>,
}

impl StartedProgram {
    /// Starts a program and enters it, with no moment between at which it runs and is not entered.
    pub(crate) fn enter<T>(start: impl FnOnce() -> io::Result<T>, pid: impl FnOnce(&T) -> Option<u32>) -> io::Result<(T, Self)> {
        with_started_programs(|started| {
            let program = start()?;
            let pid = pid(&program);
            started.extend(pid);
            Ok((program, Self { pid }))
        })
    }
}

impl Drop for StartedProgram {
    fn drop(&mut self) {
        if let Some(pid) = self.pid {
            with_started_programs(|started| started.remove(&pid));
        }
    }
}

/// Calls back with the ids of started programs. No program is started meanwhile.
pub fn with_started_programs<T>(operation: impl FnOnce(&mut BTreeSet<u32>) -> T) -> T {
    operation(&mut STARTED.lock().unwrap_or_else(PoisonError::into_inner))
}

#[cfg(test)]
mod tests {
    use super::{StartedProgram, with_started_programs};

    #[test]
    fn program_is_listed_from_its_start_until_it_is_dropped() {
        let is_listed = |pid| with_started_programs(|started| started.contains(&pid));
        let (pid, entry) = StartedProgram::enter(|| Ok(4_000_001), |pid| Some(*pid)).unwrap();
        assert!(is_listed(pid));
        drop(entry);
        assert!(!is_listed(pid));
        assert!(StartedProgram::enter(|| Err::<u32, _>(std::io::Error::other("no")), |pid| Some(*pid)).is_err());
    }
}
