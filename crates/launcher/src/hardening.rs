//! Protection of the evaluator's own process.

/// Hides environment, memory, working folder, program file and descriptors of this process from other processes of the same user, and
/// turns off its core dumps. Root can still read them.
#[cfg(target_os = "linux")]
pub fn hide_process() {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    // No kernel that runs this program refuses it; a refusal leaves the process as it was.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}

/// Does nothing: other systems have no such setting.
#[cfg(not(target_os = "linux"))]
pub fn hide_process() {}
