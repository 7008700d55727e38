//! The launcher: started by the evaluator for one program, parent and reaper of all its descendants.

mod bubblewrap;
mod control;
mod descendants;
mod landlock_rules;
mod limits;
mod start;

pub(crate) use landlock_rules::landlock_is_available;

use crate::hide_process;
use crate::request::{LaunchReply, LaunchRequest};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, set_child_subreaper, wait};
use std::path::Path;
use std::process::ExitCode;

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
    std::thread::spawn(move || end_with_evaluator(&request));
    let status = wait_for(program);
    descendants::end_all();
    exit_like(status)
}

/// Waits for the end of the evaluator, then ends the program and all its descendants and removes its folder.
fn end_with_evaluator(request: &LaunchRequest) {
    control::wait_for_close();
    descendants::end_all();
    request.remove.as_deref().map(remove_folder);
    let _ = kill_process(getpid(), Signal::KILL);
}

fn remove_folder(folder: &Path) {
    // Nothing is left to report a failure to.
    let _ = std::fs::remove_dir_all(folder);
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
