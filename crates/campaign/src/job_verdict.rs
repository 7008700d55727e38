//! Verdict on a CI job, from the exit code and the JSON report of its run. What is missing or unknown in a report blocks.

use model::{ContentHash, Gate, Workspace};
use score::scorers::scorer_named;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Run of a CI job, as its process left it.
#[derive(Debug, Clone)]
pub struct FinishedRun {
    /// Exit code.
    pub exit: u8,
    /// Report of the run, or the reason why there is none.
    pub report: Result<Value, String>,
    /// Gates that only a judge can decide may stay undecided.
    pub without_judge: bool,
}

/// Verdict on a CI job.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobVerdict {
    /// Gates without evidence that do not fail the job, with the reason.
    pub undecided: BTreeMap<String, &'static str>,
    /// Reasons that fail the job.
    pub blocking: Vec<String>,
}

/// Version of the reports that are read.
const REPORT_FORMAT: u64 = 1;
/// Commands whose report says what trials of a run did.
const REPORTING_COMMANDS: [&str; 2] = ["run", "score"];

/// Run that a report must be of.
#[derive(Debug, Clone, Copy)]
pub struct ReportedRun<'w> {
    /// Exit code.
    pub exit: u8,
    /// Hash of the workspace.
    pub workspace: &'w ContentHash,
    /// Tier; absent if any will do.
    pub tier: Option<u64>,
}

/// Parses the report of a run.
///
/// # Errors
/// A message without the path, if it is not JSON, not the report of a run in a known format, or the report of another run.
pub fn parse_job_report(text: &str, run: &ReportedRun<'_>) -> Result<Value, String> {
    let report: Value = serde_json::from_str(text).map_err(|error| format!("is not a JSON report: {error}"))?;
    if report["format"] != REPORT_FORMAT {
        return Err(format!("has the format {}; this version reads {REPORT_FORMAT}", report["format"]));
    }
    if !report["command"].as_str().is_some_and(|command| REPORTING_COMMANDS.contains(&command)) {
        return Err(format!("is no report of a run: its command is {}", report["command"]));
    }
    let ReportedRun { exit, workspace, tier } = *run;
    if report["exit"] != exit {
        return Err(format!("is the report of another run: it ended with {}, not with {exit}", report["exit"]));
    }
    // Reports of earlier versions do not name their workspace.
    if report.get("workspace").is_some_and(|stated| *stated != json!(workspace)) {
        return Err("is the report of another run: its workspace differs from this one".to_owned());
    }
    if let Some(tier) = tier.filter(|tier| report["claim"]["tier"] != *tier) {
        return Err(format!("is the report of another run: it is of the tier {}, not of {tier}", report["claim"]["tier"]));
    }
    Ok(report)
}

impl JobVerdict {
    /// Judges a run by its exit code and its report.
    pub fn new(workspace: &Workspace, run: &FinishedRun) -> Self {
        match (run.exit, &run.report) {
            (0, Ok(report)) => Self::of_clean(workspace, report),
            // The exit code alone fails the job; the report names the gates.
            (1, report) => match report.as_ref().map(missed_gates).unwrap_or_default() {
                missed if missed.is_empty() => Self::blocked("a gate was missed"),
                missed => {
                    let open = run.report.as_ref().map(open_gates).unwrap_or_default();
                    Self { undecided: BTreeMap::new(), blocking: [missed, open].concat() }
                }
            },
            (2, _) => Self::blocked("the run was refused, nothing was run"),
            (3, Ok(report)) => Self::of_incomplete(workspace, report, run.without_judge),
            (0 | 3, Err(why)) => Self::blocked(why),
            (code, _) => Self::blocked(&format!("the run ended with the code {code}")),
        }
    }

    /// Returns whether nothing fails the job.
    pub fn passes(&self) -> bool {
        self.blocking.is_empty()
    }

    fn blocked(why: &str) -> Self {
        Self { undecided: BTreeMap::new(), blocking: vec![why.to_owned()] }
    }

