//! A vendor that lies about token counts: its bill stays within the cap and the calls in flight, and the store stays readable.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a test fails by panicking, reads how many schedules to play, and says what it saw"
)]

use bardo_eval_campaign::{
    CancellationToken, CaseSelection, NoopWatcher, PreparedRun, RunDestination, RunFunds, RunHandle, RunOptions, RunParts, RunPlan,
    RunSettings, RunSpec, execute, open_store, select,
};
use model::{AgentEndpoint, ModelPrice, Money, ProviderKind, SeededRng, SubjectFile};
use run::providers::{CassetteMode, ProviderConfig, RetryPolicy};
use run::{Clock, SubjectDeps, SubjectPool};
use score::example::ExampleWorkspace;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use testkit::{LoopbackServer, VendorReply, chat};

/// Schedules in a usual test run. The variable below sets another number.
const SCHEDULES: u64 = 40;
const SCHEDULES_VARIABLE: &str = "BARDO_EVAL_SCHEDULES";
/// Price of an output token, in nano-dollars. Input is free, so a call costs at most its output limit.
const NANOS_PER_TOKEN: u64 = 10_000;

/// Token counts in the replies of one schedule.
const COUNTS: [&str; 14] = [
    "right",
    "float",
    "text",
    "negative",
    "two_to_the_63",
    "largest",
    "zero",
    "missing",
    "null",
    "thousandfold",
    "no_usage",
    "exponent",
    "object",
    "mixed",
];

fn usage(kind: &str, n: usize, allowed: u64) -> Option<Value> {
    let counts = |output: Value| Some(json!({ "prompt_tokens": 100, "completion_tokens": output, "total_tokens": 100 }));
    match kind {
        "right" => counts(json!(allowed / 2)),
        "float" => counts(json!(allowed as f64)),
        "text" => counts(json!(allowed.to_string())),
        "negative" => counts(json!(-1)),
        "two_to_the_63" => Some(json!({ "prompt_tokens": 1_u64 << 63, "completion_tokens": 1_u64 << 63 })),
        "largest" => Some(json!({ "prompt_tokens": u64::MAX, "completion_tokens": u64::MAX })),
        "zero" => counts(json!(0)),
        "missing" => Some(json!({ "prompt_tokens": 100 })),
        "null" => counts(Value::Null),
        "thousandfold" => counts(json!(allowed * 1000)),
        "no_usage" => None,
        "exponent" => counts(json!(1e30)),
        "object" => counts(json!({ "tokens": allowed })),
        _ => usage(COUNTS[n % (COUNTS.len() - 1)], n, allowed),
    }
}

fn is_believable(usage: Option<&Value>, allowed: u64) -> Option<u64> {
    let count = usage?.get("completion_tokens")?.as_u64()?;
    (count <= allowed).then_some(count)
}

/// One run against one kind of vendor.
struct BillSchedule {
    counts: &'static str,
    stream: bool,
    concurrency: usize,
    /// One request in this many fails with status 500.
    failing: usize,
    cap: Money,
}

impl BillSchedule {
    fn draw(n: u64) -> Self {
        let mut rng = SeededRng::new(n);
        Self {
            // Every kind in turn, so that few schedules have them all.
            counts: COUNTS[usize::try_from(n % COUNTS.len() as u64).unwrap()],
            stream: rng.percent(50),
            concurrency: *rng.pick(&[64, 4, 1]).unwrap(),
            failing: *rng.pick(&[usize::MAX, 3, 2]).unwrap(),
            cap: Money::from_nanos(100_000_000 + 37_000_000 * rng.below(40) as u64),
        }
    }
}

fn subject(url: &str, stream: bool) -> SubjectFile {
    let mut file = SubjectFile::from_command_line("hostile", ProviderKind::OpenAiCompatible, AgentEndpoint::Url(String::new()));
    file.external = None;
    file.model = Some("hostile".into());
    file.base_url = Some(url.to_owned());
    file.stream = stream;
    file.price = Some(ModelPrice {
        input_per_mtok: Money::ZERO,
        output_per_mtok: Money::from_nanos(NANOS_PER_TOKEN * 1_000_000),
        cache_read_per_mtok: None,
        cache_write_per_mtok: None,
        as_of: "2026-11-15".into(),
    });
    file
}

fn allowed_tokens(request: &Value) -> u64 {
    ["max_tokens", "max_completion_tokens"].iter().find_map(|key| request[*key].as_u64()).unwrap()
}

