//! Starts the program with its limits and its confinement.

use super::{bubblewrap, landlock_rules, limits};
use crate::request::{LaunchRequest, ProgramConfinement};
use rustix::process::Pid;
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

/// Starts the program and returns its pid, or the reason why it cannot be started.
pub(super) fn start(request: &LaunchRequest, input: Option<OwnedFd>) -> Result<Pid, String> {
    limits::apply(&request.limits);
    let (program, args) = request.command.split_first().ok_or("the command is empty")?;
    let input = input.map_or_else(Stdio::null, Stdio::from);
    match &request.confinement {
        ProgramConfinement::Unconfined => spawn(Command::new(program).args(args).stdin(input)),
        ProgramConfinement::Landlock(grants) => {
            let mut command = Command::new(program);
            command.args(args).stdin(input);
            // The rules hold for the calling thread and for the processes that it starts, so the launcher itself stays free.
            let confined = std::thread::scope(|scope| {
                let thread = scope.spawn(|| {
                    landlock_rules::restrict_thread(grants)?;
                    spawn(&mut command)
                });
                thread.join()
            });
            confined.unwrap_or_else(|_| Err("the confined thread failed".to_owned()))
        }
        ProgramConfinement::Bubblewrap { program, grants } => {
            let args = bubblewrap::arguments(grants, &request.command);
            spawn(Command::new(program).args(args).stdin(input))
        }
    }
}

fn spawn(command: &mut Command) -> Result<Pid, String> {
    let child = command.spawn().map_err(|error| error.to_string())?;
    Ok(Pid::from_child(&child))
}