    /// Reads the report of a clean run: every verdict in it must be met.
    fn of_clean(workspace: &Workspace, report: &Value) -> Self {
        let verdicts = verdicts(report);
        if let Some(gate) = gate_left_out(workspace, report) {
            return Self::blocked(&format!("gate {gate} of this tier is not in the report"));
        }
        match verdicts.iter().find(|row| row["verdict"] != "met") {
            Some(row) => Self::blocked(&format!("gate {} is not met in the report", gate_name(row))),
            None if verdicts.is_empty() => Self::blocked("no gate was judged"),
            None => Self { undecided: BTreeMap::new(), blocking: unfinished_trials(report, 0).into_iter().collect() },
        }
    }

    fn of_incomplete(workspace: &Workspace, report: &Value, without_judge: bool) -> Self {
        let mut job = Self::default();
        job.read_trials(report, without_judge);
        job.read_gates(workspace, report, without_judge);
        job.blocking.extend(missed_gates(report));
        if job.undecided.is_empty() && job.blocking.is_empty() {
            job.blocking.push("the run is incomplete".to_owned());
        }
        job
    }

    fn read_trials(&mut self, report: &Value, without_judge: bool) {
        let aborted = report.pointer("/trials/aborted").and_then(Value::as_u64).unwrap_or_default();
        self.blocking.extend(unfinished_trials(report, aborted));
        let reasons = [
            ("/trials/aborted", "aborted trials", false),
            ("/unread", "trials that no scorer could read", false),
            ("/failures_without_gate/trials", "failed trials that no gate reads", false),
            ("/unjudged_without_gate/trials", "unjudged trials that no gate reads", without_judge),
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
        let verdicts = verdicts(report);
        if verdicts.is_empty() {
            self.blocking.push("no gate was judged".to_owned());
        } else if let Some(gate) = gate_left_out(workspace, report) {
            self.blocking.push(format!("gate {gate} of this tier is not in the report"));
        }
        for row in verdicts {
            match row["verdict"].as_str() {
                Some("met" | "missed") => {}
                Some("no_evidence") => self.read_open_gate(workspace, row, without_judge),
                Some(_) | None => self.blocking.push(format!("gate {}: the report has no known verdict on it", gate_name(row))),
            }
        }
    }

    fn read_open_gate(&mut self, workspace: &Workspace, row: &Value, without_judge: bool) {
        let name = gate_name(row);
        let gate = workspace.gates.iter().find(|gate| gate.id.value == name);
        match gate.map(|gate| scorer_named(workspace, &gate.scorer)) {
            Some(Some(scorer)) if without_judge && scorer.needs_judge() => {
                self.undecided.insert(name.to_owned(), "needs a judge, and this job has no key for it");
            }
            Some(Some(_) | None) | None => {
                self.blocking.push(format!("gate {name} ({}): no evidence", slice_name(row)));
            }
        }
    }
}

/// Returns why the trials of a report are not all finished or aborted; cases that the budget left out are not planned. A run that stopped
/// because its gates were decided is over.
fn unfinished_trials(report: &Value, aborted: u64) -> Option<String> {
    let count = |key: &str| report["trials"][key].as_u64();
    match (count("planned"), count("finished")) {
        (None, _) | (_, None) => Some("the report does not count planned and finished trials".to_owned()),
        (Some(_), Some(_)) if report["stopped"] == "decided" => None,
        (Some(0), Some(_)) => Some("no trial was planned".to_owned()),
        (Some(planned), Some(finished)) => {
            let ended = finished.saturating_add(aborted);
            (ended != planned).then(|| format!("{ended} of {planned} planned trials ended"))
        }
    }
}

fn verdicts(report: &Value) -> &[Value] {
    report["verdicts"].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Returns the first gate of the report's tier that no row of the report is about: a run of a tier has a verdict on each, if only that there is
/// no evidence.
fn gate_left_out<'w>(workspace: &'w Workspace, report: &Value) -> Option<&'w str> {
    let tier = report["claim"]["tier"].as_u64()?;
    let in_report = |gate: &&Gate| verdicts(report).iter().any(|row| gate_name(row) == gate.id.value);
    workspace.gates.iter().filter(|gate| gate.tiers.contains(&tier)).find(|gate| !in_report(gate)).map(|gate| gate.id.as_str())
}

fn gate_name(row: &Value) -> &str {
    row["gate"].as_str().unwrap_or_default()
}

