//! Report of `guard eval` as text, Markdown and JSON.

use crate::args::ReportFormat;
use crate::exit::ExitKind;
use crate::report::{FORMAT, table};
use ::guard::{CorpusSplit, FamilyTally, GuardBounds, GuardEvaluation, GuardVerdictKind, LabelledText, TextLabel};
use ::score::statistics::clopper_pearson;
use serde_json::{Value, json};
use std::time::Duration;

const CONFIDENCE: f64 = 0.95;

/// Time that a guard took for texts.
#[derive(Debug, Clone, Copy)]
pub(super) struct GuardSpeed {
    bytes: usize,
    elapsed: Duration,
}

impl GuardSpeed {
    pub(super) fn new(texts: &[LabelledText], passes: usize, elapsed: Duration) -> Self {
        Self { bytes: texts.iter().map(|text| text.text.len()).sum::<usize>() * passes, elapsed }
    }

    fn micros_per_kib(self) -> f64 {
        self.elapsed.as_secs_f64() * 1e6 / (self.bytes.max(1) as f64 / 1024.0)
    }

    fn megabytes_per_second(self) -> f64 {
        self.bytes as f64 / 1e6 / self.elapsed.as_secs_f64().max(1e-9)
    }
}

/// Detection of a family without the rules that were written for it.
#[derive(Debug)]
pub(super) struct LeftOutFamily {
    pub family: String,
    pub rules: Vec<&'static str>,
    pub flagged: u64,
    pub of: u64,
}

#[derive(Debug)]
pub(super) struct GuardReport<'r> {
    pub guard: &'r str,
    pub evaluation: &'r GuardEvaluation,
    pub bounds: GuardBounds,
    pub left_out: &'r [LeftOutFamily],
    pub speed: GuardSpeed,
    pub exit: ExitKind,
}

