//! Another user of the machine: cannot read token, key, environment, expectations held in memory, store or the folders of trials.

use super::processes::{descendants, wait_for_descendants};
use super::unprivileged::{OTHER_USER, UserFolder, command_as, is_root};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns whether the other user can read a file.
fn other_user_reads(path: &Path) -> bool {
    let read = command_as(OTHER_USER, Path::new("/bin/cat")).arg(path).stdin(Stdio::null()).output().expect("setpriv of util-linux");
    read.status.success() && !read.stdout.is_empty()
}

#[test]
fn another_user_reads_nothing_of_a_run() {
    let folder = UserFolder::new();
    folder.write("project/hang.sh", "read -r line\nsleep 500\n");
    // The control: an ordinary file of the evaluator's user can be read.
    folder.write("project/open.txt", "open");
    let run = folder.command(&["run", "--subject", "process:sh hang.sh", "--case", "sell_usdc_for_ether"]).stdout(Stdio::null()).spawn();
    let run = Running(run.unwrap());
    wait_for_descendants(run.0.id(), "the agent's start", |all| super::processes::named(all, "sleep") == 1);
    let trial = fs::read_dir(folder.path("tmp")).unwrap().next().expect("the folder of the trial").unwrap().path();
    let mode = |path: &Path| fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777;
    let store = folder.path("project/.bardo-eval/store.sqlite");
    assert_eq!(mode(&trial), 0o700, "{}", trial.display());
    assert_eq!(mode(&store) & 0o077, 0, "{}", store.display());
    if !is_root() {
        // Only root can become another user; the modes say the same.
        return;
    }
    assert!(other_user_reads(&folder.path("project/open.txt")), "the control cannot be read");
    let mut secrets: Vec<PathBuf> = vec![trial.join("mcp.json"), store];
    let evaluator_and_agents = descendants(run.0.id());
    let pids = evaluator_and_agents.iter().map(super::processes::KnownProcess::pid).chain([run.0.id()]);
    secrets.extend(pids.flat_map(|pid| ["environ", "mem", "exe", "maps"].map(|file| PathBuf::from(format!("/proc/{pid}/{file}")))));
    for secret in secrets {
        assert!(!other_user_reads(&secret), "{} can be read by another user", secret.display());
    }
}
