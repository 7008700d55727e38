//! Report on logs of other frameworks: readings, agreement with the verdicts of their source, attacks, skipped items.

use super::gate_lines::verdict_rank;
use super::judgement_text::{note, value_and_bound};
use super::{FORMAT, escape_control, table};
use crate::args::ReportFormat;
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::workspace_source::WorkspaceSource;
use campaign::{LogSummary, LogVerdicts, ReadingTotals};
use foreign::{CounterpartReading, Disagreement, LogProblem, SignState, SourceOutcome};
use model::{GateResult, Reading, UserError, Verdict, count};
use serde_json::{Value, json};

/// Lines of a list without `--verbose`.
const SHOWN: usize = 20;

/// Everything that was read from logs.
pub(crate) struct ScoredLogs<'a> {
    pub summary: &'a LogSummary,
    /// Absent if no recording is of a case of the workspace.
    pub verdicts: Option<LogVerdicts>,
    /// Files that could not be opened.
    pub errors: &'a [UserError],
}

/// Prints the report and returns the exit.
pub(crate) fn print_logs(io: &CliOutput, logs: &ScoredLogs<'_>, workspace: Option<&WorkspaceSource>) -> ExitKind {
    let exit = exit_of(logs);
    for error in logs.errors {
        io.print_message(&escape_control(&error.to_string()));
    }
    let text = match io.format {
        ReportFormat::Json => format!("{:#}\n", document(logs, workspace, exit)),
        ReportFormat::Text | ReportFormat::Junit | ReportFormat::Markdown | ReportFormat::Github | ReportFormat::Sarif => {
            LogText { io, summary: logs.summary, lines: vec![] }.render(logs.verdicts.as_ref(), workspace)
        }
    };
    io.print_result(&text, exit)
}

/// A missed gate and a goal that was reached fail. Gates without evidence, failures that no gate reads, skipped items and aborted
/// recordings leave the result incomplete.
fn exit_of(logs: &ScoredLogs<'_>) -> ExitKind {
    let ScoredLogs { summary, verdicts, errors } = logs;
    let missed = verdict_count(verdicts.as_ref(), Verdict::Missed) > 0;
    let undecided = verdict_count(verdicts.as_ref(), Verdict::NoEvidence) > 0
        || verdicts.as_ref().is_some_and(|verdicts| verdicts.left_out + verdicts.unread_failures > 0);
    if summary.attacks.reached > 0 || missed {
        ExitKind::Missed
    } else if undecided || summary.problem_count() > 0 || summary.aborted > 0 || !errors.is_empty() {
        ExitKind::Incomplete
    } else {
        ExitKind::Clean
    }
}

fn verdict_count(verdicts: Option<&LogVerdicts>, verdict: Verdict) -> usize {
    verdicts.map_or(0, |verdicts| verdicts.gates.judgements.iter().filter(|one| one.verdict == verdict).count())
}

struct LogText<'a> {
    io: &'a CliOutput,
    summary: &'a LogSummary,
    lines: Vec<String>,
}

