//! Parsers of everything that comes from outside, each as a function of bytes that must return. Fuzzers call them with any input, the
//! tests of the program with the committed seeds and mutations of them.

use campaign::{FinishedRun, JobVerdict, ReportedRun, parse_job_report};
use foreign::{AttackQuestion, LogEntry, LogFormat, LogInput, VerdictPair, attack_signs, log_readings, read_log};
use model::suite::{JsonPath, StatePredicate};
use model::transcript::TxOutcome;
use model::yaml::{YamlLimits, emit, json, load};
use model::{
    CaseOutcome, Decimal, Ending, ExternalScorer, ParamKind, ProblemReport, Reading, Rule, Score, Workspace, WorkspaceFiles, parse_units,
};
use promptfoo::{SuiteFiles, TestFilters, expand, import_suite, read_for_import, read_results, read_suite};
use run::ledger::{CallId, CallRole};
use run::providers::cassette::CassetteLines;
use run::providers::{ChatMessage, ContentBlock, MessageRole, ModelCall, ModelRequest, ToolChoice};
use score::assertions::AssertionMode;
use score::checks::{CHECKS, run_selected};
use score::golden::GoldenFile;
use score::questions::{JudgeAnswer, JudgeQuestion, ScorerAnswer};
use serde_json::{Map, Value};
use std::io::Cursor;
use std::sync::{Arc, LazyLock};
use store::Store;
use world::chain::{AddressEntry, ChainReader, ObservedTransaction, registry_book};
use world::mcp::source::ReplaySource;
use world::{ActingAgent, ChainKind, LiveWorld, World, WorldSettings, WorldTemplate};

/// Parser under test.
#[derive(Debug, Clone, Copy)]
pub struct FuzzTarget {
    pub name: &'static str,
    pub run: fn(&[u8]),
}

impl FuzzTarget {
    /// Returns the folder of its seeds below `fuzz/seeds`.
    pub fn seeds(&self) -> &'static str {
        if self.name == "workspace_whole" { "workspace_file" } else { self.name }
    }
}

/// All targets.
pub static TARGETS: &[FuzzTarget] = &[
    FuzzTarget { name: "workspace_file", run: workspace_file },
    FuzzTarget { name: "workspace_whole", run: workspace_whole },
    FuzzTarget { name: "yaml", run: yaml },
    FuzzTarget { name: "rules", run: rules },
    FuzzTarget { name: "values", run: values },
    FuzzTarget { name: "logs", run: logs },
    FuzzTarget { name: "vendor_replies", run: vendor_replies },
    FuzzTarget { name: "agent_messages", run: agent_messages },
    FuzzTarget { name: "answers", run: answers },
    FuzzTarget { name: "tool_arguments", run: tool_arguments },
    FuzzTarget { name: "mcp", run: mcp },
    FuzzTarget { name: "rpc", run: rpc },
    FuzzTarget { name: "node_replies", run: node_replies },
    FuzzTarget { name: "recordings", run: recordings },
    FuzzTarget { name: "store", run: store_file },
    FuzzTarget { name: "promptfoo_config", run: promptfoo_config },
    FuzzTarget { name: "promptfoo_tests", run: promptfoo_tests },
    FuzzTarget { name: "promptfoo_results", run: promptfoo_results },
    FuzzTarget { name: "collected_traces", run: collected_traces },
    FuzzTarget { name: "agent_replies", run: agent_replies },
    FuzzTarget { name: "ci_reports", run: ci_reports },
];

/// Files that a first line may name; other inputs are cases.
const FILES: &[&str] = &[
    "tools/a.yaml",
    "profiles/a.yaml",
    "agents/a.md",
    "outputs/a.yaml",
    "skills/a/SKILL.md",
    "registry/base.yaml",
    "policy.yaml",
    "gates.yaml",
    "tiers.yaml",
    "bardo-eval.yaml",
    "scorers.yaml",
    "coverage.yaml",
    "version.yaml",
    "production.yaml",
    "subjects/a.yaml",
    "suites/behavior/a.yaml",
    "worlds/a.yaml",
    "probes/asi01_goal_hijack/a.yaml",
];