/// Plays one schedule and returns it with its bill.
async fn play(n: u64) -> (BillSchedule, Money) {
    let schedule = BillSchedule::draw(n);
    let (bill, largest) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let (billed, ceiling) = (bill.clone(), largest.clone());
    let (counts, stream, failing) = (schedule.counts, schedule.stream, schedule.failing);
    let server = LoopbackServer::start(move |at, request| {
        if at % failing == failing - 1 {
            return VendorReply::status(500, "{}");
        }
        let allowed = allowed_tokens(&request.body);
        ceiling.fetch_max(allowed * NANOS_PER_TOKEN, Ordering::Relaxed);
        let usage = usage(counts, at, allowed);
        // The vendor bills all that the request allowed if its counts cannot be true.
        billed.fetch_add(is_believable(usage.as_ref(), allowed).unwrap_or(allowed) * NANOS_PER_TOKEN, Ordering::Relaxed);
        let mut body = chat::tool_call_reply(at, "wallet_get_balance", &json!({ "token": "USDC", "chain": "base" }));
        match usage {
            Some(usage) => body["usage"] = usage,
            None => drop(body.as_object_mut().unwrap().remove("usage")),
        }
        let reply = if stream { VendorReply::ok(as_stream(&body)) } else { VendorReply::ok(body.to_string()) };
        reply.after(Duration::from_millis(1))
    })
    .await;
    let workspace = Arc::new(ExampleWorkspace::minimal().load().unwrap());
    let file = subject(&server.url, schedule.stream);
    let cases = select(&workspace, &CaseSelection { cases: vec!["how_much_usdc".into()], ..CaseSelection::default() }).unwrap();
    let RunSpec { settings, options } = RunSpec::new(&[]);
    let settings = RunSettings { trials: 150, budget: Some(schedule.cap), ..settings };
    let spec = RunSpec { settings, options: RunOptions { concurrency: schedule.concurrency, ..options } };
    let plan = RunPlan::from_cases(spec, &workspace, &cases, &[&file]);
    let funds = RunFunds::new(Some(schedule.cap), Clock::system(), 0);
    let retry_policy = RetryPolicy { attempts: 3, first_pause: Duration::from_millis(1), longest_pause: Duration::from_millis(4) };
    let config = ProviderConfig { retry_policy, ..ProviderConfig::new(funds.budget.clone(), funds.ledger.clone(), Clock::system()) };
    let deps = SubjectDeps {
        provider_config: Some(config),
        key: &|_| None,
        cassette: &|_| CassetteMode::Off,
        ..SubjectDeps::offline(Clock::system())
    };
    let subjects = SubjectPool::build(&workspace, &[&file], &deps).unwrap();
    let prepared = PreparedRun::new(plan, RunParts { funds, ..RunParts::new(subjects, Clock::system()) });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let handle = RunHandle::begin(&RunDestination::Store(path.clone().into()), &prepared).unwrap();
    execute(&prepared, &handle, &mut NoopWatcher, CancellationToken::new()).await.unwrap();
    drop(handle);
    let bill = Money::from_nanos(bill.load(Ordering::Relaxed));
    let in_flight = Money::from_nanos(largest.load(Ordering::Relaxed) * schedule.concurrency as u64);
    let allowed = Money::from_nanos(schedule.cap.as_nanos() + in_flight.as_nanos());
    assert!(
        bill <= allowed,
        "schedule {n}: {counts}, stream {stream}, {} at once: bill {bill}, cap {}, {in_flight} in flight",
        schedule.concurrency,
        schedule.cap
    );
    let store = open_store(&path).unwrap();
    let run = store.runs().unwrap().remove(0);
    assert_eq!(run.planned, 150);
    store.spending(run.run).unwrap();
    store.record(&run).unwrap();
    (schedule, bill)
}

/// Returns a reply as a stream: the call in two parts, then the counts.
fn as_stream(body: &Value) -> String {
    let message = &body["choices"][0]["message"];
    let call = &message["tool_calls"][0];
    let head = json!({ "id": "x", "choices": [{ "index": 0, "delta": { "role": "assistant", "tool_calls": [{ "index": 0, "id": call["id"], "type": "function",
        "function": { "name": call["function"]["name"], "arguments": "" } }] } }] });
    let rest = json!({ "id": "x", "choices": [{ "index": 0, "delta": { "tool_calls": [{ "index": 0, "function": { "arguments": call["function"]["arguments"] } }] } }] });
    let stop = json!({ "id": "x", "choices": [{ "index": 0, "delta": {}, "finish_reason": "tool_calls" }] });
    let mut chunks = vec![head, rest, stop];
    chunks.extend(body.get("usage").map(|usage| json!({ "id": "x", "choices": [], "usage": usage })));
    let lines: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    format!("{lines}data: [DONE]\n\n")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bill_of_a_hostile_vendor_stays_within_the_cap_and_the_calls_in_flight() {
    let schedules = std::env::var(SCHEDULES_VARIABLE).ok().and_then(|text| text.parse().ok()).unwrap_or(SCHEDULES);
    let (mut over, mut streamed, mut at_once) = (0, 0, 0);
    for n in 0..schedules {
        let (schedule, bill) = play(n).await;
        over += u64::from(bill > schedule.cap);
        streamed += u64::from(schedule.stream);
        at_once += u64::from(schedule.concurrency == 64);
    }
    println!(
        "{schedules} schedules, {streamed} streamed, {at_once} with 64 calls at once: {over} bills above the cap, none by more than the calls in flight"
    );
    assert!(streamed > 0 && streamed < schedules && at_once > 0, "{streamed} of {schedules} streamed, {at_once} with 64 calls at once");
}
