//! A vendor that lies about token counts and bills its errors: its bill stays within the cap and the calls in flight, and the store
//! stays readable.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a test fails by panicking, reads how many schedules to play, and says what it saw"
)]

mod wires;

use bardo_eval_campaign::{
    CancellationToken, CaseSelection, NoopWatcher, PreparedRun, RunDestination, RunFunds, RunHandle, RunOptions, RunParts, RunPlan,
    RunSettings, RunSpec, execute, open_store, select,
};
use model::{AgentEndpoint, ModelPrice, Money, SeededRng, SubjectFile, Workspace};
use run::providers::{CassetteMode, ProviderConfig, RetryPolicy, TokenUsage, ceiling, cost};
use run::{Clock, SubjectDeps, SubjectPool};
use score::example::ExampleWorkspace;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use testkit::{LoopbackServer, ReceivedRequest, VendorReply};
use wires::{HostileWire, ReportedCounts, WIRES};

/// Schedules in a usual test run. The first variable sets another number, the second one the first of them.
const SCHEDULES: u64 = 40;
const SCHEDULES_VARIABLE: &str = "BARDO_EVAL_SCHEDULES";
const FIRST_VARIABLE: &str = "BARDO_EVAL_FIRST_SCHEDULE";
const TRIALS: u64 = 150;

/// Token counts in the replies of one schedule.
const COUNTS: [&str; 17] = [
    "right",
    "float",
    "text",
    "negative",
    "two_to_the_63",
    "largest",
    "zero",
    "missing",
    "null",
    "half_more",
    "input_half_more",
    "thousandfold",
    "no_usage",
    "exponent",
    "object",
    "at_the_ceiling",
    "mixed",
];
/// Counts above the ceiling of every call.
const IMPOSSIBLE_COUNTS: [&str; 3] = ["half_more", "input_half_more", "thousandfold"];

/// Limits of one request.
#[derive(Debug, Clone, Copy)]
struct RequestLimits {
    bytes: u64,
    allowed: u64,
    ceiling: Money,
}

fn counts(kind: &str, n: usize, price: &ModelPrice, limits: RequestLimits) -> Option<ReportedCounts> {
    let RequestLimits { bytes, allowed, ceiling } = limits;
    let reported = |input: Value, output: Value| Some(ReportedCounts { input: Some(input), output: Some(output) });
    let output = |output: Value| reported(json!(bytes / 4), output);
    // Tokens at a price per million for one and a half times the ceiling.
    let half_more = |per_mtok: Money| json!((ceiling.as_nanos() * 3 / 2).div_ceil(per_mtok.as_nanos() / 1_000_000));
    match kind {
        "right" => output(json!(allowed / 2)),
        "float" => output(json!(allowed as f64)),
        "text" => output(json!(allowed.to_string())),
        "negative" => output(json!(-1)),
        "two_to_the_63" => reported(json!(1_u64 << 63), json!(1_u64 << 63)),
        "largest" => reported(json!(u64::MAX), json!(u64::MAX)),
        "zero" => output(json!(0)),
        "missing" => Some(ReportedCounts { input: Some(json!(bytes / 4)), output: None }),
        "null" => output(Value::Null),
        "half_more" => output(half_more(price.output_per_mtok)),
        "input_half_more" if price.input_per_mtok > Money::ZERO => reported(half_more(price.input_per_mtok), json!(1)),
        "input_half_more" => output(half_more(price.output_per_mtok)),
        "thousandfold" => output(json!(allowed * 1000)),
        "no_usage" => None,
        "exponent" => output(json!(1e30)),
        "object" => output(json!({ "tokens": allowed })),
        "at_the_ceiling" => reported(json!(bytes), json!(allowed)),
        _ => counts(COUNTS[n % (COUNTS.len() - 1)], n, price, limits),
    }
}