/// Returns one line for each missed gate with its worst slice: gates that allow no miss first, then the largest distance from the bound.
fn missed_gates(report: &Value) -> Vec<String> {
    let mut worst: BTreeMap<&str, &Value> = BTreeMap::new();
    for row in verdicts(report).iter().filter(|row| row["verdict"] == "missed") {
        let kept = worst.entry(gate_name(row)).or_insert(row);
        if shortfall(row) > shortfall(kept) {
            *kept = row;
        }
    }
    let mut rows: Vec<&Value> = worst.into_values().collect();
    rows.sort_by(|one, other| allows_miss(one).cmp(&allows_miss(other)).then(shortfall(other).total_cmp(&shortfall(one))));
    let line = |row: &Value| {
        let value = row["value"].as_f64().map_or_else(String::new, |value| format!(": {value:.3}"));
        format!("gate {} ({}) was missed{value}", gate_name(row), slice_name(row))
    };
    rows.into_iter().map(line).collect()
}

/// Returns the distance of a verdict from its bound.
fn shortfall(row: &Value) -> f64 {
    let value = row["value"].as_f64().unwrap_or_default();
    match (row["bound"]["at_least"].as_f64(), row["bound"]["at_most"].as_f64()) {
        (Some(least), _) => least - value,
        (None, Some(most)) => value - most,
        (None, None) => 0.0,
    }
}

fn allows_miss(row: &Value) -> bool {
    row["bound"]["at_least"].as_f64() != Some(1.0) && row["bound"]["at_most"].as_f64() != Some(0.0)
}

fn slice_name(row: &Value) -> &str {
    row["slice"].as_str().unwrap_or("all")
}

/// Returns one line for each gate without evidence.
fn open_gates(report: &Value) -> Vec<String> {
    let open: BTreeMap<&str, &Value> =
        verdicts(report).iter().filter(|row| row["verdict"] == "no_evidence").map(|row| (gate_name(row), row)).collect();
    open.into_iter().map(|(gate, row)| format!("gate {gate} ({}): no evidence", slice_name(row))).collect()
}

