//! Cost of scoring a transcript of 20 events with all scorers on one core. Target: 100,000 per minute with constant memory.
//!
//! `cargo bench -p bardo-eval-score --bench score`

#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "a benchmark reads the clock and prints")]

use bardo_eval_score::scorers::{CLEAN_CASE, Evidence, EvidenceFixture, SCORERS, clean_swap, score};
use model::{MINIMAL_WORKSPACE, Workspace};
use std::sync::Arc;
use std::time::Instant;

const TARGET_PER_MINUTE: f64 = 100_000.0;
const TRIALS: usize = 100_000;

fn main() {
    let specimen = EvidenceFixture::of(CLEAN_CASE, clean_swap());
    let minimal = testkit::minimal_workspace();
    measure("minimal workspace", &minimal, &specimen);
    // The same run in a full-size workspace with more tools, agents and fixtures.
    let large = reference_with_minimal();
    measure("reference workspace", &large, &specimen);
    measure_each_scorer(&minimal, &specimen);
}

fn measure(what: &str, workspace: &Workspace, specimen: &EvidenceFixture) {
    let case = workspace.case(CLEAN_CASE).expect("the case");
    let evidence = Evidence::new(workspace, case, &specimen.transcript);
    let readings = score(&evidence).len();
    let before = resident_mb();
    let since = Instant::now();
    let mut scores = 0;
    for _ in 0..TRIALS {
        scores += score(&evidence).len();
    }
    let seconds = since.elapsed().as_secs_f64();
    assert_eq!(scores, readings * TRIALS);
    let per_minute = TRIALS as f64 / seconds * 60.0;
    println!(
        "{what}: {} events, {readings} of {} scorers: {:.1} µs each, {per_minute:.0} per minute on one core ({:.1} × the target); resident {before:.1} MB before, {:.1} MB after",
        specimen.transcript.events.len(),
        SCORERS.len(),
        seconds / TRIALS as f64 * 1e6,
        per_minute / TARGET_PER_MINUTE,
        resident_mb(),
    );
}

/// Prints the time of each scorer.
fn measure_each_scorer(workspace: &Workspace, specimen: &EvidenceFixture) {
    let case = workspace.case(CLEAN_CASE).expect("the case");
    let evidence = Evidence::new(workspace, case, &specimen.transcript);
    for scorer in SCORERS.iter().filter(|scorer| scorer.applies(workspace, case)) {
        let since = Instant::now();
        for _ in 0..20_000 {
            std::hint::black_box(scorer.score(&evidence));
        }
        println!("  {:24} {:6.2} µs", scorer.id(), since.elapsed().as_secs_f64() / 20_000.0 * 1e6);
    }
}

fn resident_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<f64>().ok()).unwrap_or_default() / 1024.0
}

fn reference_with_minimal() -> Arc<Workspace> {
    let mut files = testkit::reference_files().clone();
    for (path, text) in MINIMAL_WORKSPACE {
        match *path {
            "tools/wallet.yaml" => files.insert("tools/minimal.yaml", *text),
            "suites/behavior/trader.yaml" => files.insert("suites/behavior/minimal.yaml", *text),
            "agents/trader.md" | "worlds/small.yaml" => files.insert(*path, *text),
            _ => {}
        }
    }
    testkit::load_workspace(&files)
}
