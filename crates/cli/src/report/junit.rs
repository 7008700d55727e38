//! JUnit XML for CI systems. Outcomes are those of the run: failed, skipped where a rubric was not judged, an error where aborted.

use super::escape::replace_hidden;
use super::judgement_text::{bound, note};
use super::trial_lines::TrialLine;
use super::{RunReport, deviations};
use crate::io::CliOutput;
use model::{CaseOutcome, UserError, Verdict, Workspace};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use score::checks::{CheckFinding, CheckResult, FindingLevel};

pub(super) fn problems(io: &CliOutput, command: &str, errors: &[UserError]) -> String {
    let mut suite = TestSuite::new(command);
    for error in errors {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_message(replace_hidden(&error.what));
        if !error.remedy.is_empty() {
            status.set_description(replace_hidden(&error.remedy));
        }
        let place = error.location.as_ref().map_or_else(|| "arguments".to_owned(), |place| io.location(place));
        suite.add_test_case(TestCase::new(replace_hidden(&place), status));
    }
    to_xml("bardo-eval", vec![suite])
}

pub(super) fn smoke(io: &CliOutput, workspace: &Workspace, results: &[CheckResult]) -> String {
    let mut suite = TestSuite::new("smoke");
    add_deviations(io, workspace, &mut suite);
    for result in results {
        let lines = |level| -> Vec<String> {
            result
                .findings
                .iter()
                .filter(|finding| finding.level == level)
                .map(|finding| replace_hidden(&finding_line(io, finding)))
                .collect()
        };
        let errors = lines(FindingLevel::Error);
        let status = if errors.is_empty() {
            TestCaseStatus::success()
        } else {
            failed_status(&model::count(errors.len(), "error"), &errors.join("\n"))
        };
        let mut case = TestCase::new(result.check, status);
        let warnings = lines(FindingLevel::Warning);
        if !warnings.is_empty() {
            case.set_system_out(warnings.join("\n"));
        }
        suite.add_test_case(case);
    }
    to_xml("bardo-eval", vec![suite])
}

fn finding_line(io: &CliOutput, finding: &CheckFinding) -> String {
    let remedy = if finding.remedy.is_empty() { String::new() } else { format!("; {}", finding.remedy) };
    format!("{}  {}{remedy}", io.location(&finding.at), finding.what)
}

pub(super) fn run(io: &CliOutput, shown: &RunReport<'_>) -> String {
    let RunReport { workspace, summary, lines, .. } = shown;
    let mut gates = TestSuite::new("gates");
    add_deviations(io, workspace, &mut gates);
    for judgement in &summary.verdicts.judgements {
        let status = match judgement.verdict {
            Verdict::Met => TestCaseStatus::success(),
            Verdict::Missed => {
                let reasons: Vec<String> = judgement
                    .worst
                    .iter()
                    .map(|worst| format!("{}: {}\n{}", worst.case, worst.because, shown.show_command(io, &judgement.subject, worst)))
                    .collect();
                let value = judgement.metric.value.map_or("–".to_owned(), |value| format!("{value:.3}"));
                failed_status(&format!("{value} misses {}", bound(judgement.bound)), &reasons.join("\n"))
            }
            Verdict::NoEvidence => {
                let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
                status.set_message(replace_hidden(&format!("no evidence: {}", judgement.because)));
                status
            }
        };
        let mut gate = TestCase::new(replace_hidden(&format!("{} [{}]", judgement.gate, judgement.metric.slice)), status);
        if judgement.rules_out.is_some() {
            gate.set_system_out(replace_hidden(&note(judgement)));
        }
        gates.add_test_case(gate);
    }
    add_properties(shown, &mut gates);
    let mut trials = TestSuite::new("trials");
    add_properties(shown, &mut trials);
    if let Some(listed) = &lines.trials {
        if listed.unlisted > 0 {
            trials.set_system_out(format!("{} not listed", model::count(listed.unlisted, "further trial")));
        }
        for line in &listed.lines {
            trials.add_test_case(trial_case(io, workspace, line));
        }
    }
    to_xml("bardo-eval", vec![gates, trials])
}

fn trial_case(io: &CliOutput, workspace: &Workspace, line: &TrialLine) -> TestCase {
    let missed: Vec<String> = line.missed.iter().map(|missed| format!("{}: {}", missed.scorer, missed.because)).collect();
    let missed = replace_hidden(&missed.join("\n"));
    let status = match line.outcome {
        CaseOutcome::Aborted { .. } => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
            status.set_message(replace_hidden(&line.ending));
            status
        }
        CaseOutcome::Failed => failed_status("expectations missed", &missed),
        CaseOutcome::Unjudged => TestCaseStatus::skipped(),
        CaseOutcome::Passed => TestCaseStatus::success(),
    };
    let mut case = TestCase::new(replace_hidden(&format!("{} [{}]", line.case, line.subject)), status);
    case.set_time(line.wall);
    // A case may pass although a scorer that it does not ask for was missed. The schema of Jenkins has no message of skipped cases.
    let said = match line.outcome {
        CaseOutcome::Failed | CaseOutcome::Aborted { .. } => String::new(),
        CaseOutcome::Unjudged => format!("not judged: neither passed nor failed\n{missed}"),
        CaseOutcome::Passed => missed,
    };
    if !said.is_empty() {
        case.set_system_out(said);
    }
    if let Some(place) = workspace.case(&line.case).map(|case| io.location(&case.at)) {
        case.set_classname(replace_hidden(&place));
    }
    case
}

/// Adds the run, subjects, workspace and date, so that a report cannot be taken for that of another run.
fn add_properties(shown: &RunReport<'_>, suite: &mut TestSuite) {
    for (name, value) in shown.provenance() {
        suite.add_property((name, replace_hidden(&value).as_str()));
    }
}

fn add_deviations(io: &CliOutput, workspace: &Workspace, suite: &mut TestSuite) {
    let lines = deviations::lines(io, workspace);
    if !lines.is_empty() {
        suite.set_system_out(replace_hidden(&lines.join("\n")));
    }
}

fn failed_status(message: &str, description: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_message(replace_hidden(message)).set_description(replace_hidden(description));
    status
}

fn to_xml(name: &str, suites: Vec<TestSuite>) -> String {
    let mut report = Report::new(name);
    report.add_test_suites(suites);
    let text = report.to_string().unwrap_or_else(|error| panic!("cleaned text is always XML: {error}"));
    // The schema of Jenkins has no such attribute at the root.
    let mut text = without_root_skipped(&text);
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// Removes the attribute `skipped` of the root element; suites keep theirs.
fn without_root_skipped(text: &str) -> String {
    let Some(start) = text.find("<testsuites") else { return text.to_owned() };
    let end = start + text[start..].find('>').unwrap_or_default();
    let root: Vec<&str> = text[start..end].split(' ').filter(|part| !part.starts_with("skipped=")).collect();
    format!("{}{}{}", &text[..start], root.join(" "), &text[end..])
}