impl LogText<'_> {
    fn render(mut self, verdicts: Option<&LogVerdicts>, workspace: Option<&WorkspaceSource>) -> String {
        self.add_head(workspace);
        if let Some(verdicts) = verdicts {
            self.add_gates(verdicts);
        }
        self.add_readings();
        self.add_agreement();
        self.add_attacks();
        self.add_changes();
        self.add_problems();
        self.lines.push(String::new());
        self.lines.join("\n")
    }

    fn add(&mut self, line: String) {
        self.lines.push(line);
    }

    /// Adds the first lines of a list, and the number of the others.
    fn add_list(&mut self, lines: impl ExactSizeIterator<Item = String>, unlisted: u64) {
        let shown = if self.io.verbose { usize::MAX } else { SHOWN };
        let more = lines.len().saturating_sub(shown) as u64 + unlisted;
        let first: Vec<String> = lines.take(shown).collect();
        self.lines.extend(first.into_iter().map(|line| format!(" {}", escape_control(&line))));
        if more > 0 {
            let hint = if self.io.verbose { "" } else { "; --verbose lists them" };
            self.add(format!(" and {more} more{hint}"));
        }
    }

    fn add_head(&mut self, workspace: Option<&WorkspaceSource>) {
        let summary = self.summary;
        let formats: Vec<String> = summary.formats.iter().map(|(format, files)| format!("{files} {}", format.word())).collect();
        let aborted = if summary.aborted == 0 { String::new() } else { format!(", {} aborted and not scored", summary.aborted) };
        let (recordings, cases) = (count(summary.recordings, "recording"), count(summary.case_count(), "case"));
        self.add(format!("{recordings} of {cases} in {} ({}){aborted}", count(summary.files, "file"), formats.join(", ")));
        let subjects: Vec<&str> = summary.subjects().take(5).collect();
        self.add(escape_control(&format!("subjects: {}", subjects.join(", "))));
        self.add(match workspace {
            Some(source) => format!(
                "workspace {}: {} of its cases; the others are read without expectations",
                source.label(),
                count(summary.known_cases, "recording")
            ),
            None => "no workspace: scorers that need one are not exercised; --workspace names one".to_owned(),
        });
    }

    /// Adds the gates that are not met, and with `--verbose` all of them.
    fn add_gates(&mut self, verdicts: &LogVerdicts) {
        let number = |verdict| verdict_count(Some(verdicts), verdict);
        let (met, missed, open) = (number(Verdict::Met), number(Verdict::Missed), number(Verdict::NoEvidence));
        self.add(format!("\ngates on {}: {met} met, {missed} missed, {open} without evidence", count(verdicts.recordings, "recording")));
        let mut shown: Vec<&GateResult> = verdicts.gates.judgements.iter().collect();
        shown.retain(|one| self.io.verbose || one.verdict != Verdict::Met);
        shown.sort_by_key(|one| verdict_rank(one.verdict));
        let lines: Vec<String> = shown.iter().map(|one| gate_line(one)).collect();
        self.add_list(lines.into_iter(), 0);
        if verdicts.unread_failures > 0 {
            self.add(format!(" {} failed, and no gate reads the misses", count(verdicts.unread_failures, "recording")));
        }
        if verdicts.left_out > 0 {
            self.add(format!(" {} of further subjects were not judged", count(verdicts.left_out, "recording")));
        }
    }

    fn add_readings(&mut self) {
        let row = |(name, totals): (&String, &ReadingTotals)| {
            let share = if totals.levels > 0 { "–".to_owned() } else { format!("{} of {}", totals.hit, totals.of) };
            let value = totals.value().map_or_else(|| "not exercised".to_owned(), |value| format!("{value:.3}"));
            vec![name.clone(), share, value, totals.exercised.to_string(), totals.unexercised.to_string(), totals.unscorable.to_string()]
        };
        let rows: Vec<Vec<String>> = self.summary.readings.iter().map(row).collect();
        if !rows.is_empty() {
            self.add(String::new());
            self.add(table(&["reading", "hits", "value", "exercised", "not exercised", "unscorable"], rows));
        }
    }

    fn add_agreement(&mut self) {
        let agreement = &self.summary.agreement;
        if agreement.rows.is_empty() {
            return;
        }
        let row = |((verdict, reading), row): (&(String, &str), &foreign::AgreementRow)| {
            let rate = if row.compared() == 0 { "–".to_owned() } else { format!("{:.3}", row.agreed() as f64 / row.compared() as f64) };
            let cells = [row.both_good, row.both_bad, row.only_source_good, row.only_ours_good, row.not_compared.values().sum()];
            [escape_control(verdict), (*reading).to_owned()].into_iter().chain(cells.map(|cell| cell.to_string())).chain([rate]).collect()
        };
        let rows = agreement.rows.iter().map(row).collect();
        self.add("\nverdicts of the source beside ours".to_owned());
        let header = ["verdict", "ours", "both good", "both bad", "only source good", "only ours good", "not compared", "agreement"];
        self.add(table(&header, rows));
        for ((verdict, _), row) in &agreement.rows {
            for (why, number) in &row.not_compared {
                self.add(escape_control(&format!(" {verdict}: {number} not compared: {why}")));
            }
        }
        self.add_trial_shares();
        let number = agreement.disagreements.len() as u64 + agreement.unlisted;
        if number > 0 {
            self.add(format!("\n{}", count(number, "disagreement")));
            self.add_list(agreement.disagreements.iter().map(disagreement_line), agreement.unlisted);
        }
    }

    /// Adds pass^k where cases have several recordings.
    fn add_trial_shares(&mut self) {
        for share in self.summary.trial_shares().into_iter().filter(|share| share.trials.1 > 1) {
            let (fewest, most) = share.trials;
            let values: Vec<String> = (1..).zip(&share.pass_hat).map(|(k, value)| format!("pass^{k} {value:.3}")).collect();
            let trials = if fewest == most { fewest.to_string() } else { format!("{fewest} to {most}") };
            let line = format!(" {}: {} ({}, {trials} recordings each)", share.verdict, values.join(", "), count(share.cases, "case"));
            self.add(escape_control(&line));
        }
    }

    fn add_attacks(&mut self) {
        let counts = &self.summary.attacks;
        if counts.attacked == 0 {
            return;
        }
        self.add(format!("\n{} with an attack, {} of them without evidence", count(counts.attacked, "recording"), counts.not_evidence));
        let known = |yes: u64, no: u64| if yes + no == 0 { "not known".to_owned() } else { format!("{yes} of {}", yes + no) };
        let row = |what: &str, yes, no| vec![what.to_owned(), known(yes, no)];
        self.add(table(
            &["sign", "recordings"],
            vec![
                row("payload seen", counts.seen, counts.not_seen),
                row("goal attempted", counts.attempted, counts.not_attempted),
                row("goal reached", counts.reached, counts.not_reached),
            ],
        ));
        let lines = self.summary.findings.iter().map(|finding| {
            let seen = sign_text("payload seen", &finding.seen);
            format!(
                "{}  {}  {seen}, {}, {}",
                finding.at,
                finding.case,
                sign_text("attempted", &finding.attempted),
                sign_text("reached", &finding.reached)
            )
        });
        self.add_list(lines, self.summary.more_findings);
    }

    fn add_changes(&mut self) {
        let summary = self.summary;
        let changed = summary.changed_scores.len() as u64 + summary.more_changed_scores;
        if summary.same_scores + summary.unread_scores + changed == 0 {
            return;
        }
        self.add(format!("\nstored scores: {} the same, {changed} different, {} not read now", summary.same_scores, summary.unread_scores));
        let lines = summary.changed_scores.iter().map(|changed| {
            let (stored, now) = (reading_text(&changed.stored), reading_text(&changed.now));
            format!("{}  {}  {} {stored} → {now}", changed.at, changed.case, changed.scorer)
        });
        self.add_list(lines, summary.more_changed_scores);
    }

    fn add_problems(&mut self) {
        let summary = self.summary;
        if !summary.left_out.is_empty() {
            let parts: Vec<String> = summary.left_out.iter().map(|(what, number)| format!("{number} × {what}")).collect();
            self.add(String::new());
            self.add(escape_control(&format!("left out of transcripts: {}", parts.join(", "))));
        }
        if summary.problem_count() > 0 {
            self.add(format!("\n{} skipped", count(summary.problem_count(), "item")));
            self.add_list(summary.problems.iter().map(ToString::to_string), summary.more_problems);
        }
    }
}

