//! Report of a selftest: the matrix of faults and gates, doses, and what is wrong.

use super::escape::{escape_cell, escape_control};
use super::{FORMAT, table};
use crate::args::ReportFormat;
use crate::exit::ExitKind;
use crate::io::CliOutput;
use campaign::{DoseCheck, FaultRow, FaultState, SelftestMode, SelftestReport, TrippedGate};
use model::Verdict;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// Problems shown on the screen; `--verbose` shows all.
const PROBLEMS_SHOWN: usize = 25;

pub(crate) fn selftest(io: &CliOutput, report: &SelftestReport, elapsed: Duration, exit: ExitKind) -> String {
    match io.format {
        ReportFormat::Json => json_text(report, exit),
        ReportFormat::Markdown => markdown(report, elapsed),
        ReportFormat::Text | ReportFormat::Junit | ReportFormat::Github | ReportFormat::Sarif => text(io, report, elapsed),
    }
}

fn text(io: &CliOutput, report: &SelftestReport, elapsed: Duration) -> String {
    let rows = report.faults.iter().map(|row| {
        vec![
            row.fault.to_owned(),
            row.cases.to_string(),
            state_word(row.state).to_owned(),
            row.primary.word().to_owned(),
            gates_of(row, " "),
        ]
    });
    let mut out = format!("{}\n\n", table(&["fault", "cases", "state", "primary", "gates missed, with tiers"], rows.collect()));
    let doses = report.doses.iter().map(dose_row).collect();
    out.push_str(&format!("{}\n\n", table(&["gate", "tier", "turns at", "fault", "one fewer", "at it"], doses)));
    let shown = if io.verbose { usize::MAX } else { PROBLEMS_SHOWN };
    for problem in report.problems.iter().take(shown) {
        out.push_str(&format!("{}\n", escape_control(&problem.to_string())));
    }
    let more = report.problems.len().saturating_sub(shown);
    if more > 0 {
        out.push_str(&format!("… and {}; --verbose lists them\n", model::count(more, "more problem")));
    }
    out.push_str(&format!("{}\n", summary(report, elapsed)));
    out
}

fn markdown(report: &SelftestReport, elapsed: Duration) -> String {
    let verdict = if report.problems.is_empty() { "passed" } else { "failed" };
    let mut out = format!("## Selftest {verdict}\n\n{}\n", summary(report, elapsed));
    if !report.problems.is_empty() {
        out.push_str("\n### Problems\n\n");
        out.extend(report.problems.iter().map(|problem| format!("- {}\n", escape_cell(&problem.to_string()))));
    }
    out.push_str("\n### Faults\n\n| fault | cases | state | primary | gates missed, with tiers |\n|---|---|---|---|---|\n");
    for row in &report.faults {
        let gates = escape_cell(&gates_of(row, ", "));
        out.push_str(&format!("| {} | {} | {} | {} | {gates} |\n", row.fault, row.cases, state_word(row.state), row.primary.word()));
    }
    out.push_str("\n### Doses\n\n| gate | tier | turns at | fault | one fewer | at it |\n|---|---|---|---|---|---|\n");
    for check in &report.doses {
        let cells: Vec<String> = dose_row(check).iter().map(|cell| escape_cell(cell)).collect();
        out.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    out
}

fn json_text(report: &SelftestReport, exit: ExitKind) -> String {
    let tripped = |one: &TrippedGate| json!({ "gate": one.gate, "tier": one.tier, "verdict": one.verdict });
    let faults: Vec<Value> = report
        .faults
        .iter()
        .map(|row| {
            json!({ "fault": row.fault, "primary": row.primary.word(), "cases": row.cases, "state": state_word(row.state),
                "tripped": row.tripped.iter().map(tripped).collect::<Vec<_>>() })
        })
        .collect();
    let gates: Vec<Value> = report
        .gates
        .iter()
        .map(|row| json!({ "gate": row.gate, "scorer": row.scorer, "tier": row.tier, "tripped_by": row.tripped_by }))
        .collect();
    let doses: Vec<Value> = report
        .doses
        .iter()
        .map(|check| {
            json!({ "gate": check.gate, "tier": check.tier, "fault": check.fault, "dose": check.dose, "below": check.below,
                "at": check.at, "computed": check.computed })
        })
        .collect();
    let problems: Vec<String> = report.problems.iter().map(ToString::to_string).collect();
    let document = json!({
        "format": FORMAT, "command": "selftest", "quick": report.mode == SelftestMode::Quick, "trials": report.trials,
        "gates": gates, "faults": faults, "doses": doses, "problems": problems, "exit": exit.code(),
    });
    format!("{document:#}\n")
}

fn summary(report: &SelftestReport, elapsed: Duration) -> String {
    let tripped = report.gates.iter().filter(|row| !row.tripped_by.is_empty()).count();
    let of_state = |state: FaultState| report.faults.iter().filter(|row| row.state == state).count();
    let caught = of_state(FaultState::Caught);
    let measured = caught + of_state(FaultState::NotCaught);
    let alarms = report.problems.iter().filter(|problem| matches!(problem, campaign::SelftestProblem::Reference { .. })).count();
    format!(
        "{tripped} of {} (by tier) tripped, {caught} of {} caught ({} within tolerance, {} not measured), {} of the reference, {}, {}; {} in {:.1} s, rubrics granted by a fixed judge",
        model::count(report.gates.len(), "gate"),
        model::count(measured, "fault"),
        of_state(FaultState::WithinTolerance),
        of_state(FaultState::NotMeasured),
        model::count(alarms, "alarm"),
        model::count(report.doses.len(), "dose"),
        model::count(report.problems.len(), "problem"),
        model::count(report.trials, "trial"),
        elapsed.as_secs_f64(),
    )
}

fn state_word(state: FaultState) -> &'static str {
    match state {
        FaultState::Caught => "caught",
        FaultState::NotCaught => "not caught",
        FaultState::WithinTolerance => "within tolerance",
        FaultState::NotMeasured => "not measured",
    }
}

fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Met => "met",
        Verdict::Missed => "missed",
        Verdict::NoEvidence => "no evidence",
    }
}

/// Returns the gates that a fault trips, each with its tiers. A gate without evidence is in parentheses.
fn gates_of(row: &FaultRow, between: &str) -> String {
    let mut gates: BTreeMap<(&str, bool), Vec<String>> = BTreeMap::new();
    for one in &row.tripped {
        gates.entry((one.gate.as_str(), one.verdict == Verdict::Missed)).or_default().push(one.tier.to_string());
    }
    let mut shown: Vec<((&str, bool), Vec<String>)> = gates.into_iter().collect();
    shown.sort_by_key(|((_, is_missed), _)| !is_missed);
    let words = shown.iter().map(|((gate, is_missed), tiers)| {
        let text = format!("{gate}:{}", tiers.join(","));
        if *is_missed { text } else { format!("({text})") }
    });
    words.collect::<Vec<_>>().join(between)
}

fn dose_row(check: &DoseCheck) -> Vec<String> {
    vec![
        check.gate.clone(),
        check.tier.to_string(),
        check.dose.to_string(),
        check.fault.to_owned(),
        verdict_word(check.below).to_owned(),
        verdict_word(check.at).to_owned(),
    ]
}
