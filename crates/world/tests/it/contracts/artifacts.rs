//! Committed artifacts match the compiled sources and respect the contract size limit.

use std::path::PathBuf;
use std::process::Command;

use bardo_eval_world::chain::contracts;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn artifacts_match_their_sources() {
    let script = root().join("scripts/build-contracts").canonicalize().expect("scripts/build-contracts is part of the repository");
    let output = Command::new(script).arg("--check").output().expect("bash is installed");
    assert!(
        output.status.success(),
        "scripts/build-contracts --check failed; if node or solc is missing, run scripts/install-test-tools\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
}

#[test]
fn every_artifact_is_listed_and_fits_on_a_chain() {
    let mut found: Vec<String> = root()
        .join("contracts/artifacts")
        .read_dir()
        .expect("contracts/artifacts")
        .map(|file| file.expect("a file").path())
        .filter(|path| path.is_file())
        .map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned())
        .collect();
    found.sort();
    let listed: Vec<&str> = contracts::all().iter().map(|contract| contract.name).collect();
    assert_eq!(found, listed, "list new contracts in chain/contracts.rs");
    for contract in contracts::all() {
        let size = contract.runtime.len();
        assert!(size > 100 && size <= 24_576, "{} has {size} bytes", contract.name);
    }
}

/// Keeps headroom in the contract size for another policy check.
#[test]
fn policy_cage_stays_2_kib_below_code_size_limit() {
    let size = contracts::contract("PolicyCage").runtime.len();
    assert!(size <= 24_576 - 2_048, "{size} bytes");
}
