//! Comparison of runs: text on one screen, Markdown for pull requests, JSON.

mod gate_changes;
pub(super) mod json;
pub(super) mod markdown;
mod show_commands;
pub(super) mod text;

use crate::args::ReportFormat;
use crate::exit::ExitKind;
use crate::io::CliOutput;
use campaign::{SideFacts, SideSource, SubjectComparison};
use score::pairing::ChangeVerdict;

/// Comparisons with everything that reports show.
#[derive(Debug, Clone)]
pub(crate) struct ComparisonReport<'r> {
    pub comparisons: &'r [SubjectComparison],
    /// Flag with which commands use the same store.
    pub store_flag: String,
    pub exit: ExitKind,
}

pub(crate) fn comparison(io: &CliOutput, shown: &ComparisonReport<'_>) -> String {
    match io.format {
        ReportFormat::Json => format!("{:#}\n", json::document(io, shown)),
        ReportFormat::Markdown => markdown::render(io, shown),
        ReportFormat::Text | ReportFormat::Junit | ReportFormat::Github | ReportFormat::Sarif => text::render(io, shown),
    }
}

/// Returns the verdict on a whole comparison: a regression of anything decides.
fn overall_verdict(compared: &SubjectComparison) -> ChangeVerdict {
    let improved = || compared.result.slices.iter().chain([&compared.result.cases]).any(|one| one.verdict == ChangeVerdict::Improvement);
    if compared.has_regression() {
        ChangeVerdict::Regression
    } else if compared.result.cases.verdict == ChangeVerdict::NotEnoughData {
        ChangeVerdict::NotEnoughData
    } else if improved() {
        ChangeVerdict::Improvement
    } else {
        ChangeVerdict::Tied
    }
}

/// Names both sides, as in "baseline: run 8d41f0 → run 52ab9e".
pub(super) fn sides(compared: &SubjectComparison) -> String {
    let source = |side: &SideFacts| match &side.source {
        SideSource::Run(Some(id)) => format!("run {id}"),
        SideSource::File(name) => super::escape_control(name).to_string(),
        SideSource::Run(None) => "this run".to_owned(),
        SideSource::Golden => "golden".to_owned(),
    };
    let SubjectComparison { before, after, .. } = compared;
    match (before.subject == after.subject, before.source == after.source) {
        (true, _) => format!("{}: {} → {}", after.subject, source(before), source(after)),
        (false, true) => format!("{} → {} in {}", before.subject, after.subject, source(after)),
        (false, false) => format!("{} in {} → {} in {}", before.subject, source(before), after.subject, source(after)),
    }
}

/// Returns what was not compared; empty if everything was.
fn left_out(compared: &SubjectComparison) -> Vec<String> {
    let result = &compared.result;
    let cases = |count: usize, what: &str| (count > 0).then(|| format!("{} {what}", model::count(count, "case")));
    [
        cases(result.changed_cases.len(), "changed"),
        cases(result.without_result.len(), "with a result on one side only"),
        cases(result.never_judged, "without a result on both sides"),
        cases(result.only_before, "only before"),
        cases(result.only_after, "only after"),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Returns cost and time per trial on both sides, as far as they are known.
fn cost_and_time(compared: &SubjectComparison) -> Vec<String> {
    let change = |what: &str, digits: usize, unit: &str, of: fn(&SideFacts) -> Option<f64>| {
        let shown = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.digits$}"));
        let (before, after) = (of(&compared.before), of(&compared.after));
        (before.is_some() || after.is_some()).then(|| format!("{what} {} → {} {unit}", shown(before), shown(after)))
    };
    let cost = change("cost per trial", 5, "USD", SideFacts::usd_per_trial);
    let time = change("time per trial", 3, "s", SideFacts::seconds_per_trial);
    [cost, time].into_iter().flatten().collect()
}

/// Returns the advice of a comparison with too few cases.
fn cases_advice(compared: &SubjectComparison) -> Option<String> {
    let counts = compared.result.cases.counts;
    (compared.result.cases.verdict == ChangeVerdict::NotEnoughData && counts.paired() > 0).then(|| {
        let paired = model::count(counts.paired(), "paired case");
        format!("{paired} cannot show a drop of 20 points; {} would", counts.cases_needed())
    })
}