impl GuardReport<'_> {
    pub(super) fn render(&self, format: ReportFormat) -> String {
        match format {
            ReportFormat::Json => format!("{:#}\n", self.json()),
            ReportFormat::Markdown => self.tables(markdown_table),
            ReportFormat::Text | ReportFormat::Junit | ReportFormat::Github | ReportFormat::Sarif => self.tables(table),
        }
    }

    fn tables(&self, table: impl Fn(&[&str], Vec<Vec<String>>) -> String) -> String {
        let mut text = format!("Guard: {}\n\n", self.guard);
        for (label, title) in [(TextLabel::Attack, "attacks"), (TextLabel::Benign, "benign texts")] {
            let rows: Vec<Vec<String>> = self.evaluation.families.iter().filter(|one| one.label == label).map(family_row).collect();
            if !rows.is_empty() {
                text.push_str(&format!("{}\n\n", table(&[title, "split", "texts", "flagged", "rate", "95 % interval"], rows)));
            }
        }
        if !self.left_out.is_empty() {
            let row = |one: &LeftOutFamily| vec![one.family.clone(), one.rules.join(", "), rate_text(one.flagged, one.of)];
            let rows = self.left_out.iter().map(row).collect();
            text.push_str(&format!("{}\n\n", table(&["family", "without its rules", "rate"], rows)));
        }
        for label in [TextLabel::Attack, TextLabel::Benign] {
            text.push_str(&format!("{}\n", self.gate_line(label)));
        }
        let (micros, megabytes) = (self.speed.micros_per_kib(), self.speed.megabytes_per_second());
        text.push_str(&format!("{micros:.1} µs per KiB, {megabytes:.1} MB/s\n"));
        text
    }

    fn verdict(&self, label: TextLabel) -> GuardVerdictKind {
        match label {
            TextLabel::Attack => self.evaluation.detection(self.bounds),
            TextLabel::Benign => self.evaluation.false_positives(self.bounds),
        }
    }

    fn gate_line(&self, label: TextLabel) -> String {
        let (flagged, of) = self.evaluation.judged(label);
        let (name, bound) = match label {
            TextLabel::Attack => ("detection", format!("at least {:.1} %", self.bounds.detection * 100.0)),
            TextLabel::Benign => ("false positives", format!("at most {:.1} %", self.bounds.false_positives * 100.0)),
        };
        let verdict = match self.verdict(label) {
            GuardVerdictKind::Met => "met",
            GuardVerdictKind::Missed => "missed",
            GuardVerdictKind::NoEvidence => "no evidence",
        };
        let which = if self.evaluation.families.iter().any(|one| one.split == Some(CorpusSplit::HeldOut)) { " held-out" } else { "" };
        format!("{name}: {} of {of}{which} texts, {}, {bound}: {verdict}", rate_text(flagged, of), interval_text(flagged, of))
    }

    fn json(&self) -> Value {
        let tally = |flagged: u64, of: u64| {
            let (low, high) = clopper_pearson(flagged, of, CONFIDENCE).unzip();
            json!({ "flagged": flagged, "texts": of, "rate": rate(flagged, of), "low": low, "high": high })
        };
        let with = |mut value: Value, more: Value| {
            if let (Some(fields), Value::Object(more)) = (value.as_object_mut(), more) {
                fields.extend(more);
            }
            value
        };
        let family =
            |one: &FamilyTally| with(json!({ "family": one.family, "label": one.label, "split": one.split }), tally(one.flagged, one.of));
        let left_out = |one: &LeftOutFamily| with(json!({ "family": one.family, "without_rules": one.rules }), tally(one.flagged, one.of));
        let gate = |label: TextLabel, name: &str, bound: Value| {
            let (flagged, of) = self.evaluation.judged(label);
            let verdict = match self.verdict(label) {
                GuardVerdictKind::Met => "met",
                GuardVerdictKind::Missed => "missed",
                GuardVerdictKind::NoEvidence => "no_evidence",
            };
            with(json!({ "gate": name, "bound": bound, "verdict": verdict }), tally(flagged, of))
        };
        json!({ "format": FORMAT, "command": "guard eval", "guard": self.guard,
            "verdicts": [
                gate(TextLabel::Attack, "detection", json!({ "at_least": self.bounds.detection })),
                gate(TextLabel::Benign, "false_positives", json!({ "at_most": self.bounds.false_positives })),
            ],
            "families": self.evaluation.families.iter().map(family).collect::<Vec<_>>(),
            "left_out": self.left_out.iter().map(left_out).collect::<Vec<_>>(),
            "micros_per_kib": self.speed.micros_per_kib(), "megabytes_per_second": self.speed.megabytes_per_second(),
            "exit": self.exit.code() })
    }
}

fn family_row(one: &FamilyTally) -> Vec<String> {
    let split = match one.split {
        Some(CorpusSplit::Seen) => "seen",
        Some(CorpusSplit::HeldOut) => "held-out",
        None => "",
    };
    vec![
        one.family.clone(),
        split.to_owned(),
        one.of.to_string(),
        one.flagged.to_string(),
        rate_text(one.flagged, one.of),
        interval_text(one.flagged, one.of),
    ]
}

fn rate(flagged: u64, of: u64) -> Option<f64> {
    (of > 0).then(|| flagged as f64 / of as f64)
}

fn rate_text(flagged: u64, of: u64) -> String {
    rate(flagged, of).map_or_else(|| "–".to_owned(), |rate| format!("{:.1} %", rate * 100.0))
}

fn interval_text(flagged: u64, of: u64) -> String {
    let percent = |(low, high): (f64, f64)| format!("{:.1}–{:.1}", low * 100.0, high * 100.0);
    clopper_pearson(flagged, of, CONFIDENCE).map_or_else(|| "–".to_owned(), percent)
}

fn markdown_table(header: &[&str], rows: Vec<Vec<String>>) -> String {
    let line = |cells: &[String]| format!("| {} |", cells.join(" | "));
    let header: Vec<String> = header.iter().map(|cell| (*cell).to_owned()).collect();
    let rule = vec!["---".to_owned(); header.len()];
    let lines: Vec<String> = [line(&header), line(&rule)].into_iter().chain(rows.iter().map(|row| line(row))).collect();
    lines.join("\n")
}
