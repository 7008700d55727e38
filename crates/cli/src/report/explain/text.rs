//! An explanation for a person.

use super::{ScoredExample, Topic};
use crate::io::Io;
use crate::report::show::{reading, timeline};
use crate::report::visible;
use model::Gate;
use score::checks::{Check, Findings};
use score::scorers::{PLANNED, Scorer, scorer_named};

const NOT_MEASURED: &str = "a metric that this version does not measure yet";

pub(super) fn render(io: &Io, topics: &[Topic<'_>]) -> String {
    let texts: Vec<String> = topics.iter().map(|topic| topic_text(io, topic)).collect();
    texts.join("\n")
}

fn topic_text(io: &Io, topic: &Topic<'_>) -> String {
    match topic {
        Topic::Check(check) => check_text(io, *check),
        Topic::Scorer(scorer) => scorer_text(io, *scorer),
        Topic::PlannedMetric { id, manual } => head(io, id.word(), NOT_MEASURED, manual),
        Topic::Gate(gate) => gate_text(io, gate),
    }
}

fn head(io: &Io, id: &str, kind: &str, manual: &str) -> String {
    format!("{}  {kind}\n\n{}\n", io.paint.strong(id), wrap(manual))
}

fn check_text(io: &Io, check: &dyn Check) -> String {
    let mut text = format!("{}\nIt rejects, for example:\n", head(io, check.id(), "a check of tier 1", check.manual()));
    let example = check.rejects();
    for edit in example.edits() {
        text.push_str(&format!("  in {}\n", edit.path));
        for (sign, side) in [("-", &edit.from), ("+", &edit.to)] {
            for line in side.lines().take(6) {
                text.push_str(&format!("    {sign} {line}\n"));
            }
        }
    }
    text.push_str("\nand says:\n");
    if let Ok(workspace) = example.load() {
        let mut found = Findings::of(check.id(), 1);
        check.check(&workspace, &mut found);
        for finding in found.finish().findings.iter().take(3) {
            text.push_str(&format!("  {}  {}  {}\n", finding.at, finding.what, finding.remedy));
        }
    }
    text
}

fn scorer_text(io: &Io, scorer: &dyn Scorer) -> String {
    let accepted = example_text(io, &ScoredExample::accepted(scorer));
    let rejected = example_text(io, &ScoredExample::rejected(scorer));
    format!(
        "{}\nIt accepts, for example:\n{accepted}\nIt rejects, for example:\n{rejected}",
        head(io, scorer.id().word(), "a scorer", scorer.manual())
    )
}

fn example_text(io: &Io, example: &ScoredExample) -> String {
    let mut text = timeline(io, &example.specimen.workspace, &example.specimen.transcript, &example.scores);
    for score in &example.scores {
        text.push_str(&format!("and reads {}\n", reading(&score.reading)));
        for because in score.because.iter().filter(|because| because.event.is_none()) {
            text.push_str(&format!("  {}\n", visible(&because.what)));
        }
    }
    text
}

fn gate_text(io: &Io, gate: &Gate) -> String {
    let bound = match gate.bound {
        model::Bound::AtLeast(value) => format!("at least {value}"),
        model::Bound::AtMost(value) => format!("at most {value}"),
    };
    let tiers: Vec<String> = gate.tiers.iter().map(ToString::to_string).collect();
    let mut text = format!(
        "{}\nbound      {bound}\nscorer     {}\nmin cases  {}\ntiers      {}\nwhere      {}\n",
        head(io, &gate.id, &format!("a gate ({})", gate.spec.text()), &gate.why),
        gate.scorer.value,
        gate.min_cases,
        tiers.join(", "),
        io.at(&gate.at)
    );
    if let Some(scorer) = scorer_named(&gate.scorer) {
        text.push_str(&format!("\n{}", head(io, scorer.id().word(), "a scorer", scorer.manual())));
    }
    let planned = PLANNED.iter().find(|(id, _)| gate.scorer.known() == Some(*id));
    text.extend(planned.map(|(id, manual)| format!("\n{}", head(io, id.word(), NOT_MEASURED, manual))));
    text
}

/// Breaks text into lines of at most 100 characters.
fn wrap(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.len() - 1;
        if !lines[last].is_empty() && lines[last].chars().count() + 1 + word.chars().count() > 100 {
            lines.push(word.to_owned());
        } else {
            if !lines[last].is_empty() {
                lines[last].push(' ');
            }
            lines[last].push_str(word);
        }
    }
    lines.join("\n")
}
