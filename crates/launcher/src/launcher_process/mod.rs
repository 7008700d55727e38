//! The launcher: started by the evaluator for one program, parent and reaper of all its descendants.

mod bubblewrap;
mod control;
mod descendants;
mod landlock_rules;
mod limits;
mod start;

pub(crate) use landlock_rules::landlock_is_available;

use crate::hardening::hide_process;
use crate::request::{LaunchReply, LaunchRequest};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, set_child_subreaper, wait};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

/// Exit code if there is no program to report about.
const FAILED: u8 = 127;

/// Runs the launcher until the program has exited or the evaluator is gone, and exits as the program did.
pub fn run_launcher() -> ExitCode {
    hide_process();
    // An old kernel may refuse; then processes that fork twice escape.
    let _ = set_child_subreaper(Some(getpid()));
    let Ok((request, input)) = control::receive_request() else { return FAILED.into() };
    let program = match start::start(&request, input) {
        Ok(program) => program,
        Err(why) => {
            control::reply(&LaunchReply::Failed(why));
            return FAILED.into();
        }
    };
    control::reply(&LaunchReply::Started);
    let request = Arc::new(request);
    let watched = request.clone();
    std::thread::spawn(move || {
        control::wait_for_close();
        clean_up(&watched);
        let _ = kill_process(getpid(), Signal::KILL);
    });
    let status = wait_for(program);
    clean_up(&request);
    exit_like(status)
}

/// Ends all descendants of the program, and removes its folder if the evaluator is gone and cannot.
fn clean_up(request: &LaunchRequest) {
    // The program may end because the evaluator did: whichever thread is second waits for the first.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    descendants::end_all();
    if control::is_closed()
        && let Some(folder) = &request.remove
    {
        // Nothing is left to report a failure to.
        let _ = std::fs::remove_dir_all(folder);
    }
}

/// Reaps children until the program itself has exited.
fn wait_for(program: Pid) -> Option<WaitStatus> {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == program => return Some(status),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return None,
        }
    }
}

fn exit_like(status: Option<WaitStatus>) -> ExitCode {
    let Some(status) = status else { return FAILED.into() };
    if let Some(signal) = status.terminating_signal().and_then(Signal::from_named_raw) {
        let _ = kill_process(getpid(), signal);
    }
    status.exit_status().and_then(|code| u8::try_from(code).ok()).unwrap_or(FAILED).into()
}