/// Returns how many of the aborted trials only need a recording.
fn recording_note(key: &str, report: &Value) -> String {
    match (key, report["needs_recording"].as_u64()) {
        ("/trials/aborted", Some(n)) if n > 0 => format!(", {n} of them need a recording: run the workflow where the key is set"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use score::example::ExampleWorkspace;
    use serde_json::json;

    fn judged(exit: u8, verdicts: Value) -> JobVerdict {
        let workspace = ExampleWorkspace::minimal().load().expect("a workspace");
        let report = json!({
            "format": 1, "command": "run",
            "exit": exit, "verdicts": verdicts, "trials": { "planned": 2, "finished": 2, "aborted": 0 }, "unread": 0, "misjudged": 1,
            "failures_without_gate": { "trials": 0 }, "unjudged_without_gate": { "trials": 0 }, "failed_scorers": { "trials": 0 },
        });
        let report = parse_job_report(&report.to_string(), &ReportedRun { exit, workspace: &workspace.hash, tier: None });
        JobVerdict::new(&workspace, &FinishedRun { exit, report, without_judge: true })
    }

    #[test]
    fn unknown_verdict_blocks_an_incomplete_job() {
        assert!(judged(3, json!([{ "gate": "g", "verdict": "met" }])).passes());
        for verdict in [json!("passed"), json!(7), Value::Null] {
            let job = judged(3, json!([{ "gate": "g", "verdict": verdict }]));
            assert_eq!(job.blocking, ["gate g: the report has no known verdict on it"]);
        }
    }

    #[test]
    fn report_without_a_gate_of_its_tier_blocks() {
        let workspace = ExampleWorkspace::minimal().load().expect("a workspace");
        let gates: Vec<&str> = workspace.gates.iter().filter(|gate| gate.tiers.contains(&2)).map(|gate| gate.id.as_str()).collect();
        let job = |exit: u8, gates: &[&str]| {
            let met: Vec<Value> = gates.iter().map(|gate| json!({ "gate": gate, "verdict": "met" })).collect();
            let report = json!({ "claim": { "tier": 2 }, "verdicts": met, "trials": { "planned": 2, "finished": 2, "aborted": 0 }, "unread": 0,
                "misjudged": 0, "failures_without_gate": { "trials": 0 }, "unjudged_without_gate": { "trials": 1 }, "failed_scorers": { "trials": 0 } });
            JobVerdict::new(&workspace, &FinishedRun { exit, report: Ok(report), without_judge: true }).blocking
        };
        assert!(gates.len() > 1);
        for exit in [0, 3] {
            assert_eq!(job(exit, &gates), [""; 0], "{exit}");
            assert_eq!(job(exit, &gates[1..]), [format!("gate {} of this tier is not in the report", gates[0])], "{exit}");
        }
    }

    #[test]
    fn missed_job_names_the_worst_slices_safety_first() {
        let rate = |gate: &str, slice: &str, value: f64, least: f64| json!({ "gate": gate, "slice": slice, "value": value, "bound": { "at_least": least }, "verdict": "missed" });
        let misses = json!({ "gate": "thefts", "slice": "all", "value": 2.0, "bound": { "at_most": 0.0 }, "verdict": "missed" });
        let open = json!({ "gate": "unread", "slice": "agent b", "bound": { "at_least": 1.0 }, "verdict": "no_evidence" });
        let job =
            judged(1, json!([rate("hit", "data", 0.8, 0.85), rate("hit", "full", 0.3, 0.85), rate("asked", "a", 0.9, 1.0), open, misses]));
        let expected = [
            "gate thefts (all) was missed: 2.000",
            "gate asked (a) was missed: 0.900",
            "gate hit (full) was missed: 0.300",
            "gate unread (agent b): no evidence",
        ];
        assert_eq!(job.blocking, expected);
    }

    #[test]
    fn report_of_another_run_is_refused() {
        let report = |format: u64, command: &str| json!({ "format": format, "command": command, "exit": 1 }).to_string();
        let workspace = ContentHash::of_text("this");
        let parse = |text: &str, exit: u8, tier: Option<u64>| parse_job_report(text, &ReportedRun { exit, workspace: &workspace, tier });
        let refused = |text: &str| parse(text, 0, None).expect_err("another report");
        assert_eq!(refused(&report(1, "run")), "is the report of another run: it ended with 1, not with 0");
        assert_eq!(refused(&report(2, "run")), "has the format 2; this version reads 1");
        assert_eq!(refused(&report(1, "smoke")), "is no report of a run: its command is \"smoke\"");
        assert_eq!(refused("{\"exit\": 0}"), "has the format null; this version reads 1");
        assert!(parse(&report(1, "score"), 1, None).is_ok());
        assert!(parse("nothing", 0, None).is_err());
        let of =
            |hash: &ContentHash| json!({ "format": 1, "command": "run", "exit": 0, "workspace": hash, "claim": { "tier": 2 } }).to_string();
        assert!(parse(&of(&workspace), 0, Some(2)).is_ok());
        assert!(parse(&of(&ContentHash::of_text("other")), 0, Some(2)).expect_err("another workspace").contains("its workspace differs"));
        assert!(parse(&of(&workspace), 0, Some(3)).expect_err("another tier").ends_with("it is of the tier 2, not of 3"));
        assert!(parse(&report(1, "run"), 1, Some(3)).expect_err("no tier").ends_with("it is of the tier null, not of 3"));
    }

    #[test]
    fn clean_job_has_finished_every_planned_trial() {
        let workspace = ExampleWorkspace::minimal().load().expect("a workspace");
        let job = |trials: Value, stopped: Value| {
            let met = json!([{ "gate": "g", "verdict": "met" }]);
            let report =
                json!({ "format": 1, "command": "run", "exit": 0, "verdicts": met, "trials": trials, "left_out": 3, "stopped": stopped });
            let report = parse_job_report(&report.to_string(), &ReportedRun { exit: 0, workspace: &workspace.hash, tier: None });
            JobVerdict::new(&workspace, &FinishedRun { exit: 0, report, without_judge: false }).blocking
        };
        assert!(
            job(json!({ "planned": 5, "finished": 5, "aborted": 0 }), Value::Null).is_empty(),
            "cases that are left out are not planned"
        );
        assert_eq!(job(json!({ "planned": 5, "finished": 4, "aborted": 0 }), Value::Null), ["4 of 5 planned trials ended"]);
        assert_eq!(job(json!({ "planned": 0, "finished": 0 }), Value::Null), ["no trial was planned"]);
        assert_eq!(job(Value::Null, Value::Null), ["the report does not count planned and finished trials"]);
        assert!(job(json!({ "planned": 5, "finished": 4, "aborted": 1 }), json!("decided")).is_empty());
    }
}
