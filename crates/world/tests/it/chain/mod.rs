//! Tests of both chain backends: the same script on revm, Anvil and an Anvil fork, and hostile nodes.
#![expect(clippy::unwrap_used, reason = "a failing test should name the line")]

mod conformance;
mod contracts_setup;
mod hostile_nodes;
mod lying_nodes;
mod plain_revm;
mod recorder;
mod script;

use bardo_eval_world::chain::{Anvil, AnvilConfig};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

const CHAIN: u64 = 8453;
const START: u64 = 1_760_000_000;

/// Config with long timeouts, so that slow machines do not fail tests that expect an answer.
fn config() -> AnvilConfig {
    let tools = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../.tools");
    AnvilConfig { tools: Some(tools), timeout: Duration::from_secs(60), ..AnvilConfig::new(CHAIN, START) }
}

/// Starts Anvil; panics with an install hint if it is missing.
async fn anvil(config: &AnvilConfig) -> Anvil {
    Anvil::start(config).await.unwrap_or_else(|error| panic!("{error}"))
}

/// Writes a program to start in place of Anvil.
fn program(folder: &Path, line: &str) -> PathBuf {
    let path = folder.join("anvil");
    #[expect(clippy::disallowed_methods, reason = "writes a program for one test")]
    std::fs::write(&path, format!("#!/bin/sh\nPATH=/bin:/usr/bin\n{line}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}