/// Splits a first line off that names a file of a workspace.
fn named_file(bytes: &[u8]) -> (&'static str, String) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let (first, rest) = text.split_once('\n').unwrap_or(("", &text));
    let named = FILES.iter().find(|file| file.strip_suffix(".yaml").or(file.strip_suffix(".md")) == Some(first.trim()));
    named.map_or(("suites/tool_selection/a.yaml", text.clone()), |file| (*file, rest.to_owned()))
}

/// Loads a workspace of one file. All its mistakes have a message.
fn workspace_file(bytes: &[u8]) {
    let (path, text) = named_file(bytes);
    let mut files = WorkspaceFiles::default();
    files.insert(path, text);
    if let Err(problems) = Workspace::load(&files) {
        assert!(!problems.is_empty() && problems.iter().all(|problem| !problem.to_string().is_empty()));
    }
}

/// Checks of tier 1 that take longer than all others together. They play or mutate references, which the tests of `score` cover.
const SLOW_CHECKS: &[&str] = &["mutants_caught", "schema_fuzz", "cross_play", "prompt_hides_answer"];

static FAST_CHECKS: LazyLock<Vec<&str>> =
    LazyLock::new(|| CHECKS.iter().map(|check| check.id()).filter(|id| !SLOW_CHECKS.contains(id)).collect());

/// Loads the small workspace with one file more and, if it loads, runs the fast checks of tier 1. Every finding has a message.
fn workspace_whole(bytes: &[u8]) {
    let (path, text) = named_file(bytes);
    let mut files: WorkspaceFiles = model::MINIMAL_WORKSPACE.iter().copied().collect();
    files.insert(path, text);
    if let Ok(workspace) = Workspace::load(&files) {
        let found = run_selected(&workspace, &FAST_CHECKS);
        assert!(found.iter().all(|finding| !finding.what.is_empty()));
    }
}

/// Reads YAML. What is written again reads the same.
fn yaml(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let report = ProblemReport::new("fuzz.yaml");
    let Some(value) = load(&text, YamlLimits::default(), &report).and_then(|node| json(&node, &report)) else { return };
    let written = emit(&value);
    let report = ProblemReport::new("again.yaml");
    let again = load(&written, YamlLimits::default(), &report).and_then(|node| json(&node, &report));
    assert_eq!(again.as_ref(), Some(&value), "{written}");
}

/// Parses rules, state predicates and paths. A rule that is displayed parses to the same rule.
fn rules(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for line in text.lines().take(20) {
        if let Ok(rule) = Rule::parse(line) {
            assert_eq!(Rule::parse(&rule.to_string()).as_ref(), Ok(&rule), "{line}");
        }
        let _ = (StatePredicate::parse(line), JsonPath::parse(line), foreign::ForbiddenCall::parse(line));
    }
}

/// Parses amounts, kinds, addresses and hashes.
fn values(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for line in text.lines().take(20) {
        let _ = (Decimal::parse(line), Decimal::parse_typed(line), parse_units(line, 18), parse_units(line, 0));
        if let Some(exact) = Decimal::parse_strict(line) {
            assert_eq!(Decimal::parse_strict(&exact.to_string()), Some(exact), "{line}");
        }
        let _ = (line.parse::<ParamKind>(), model::ContentHash::parse(line), line.parse::<model::Money>());
    }
}

const FORMATS: &[LogFormat] = &[
    LogFormat::Jsonl,
    LogFormat::OpenAiChat,
    LogFormat::OpenAiResponses,
    LogFormat::Anthropic,
    LogFormat::TauBench,
    LogFormat::Tau2,
    LogFormat::AgentDojo,
    LogFormat::Inspect,
    LogFormat::Otlp,
];

