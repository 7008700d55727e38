//! Minimal workspace with two loopback models, and the program running in it.

use serde_json::{Value, json};
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use store::Store;
use tempfile::TempDir;
use testkit::{LoopbackServer, VendorReply, chat};
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};

/// Cost of a call of `priced`: 1,000 tokens in at 10 USD per million, 100 out at 20.
pub(crate) const COST_NANOS: u64 = 12_000_000;

/// Variable that `--pass-env` can name.
pub(crate) const PASSED_VARIABLE: &str = "PASSED_ON";
pub(crate) const PASSED_VALUE: &str = "passed-on-to-every-agent";

const RUN_TIMEOUT: Duration = Duration::from_secs(600);

pub(crate) struct CrashFixture {
    folder: TempDir,
    model: LoopbackServer,
    /// The model answers every request with status 503.
    is_down: Arc<AtomicBool>,
}

pub(crate) struct CrashOutput {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl CrashFixture {
    pub(crate) async fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let is_down = Arc::new(AtomicBool::new(false));
        let down = is_down.clone();
        let model = LoopbackServer::start(move |_, request| {
            if down.load(Ordering::Relaxed) {
                return VendorReply::status(503, "down");
            }
            VendorReply::ok(model_reply(&request.body)).after(Duration::from_millis(5))
        })
        .await;
        let stage = Self { folder, model, is_down };
        let made = stage.command(&["init", "--minimal"]).output().await.unwrap();
        assert!(made.status.success(), "{made:?}");
        for (name, price) in [("local", "0"), ("priced", "10")] {
            let output = if price == "0" { "0" } else { "20" };
            let text = format!(
                "subject: {name}\nprovider: openai-compatible\nmodel: m\nbase_url: {}/v1\nabout: A model on this machine.\n\
                 price: {{ input_per_mtok: {price}, output_per_mtok: {output}, cache_read_per_mtok: {price}, cache_write_per_mtok: {price}, as_of: \"2026-11-15\" }}\n",
                stage.model.url
            );
            std::fs::write(stage.path(&format!("evals/subjects/{name}.yaml")), text).unwrap();
        }
        std::fs::write(stage.path("agent.sh"), "while read -r line; do echo '{\"say\": \"Done.\"}'; done\n").unwrap();
        stage
    }

    pub(crate) fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn set_down(&self, is_down: bool) {
        self.is_down.store(is_down, Ordering::Relaxed);
    }

    /// Returns the number of requests that reached the model.
    pub(crate) fn request_count(&self) -> u64 {
        self.model.count() as u64
    }

    pub(crate) fn store(&self) -> Store {
        campaign::open_store(self.path(".bardo-eval/store.sqlite")).unwrap()
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bardo-eval"));
        command.args(args).current_dir(self.folder.path()).env_clear().kill_on_drop(true);
        // Git is searched for; the other variable is passed on to agents.
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env(PASSED_VARIABLE, PASSED_VALUE);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs the program to its end and parses its output.
    pub(crate) async fn run_to_end(&self, args: &[&str]) -> Value {
        let child = self.command(&[args, &["--format", "json"]].concat()).spawn().unwrap();
        let ran = wait_for_exit(child).await;
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}\n{}", ran.stdout, ran.stderr))
    }

    /// Runs the program to its end and returns all its output.
    pub(crate) async fn output(&self, args: &[&str]) -> CrashOutput {
        wait_for_exit(self.command(&[args, &["--format", "json"]].concat()).spawn().unwrap()).await
    }

    /// Kills the program after a delay; returns true if it was still running.
    pub(crate) async fn kill_after(&self, args: &[&str], delay: Duration) -> bool {
        let mut child = self.command(args).spawn().unwrap();
        sleep(delay).await;
        child.start_kill().is_ok() && child.wait().await.is_ok_and(|status| status.code().is_none())
    }

    /// Kills the program after `asked` requests; returns true if it was still running.
    pub(crate) async fn kill_at(&self, args: &[&str], asked: u64) -> bool {
        let mut child = self.command(args).spawn().unwrap();
        if !self.wait_for_requests(&mut child, asked).await {
            return false;
        }
        // Vary the moment after the request.
        sleep(Duration::from_micros(asked * 7919 % 9000)).await;
        child.start_kill().is_ok() && child.wait().await.is_ok_and(|status| status.code().is_none())
    }

    /// Sends a signal to the program after `asked` requests.
    pub(crate) async fn signal_at(&self, signal: &str, args: &[&str], asked: u64) -> CrashOutput {
        let mut child = self.command(&[args, &["--format", "json"]].concat()).spawn().unwrap();
        assert!(self.wait_for_requests(&mut child, asked).await, "it was over before it could be interrupted");
        let id = child.id().unwrap().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().await.unwrap().success());
        wait_for_exit(child).await
    }

    async fn wait_for_requests(&self, child: &mut Child, asked: u64) -> bool {
        let wait = async {
            while self.request_count() < asked {
                if child.try_wait().unwrap().is_some() {
                    return false;
                }
                sleep(Duration::from_millis(1)).await;
            }
            true
        };
        timeout(RUN_TIMEOUT, wait).await.unwrap_or_else(|_| panic!("the program hangs"))
    }
}

/// Message that the model answers with a call of the imported tool.
pub(crate) const TICKET_QUESTION: &str = "Is ticket T-7 still open?";

/// Returns a reply that depends on the request alone, so that trials differ and can be repeated.
fn model_reply(request: &Value) -> String {
    let text = request.to_string();
    let sum: usize = text.bytes().map(usize::from).sum();
    let chain = if sum.is_multiple_of(3) { "ethereum" } else { "base" };
    let mut body = match text.contains(TICKET_QUESTION) {
        true => chat::tool_call_reply(1, "desk_lookup", &json!({ "ticket": "T-7" })),
        false => chat::tool_call_reply(1, "wallet_get_balance", &json!({ "token": "USDC", "chain": chain })),
    };
    body["usage"] = chat::usage(1000, 100);
    body.to_string()
}

impl CrashOutput {
    /// Returns both outputs.
    pub(crate) fn all(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }
}

pub(crate) async fn wait_for_exit(child: Child) -> CrashOutput {
    let output = timeout(RUN_TIMEOUT, child.wait_with_output()).await.unwrap_or_else(|_| panic!("the program hangs")).unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    CrashOutput { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}
