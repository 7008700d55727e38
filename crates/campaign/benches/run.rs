//! Overhead of a run: 100,000 trivial trials, and one-call trials against a model on loopback.

#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a benchmark measures, prints and gives up loudly"
)]

use bardo_eval_campaign::{
    CancellationToken, NoopWatcher, PreparedRun, RunDestination, RunFunds, RunHandle, RunOptions, RunParts, RunPlan, RunSettings, RunSpec,
    RunWatcher, WatchedTrial, WatcherDecision, execute,
};
use model::Workspace;
use run::providers::ProviderConfig;
use run::{Clock, SubjectDeps, SubjectPool};
use score::example::ExampleWorkspace;
use serde_json::json;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use testkit::bare_client::bare_client;
use testkit::{LoopbackServer, chat};

const TRIVIAL: u64 = 100_000;
const CALLS: u64 = 2_000;
const AT_ONCE: usize = 64;
const THINKS: Duration = Duration::from_millis(50);

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    match std::env::args().nth(1).as_deref() {
        Some("trivial") => runtime.block_on(trivial()),
        Some("calls") => runtime.block_on(calls(&std::env::args().nth(2).unwrap())),
        Some("serve") => runtime.block_on(serve()),
        // Each in a separate process, so that memory and CPU time are measured separately.
        Some(_) | None => {
            again(&["trivial"]).status().unwrap();
            let mut server = again(&["serve"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
            let mut url = String::new();
            BufReader::new(server.stdout.take().unwrap()).read_line(&mut url).unwrap();
            again(&["calls", url.trim()]).status().unwrap();
            drop(server.stdin.take());
            server.wait().unwrap();
        }
    }
}

fn again(args: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(args);
    command
}

fn plan(workspace: &Arc<Workspace>, subject: &str, trials: u64, concurrency: usize) -> RunPlan {
    let RunSpec { settings, options } = RunSpec::new(&[subject]);
    let settings = RunSettings { trials, cases: vec!["how_much_usdc".to_owned()], ..settings };
    RunPlan::resolve(RunSpec { settings, options: RunOptions { concurrency, ..options } }, workspace.clone()).unwrap()
}

fn begin(prepared: &PreparedRun, folder: &tempfile::TempDir) -> RunHandle {
    RunHandle::begin(&RunDestination::Store(folder.path().join("store.sqlite").into()), prepared).unwrap()
}

/// Watcher that measures memory during the run.
struct MemoryWatcher {
    done: u64,
    early: f64,
}

impl RunWatcher for MemoryWatcher {
    fn on_trial_ended(&mut self, _: &WatchedTrial<'_>) {
        self.done += 1;
        if self.done == TRIVIAL / 10 {
            self.early = megabytes("VmRSS:");
        }
    }

    fn on_trial_in_order(&mut self, _: &WatchedTrial<'_>) -> WatcherDecision {
        WatcherDecision::Continue
    }
}

async fn trivial() {
    let workspace = testkit::minimal_workspace();
    let (plan, clock) = (plan(&workspace, "echo", TRIVIAL, 8), Clock::system());
    let pool = SubjectPool::build(&workspace, &[&plan.subjects()[0]], &SubjectDeps::offline(clock)).unwrap();
    let prepared = PreparedRun::new(plan, RunParts::new(pool, clock));
    let checks = score::scorers::scorers_for_case(&workspace, workspace.case("how_much_usdc").unwrap()).len();
    let folder = tempfile::tempdir().unwrap();
    let handle = begin(&prepared, &folder);
    let mut memory = MemoryWatcher { done: 0, early: 0.0 };
    let (began, before) = (Instant::now(), cpu());
    let summary = execute(&prepared, &handle, &mut memory, CancellationToken::new()).await.unwrap();
    drop(handle);
    let (wall, used) = (began.elapsed(), cpu() - before);
    assert_eq!(summary.outcomes.finished(), TRIVIAL);
    let each = used.as_secs_f64() * 1e6 / TRIVIAL as f64;
    println!(
        "{TRIVIAL} trials of echo, {checks} checks each, journal on: {each:.1} µs of processor time each (bar 50), {:.1} s",
        wall.as_secs_f64()
    );
    let (late, peak) = (megabytes("VmRSS:"), megabytes("VmHWM:"));
    println!("resident: {:.1} MB after {}, {late:.1} MB after {TRIVIAL}, {peak:.1} MB at most (bar 200)", memory.early, TRIVIAL / 10);
}

async fn serve() {
    let mut body = chat::tool_call_reply(1, "wallet_get_balance", &json!({ "token": "USDC", "chain": "base" }));
    body["usage"] = chat::usage(1000, 100);
    let model = LoopbackServer::slow_model(THINKS, body.to_string()).await;
    println!("{}", model.url);
    // Until the parent process closes the pipe.
    tokio::task::spawn_blocking(|| std::io::stdin().lines().count()).await.unwrap();
}

async fn calls(url: &str) {
    let subject = format!(
        "subject: local\nprovider: openai-compatible\nmodel: m\nbase_url: {url}/v1\nabout: A model on this machine.\n\
         price: {{ input_per_mtok: 1, output_per_mtok: 2, cache_read_per_mtok: 1, cache_write_per_mtok: 1, as_of: \"2026-11-15\" }}\n"
    );
    let workspace = Arc::new(ExampleWorkspace::minimal().with("subjects/local.yaml", &subject).load().unwrap());
    let sample = json!({ "model": "m", "messages": [{ "role": "user", "content": "x".repeat(4000) }] }).to_string();
    let path = format!("{url}/v1/chat/completions");
    // Warm up both, then measure ours between two bare ones, against drift of the machine.
    bare_client(&path, &sample, AT_ONCE, AT_ONCE).await;
    let first = bare_client(&path, &sample, CALLS as usize, AT_ONCE).await;
    let (wall, used, reported) = ours(&workspace).await;
    let second = bare_client(&path, &sample, CALLS as usize, AT_ONCE).await;
    let bare_wall = (first.wall + second.wall).as_secs_f64() / 2.0;
    let bare_latency = (first.mean_latency() + second.mean_latency()).as_secs_f64() * 500.0;
    println!("{CALLS} trials of one call, {AT_ONCE} at once, reply after {} ms:", THINKS.as_millis());
    println!("  wall {:.2} s, the bare client {bare_wall:.2} s: {:.3} x (bar 1.10)", wall.as_secs_f64(), wall.as_secs_f64() / bare_wall);
    println!("  processor time {:.3} ms a trial (bar 1)", used.as_secs_f64() * 1000.0 / CALLS as f64);
    println!(
        "  latency reported {reported:.1} ms, the bare client's {bare_latency:.1} ms: {:.3} x (bar within 5 %)",
        reported / bare_latency
    );
}

async fn ours(workspace: &Arc<Workspace>) -> (Duration, Duration, f64) {
    let (plan, clock) = (plan(workspace, "local", CALLS, AT_ONCE), Clock::system());
    let funds = RunFunds::new(None, clock, 86_400);
    let terms = ProviderConfig::new(funds.budget.clone(), funds.ledger.clone(), clock);
    let deps = SubjectDeps { provider_config: Some(terms), ..SubjectDeps::offline(clock) };
    let pool = SubjectPool::build(workspace, &[&plan.subjects()[0]], &deps).unwrap();
    let prepared = PreparedRun::new(plan, RunParts { funds, ..RunParts::new(pool, clock) });
    let folder = tempfile::tempdir().unwrap();
    let handle = begin(&prepared, &folder);
    let (began, before) = (Instant::now(), cpu());
    let summary = execute(&prepared, &handle, &mut NoopWatcher, CancellationToken::new()).await.unwrap();
    let (wall, used) = (began.elapsed(), cpu() - before);
    assert_eq!(summary.outcomes.finished(), CALLS);
    (wall, used, handle.mean_latency_ms().unwrap().unwrap())
}

/// Returns the CPU time of this process: all threads, user and system.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    // A tick is 10 ms on common Linux systems.
    Duration::from_millis(ticks * 10)
}

fn megabytes(what: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(what)).unwrap();
    line.trim().trim_end_matches(" kB").parse::<f64>().unwrap() / 1024.0
}
