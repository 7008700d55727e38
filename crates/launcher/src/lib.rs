//! Starts programs of others: external agents and chain nodes. A small process of our own binary stands between the evaluator and the
//! program. It notices the end of the evaluator, ends every descendant of the program, and confines agents before they run.

mod grants;
mod hardening;
#[cfg(target_os = "linux")]
mod launcher_process;
mod request;
mod sandbox_mode;
mod spawn;
mod started_programs;

pub use grants::GrantRequest;
pub use hardening::hide_process;
#[cfg(target_os = "linux")]
pub use launcher_process::run_launcher;
pub use request::{FileGrants, LaunchRequest, ProgramConfinement, ResourceLimits};
pub use sandbox_mode::{SandboxChoice, SandboxError, SandboxMode};
pub use spawn::{LaunchedProgram, LauncherConnection, ProgramInput, ProgramLaunch, enable_launcher};
pub use started_programs::with_started_programs;

/// Hidden first argument with which our binary becomes the launcher.
pub const LAUNCHER_ARGUMENT: &str = "__launch";