/// Returns the bill of an answered call: what the vendor reports, up to twice the ceiling, and the ceiling if that cannot be read.
fn bill_of(reported: Option<&ReportedCounts>, price: &ModelPrice, ceiling: Money) -> Money {
    let number = |count: &Option<Value>| count.as_ref().and_then(Value::as_u64).filter(|count| *count <= 1_000_000_000);
    let usage = reported.and_then(|counts| {
        let (input, output) = (number(&counts.input)?, number(&counts.output)?);
        Some(TokenUsage { input, output, ..TokenUsage::default() })
    });
    usage.map_or(ceiling, |usage| cost(price, &usage).min(ceiling.saturating_add(ceiling)))
}

/// One run against one kind of vendor.
#[derive(Debug, Clone)]
struct BillSchedule {
    counts: &'static str,
    wire: HostileWire,
    stream: bool,
    concurrency: usize,
    /// One request in this many fails with the status, and is billed at its ceiling.
    failing: usize,
    error_status: u16,
    price: ModelPrice,
    cap: Money,
}

impl BillSchedule {
    fn draw(n: u64) -> Self {
        let mut rng = SeededRng::new(n);
        let at = |count: usize| usize::try_from(n % count as u64).unwrap();
        Self {
            // Every kind and every wire format in turn, so that few schedules have them all.
            counts: COUNTS[at(COUNTS.len())],
            wire: WIRES[at(WIRES.len())],
            stream: rng.percent(50),
            concurrency: *rng.pick(&[64, 4, 1]).unwrap(),
            failing: *rng.pick(&[usize::MAX, 3, 2]).unwrap(),
            error_status: *rng.pick(&[500, 502, 504, 599, 408]).unwrap(),
            price: ModelPrice {
                input_per_mtok: Money::from_dollars(*rng.pick(&[0, 3]).unwrap()),
                output_per_mtok: Money::from_dollars(10),
                cache_read_per_mtok: None,
                cache_write_per_mtok: None,
                as_of: "2026-11-15".into(),
            },
            cap: Money::from_nanos(100_000_000 + 37_000_000 * rng.below(40) as u64),
        }
    }

    fn limits(&self, request: &ReceivedRequest) -> RequestLimits {
        let (bytes, allowed) = (request.raw.len() as u64, self.wire.allowed_tokens(&request.body));
        RequestLimits { bytes, allowed, ceiling: ceiling(&self.price, bytes, allowed) }
    }

    fn subject(&self, url: &str) -> SubjectFile {
        let (provider, base) = self.wire.provider();
        let mut file = SubjectFile::from_command_line("hostile", provider, AgentEndpoint::Url(String::new()));
        file.external = None;
        file.model = Some("hostile".into());
        file.base_url = Some(format!("{url}{base}"));
        file.stream = self.stream;
        file.price = Some(self.price.clone());
        file
    }
}

/// Books of the vendor, in nano-dollars.
#[derive(Debug, Default)]
struct VendorBooks {
    bill: AtomicU64,
    largest_ceiling: AtomicU64,
    answered: AtomicU64,
    failed: AtomicU64,
}

async fn start_vendor(schedule: &BillSchedule, books: &Arc<VendorBooks>) -> LoopbackServer {
    let (schedule, books) = (schedule.clone(), books.clone());
    LoopbackServer::start(move |at, request| {
        let limits = schedule.limits(request);
        books.largest_ceiling.fetch_max(limits.ceiling.as_nanos(), Ordering::Relaxed);
        if at % schedule.failing == schedule.failing - 1 {
            books.failed.fetch_add(1, Ordering::Relaxed);
            books.bill.fetch_add(limits.ceiling.as_nanos(), Ordering::Relaxed);
            return VendorReply::status(schedule.error_status, "{}");
        }
        let reported = counts(schedule.counts, at, &schedule.price, limits);
        books.answered.fetch_add(1, Ordering::Relaxed);
        books.bill.fetch_add(bill_of(reported.as_ref(), &schedule.price, limits.ceiling).as_nanos(), Ordering::Relaxed);
        VendorReply::ok(schedule.wire.reply_body(at, reported.as_ref(), schedule.stream)).after(Duration::from_millis(1))
    })
    .await
}

