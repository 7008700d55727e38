//! Agent of the same user as the evaluator. Every attempt is also made without a sandbox, where it must succeed, to show that it can.

use super::unprivileged::{EVALUATOR, UserFolder, command_as};
use serde_json::{Value, json};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Stdio};

const CASE: &str = "sell_usdc_for_ether";
const PROCESS_FILES: &[&str] = &["environ", "memory", "folder", "program", "descriptors"];

/// Evaluator's folder with a spy, and a process and a folder like those of an agent in another trial.
#[derive(Debug)]
pub(super) struct SpyFolder {
    folder: UserFolder,
    sibling: Child,
    _listener: TcpListener,
}

impl Drop for SpyFolder {
    fn drop(&mut self) {
        let _ = self.sibling.kill();
        let _ = self.sibling.wait();
    }
}

impl SpyFolder {
    pub(super) fn new() -> Self {
        let folder = UserFolder::new();
        let sibling = command_as(EVALUATOR, Path::new("/bin/sleep")).arg("600").env("BARDO_MCP_TOKEN", "t").stdin(Stdio::null()).spawn();
        let sibling = sibling.expect("setpriv of util-linux");
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        folder.create_private("tmp/bardo-eval-sibling");
        folder.write("tmp/bardo-eval-sibling/mcp.json", "{}");
        folder.write("project/spy.mjs", include_str!("spy.mjs"));
        let targets = json!({
            "sibling_process": sibling.id(),
            "store": folder.path("project/.bardo-eval/store.sqlite"),
            "case": folder.path("project/evals/suites/behavior/trader.yaml"),
            "program": folder.program(),
            "sibling_token": folder.path("tmp/bardo-eval-sibling/mcp.json"),
            "script": folder.path("project/spy.mjs"),
            "port": listener.local_addr().unwrap().port(),
        });
        folder.write("project/targets.json", &targets.to_string());
        Self { folder, sibling, _listener: listener }
    }

    /// Runs the spy and returns the result of each attempt: `read`, or an error code.
    pub(super) fn spy(&self, sandbox: &[&str]) -> Value {
        let args = ["run", "--subject", "process:node spy.mjs", "--case", CASE];
        let ran = self.folder.run(&[&args, sandbox].concat());
        let trial = self.folder.show(CASE);
        let said = trial["events"].as_array().unwrap().iter().find_map(|event| event["happened"]["said"]["text"].as_str());
        let said = said.unwrap_or_else(|| panic!("the spy did not answer: {trial:#} {ran:?}"));
        serde_json::from_str(said).unwrap()
    }
}

pub(super) fn assert_read(attempts: &Value, names: &[&str]) {
    for name in names {
        assert_eq!(attempts[name], "read", "{name}: {attempts:#}");
    }
}

pub(super) fn assert_refused(attempts: &Value, names: &[&str], codes: &[&str]) {
    for name in names {
        assert!(codes.iter().any(|code| attempts[name] == *code), "{name}: {attempts:#}");
    }
}

fn files_of(process: &str) -> Vec<String> {
    PROCESS_FILES.iter().map(|file| format!("{process} {file}")).collect()
}

fn texts(owned: &[String]) -> Vec<&str> {
    owned.iter().map(String::as_str).collect()
}

/// Holds in every mode, because the evaluator and the launcher hide themselves. The sibling, an ordinary process, shows that it can fail.
#[test]
fn agent_cannot_read_the_process_of_the_evaluator() {
    let spy = SpyFolder::new();
    for sandbox in [&["--sandbox", "none"][..], &[]] {
        let attempts = spy.spy(sandbox);
        assert_read(&attempts, &["process list", "our port", "script"]);
        for process in ["evaluator", "launcher"] {
            assert_refused(&attempts, &texts(&files_of(process)), &["EACCES", "EPERM"]);
        }
        if !sandbox.is_empty() {
            assert_read(&attempts, &["sibling environ", "sibling folder", "sibling program", "sibling descriptors"]);
        }
    }
}

#[test]
fn landlock_is_the_default_and_withholds_workspace_store_siblings_and_program() {
    let spy = SpyFolder::new();
    let held = ["store", "case", "program", "sibling_token", "sibling signal", "foreign port"];
    assert_read(&spy.spy(&["--sandbox", "none"]), &held);
    let attempts = spy.spy(&[]);
    assert_refused(&attempts, &held, &["EACCES", "EPERM"]);
    assert_refused(&attempts, &texts(&files_of("sibling")), &["EACCES", "EPERM"]);
    assert_read(&attempts, &["our port", "script"]);
}

#[test]
fn subject_file_grants_files_and_ports() {
    let spy = SpyFolder::new();
    let port = spy._listener.local_addr().unwrap().port();
    let granted = spy.folder.path("tmp/bardo-eval-sibling");
    let file = format!(
        "subject: granted\nprovider: process\ncommand: [node, spy.mjs]\nread: [{}]\nconnect: [{port}]\nabout: A test.\n",
        granted.display()
    );
    spy.folder.write("project/evals/subjects/granted.yaml", &file);
    spy.folder.run(&["run", "--subject", "granted", "--case", CASE]);
    let trial = spy.folder.show(CASE);
    let said = trial["events"].as_array().unwrap().iter().find_map(|event| event["happened"]["said"]["text"].as_str());
    let attempts: Value = serde_json::from_str(said.unwrap_or_else(|| panic!("{trial:#}"))).unwrap();
    assert_read(&attempts, &["sibling_token", "foreign port"]);
    assert_refused(&attempts, &["store", "case"], &["EACCES"]);
    // A granted path that is missing is a mistake of the user, so the trial is no evidence.
    spy.folder.write("project/evals/subjects/granted.yaml", &file.replace("bardo-eval-sibling", "missing"));
    assert_eq!(spy.folder.run(&["run", "--subject", "granted", "--case", CASE]).status.code(), Some(3));
    assert!(spy.folder.show(CASE)["ending"].to_string().contains("its subject file grants read of"), "{}", spy.folder.show(CASE)["ending"]);
}

/// The report says which sandbox the agents had.
#[test]
fn report_names_the_sandbox() {
    let spy = SpyFolder::new();
    for (flags, expected) in [(&[][..], "landlock"), (&["--sandbox", "none"], "none")] {
        let args = ["run", "--no-store", "--subject", "process:node spy.mjs", "--case", CASE, "--format", "json"];
        let ran = spy.folder.run(&[&args, flags].concat());
        let report: Value = serde_json::from_slice(&ran.stdout).unwrap();
        assert_eq!(report["sandbox"], expected);
    }
}
