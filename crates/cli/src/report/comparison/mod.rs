//! Comparison of runs: text on one screen, Markdown for pull requests, JSON.

mod gate_changes;
pub(super) mod json;
pub(super) mod markdown;
pub(super) mod show_commands;
pub(super) mod text;

use crate::args::{FailOn, ReportFormat};
use crate::exit::ExitKind;
use crate::io::CliOutput;
use campaign::{SideFacts, SideSource, SubjectComparison};
use gate_changes::{GateChange, gate_changes};
use score::pairing::{ChangeVerdict, PairedSlice};

/// Comparisons with everything that reports show.
#[derive(Debug, Clone)]
pub(crate) struct ComparisonReport<'r> {
    pub comparisons: &'r [SubjectComparison],
    /// Flag with which commands use the same store.
    pub store_flag: String,
    pub exit: ExitKind,
    /// Changes that fail; absent if the comparison does not decide the exit.
    pub fail_on: Option<FailOn>,
    /// Cases that show what changed and that `--changed` left out, so that the verdict says nothing about them.
    pub left_out_showing: usize,
}

pub(crate) fn comparison(io: &CliOutput, shown: &ComparisonReport<'_>) -> String {
    match io.format {
        ReportFormat::Json => format!("{:#}\n", json::document(io, shown)),
        ReportFormat::Markdown => markdown::render(io, shown),
        ReportFormat::Text | ReportFormat::Junit | ReportFormat::Github | ReportFormat::Sarif => text::render(io, shown),
    }
}

/// Returns the verdict of each comparison in one line without colours.
pub(super) fn comparison_lines(shown: &ComparisonReport<'_>) -> Vec<String> {
    let line = |compared: &SubjectComparison| {
        let word = ComparisonHeadline::of(compared, shown.fail_on).word().to_uppercase();
        let (sides, limit) = (super::escape_control(&sides(compared)).to_string(), verdict_limit(shown));
        format!("{word}{}  {sides}{limit}; {}", verdict_reason(compared, shown.fail_on), paired_text(compared))
    };
    shown.comparisons.iter().map(line).collect()
}

/// Returns the number of paired cases, and of those that changed.
fn paired_text(compared: &SubjectComparison) -> String {
    let counts = compared.result.cases.counts;
    format!("{} paired: {} worse, {} better", model::count(counts.paired(), "case"), counts.worse, counts.better)
}

/// Returns the verdict on a whole comparison: a regression of anything decides.
fn overall_verdict(compared: &SubjectComparison) -> ChangeVerdict {
    let improved = || compared.result.slices.iter().chain([&compared.result.cases]).any(|one| one.verdict == ChangeVerdict::Improvement);
    if compared.has_regression() {
        ChangeVerdict::Regression
    } else if compared.is_incomplete() {
        ChangeVerdict::NotEnoughData
    } else if improved() {
        ChangeVerdict::Improvement
    } else {
        ChangeVerdict::Tied
    }
}

/// Verdict of a comparison as its headline says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ComparisonHeadline {
    Verdict(ChangeVerdict),
    /// Every change counts, and something got worse.
    Worse,
    /// Every change counts, and nothing got worse, in too few cases for a verdict on the rate.
    NothingWorse,
}

impl ComparisonHeadline {
    /// Returns a headline that agrees with the exit.
    fn of(compared: &SubjectComparison, fail_on: Option<FailOn>) -> Self {
        match (overall_verdict(compared), fail_on) {
            (ChangeVerdict::Regression, _) => Self::Verdict(ChangeVerdict::Regression),
            (_, Some(FailOn::Any)) if compared.result.got_worse() => Self::Worse,
            (ChangeVerdict::NotEnoughData, Some(FailOn::Any)) if !compared.lacks_results() => Self::NothingWorse,
            (verdict, _) => Self::Verdict(verdict),
        }
    }

