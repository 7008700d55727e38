//! Child process: reads its limits, then requests from its standard input, and answers each on a line of its standard output.

use crate::engine::ScriptEngine;
use crate::limits::ScriptLimits;
use crate::request::ScriptRequest;
use std::io::{self, BufRead, Write};

/// Address space of the process: above the limits of the engine, below what hurts the machine.
const MAX_ADDRESS_SPACE: u64 = 2 << 30;

/// Answers requests until the input ends.
///
/// # Errors
/// If a pipe is closed or a request cannot be read.
pub fn run_script_host() -> io::Result<()> {
    limit_memory();
    let mut engine = ScriptEngine::default();
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let mut line = vec![];
    if !next_line(&mut input, &mut line)? {
        return Ok(());
    }
    let limits: ScriptLimits = serde_json::from_slice(&line)?;
    let mut reply_line = vec![];
    while next_line(&mut input, &mut line)? {
        let mut request: ScriptRequest = serde_json::from_slice(&line)?;
        if let ScriptRequest::Body { output, context, .. } = &mut request {
            for argument in [output, context] {
                next_line(&mut input, &mut line)?;
                *argument = String::from_utf8(line.clone()).map_err(io::Error::other)?;
            }
        }
        let reply = engine.run(&request, limits);
        reply_line.clear();
        serde_json::to_writer(&mut reply_line, &reply)?;
        reply_line.push(b'\n');
        output.write_all(&reply_line)?;
        output.flush()?;
    }
    Ok(())
}

/// Reads a line without its end; false at the end of the input.
fn next_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let read = input.read_until(b'\n', line)?;
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    Ok(read > 0)
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
