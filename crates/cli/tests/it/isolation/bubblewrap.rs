//! `--sandbox bwrap`: own mounts and processes. Needs the package bubblewrap and user namespaces.

use super::spy::{SpyFolder, assert_read, assert_refused};
use super::unprivileged::{EVALUATOR, UserFolder, command_as};
use std::path::Path;

#[test]
fn bubblewrap_hides_processes_and_files() {
    let bwrap = ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"].into_iter().map(Path::new).find(|path| path.is_file());
    let bwrap = bwrap.expect("bwrap is missing: run scripts/install-test-tools");
    let probe = command_as(EVALUATOR, bwrap).args(["--unshare-pid", "--ro-bind", "/", "/", "--proc", "/proc", "true"]).output().unwrap();
    assert!(probe.status.success(), "bwrap cannot make namespaces here; allow user namespaces: {probe:?}");
    let spy = SpyFolder::new();
    let attempts = spy.spy(&["--sandbox", "bwrap"]);
    assert_read(&attempts, &["our port", "script"]);
    assert_refused(&attempts, &["store", "case", "program", "sibling_token", "sibling environ", "sibling folder"], &["ENOENT", "EACCES"]);
    assert_refused(&attempts, &["sibling signal"], &["ESRCH"]);
    // The network is shared, as the guide says.
    assert_read(&attempts, &["foreign port"]);
}

#[test]
fn missing_bubblewrap_is_a_clear_error() {
    let folder = UserFolder::new();
    let mut command = folder.command(&["run", "--sandbox", "bwrap", "--subject", "process:true"]);
    let ran = command.env("PATH", "/nowhere").output();
    // Without a search path setpriv itself is not found by name, so this runs as the user of the tests.
    let ran = ran.or_else(|_| std::process::Command::new(folder.program()).args(["run", "--sandbox", "bwrap"]).env_clear().output());
    let ran = ran.unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(said.contains("bwrap was not found") && said.contains("install the package bubblewrap"), "{said}");
    assert_eq!(ran.status.code(), Some(2));
}