    fn is_verdict(self, verdict: ChangeVerdict) -> bool {
        self == Self::Verdict(verdict)
    }

    fn word(self) -> &'static str {
        match self {
            Self::Verdict(verdict) => verdict.word(),
            Self::Worse => "worse",
            Self::NothingWorse => "nothing worse",
        }
    }
}

/// Returns the gates that decide a headline which the cases as a whole do not explain, as in " in information_diversity (still met)".
fn verdict_reason(compared: &SubjectComparison, fail_on: Option<FailOn>) -> String {
    let headline = ComparisonHeadline::of(compared, fail_on);
    let cases = &compared.result.cases;
    let decides = |gate: &GateChange<'_>| match headline {
        ComparisonHeadline::Verdict(ChangeVerdict::Regression | ChangeVerdict::Improvement) => headline.is_verdict(gate.verdict),
        ComparisonHeadline::Worse => gate.worst.counts.worse > 0 || gate.is_newly_missed,
        ComparisonHeadline::Verdict(ChangeVerdict::Tied | ChangeVerdict::NotEnoughData) | ComparisonHeadline::NothingWorse => false,
    };
    if headline.is_verdict(cases.verdict) || (headline == ComparisonHeadline::Worse && cases.counts.worse > 0) {
        return String::new();
    }
    let gates: Vec<GateChange<'_>> = gate_changes(&compared.result.slices).into_iter().filter(decides).collect();
    let Some(first) = gates.first() else { return String::new() };
    let state = match (headline, first.worst) {
        (ComparisonHeadline::Verdict(ChangeVerdict::Improvement), _) => "",
        (_, slice) if slice.is_newly_missed && slice.after.is_some() => " (was met, is missed)",
        (_, slice) if slice.is_newly_missed => " (was met, has no evidence)",
        (_, slice) if slice.is_met => " (still met)",
        _ => " (missed before, too)",
    };
    let more = gates.iter().map(|gate| 1 + gate.repeated).sum::<usize>() - 1;
    let more = if more > 0 { format!(" and {}", model::count(more, "more gate")) } else { String::new() };
    format!(" in {}{state}{more}", super::escape_control(first.gate))
}

