//! Evaluator run by a user without rights, in a folder of that user. Root reads everything, so nothing can be tested as root.

use serde_json::Value;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// Two users without rights that exist on every system, at least as numbers.
pub(crate) const EVALUATOR: u32 = 65534;
pub(crate) const OTHER_USER: u32 = 65533;

pub(crate) fn is_root() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    status.lines().find_map(|line| line.strip_prefix("Uid:")).unwrap().split_whitespace().nth(1) == Some("0")
}

/// Returns a command that runs as `user` if we are root, and as ourselves otherwise.
pub(crate) fn command_as(user: u32, program: &Path) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args([format!("--reuid={user}"), format!("--regid={user}"), "--clear-groups".to_owned()]).arg(program);
    command
}

/// Folder of the evaluator's user, with its program, the minimal workspace and a folder for temporary files.
#[derive(Debug)]
pub(crate) struct UserFolder {
    temp: TempDir,
}

impl UserFolder {
    pub(crate) fn new() -> Self {
        let temp = TempDir::new().unwrap();
        fs::set_permissions(temp.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let folder = Self { temp };
        for name in ["project", "project/bin", "tmp"] {
            fs::create_dir(folder.path(name)).unwrap();
            folder.give(name);
        }
        // Copied by another process: a child that another test forks while we write would inherit the open file, and until that child
        // executes its own program, executing ours fails with "text file busy".
        let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_bardo-eval")).arg(folder.program()).status().unwrap();
        assert!(copied.success());
        folder.give("project/bin/bardo-eval");
        let made = folder.run(&["init", "--minimal"]);
        assert!(made.status.success(), "the evaluator cannot be run as user {EVALUATOR} with setpriv: {made:?}");
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.temp.path().join(name)
    }

    pub(crate) fn program(&self) -> PathBuf {
        self.path("project/bin/bardo-eval")
    }

    fn give(&self, name: &str) {
        if is_root() {
            chown(self.path(name), Some(EVALUATOR), Some(EVALUATOR)).unwrap();
        }
    }

    /// Writes a file that belongs to the evaluator's user.
    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
        self.give(name);
    }

    /// Creates a folder that only the evaluator's user can enter.
    pub(crate) fn create_private(&self, name: &str) {
        fs::create_dir(self.path(name)).unwrap();
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o700)).unwrap();
        self.give(name);
    }

    /// Returns a command of the evaluator, with a secret in its environment.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = command_as(EVALUATOR, &self.program());
        command.args(args).current_dir(self.path("project")).env_clear();
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("TMPDIR", self.path("tmp")).env("ANTHROPIC_API_KEY", "sk-secret");
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("setpriv of util-linux")
    }

    /// Returns the trial of the last run, as `show` prints it.
    pub(crate) fn show(&self, case: &str) -> Value {
        let ran = self.run(&["show", case, "--format", "json"]);
        serde_json::from_slice(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
    }
}