/// Reads a log as the format that it has, and as one that its length chooses.
fn logs(bytes: &[u8]) {
    for format in [None, Some(FORMATS[bytes.len() % FORMATS.len()])] {
        let input = LogInput { file: "fuzz", format };
        let read = read_log(&mut Cursor::new(bytes), input, &mut |entry| match entry {
            LogEntry::Recording(recording) => {
                let size = recording.transcript.events.len() + recording.notes.len() + recording.verdicts.len();
                assert!(size <= bytes.len() + 100, "{size} parts from {} bytes", bytes.len());
                let signs = attack_signs(&recording, &AttackQuestion { canaries: vec!["x".into()], forbidden: vec![] });
                let _ = (log_readings(&recording), VerdictPair::all(&recording, None, signs.as_ref()));
            }
            LogEntry::Problem(problem) => assert!(problem.what.len() < 2000, "{}", problem.what),
        });
        let _ = read;
    }
}

fn vendor_replies(bytes: &[u8]) {
    run::providers::parse_any_reply(&String::from_utf8_lossy(bytes));
}

fn agent_messages(bytes: &[u8]) {
    let _ = run::external::is_agent_message(bytes);
}

static QUESTION: LazyLock<Option<JudgeQuestion>> = LazyLock::new(|| JudgeQuestion::wording("a_case", "Sold.", "Bought."));

/// Scorers of a workspace, one of each scale.
static SCORERS: LazyLock<Vec<ExternalScorer>> = LazyLock::new(|| {
    let mut files: WorkspaceFiles = model::MINIMAL_WORKSPACE.iter().copied().collect();
    files.insert(
        "scorers.yaml",
        "scorers: [{ id: a, about: x, command: [y], reads: tally }, { id: b, about: x, command: [y], reads: level }]\n",
    );
    Workspace::load(&files).expect("the small workspace with scorers").scorers
});

/// Reads answers of judges and scorers, labelled examples and texts, and golden files. What is written again reads the same.
fn answers(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let _ = QUESTION.as_ref().map(|question| JudgeAnswer::parse(question, &text));
    let _ = (score::questions::LabelledExample::parse_lines(&text), guard::parse_labelled_texts(&text));
    for answer in SCORERS.iter().filter_map(|scorer| ScorerAnswer::parse(scorer, &text).ok()) {
        let is_sound = match answer.reading {
            Reading::Tally { hit, of } => hit == of || (hit < of && !answer.because.is_empty()),
            Reading::Level(level) => level.is_finite(),
            Reading::Unscorable { .. } => true,
        };
        assert!(is_sound, "{text}");
    }
    if let Ok(file) = GoldenFile::parse(&text) {
        assert!(GoldenFile::parse(&file.to_lines()).is_ok(), "{text}");
    }
}

static SMALL_WORKSPACE: LazyLock<Arc<Workspace>> = LazyLock::new(|| {
    let files: WorkspaceFiles = model::MINIMAL_WORKSPACE.iter().copied().collect();
    Arc::new(Workspace::load(&files).expect("the small workspace"))
});

static SMALL: LazyLock<Arc<WorldTemplate>> =
    LazyLock::new(|| WorldTemplate::new(SMALL_WORKSPACE.clone(), "small", ChainKind::Embedded).expect("its world"));