/// Runs 150 trials against the vendor and stores them.
async fn run_against(schedule: &BillSchedule, url: &str, path: &Path) {
    let workspace: Arc<Workspace> = Arc::new(ExampleWorkspace::minimal().load().unwrap());
    let file = schedule.subject(url);
    let cases = select(&workspace, &CaseSelection { cases: vec!["how_much_usdc".into()], ..CaseSelection::default() }).unwrap();
    let RunSpec { settings, options } = RunSpec::new(&[]);
    let settings = RunSettings { trials: TRIALS, budget: Some(schedule.cap), ..settings };
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
    let handle = RunHandle::begin(&RunDestination::Store(path.to_owned().into()), &prepared).unwrap();
    execute(&prepared, &handle, &mut NoopWatcher, CancellationToken::new()).await.unwrap();
}

/// Plays one schedule and returns it with its bill.
async fn play(n: u64) -> (BillSchedule, Money) {
    let schedule = BillSchedule::draw(n);
    let books = Arc::new(VendorBooks::default());
    let server = start_vendor(&schedule, &books).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    run_against(&schedule, &server.url, &path).await;
    let [bill, largest, answered, failed] =
        [&books.bill, &books.largest_ceiling, &books.answered, &books.failed].map(|book| book.load(Ordering::Relaxed));
    let bill = Money::from_nanos(bill);
    let in_flight = Money::from_nanos(largest * schedule.concurrency as u64);
    assert!(answered > 0, "schedule {n}: {schedule:?}: no call was answered");
    assert!(bill <= schedule.cap.saturating_add(in_flight), "schedule {n}: {schedule:?}: bill {bill}, {in_flight} in flight");
    // The first count above a ceiling closes the budget, so that no call follows an answer.
    if IMPOSSIBLE_COUNTS.contains(&schedule.counts) {
        assert!(answered <= schedule.concurrency as u64, "schedule {n}: {schedule:?}: {answered} calls answered");
    }
    let store = open_store(&path).unwrap();
    let run = store.runs().unwrap().remove(0);
    assert_eq!(run.planned, TRIALS);
    store.spending(run.run).unwrap();
    store.record(&run).unwrap();
    assert_eq!(store.call_counts(run.run).unwrap().reserved, 0, "schedule {n}: a call was left open");
    assert!(failed == 0 || schedule.failing < usize::MAX);
    (schedule, bill)
}

fn number_of(variable: &str, usually: u64) -> u64 {
    std::env::var(variable).ok().map_or(usually, |text| text.parse().unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bill_of_a_hostile_vendor_stays_within_the_cap_and_the_calls_in_flight() {
    let (first, schedules) = (number_of(FIRST_VARIABLE, 0), number_of(SCHEDULES_VARIABLE, SCHEDULES));
    let (mut over, mut streamed, mut at_once, mut failing, mut priced_input) = (0, 0, 0, 0, 0);
    for n in first..first + schedules {
        let (schedule, bill) = play(n).await;
        over += u64::from(bill > schedule.cap);
        streamed += u64::from(schedule.stream);
        at_once += u64::from(schedule.concurrency == 64);
        failing += u64::from(schedule.failing < usize::MAX);
        priced_input += u64::from(schedule.price.input_per_mtok > Money::ZERO);
    }
    println!(
        "{schedules} schedules from {first} on, {streamed} streamed, {at_once} with 64 calls at once, {failing} with billed errors, \
         {priced_input} with priced input: {over} bills above the cap, none by more than the calls in flight"
    );
    for (what, seen) in [("streamed", streamed), ("64 at once", at_once), ("billed errors", failing), ("priced input", priced_input)] {
        assert!(seen > 0 && seen < schedules, "{what}: {seen} of {schedules}");
    }
}
