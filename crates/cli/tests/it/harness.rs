//! Runs the program in a temporary folder with an empty environment, and edits workspaces.

use serde_json::Value;
use std::ffi::OsString;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Time limit, ten times longer than any test needs.
const RUN_TIMEOUT: Duration = Duration::from_secs(60);

/// Temporary folder to run the program in; removed on drop.
#[derive(Debug)]
pub(crate) struct TestFolder {
    temp: TempDir,
}

/// Result of running the program.
#[derive(Debug)]
pub(crate) struct ProgramOutput {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// Peak memory in megabytes; only known on Linux.
    pub(crate) peak_mb: Option<u64>,
}

impl TestFolder {
    pub(crate) fn new() -> Self {
        Self { temp: TempDir::new().unwrap() }
    }

    /// Returns a folder with the reference workspace in `evals/`, the default path.
    pub(crate) fn with_reference() -> Self {
        let folder = Self::new();
        folder.run(&["init"]).assert_exit(0);
        folder
    }

    /// Returns a folder with the minimal workspace in `evals/`.
    pub(crate) fn with_minimal() -> Self {
        let folder = Self::new();
        folder.run(&["init", "--minimal"]).assert_exit(0);
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.temp.path().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Returns the relative paths of all files, with `/`, sorted.
    pub(crate) fn remove(&self, name: &str) {
        fs::remove_file(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    }

    pub(crate) fn files(&self) -> Vec<String> {
        let mut names = vec![];
        walk(self.temp.path(), self.temp.path(), &mut names);
        names.sort();
        names
    }

    /// Replaces the only occurrence of `from` and returns the first line that differs.
    pub(crate) fn edit(&self, name: &str, from: &str, to: &str) -> u64 {
        let text = self.read(name);
        assert_eq!(text.matches(from).count(), 1, "{name} should hold this once: {from}");
        let same = from.lines().zip(to.lines()).take_while(|(from, to)| from == to).count();
        let line = line_of(&text, from) + same as u64;
        self.write(name, text.replacen(from, to, 1));
        line
    }

    /// Returns the line of the first occurrence of a text.
    pub(crate) fn line(&self, name: &str, text: &str) -> u64 {
        line_of(&self.read(name), text)
    }

    pub(crate) fn run(&self, args: &[&str]) -> ProgramOutput {
        self.run_with(args, "")
    }

    /// Runs the program with text on standard input.
    pub(crate) fn run_with(&self, args: &[&str], input: &str) -> ProgramOutput {
        self.run_within(args, input, RUN_TIMEOUT, &[("PATH", std::env::var_os("PATH").unwrap())])
    }

    /// Runs the program with one more variable in its environment.
    pub(crate) fn run_with_variable(&self, args: &[&str], name: &str, value: &str) -> ProgramOutput {
        self.run_within(args, "", RUN_TIMEOUT, &[("PATH", std::env::var_os("PATH").unwrap()), (name, value.into())])
    }

    /// Runs the program with Anvil in its search path and another time limit, in seconds.
    pub(crate) fn run_with_anvil(&self, args: &[&str], seconds: u64) -> ProgramOutput {
        self.run_within(args, "", Duration::from_secs(seconds), &[("PATH", path_with_anvil())])
    }

    fn run_within(&self, args: &[&str], input: &str, limit: Duration, variables: &[(&str, OsString)]) -> ProgramOutput {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bardo-eval"));
        command.args(args).current_dir(self.temp.path()).env_clear().envs(variables.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A program that does not read its input closes the pipe, which is not an error.
        drop(child.stdin.take().unwrap().write_all(input.as_bytes()));
        let stdout = spawn_reader(child.stdout.take().unwrap());
        let stderr = spawn_reader(child.stderr.take().unwrap());
        let (started, mut peak_mb) = (Instant::now(), None);
        let status = loop {
            peak_mb = peak_memory_mb(child.id()).or(peak_mb);
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if started.elapsed() > limit {
                child.kill().unwrap();
                panic!("bardo-eval {args:?} hangs");
            }
            thread::sleep(Duration::from_millis(2));
        };
        let ran = ProgramOutput { code: status.code(), stdout: stdout.join().unwrap(), stderr: stderr.join().unwrap(), peak_mb };
        assert!(!ran.stderr.contains("panicked"), "{ran:?}");
        ran
    }

    /// Runs with `--format json`, checks that the document repeats the exit code, and returns it.
    pub(crate) fn json(&self, args: &[&str], code: i32) -> Value {
        self.json_within(args, code, RUN_TIMEOUT)
    }

    /// Like [`Self::json`], with another time limit.
    pub(crate) fn json_within(&self, args: &[&str], code: i32, limit: Duration) -> Value {
        let ran = self
            .run_within(&[args, &["--format", "json"]].concat(), "", limit, &[("PATH", std::env::var_os("PATH").unwrap())])
            .assert_exit(code);
        let document: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
        assert_eq!(document["exit"], code, "{document:#}");
        document
    }

    /// Returns the rows of `list`.
    pub(crate) fn list(&self, what: &str) -> Vec<Value> {
        self.json(&["list", what], 0)["items"].as_array().unwrap().clone()
    }
}

impl ProgramOutput {
    #[track_caller]
    pub(crate) fn assert_exit(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}\n{}", self.stdout, self.stderr);
        self
    }

    #[track_caller]
    pub(crate) fn assert_stderr(self, text: &str) -> Self {
        assert!(self.stderr.contains(text), "standard error lacks {text:?}:\n{}", self.stderr);
        self
    }

    #[track_caller]
    pub(crate) fn assert_stdout(self, text: &str) -> Self {
        assert!(self.stdout.contains(text), "standard output lacks {text:?}:\n{}", self.stdout);
        self
    }
}

/// Returns the texts in one column of `list`.
pub(crate) fn column(rows: &[Value], key: &str) -> Vec<String> {
    rows.iter().map(|row| row[key].as_str().unwrap_or_else(|| panic!("no {key} in {row}")).to_owned()).collect()
}

fn line_of(text: &str, part: &str) -> u64 {
    let at = text.find(part).unwrap_or_else(|| panic!("not found: {part}"));
    1 + text[..at].matches('\n').count() as u64
}

/// Returns the search path with the Anvil that `scripts/install-test-tools` installs.
fn path_with_anvil() -> OsString {
    let packages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.tools/node_modules/@foundry-rs");
    let packages = fs::read_dir(packages).expect("run scripts/install-test-tools").filter_map(Result::ok);
    let own = packages.map(|package| package.path().join("bin")).filter(|folder| folder.join("anvil").is_file());
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(own.chain(std::env::split_paths(&path))).expect("a search path")
}

/// Collects the paths of all files below a folder.
pub(crate) fn walk(root: &Path, folder: &Path, names: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(root, &path, names);
        } else {
            names.push(path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/"));
        }
    }
}

fn spawn_reader(mut from: impl Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = vec![];
        from.read_to_end(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    })
}

/// Returns the peak memory of a running process. It only grows, so the last value is the final one.
fn peak_memory_mb(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    kilobytes.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kilobytes| kilobytes / 1024)
}