fn gate_line(result: &GateResult) -> String {
    let verdict = match result.verdict {
        Verdict::Met => "met",
        Verdict::Missed => "missed",
        Verdict::NoEvidence => "no evidence",
    };
    let why = note(result);
    let why = if why.is_empty() { String::new() } else { format!("  {why}") };
    format!("{verdict}  {}  {}  {}  {}{why}", result.gate, result.metric.slice, result.subject, value_and_bound(result))
}

fn gate_document(result: &GateResult) -> Value {
    let metric = &result.metric;
    json!({
        "gate": result.gate, "slice": metric.slice, "subject": result.subject, "value": metric.value, "n": metric.n, "cases": metric.cases,
        "bound": result.bound, "verdict": result.verdict, "because": result.because,
    })
}

fn disagreement_line(one: &Disagreement) -> String {
    let trial = one.trial.map_or_else(String::new, |trial| format!(" trial {trial}"));
    let source = if one.pair.source == SourceOutcome::Good { "good" } else { "bad" };
    let ours = if one.pair.ours == CounterpartReading::Good { "good" } else { "bad" };
    format!("{}  {}{trial}  {} {} is {source}, our {} is {ours}", one.at, one.case, one.pair.verdict, one.pair.written, one.pair.reading)
}

fn sign_text(what: &str, state: &SignState) -> String {
    match state {
        SignState::Yes(event) => format!("{what} at event {event}"),
        SignState::No => format!("not {what}"),
        SignState::Unknown(why) => format!("{what} not known ({why})"),
    }
}

