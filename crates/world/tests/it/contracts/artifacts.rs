//! The committed artifacts are what the compiler makes of the sources, and fit on a chain.

use std::path::PathBuf;
use std::process::Command;

use crate::contracts::harness::*;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn artifacts_match_their_sources() {
    let script = root().join("scripts/build-contracts").canonicalize().expect("scripts/build-contracts is part of the repository");
    let output = Command::new(script).arg("--check").output().expect("bash is here");
    assert!(
        output.status.success(),
        "scripts/build-contracts --check failed; if node or solc is missing, run scripts/install-test-tools\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
}

#[test]
fn every_artifact_is_tested_and_fits_on_a_chain() {
    let mut found: Vec<String> = root()
        .join("contracts/artifacts")
        .read_dir()
        .expect("contracts/artifacts")
        .map(|file| file.expect("a file").path().file_stem().expect("a name").to_string_lossy().into_owned())
        .collect();
    found.sort();
    let listed: Vec<&str> = ARTIFACTS.iter().map(|(name, _)| *name).collect();
    assert_eq!(found, listed, "list new contracts in harness.rs");
    for (name, _) in ARTIFACTS {
        let size = artifact(name)["deployed"].as_str().expect("code").len() / 2 - 1;
        assert!(size > 100 && size <= 24_576, "{name} has {size} bytes");
    }
}
