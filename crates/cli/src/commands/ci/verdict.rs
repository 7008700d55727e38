//! `ci verdict`: decides whether a CI job passes, from the exit code and the JSON report of its run.

use crate::args::{CiVerdictArgs, ReportFormat};
use crate::exit::ExitKind;
use crate::files;
use crate::io::CliOutput;
use crate::report::{FORMAT, escape_control};
use crate::workspace_source::WorkspaceSource;
use model::Workspace;
use score::scorers::scorer_named;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const COMMAND: &str = "ci verdict";

/// Reasons why a run is incomplete.
#[derive(Debug, Default)]
struct JobVerdict {
    /// Gates without evidence that do not fail the job, with the reason.
    undecided: BTreeMap<String, &'static str>,
    /// Reasons that fail the job.
    blocking: Vec<String>,
}

pub(super) fn verdict(io: &CliOutput, source: &WorkspaceSource, args: &CiVerdictArgs) -> ExitKind {
    let workspace = match super::super::open_workspace(io, source, COMMAND) {
        Ok(workspace) => workspace,
        Err(exit) => return exit,
    };
    let (exit, job) = match args.exit {
        0 => {
            let job = JobVerdict::of_clean(args);
            (if job.blocking.is_empty() { ExitKind::Clean } else { ExitKind::Incomplete }, job)
        }
        1 => (ExitKind::Missed, JobVerdict::of_missed(args)),
        2 => (ExitKind::Usage, JobVerdict::blocked("the run was refused, nothing was run")),
        3 => {
            let job = JobVerdict::of_incomplete(&workspace, args);
            (if job.blocking.is_empty() { ExitKind::Clean } else { ExitKind::Incomplete }, job)
        }
        code => (ExitKind::Incomplete, JobVerdict::blocked(&format!("the run ended with the code {code}"))),
    };
    let text = match io.format {
        ReportFormat::Json => format!("{:#}\n", job.document(args.exit, exit)),
        ReportFormat::Text | ReportFormat::Junit | ReportFormat::Markdown | ReportFormat::Github | ReportFormat::Sarif => job.text(exit),
    };
    io.print_result(&text, exit)
}

impl JobVerdict {
    fn blocked(why: &str) -> Self {
        Self { undecided: BTreeMap::new(), blocking: vec![why.to_owned()] }
    }

    /// Reads the report of a clean run: every verdict in it must be met.
    fn of_clean(args: &CiVerdictArgs) -> Self {
        let report = match read_report(args) {
            Ok(report) => report,
            Err(why) => return Self::blocked(&why),
        };
        let verdicts = report["verdicts"].as_array().map(Vec::as_slice).unwrap_or_default();
        match verdicts.iter().find(|row| row["verdict"] != "met") {
            Some(row) => Self::blocked(&format!("gate {} is not met in the report", row["gate"].as_str().unwrap_or_default())),
            None if verdicts.is_empty() => Self::blocked("no gate was judged"),
            None => Self::default(),
        }
    }

    /// Names the missed gates of the report. The exit code alone fails the job.
    fn of_missed(args: &CiVerdictArgs) -> Self {
        let missed = read_report(args).map(|report| missed_gates(&report)).unwrap_or_default();
        if missed.is_empty() { Self::blocked("a gate was missed") } else { Self { undecided: BTreeMap::new(), blocking: missed } }
    }

    /// Reads the report of an incomplete run. Anything that is missing or unknown blocks.
    fn of_incomplete(workspace: &Workspace, args: &CiVerdictArgs) -> Self {
        let report = match read_report(args) {
            Ok(report) => report,
            Err(why) => return Self::blocked(&why),
        };
        let mut job = Self::default();
        job.read_trials(&report, args.without_judge);
        job.read_gates(workspace, &report, args.without_judge);
        job.blocking.extend(missed_gates(&report));
        if job.undecided.is_empty() && job.blocking.is_empty() {
            job.blocking.push("the run is incomplete".to_owned());
        }
        job
    }

