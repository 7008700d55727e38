//! Endpoints of a world with public npm clients and hostile clients.
#![expect(clippy::unwrap_used, reason = "a failing test should name the line")]

mod hostile_clients;
mod http;
mod imported_tools;
mod mcp_server;
mod node_parity;
mod public_ethereum;
mod public_mcp;
mod small;
mod sources;

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use model::transcript::{Event, EventKind};
use serde_json::Value;
use tokio::process::Command;

/// Timeout with slack for slow machines.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(120);

/// Returns the path of a package installed by scripts/install-test-tools.
fn node_modules(package: &str) -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../.tools/node_modules");
    let found = root.join(package).join("package.json");
    assert!(found.is_file(), "{} is missing: run scripts/install-test-tools", found.display());
    root.canonicalize().unwrap().to_str().unwrap().to_owned()
}

/// Runs a client script and returns its JSON result and stderr.
async fn run_node_script(script: &str, job: &Value) -> (Value, String) {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/edges").join(script);
    let mut node = Command::new("node");
    node.arg(script).arg(job.to_string()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let done = tokio::time::timeout(CLIENT_TIMEOUT, node.output()).await.expect("the client hangs").unwrap();
    let stderr = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "{}: {stderr}", done.status);
    (serde_json::from_slice(&done.stdout).unwrap(), stderr)
}

/// Returns the kinds of events in order.
fn event_kinds(events: &[Event]) -> Vec<String> {
    let kind = |happened: &EventKind| serde_json::to_value(happened).unwrap().as_object().unwrap().keys().next().unwrap().clone();
    events.iter().map(|event| kind(&event.happened)).collect()
}
