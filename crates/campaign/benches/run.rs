//! What a run costs beside what happens in it: trivial trials by the hundred thousand, and one-call trials against a model on loopback.

#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a benchmark measures, prints and gives up loudly"
)]

use bardo_eval_campaign::{Done, Go, Halt, Kept, Label, Request, Silent, Watcher, execute, outline};
use model::{Claim, Workspace};
use run::providers::Terms;

use run::{Company, Hiring, JournalLedger, Purse};
use score::example::Example;
use serde_json::json;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::Store;
use testkit::bare_client::bare_client;
use testkit::{LoopbackServer, chat};
use world::{ChainKind, Defence, Foreign};

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
        // Each in a process of its own: memory and processor time of one must not count for another.
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

fn request(workspace: &Arc<Workspace>, subject: &str, trials: u64, concurrency: usize) -> Request {
    let case = workspace.case("how_much_usdc").unwrap();
    let file = workspace.subject(subject).unwrap();
    Request {
        workspace: workspace.clone(),
        outline: outline(workspace, &[case], &[file], trials, 1),
        claim: Claim::default(),
        concurrency,
        chains: ChainKind::Embedded,
        defence: Defence::Observe,
        foreign: Foreign::default(),
        subjects: vec![file.clone()],
        company: Arc::default(),
        aides: bardo_eval_campaign::Aides::default(),
    }
}

fn begin(request: &Request, folder: &tempfile::TempDir) -> Kept {
    let label = Label { id: "0123456789abcdef", started: "2026-01-01T00:00:00Z", settings: "{}", budget: None };
    Kept::begin(Store::open(&folder.path().join("store.sqlite")).unwrap(), request, &label).unwrap()
}

/// Looks at the memory on the way.
struct Memory {
    done: u64,
    early: f64,
}

impl Watcher for Memory {
    fn ended(&mut self, _: &Done<'_>) {
        self.done += 1;
        if self.done == TRIVIAL / 10 {
            self.early = megabytes("VmRSS:");
        }
    }

    fn finished(&mut self, _: &Done<'_>) -> Go {
        Go::On
    }
}

async fn trivial() {
    let workspace = testkit::minimal_workspace();
    let mut request = request(&workspace, "echo", TRIVIAL, 8);
    let files: Vec<_> = request.subjects.iter().collect();
    request.company = Arc::new(Company::hire(&workspace, &files, &Hiring::nobody()).unwrap());
    let checks = score::scorers::applying(&workspace, workspace.case("how_much_usdc").unwrap()).len();
    let folder = tempfile::tempdir().unwrap();
    let kept = begin(&request, &folder);
    let mut memory = Memory { done: 0, early: 0.0 };
    let (began, before) = (Instant::now(), cpu());
    let summary = execute(&request, &kept, &mut memory, Halt::never(), "2026-01-01T00:00:09Z").await.unwrap();
    drop(kept);
    let (wall, used) = (began.elapsed(), cpu() - before);
    assert_eq!(summary.finished, TRIVIAL);
    let each = used.as_secs_f64() * 1e6 / TRIVIAL as f64;
    println!(
        "{TRIVIAL} trials of echo, {checks} checks each, journal on: {each:.1} µs of processor time each (bar 50), {:.1} s",
        wall.as_secs_f64()
    );
    let (late, peak) = (megabytes("VmRSS:"), megabytes("VmHWM:"));
    println!("resident: {:.1} MB after {}, {late:.1} MB after {TRIVIAL}, {peak:.1} MB at most (bar 200)", memory.early, TRIVIAL / 10);
}

async fn serve() {
    let mut body = chat::tool_call(1, "wallet_get_balance", &json!({ "token": "USDC", "chain": "base" }));
    body["usage"] = chat::usage(1000, 100);
    let model = LoopbackServer::slow_model(THINKS, body.to_string()).await;
    println!("{}", model.url);
    // Until whoever started it closes its end.
    tokio::task::spawn_blocking(|| std::io::stdin().lines().count()).await.unwrap();
}

async fn calls(url: &str) {
    let subject = format!(
        "subject: local\nprovider: openai-compatible\nmodel: m\nbase_url: {url}/v1\nabout: A model on this machine.\n\
         price: {{ input_per_mtok: 1, output_per_mtok: 2, cache_read_per_mtok: 1, cache_write_per_mtok: 1, as_of: \"2026-11-15\" }}\n"
    );
    let workspace = Arc::new(Example::minimal().with("subjects/local.yaml", &subject).load().unwrap());
    let sample = json!({ "model": "m", "messages": [{ "role": "user", "content": "x".repeat(4000) }] }).to_string();
    let path = format!("{url}/v1/chat/completions");
    // Once for both to be warm, then what is measured: ours between two of theirs, against drift of the machine.
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
    let mut request = request(workspace, "local", CALLS, AT_ONCE);
    let folder = tempfile::tempdir().unwrap();
    let kept = begin(&request, &folder);
    let ledger = Arc::new(JournalLedger::new(kept.journal.clone(), kept.run, false, || 0, 86_400));
    let hiring = Hiring { terms: Some(Terms::new(Purse::new(None), ledger)), ..Hiring::nobody() };
    request.company = Arc::new(Company::hire(workspace, &[&request.subjects[0]], &hiring).unwrap());
    let (began, before) = (Instant::now(), cpu());
    let summary = execute(&request, &kept, &mut Silent, Halt::never(), "2026-01-01T00:00:09Z").await.unwrap();
    let (wall, used) = (began.elapsed(), cpu() - before);
    assert_eq!(summary.finished, CALLS);
    let run = kept.run;
    let waited = kept.journal.look_now(move |store| store.mean_latency_ms(run)).unwrap().unwrap();
    (wall, used, waited.unwrap())
}

/// Processor time of this process, all threads, in kernel and out of it.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    // A tick is a hundredth of a second on every Linux that matters.
    Duration::from_millis(ticks * 10)
}

fn megabytes(what: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(what)).unwrap();
    line.trim().trim_end_matches(" kB").parse::<f64>().unwrap() / 1024.0
}