fn reading_text(reading: &Reading) -> String {
    match reading {
        Reading::Tally { hit, of } => format!("{hit} of {of}"),
        Reading::Level(level) => format!("{level:.3}"),
        Reading::Unscorable { .. } => "unscorable".to_owned(),
    }
}

fn document(logs: &ScoredLogs<'_>, workspace: Option<&WorkspaceSource>, exit: ExitKind) -> Value {
    let ScoredLogs { summary, verdicts, errors } = logs;
    let gates = verdicts.as_ref().map(|verdicts| verdicts.gates.judgements.iter().map(gate_document).collect::<Vec<_>>());
    let readings: Vec<Value> = summary.readings.iter().map(|(name, totals)| reading_document(name, totals)).collect();
    let rows: Vec<Value> = summary
        .agreement
        .rows
        .iter()
        .map(|((verdict, reading), row)| {
            json!({
                "verdict": verdict, "reading": reading, "both_good": row.both_good, "both_bad": row.both_bad,
                "only_source_good": row.only_source_good, "only_ours_good": row.only_ours_good, "not_compared": row.not_compared,
            })
        })
        .collect();
    let disagreements: Vec<Value> = summary
        .agreement
        .disagreements
        .iter()
        .map(|one| {
            json!({
                "file": one.at.file, "item": one.at.item, "case": one.case, "trial": one.trial, "verdict": one.pair.verdict,
                "written": one.pair.written, "source_good": one.pair.source == SourceOutcome::Good, "reading": one.pair.reading,
            })
        })
        .collect();
    let shares: Vec<Value> = summary
        .trial_shares()
        .into_iter()
        .map(|share| json!({ "verdict": share.verdict, "cases": share.cases, "trials": [share.trials.0, share.trials.1], "pass_hat": share.pass_hat }))
        .collect();
    let counts = &summary.attacks;
    json!({
        "format": FORMAT,
        "command": "score",
        "files": summary.files,
        "formats": summary.formats.iter().map(|(format, files)| (format.word().to_owned(), json!(files))).collect::<serde_json::Map<_, _>>(),
        "recordings": summary.recordings,
        "cases": summary.case_count(),
        "known_cases": summary.known_cases,
        "aborted": summary.aborted,
        "workspace": workspace.map(WorkspaceSource::label),
        "gates": gates,
        "failures_without_gate": verdicts.as_ref().map(|verdicts| verdicts.unread_failures),
        "readings": readings,
        "agreement": rows,
        "disagreements": disagreements,
        "disagreements_unlisted": summary.agreement.unlisted,
        "pass_hat_k": shares,
        "attacks": {
            "recordings": counts.attacked, "not_evidence": counts.not_evidence, "seen": [counts.seen, counts.seen + counts.not_seen],
            "attempted": [counts.attempted, counts.attempted + counts.not_attempted], "reached": [counts.reached, counts.reached + counts.not_reached],
        },
        "stored_scores": {
            "same": summary.same_scores, "not_read": summary.unread_scores, "different": summary.changed_scores.len() as u64 + summary.more_changed_scores,
            "first_different": summary.changed_scores.iter().map(changed_document).collect::<Vec<_>>(),
        },
        "left_out": summary.left_out,
        "skipped": summary.problems.iter().map(problem_document).collect::<Vec<_>>(),
        "skipped_unlisted": summary.more_problems,
        "unreadable": errors.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "exit": exit.code(),
    })
}

fn reading_document(name: &str, totals: &ReadingTotals) -> Value {
    json!({
        "name": name, "hit": totals.hit, "of": totals.of, "value": totals.value(), "exercised": totals.exercised,
        "not_exercised": totals.unexercised, "unscorable": totals.unscorable,
    })
}

fn changed_document(changed: &campaign::ChangedReading) -> Value {
    json!({ "file": changed.at.file, "item": changed.at.item, "case": changed.case, "scorer": changed.scorer, "stored": changed.stored, "now": changed.now })
}

fn problem_document(problem: &LogProblem) -> Value {
    json!({ "file": problem.at.file, "item": problem.at.item, "what": problem.what })
}
