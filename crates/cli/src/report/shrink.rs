//! Report of a shrunk case.

use super::FORMAT;
use super::escape::escape_control;
use crate::args::ReportFormat;
use crate::exit::ExitKind;
use crate::io::CliOutput;
use campaign::{CaseSize, MeasuredRate, ShrunkCase};
use serde_json::{Value, json};

/// Characters of a text that the screen shows.
const SHOWN_CHARS: usize = 300;

/// Returns the reproducer, or everything about it as JSON.
pub(crate) fn shrunk(io: &CliOutput, shrunk: &ShrunkCase) -> String {
    match io.format {
        ReportFormat::Json => format!("{:#}\n", shrunk_json(shrunk)),
        ReportFormat::Text | ReportFormat::Junit | ReportFormat::Markdown | ReportFormat::Github | ReportFormat::Sarif => shrunk.to_yaml(),
    }
}

/// Returns what was reached, in a few lines.
pub(crate) fn shrunk_text(shrunk: &ShrunkCase) -> String {
    let ShrunkCase { case, subject, before, after, rate, first, causes, trials, exhausted, .. } = shrunk;
    let reached = match (shrunk.is_smaller(), *exhausted) {
        (true, _) => changes(before, after),
        (false, true) => format!("nothing was left out of {} characters so far", before.characters),
        (false, false) => format!("nothing could be left out of {} characters", before.characters),
    };
    let mut lines = vec![format!("{case} against {}: {reached}", escape_control(subject))];
    for text in shrunk.texts() {
        let start: String = text.chars().take(SHOWN_CHARS).collect();
        lines.push(format!("  {}", escape_control(&format!("{start:?}"))));
    }
    lines.push(format!("it failed in {rate} ({}); the original in {first}", causes.join(", ")));
    let trials = model::count(usize::try_from(*trials).unwrap_or(usize::MAX), "trial");
    lines.push(if *exhausted {
        format!("{trials}: the limit; --max-trials allows more")
    } else if shrunk.is_attack() {
        format!("{trials}; no smaller case of this kind fails")
    } else {
        format!("{trials}; no case with fewer turns or fixtures fails, and the first message is never shortened")
    });
    lines.join("\n")
}

fn changes(before: &CaseSize, after: &CaseSize) -> String {
    let mut parts = vec![format!("{} → {} characters", before.characters, after.characters)];
    let mut count = |what: &str, from: usize, to: usize| {
        if from != to {
            parts.push(format!("{from} → {to} {what}"));
        }
    };
    count("segments", before.segments, after.segments);
    count("turns", before.turns, after.turns);
    count("fixtures", before.fixtures, after.fixtures);
    count("characters of fixtures", before.fixture_characters, after.fixture_characters);
    if before.strategy != after.strategy {
        parts.push(format!("strategy {} → {}", before.strategy, after.strategy));
    }
    parts.join(", ")
}

fn shrunk_json(shrunk: &ShrunkCase) -> Value {
    json!({
        "format": FORMAT,
        "command": "shrink",
        "case": shrunk.case,
        "subject": shrunk.subject,
        "reproducer": shrunk.reproducer,
        "texts": shrunk.texts(),
        "before": size_json(&shrunk.before),
        "after": size_json(&shrunk.after),
        "violated": shrunk.causes,
        "original": rate_json(&shrunk.first),
        "measured": rate_json(&shrunk.rate),
        "trials": shrunk.trials,
        "exhausted": shrunk.exhausted,
        "yaml": shrunk.to_yaml(),
        "exit": ExitKind::Clean.code(),
    })
}

fn size_json(size: &CaseSize) -> Value {
    let CaseSize { strategy, segments, characters, turns, fixtures, fixture_characters } = size;
    json!({
        "strategy": strategy, "segments": segments, "characters": characters, "turns": turns, "fixtures": fixtures,
        "fixture_characters": fixture_characters,
    })
}

fn rate_json(rate: &MeasuredRate) -> Value {
    json!({ "failed": rate.failed, "of": rate.of, "rate": rate.rate(), "interval": rate.interval().map(|(low, high)| [low, high]) })
}
