//! JUnit XML for CI systems. Wall times are left out, so that the output is deterministic.

use super::escape::replace_hidden;
use super::judgement_text::{bound, note};
use super::{RunReport, deviations};
use crate::io::CliOutput;
use model::{CaseOutcome, UserError, Verdict, Workspace};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use score::checks::{CheckResult, FindingLevel};

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
                .map(|finding| replace_hidden(&[io.location(&finding.at), finding.what.clone(), finding.remedy.clone()].join("  ")))
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
    let mut trials = TestSuite::new("trials");
    if lines.unlisted > 0 {
        trials.set_system_out(format!("{} not listed", model::count(lines.unlisted, "further trial")));
    }
    for line in &lines.lines {
        let status = match line.outcome {
            CaseOutcome::Aborted { .. } => {
                let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
                status.set_message(replace_hidden(&line.ending));
                status
            }
            // A case may pass although a safety scorer was missed.
            CaseOutcome::Passed | CaseOutcome::Failed | CaseOutcome::Unjudged if line.missed.is_empty() => TestCaseStatus::success(),
            CaseOutcome::Passed | CaseOutcome::Failed | CaseOutcome::Unjudged => {
                let missed: Vec<String> = line.missed.iter().map(|missed| format!("{}: {}", missed.scorer, missed.because)).collect();
                failed_status("expectations missed", &missed.join("\n"))
            }
        };
        let mut case = TestCase::new(replace_hidden(&format!("{} [{}]", line.case, line.subject)), status);
        if let Some(place) = workspace.case(&line.case).map(|case| io.location(&case.at)) {
            case.set_classname(replace_hidden(&place));
        }
        trials.add_test_case(case);
    }
    to_xml("bardo-eval", vec![gates, trials])
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
    // Nothing is skipped, and the schema of Jenkins has no such attribute at the root.
    let mut text = text.replacen(" skipped=\"0\"", "", 1);
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}