    fn read_trials(&mut self, report: &Value, without_judge: bool) {
        let reasons = [
            ("/trials/aborted", "aborted trials", false),
            ("/unread", "trials that no scorer could read", false),
            ("/failures_without_gate/trials", "failed trials that no gate reads", false),
            ("/failed_scorers/trials", "trials that a scorer of the workspace could not measure", false),
            ("/misjudged", "rubrics without a verdict of the judge", without_judge),
        ];
        for (key, what, is_accepted) in reasons {
            match report.pointer(key).and_then(Value::as_u64) {
                Some(0) => {}
                Some(_) if is_accepted => {
                    self.undecided.insert("rubrics".to_owned(), "the judge's replies are not recorded");
                }
                Some(n) => self.blocking.push(format!("{what}: {n}{}", recording_note(key, report))),
                None => self.blocking.push(format!("the report does not count {what}")),
            }
        }
    }

    fn read_gates(&mut self, workspace: &Workspace, report: &Value, without_judge: bool) {
        let verdicts = report["verdicts"].as_array().map(Vec::as_slice).unwrap_or_default();
        if verdicts.is_empty() {
            self.blocking.push("no gate was judged".to_owned());
        }
        for row in verdicts.iter().filter(|row| row["verdict"] == "no_evidence") {
            let name = row["gate"].as_str().unwrap_or_default();
            let gate = workspace.gates.iter().find(|gate| gate.id.value == name);
            match gate.map(|gate| scorer_named(workspace, &gate.scorer)) {
                Some(Some(scorer)) if without_judge && scorer.needs_judge() => {
                    self.undecided.insert(name.to_owned(), "needs a judge, and this job has no key for it");
                }
                Some(Some(_) | None) | None => {
                    self.blocking.push(format!("gate {name} ({}): no evidence", row["slice"].as_str().unwrap_or("all")));
                }
            }
        }
    }

    fn text(&self, exit: ExitKind) -> String {
        let mut text = String::new();
        for why in &self.blocking {
            text.push_str(&format!("- {why}\n"));
        }
        for (gate, why) in &self.undecided {
            text.push_str(&format!("- undecided, not passed: {gate} ({why})\n"));
        }
        let result = match exit {
            ExitKind::Clean if self.undecided.is_empty() => "job passes: every gate is met".to_owned(),
            ExitKind::Clean => format!("job passes: no gate is missed, {} undecided", self.undecided.len()),
            ExitKind::Missed | ExitKind::Usage | ExitKind::Incomplete => "job fails".to_owned(),
        };
        format!("{text}{result}\n")
    }

    fn document(&self, run_exit: u8, exit: ExitKind) -> Value {
        json!({ "format": FORMAT, "command": COMMAND, "run_exit": run_exit, "undecided": self.undecided, "blocking": self.blocking, "exit": exit.code() })
    }
}

/// Reads the report of the run that ended with the given code.
fn read_report(args: &CiVerdictArgs) -> Result<Value, String> {
    let path = args.report.display();
    let text = files::read_file(&args.report).map_err(|error| format!("the run wrote no report: {path}: {error}"))?;
    let report: Value = serde_json::from_str(&text).map_err(|error| format!("{path} is not a JSON report: {error}"))?;
    if report["exit"] != args.exit {
        return Err(format!("{path} is the report of another run: it ended with {}, not with {}", report["exit"], args.exit));
    }
    Ok(report)
}

/// Returns one line for each missed gate, with the slice and the value of its first missed verdict.
fn missed_gates(report: &Value) -> Vec<String> {
    let mut lines: BTreeMap<&str, String> = BTreeMap::new();
    for row in report["verdicts"].as_array().into_iter().flatten().filter(|row| row["verdict"] == "missed") {
        let gate = row["gate"].as_str().unwrap_or_default();
        let value = row["value"].as_f64().map_or_else(String::new, |value| format!(": {value:.3}"));
        lines.entry(gate).or_insert_with(|| format!("gate {gate} ({}) was missed{value}", row["slice"].as_str().unwrap_or("all")));
    }
    lines.into_values().map(|line| escape_control(&line)).collect()
}

/// Returns how many of the aborted trials only need a recording.
fn recording_note(key: &str, report: &Value) -> String {
    match (key, report["needs_recording"].as_u64()) {
        ("/trials/aborted", Some(n)) if n > 0 => format!(", {n} of them need a recording: run the workflow where the key is set"),
        _ => String::new(),
    }
}