static RUNTIME: LazyLock<tokio::runtime::Runtime> =
    LazyLock::new(|| tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime"));

fn agent() -> ActingAgent {
    ActingAgent::new("trader", 0)
}

/// Calls tools of a world: a JSON object by tool, each with its arguments.
fn tool_arguments(bytes: &[u8]) {
    let Ok(calls) = serde_json::from_slice::<Map<String, Value>>(bytes) else { return };
    let mut world = LiveWorld::new(&SMALL, WorldSettings::default());
    RUNTIME.block_on(async {
        for (tool, args) in calls.iter().take(4) {
            let call = world.record_call(&agent(), tool, args);
            world.call(&agent(), call, tool, args).await;
        }
    });
    assert!(world.harness_fault().is_none(), "{:?}", world.harness_fault());
}

fn mcp(bytes: &[u8]) {
    for line in bytes.split(|byte| *byte == b'\n').take(20) {
        let _ = world::mcp::read_server_message(line);
    }
}

/// Chain of the small world.
const BASE: u64 = 8453;

fn rpc(bytes: &[u8]) {
    let world = Arc::new(tokio::sync::Mutex::new(LiveWorld::new(&SMALL, WorldSettings::default())));
    let answered = RUNTIME.block_on(world::endpoints::answer_rpc_body(world, agent(), BASE, bytes));
    assert!(answered.is_some(), "the world has the chain");
}

/// Wallet of the agents in the seeds.
const WALLET: &str = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";

/// Reads a transaction from replies of a node: the hash, then one body on each line. A node cannot make a transaction look like one of
/// another chain, and a failed one has no logs.
fn node_replies(bytes: &[u8]) {
    let mut lines = bytes.split(|byte| *byte == b'\n').take(20);
    let Some(hash) = lines.next().and_then(|line| std::str::from_utf8(line).ok()?.trim().parse().ok()) else { return };
    let mut book = registry_book(&SMALL_WORKSPACE, BASE, &[]).expect("the chain of the small world");
    book.add(WALLET.parse().expect("an address"), AddressEntry { name: "wallet".into(), own: true, ..AddressEntry::default() });
    let mut reader = ChainReader::with_replies(book, lines.map(<[u8]>::to_vec).collect());
    if let Ok(read) = RUNTIME.block_on(reader.read(hash)) {
        assert_eq!(read.mined.chain, BASE);
        assert!(read.mined.outcome == TxOutcome::Success || read.mined.logs.is_empty());
        assert!(serde_json::to_string(&read).is_ok_and(|text| serde_json::from_str::<ObservedTransaction>(&text).is_ok()));
    }
}

/// Request of which there is no recording.
static MISSING_CALL: LazyLock<ModelCall> = LazyLock::new(|| {
    let message = ChatMessage { by: MessageRole::User, blocks: vec![ContentBlock::text("sell it")] };
    let request = ModelRequest {
        model: "m".into(),
        system: "Be brief.".into(),
        messages: vec![message],
        tools: Arc::from([]),
        choice: ToolChoice::Free,
        temperature: None,
        max_output: 10,
        extra: Map::new(),
    };
    ModelCall::new(CallId { trial: model::ContentHash::of_text("a trial"), role: CallRole::Subject, n: 0 }, 7, request)
});

/// Reads recordings of models and of tools.
fn recordings(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = CassetteLines::default();
    if lines.read(&text).is_ok() {
        let nearest = lines.nearest_request(&MISSING_CALL);
        assert!(lines.len() <= text.lines().count() && nearest.is_some() != lines.is_empty(), "{text}");
    }
    let _ = ReplaySource::parse(&text);
}

const OLDER_STORE: &str = include_str!("../../crates/store/fixtures/store_v2.sql");

/// Bytes of a store with runs.
static STORE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store.sqlite");
    let older = rusqlite::Connection::open(&path).expect("a file");
    older.execute_batch(OLDER_STORE).expect("a dump");
    drop(older);
    drop(Store::open(&path, unjudged).expect("a store"));
    std::fs::read(&path).expect("the file")
});

fn unjudged(_: &Ending, _: &[Score]) -> CaseOutcome {
    CaseOutcome::Unjudged
}

/// Opens a store with edited bytes: three bytes of the input are a place, one is the new value. Then reads all of it.
fn store_file(bytes: &[u8]) {
    let mut file = STORE.clone();
    for edit in bytes.chunks_exact(4).take(64) {
        let place = u32::from_be_bytes([0, edit[0], edit[1], edit[2]]);
        let at = place as usize % file.len();
        file[at] = edit[3];
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("store.sqlite");
    std::fs::write(&path, file).expect("a file");
    let Ok(store) = Store::open(&path, unjudged) else { return };
    for run in store.runs().unwrap_or_default() {
        let _ = (store.record(&run), store.verdicts(&run), store.spending(run.run), store.call_counts(run.run));
        let _ = store.for_each_transcript(run.run, |_, _, _| {});
    }
}

/// Files beside a config: any path exists, and its ending decides the text. Files of tests have the text of the input.
struct AnyFiles<'t> {
    tests: &'t str,
}