/// Returns that a slice was met before and is not any more; empty for others.
fn newly_missed_note(slice: &PairedSlice) -> &'static str {
    match (slice.is_newly_missed, slice.after) {
        (false, None) if slice.is_unselected => "; not exercised in this selection",
        (true, None) if slice.is_unselected => "; was met, not exercised in this selection",
        (false, _) => "",
        (true, Some(_)) => "; was met, is missed",
        (true, None) => "; was met, has no evidence",
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

/// Returns how many cases the verdict is not about although they show what changed; empty if there are none.
fn verdict_limit(shown: &ComparisonReport<'_>) -> String {
    match shown.left_out_showing {
        0 => String::new(),
        cases => format!(", without {} that show{} what changed", model::count(cases, "case"), if cases == 1 { "s" } else { "" }),
    }
}

/// Returns what those cases are, and how to play them.
fn left_out_note(compared: &SubjectComparison, shown: &ComparisonReport<'_>) -> Option<String> {
    let against = match &compared.before.source {
        SideSource::Run(id) => id.as_deref(),
        SideSource::Golden => Some("golden"),
        SideSource::File(_) => None,
    };
    super::left_out_note(shown.left_out_showing, against)
}

/// Returns what was not compared; empty if everything was.
fn left_out(compared: &SubjectComparison) -> Vec<String> {
    let result = &compared.result;
    let cases = |count: usize, what: &str| (count > 0).then(|| format!("{} {what}", model::count(count, "case")));
    [
        cases(result.changed_cases.len(), "changed"),
        cases(result.without_result.len(), "with a result on one side only"),
        cases(result.unplayed.len(), "with trials that have not run"),
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
fn cases_advice(compared: &SubjectComparison, fail_on: Option<FailOn>) -> Option<String> {
    let counts = compared.result.cases.counts;
    (compared.result.cases.verdict == ChangeVerdict::NotEnoughData && counts.paired() > 0).then(|| {
        let paired = model::count(counts.paired(), "paired case");
        let remedy = match fail_on {
            Some(FailOn::Regression) => ", or use --fail-on any, which fails on any case that got worse",
            Some(FailOn::Any) | None => "",
        };
        format!("{paired} cannot show a drop of 20 points; {} would{remedy}", counts.cases_needed())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use campaign::{SideFacts, SideSource};
    use model::Money;
    use score::pairing::{PairCounts, RunComparison, RunNoise};
    use std::time::Duration;

    fn slice(gate: Option<&str>, verdict: ChangeVerdict) -> PairedSlice {
        PairedSlice {
            gate: gate.map(str::to_owned),
            slice: "pooled".to_owned(),
            before: Some(0.4),
            after: Some(0.3),
            counts: PairCounts { better: 1, worse: 0, same: 4 },
            p_value: 1.0,
            adjusted: 1.0,
            verdict,
            is_newly_missed: false,
            is_met: true,
            is_unselected: false,
            worse: vec![],
        }
    }

    fn compared(cases: ChangeVerdict, slices: Vec<PairedSlice>) -> SubjectComparison {
        let side = SideFacts {
            source: SideSource::Run(None),
            subject: "a".to_owned(),
            noise: RunNoise::None,
            trials: 5,
            gone: 0,
            unplayed: 0,
            spent: Money::ZERO,
            wall: Duration::ZERO,
        };
        let result = RunComparison {
            cases: slice(None, cases),
            slices,
            flips: vec![],
            only_before: 0,
            only_after: 0,
            changed_cases: vec![],
            without_result: vec![],
            unplayed: vec![],
            never_judged: 0,
        };
        SubjectComparison { before: side.clone(), after: side, noise: RunNoise::None, result }
    }

    #[test]
    fn a_headline_names_the_gate_that_explains_it() {
        let of = |cases, slices: &[PairedSlice]| verdict_reason(&compared(cases, slices.to_vec()), Some(FailOn::Regression));
        let diversity = slice(Some("diversity"), ChangeVerdict::Regression);
        assert_eq!(of(ChangeVerdict::Tied, std::slice::from_ref(&diversity)), " in diversity (still met)");
        let missed = PairedSlice { is_newly_missed: true, is_met: false, before: Some(0.9), ..diversity.clone() };
        assert_eq!(of(ChangeVerdict::Tied, &[missed]), " in diversity (was met, is missed)");
        let pace = PairedSlice { before: Some(0.8), ..slice(Some("pace"), ChangeVerdict::Regression) };
        assert_eq!(of(ChangeVerdict::Tied, &[diversity.clone(), pace]), " in diversity (still met) and 1 more gate");
        assert_eq!(of(ChangeVerdict::Regression, &[diversity]), "", "the cases explain it");
        assert_eq!(of(ChangeVerdict::Tied, &[slice(Some("diversity"), ChangeVerdict::Tied)]), "");
        let better = slice(Some("diversity"), ChangeVerdict::Improvement);
        assert_eq!(of(ChangeVerdict::Tied, &[better]), " in diversity");
    }

    #[test]
    fn a_gate_without_readings_in_a_selection_was_not_missed() {
        let unselected = PairedSlice { after: None, is_met: false, is_unselected: true, ..slice(Some("a"), ChangeVerdict::NotEnoughData) };
        assert_eq!(newly_missed_note(&unselected), "; not exercised in this selection");
        let met = PairedSlice { is_newly_missed: true, ..unselected };
        assert_eq!(newly_missed_note(&met), "; was met, not exercised in this selection");
        assert_eq!(newly_missed_note(&PairedSlice { is_unselected: false, ..met }), "; was met, has no evidence");
    }
}
