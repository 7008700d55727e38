//! One page of a run as a file, with everything in it.

use super::RunReport;
use super::attack_summary::summarize_attacks;
use super::comparison::{ComparisonReport, sides};
use super::trial_lines::TrialLine;
use model::CaseOutcome;
use serve::pages::{CompareChoice, ComparePage, PageAssets, PassRates, RunFacts, RunPage, comparison_file, run_page};
use std::collections::BTreeMap;
use store::{StoredOutcome, TrialListing};

/// Failed trials in the file.
const MAX_FAILED: usize = 2_000;

pub(super) fn run(shown: &RunReport<'_>) -> String {
    let lines: Vec<&TrialLine> = shown.lines.trials.iter().flat_map(|trials| &trials.lines).collect();
    let failed: Vec<&TrialLine> = lines.iter().copied().filter(|line| line.outcome == CaseOutcome::Failed).collect();
    let listed: Vec<TrialListing> = (0..).zip(failed.iter().take(MAX_FAILED)).map(|(n, line)| listing(n, line)).collect();
    let reasons: BTreeMap<u64, String> = (0..).zip(failed.iter().take(MAX_FAILED)).map(|(n, line)| (n, reasons(line))).collect();
    let times: Vec<f64> = lines.iter().map(|line| line.wall.as_micros() as f64).collect();
    let mut rates = PassRates::default();
    lines.iter().for_each(|line| rates.add(shown.workspace.case(&line.case), line.outcome));
    run_page(&RunPage {
        assets: PageAssets::Inline,
        workspace: shown.workspace,
        facts: facts(shown),
        verdicts: &shown.summary.verdicts,
        causes: &shown.summary.causes,
        failed: &listed,
        has_more_failed: failed.len() > MAX_FAILED,
        reasons: &reasons,
        times: &times,
        costs: &[],
        rates: &rates,
        has_attacks: !shown.red_team.is_empty(),
        attacks: &summarize_attacks(&shown.red_team, |_| None),
        read_first: None,
    })
}

fn facts(shown: &RunReport<'_>) -> RunFacts {
    let outcomes = &shown.summary.outcomes;
    RunFacts {
        id: shown.run.unwrap_or_default().to_owned(),
        subjects: shown.summary.subjects.clone(),
        started: shown.started.to_owned(),
        ended: shown.summary.is_complete().then(|| "complete".to_owned()),
        workspace: format!("{} {}", shown.source.label(), shown.workspace.hash.short()),
        workspace_version: shown.workspace.version_number(),
        tier: shown.summary.claim.tier,
        planned: outcomes.planned(),
        finished: outcomes.ended(),
        passed: outcomes.passed,
        aborted: outcomes.aborted(),
        spent: shown.spent.as_nanos(),
    }
}

fn listing(n: u64, line: &TrialLine) -> TrialListing {
    TrialListing {
        n,
        trial: String::new(),
        case: line.case.clone(),
        subject: line.subject.clone(),
        seed: 0,
        outcome: StoredOutcome::Failed,
        ending: line.ending.clone(),
        wall_us: u64::try_from(line.wall.as_micros()).unwrap_or(u64::MAX),
        cost: 0,
    }
}

fn reasons(line: &TrialLine) -> String {
    line.missed.iter().map(|missed| format!("{}: {}", missed.scorer, missed.because)).collect::<Vec<_>>().join("; ")
}

/// Returns comparisons as one page.
pub(super) fn comparison(shown: &ComparisonReport<'_>) -> String {
    let choice = CompareChoice { runs: vec![], before: String::new(), after: String::new() };
    let pages: Vec<(String, ComparePage<'_>)> = shown
        .comparisons
        .iter()
        .map(|compared| {
            let subjects = [compared.before.subject.as_str(), compared.after.subject.as_str()];
            (sides(compared), ComparePage { choice: &choice, result: Some(&compared.result), subjects })
        })
        .collect();
    comparison_file(&pages)
}
