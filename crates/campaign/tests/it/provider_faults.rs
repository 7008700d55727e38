//! 300 trials of a model while three of ten requests fail: the run completes, and no fault becomes a score.

#![allow(
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    clippy::print_stdout,
    reason = "a test fails by panicking, and says what it saw"
)]

use bardo_eval_campaign::{
    CaseSelection, NoopWatcher, PreparedRun, RunOptions, RunParts, RunPlan, RunSettings, RunSpec, execute_in_memory, select,
};
use model::transcript::FaultSource;
use model::{AgentEndpoint, Ending, ModelPrice, Money, ProviderKind, SubjectFile, Verdict};
use run::ledger::MemoryLedger;
use run::providers::{CassetteMode, ProviderConfig, RetryPolicy};
use run::{Budget, Clock, SubjectDeps, SubjectPool};
use score::example::ExampleWorkspace;
use std::sync::Arc;
use std::time::Duration;
use testkit::{LoopbackServer, VendorReply, faults, trader};

const TRIALS: u64 = 300;

fn subject(url: &str) -> SubjectFile {
    let mut file = SubjectFile::from_command_line("loopback", ProviderKind::OpenAiCompatible, AgentEndpoint::Url(String::new()));
    file.external = None;
    file.model = Some("loopback".into());
    file.base_url = Some(url.to_owned());
    let price = Money::from_dollars(3);
    file.price = Some(ModelPrice {
        input_per_mtok: price,
        output_per_mtok: price,
        cache_read_per_mtok: None,
        cache_write_per_mtok: None,
        as_of: "2026-11-15".into(),
    });
    file
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn provider_faults_are_errors_not_scores() {
    let server = LoopbackServer::start(|n, seen| match faults::fault_kind(n) {
        Some(kind) => faults::fault_reply(kind),
        None => VendorReply::ok(trader::next_step(&seen.body).to_string()),
    })
    .await;
    let workspace = Arc::new(ExampleWorkspace::minimal().load().unwrap());
    let file = subject(&server.url);
    let cases = select(&workspace, &CaseSelection { cases: vec!["sell_usdc_for_ether".into()], ..CaseSelection::default() }).unwrap();
    let RunSpec { settings, options } = RunSpec::new(&[]);
    let spec = RunSpec { settings: RunSettings { trials: TRIALS, ..settings }, options: RunOptions { concurrency: 32, ..options } };
    let plan = RunPlan::from_cases(spec, &workspace, &cases, &[&file]);
    let (budget, ledger) = (Budget::new(Some(Money::from_dollars(1000))), Arc::new(MemoryLedger::default()));
    let retry_policy = RetryPolicy { attempts: 3, first_pause: Duration::from_millis(2), longest_pause: Duration::from_millis(50) };
    let terms = ProviderConfig {
        retry_policy,
        time_limit: Some(Duration::from_secs(6)),
        ..ProviderConfig::new(budget.clone(), ledger.clone(), Clock::system())
    };
    let deps = SubjectDeps {
        provider_config: Some(terms),
        key: &|_| None,
        cassette: &|_| CassetteMode::Off,
        ..SubjectDeps::offline(Clock::system())
    };
    let subjects = SubjectPool::build(&workspace, &[&file], &deps).unwrap();
    let prepared = PreparedRun::new(plan, RunParts::new(subjects, Clock::system()));
    let record = execute_in_memory(&prepared, &mut NoopWatcher).await.unwrap();

    assert_eq!(record.transcripts.len() as u64, TRIALS);
    let (mut finished, mut aborted) = (0, 0);
    for (transcript, scores) in record.transcripts.iter().zip(&record.scores) {
        match &transcript.ending {
            Ending::Finished => {
                finished += 1;
                assert!(!scores.scores.is_empty());
            }
            Ending::Aborted { by: FaultSource::Provider, .. } => {
                aborted += 1;
                assert!(scores.scores.is_empty(), "an error was scored: {:?}", scores.scores);
            }
            other => panic!("a fault of the vendor ended as {other}"),
        }
    }
    let books = ledger.entries();
    println!("{TRIALS} trials: {finished} finished, {aborted} aborted; {} requests, {} faults", server.count(), books.failed.len());
    assert!(finished > 50 && aborted > 50);
    assert_eq!((record.finished_count(), record.aborted_count()), (finished, aborted));
    assert_eq!(books.settled.len() + books.failed.len(), server.count(), "calls are answers and faults");
    assert_eq!(books.spent(), budget.spent());
    // The model does everything right, so no scored trial can miss.
    assert!(record.judgements.iter().all(|judgement| judgement.verdict != Verdict::Missed), "{:#?}", record.judgements);
}
