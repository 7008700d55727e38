//! 300 trials of a model through the whole runner while three of ten requests go wrong: the run completes, and no fault is a score.

#![allow(
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    clippy::print_stdout,
    reason = "a test fails by panicking, and says what it saw"
)]

use bardo_eval_campaign::{PreparedRun, RunOptions, RunParts, RunPlan, RunSettings, RunSpec, Selection, Silent, execute_in_memory, select};
use model::transcript::Culprit;
use model::{Ending, Money, Price, ProviderKind, Reached, SubjectFile, Verdict};
use run::ledger::MemoryLedger;
use run::providers::{Cassette, Patience, Terms};
use run::{Budget, Clock, SubjectDeps, SubjectPool};
use score::example::Example;
use std::sync::Arc;
use std::time::Duration;
use testkit::{LoopbackServer, VendorReply, faults, trader};

const TRIALS: u64 = 300;

fn subject(url: &str) -> SubjectFile {
    let mut file = SubjectFile::unwritten("loopback", ProviderKind::OpenAiCompatible, Reached::Url(String::new()));
    file.finished = None;
    file.model = Some("loopback".into());
    file.base_url = Some(url.to_owned());
    let price = Money::dollars(3);
    file.price = Some(Price {
        input_per_mtok: price,
        output_per_mtok: price,
        cache_read_per_mtok: None,
        cache_write_per_mtok: None,
        as_of: "2026-11-15".into(),
    });
    file
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_run_completes_and_every_fault_that_stays_is_an_error_of_the_record() {
    let server = LoopbackServer::start(|n, seen| match faults::kind_of(n) {
        Some(kind) => faults::reply_of(kind),
        None => VendorReply::ok(trader::next_step(&seen.body).to_string()),
    })
    .await;
    let workspace = Arc::new(Example::minimal().load().unwrap());
    let file = subject(&server.url);
    let cases = select(&workspace, &Selection { cases: vec!["sell_usdc_for_ether".into()], ..Selection::default() }).unwrap();
    let RunSpec { settings, options } = RunSpec::new(&[]);
    let spec = RunSpec { settings: RunSettings { trials: TRIALS, ..settings }, options: RunOptions { concurrency: 32, ..options } };
    let plan = RunPlan::of_cases(spec, &workspace, &cases, &[&file]);
    let (budget, ledger) = (Budget::new(Some(Money::dollars(1000))), Arc::new(MemoryLedger::default()));
    let patience = Patience { attempts: 3, first_pause: Duration::from_millis(2), longest_pause: Duration::from_millis(50) };
    let terms = Terms { patience, time_limit: Some(Duration::from_secs(6)), ..Terms::new(budget.clone(), ledger.clone(), Clock::system()) };
    let deps = SubjectDeps { terms: Some(terms), key: &|_| None, cassette: &|_| Cassette::Off, ..SubjectDeps::offline(Clock::system()) };
    let subjects = SubjectPool::build(&workspace, &[&file], &deps).unwrap();
    let prepared = PreparedRun::new(plan, RunParts::new(subjects, Clock::system()));
    let record = execute_in_memory(&prepared, &mut Silent).await.unwrap();

    assert_eq!(record.transcripts.len() as u64, TRIALS);
    let (mut finished, mut aborted) = (0, 0);
    for (transcript, scores) in record.transcripts.iter().zip(&record.scores) {
        match &transcript.ending {
            Ending::Finished => {
                finished += 1;
                assert!(!scores.scores.is_empty());
            }
            Ending::Aborted { by: Culprit::Provider, .. } => {
                aborted += 1;
                assert!(scores.scores.is_empty(), "an error was scored: {:?}", scores.scores);
            }
            other => panic!("a fault of the vendor ended as {other}"),
        }
    }
    let books = ledger.books();
    println!("{TRIALS} trials: {finished} finished, {aborted} aborted; {} requests, {} faults", server.count(), books.failed.len());
    assert!(finished > 50 && aborted > 50);
    assert_eq!((record.finished(), record.aborted()), (finished, aborted));
    assert_eq!(books.settled.len() + books.failed.len(), server.count(), "calls are answers and faults");
    assert_eq!(books.spent(), budget.spent());
    // The model does everything right, so nothing that was scored can have missed.
    assert!(record.judgements.iter().all(|judgement| judgement.verdict != Verdict::Missed), "{:#?}", record.judgements);
}