impl SuiteFiles for AnyFiles<'_> {
    fn read(&self, path: &str) -> Result<String, String> {
        let text = match path.rsplit_once('.').map(|(_, ending)| ending) {
            Some("js" | "cjs" | "mjs") => "module.exports = (output) => output.length > 1;",
            Some("json") if path.contains("tool") => "[{ \"type\": \"function\", \"function\": { \"name\": \"a\" } }]",
            Some("csv" | "json" | "jsonl") => self.tests,
            Some("yaml" | "yml") => "[{ vars: { q: a } }]",
            Some("missing") => return Err("it does not exist".to_owned()),
            Some(_) | None => "Answer {{q}}.",
        };
        Ok(text.to_owned())
    }

    fn glob(&self, pattern: &str) -> Vec<String> {
        vec![pattern.to_owned()]
    }
}

/// Most tests that an input is expanded into: the bound of a run is two million.
const MAX_COMBINATIONS: usize = 10_000;

/// Reads a config of promptfoo in both modes, expands it, and imports it. All mistakes have a message, and an imported workspace loads.
fn read_config(text: &str, files: &AnyFiles<'_>) {
    for mode in [AssertionMode::Strict, AssertionMode::Compat] {
        match read_suite("fuzz.yaml", text, files, mode) {
            Err(problems) => assert!(!problems.is_empty() && problems.iter().all(|problem| !problem.to_string().is_empty())),
            Ok(suite) => {
                let lengths = suite.tests.iter().map(|test| {
                    let lists = test.vars.values().filter_map(Value::as_array).map(|list| list.len().max(1));
                    lists.fold(1_usize, usize::saturating_mul)
                });
                let columns = suite.providers.len() * suite.prompts.len();
                if lengths.fold(0, usize::saturating_add).saturating_mul(columns) <= MAX_COMBINATIONS {
                    let _ = expand(&suite, &TestFilters::default(), 1, &Map::new());
                }
            }
        }
    }
    let (suite, mistakes) = read_for_import("fuzz.yaml", text, files);
    let imported = import_suite(&suite, mistakes);
    if imported.cases > 0 {
        let files: WorkspaceFiles = imported.files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        if let Err(problems) = Workspace::load(&files) {
            panic!("an imported workspace does not load: {problems:#?}");
        }
    }
}

fn promptfoo_config(bytes: &[u8]) {
    read_config(&String::from_utf8_lossy(bytes), &AnyFiles { tests: "q,__expected\na,contains: b\n" });
}

/// Reads tests of a config in CSV, or in JSON if the text begins like it.
fn promptfoo_tests(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let ending = match text.trim_start().chars().next() {
        Some('[') => "json",
        Some('{') => "jsonl",
        Some(_) | None => "csv",
    };
    let config = format!("prompts: [\"Answer {{{{q}}}}.\"]\nproviders: [echo]\ntests: file://tests.{ending}\n");
    read_config(&config, &AnyFiles { tests: &text });
}

/// Reads result files of promptfoo. Every row has names.
fn promptfoo_results(bytes: &[u8]) {
    for row in read_results(&String::from_utf8_lossy(bytes)).unwrap_or_default() {
        assert!(!row.case_name().is_empty() && row.case_name().len() <= row.test_case.to_string().len() + 500);
        let _ = (row.subject().len(), row.output(), row.test(), row.is_error());
    }
}

fn collected_traces(bytes: &[u8]) {
    serve::collector::read_any_export(bytes);
}

fn agent_replies(bytes: &[u8]) {
    run::external::parse_any_agent_reply(bytes);
}

/// Judges a CI job by a report. A job passes only on verdicts that are met, and after an incomplete run on those without evidence besides.
fn ci_reports(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for exit in [0, 1, 3] {
        let report = parse_job_report(&text, &ReportedRun { exit, workspace: &SMALL_WORKSPACE.hash, tier: None });
        for without_judge in [false, true] {
            let job = JobVerdict::new(&SMALL_WORKSPACE, &FinishedRun { exit, report: report.clone(), without_judge });
            if job.passes() {
                let report = report.as_ref().expect("a job passes only with a report");
                let verdicts = report["verdicts"].as_array().expect("a job passes only with verdicts");
                let is_good = |row: &Value| row["verdict"] == "met" || (exit == 3 && without_judge && row["verdict"] == "no_evidence");
                assert!(exit != 1 && !verdicts.is_empty() && verdicts.iter().all(is_good), "{text}");
            }
        }
    }
}
