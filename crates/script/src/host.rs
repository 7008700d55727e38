//! Child process: reads requests from its standard input, one a line, and answers each on its standard output.

use crate::engine::{ScriptEngine, ScriptLimits};
use crate::request::ScriptRequest;
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, Write};

/// Address space of the process: above the limits of the engine, below what hurts the machine.
const MAX_ADDRESS_SPACE: u64 = 2 << 30;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct HostRequest {
    pub request: ScriptRequest,
    pub limits: ScriptLimits,
}

/// Answers requests until the input ends.
///
/// # Errors
/// If a pipe is closed or a request cannot be read.
pub fn run_script_host() -> io::Result<()> {
    limit_memory();
    let mut engine = ScriptEngine::default();
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let mut line = vec![];
    loop {
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        let request: HostRequest = serde_json::from_slice(&line)?;
        let reply = engine.run(&request.request, request.limits);
        let mut text = serde_json::to_vec(&reply)?;
        text.push(b'\n');
        output.write_all(&text)?;
        output.flush()?;
    }
}

#[cfg(target_os = "linux")]
fn limit_memory() {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let limit = Rlimit { current: Some(MAX_ADDRESS_SPACE), maximum: Some(MAX_ADDRESS_SPACE) };
    // A refusal leaves the limit of the engine.
    let _ = setrlimit(Resource::As, limit);
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
}

#[cfg(not(target_os = "linux"))]
fn limit_memory() {
    let _ = MAX_ADDRESS_SPACE;
}
