//! The manual of a check, scorer or gate, taken from the source.

use crate::exit::Exit;
use crate::io::Io;
use crate::open::Source;
use model::{Gate, ScorerId, Workspace, did_you_mean};
use score::checks::{CHECKS, Check, Findings};
use score::scorers::{PLANNED, scorer};

pub(crate) fn explain(io: &Io, source: &Source, name: &str) -> Exit {
    if let Some(check) = CHECKS.iter().find(|check| check.id() == name) {
        return io.result(&check_text(io, *check), Exit::Clean);
    }
    if let Some(text) = ScorerId::parse(name).and_then(|id| scorer_text(io, id)) {
        return io.result(&text, Exit::Clean);
    }
    // Gates come last: they need a workspace, which may be broken.
    let workspace = match super::open(io, source, "explain") {
        Ok(workspace) => workspace,
        Err(exit) => return exit,
    };
    match workspace.gates.iter().find(|gate| *gate.id == name) {
        Some(gate) => io.result(&gate_text(io, gate), Exit::Clean),
        None => {
            io.say(format!("nothing is called \"{name}\"  {}", did_you_mean(name, names(&workspace))).trim_end());
            Exit::Usage
        }
    }
}

fn names(workspace: &Workspace) -> impl Iterator<Item = &str> {
    let checks = CHECKS.iter().map(|check| check.id());
    let scorers = ScorerId::ALL.iter().map(|(text, _)| *text);
    checks.chain(scorers).chain(workspace.gates.iter().map(|gate| gate.id.as_str()))
}

fn check_text(io: &Io, check: &dyn Check) -> String {
    let mut text = format!("{}  a check of tier 1\n\n{}\n\nIt rejects, for example:\n", io.paint.strong(check.id()), wrap(check.manual()));
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

fn scorer_text(io: &Io, id: ScorerId) -> Option<String> {
    let built = scorer(id).map(|scorer| (scorer.manual(), "a scorer"));
    let planned =
        PLANNED.iter().find(|(planned, _)| *planned == id).map(|(_, manual)| (*manual, "a metric that this version does not measure yet"));
    built.or(planned).map(|(manual, what)| format!("{}  {what}\n\n{}\n", io.paint.strong(id.word()), wrap(manual)))
}

fn gate_text(io: &Io, gate: &Gate) -> String {
    let bound = match gate.bound {
        model::Bound::AtLeast(value) => format!("at least {value}"),
        model::Bound::AtMost(value) => format!("at most {value}"),
    };
    let tiers: Vec<String> = gate.tiers.iter().map(ToString::to_string).collect();
    let mut text = format!(
        "{}  a gate ({})\n\n{}\n\nbound      {bound}\nscorer     {}\nmin cases  {}\ntiers      {}\nwhere      {}\n",
        io.paint.strong(&gate.id),
        gate.spec.text(),
        wrap(&gate.why),
        gate.scorer.value,
        gate.min_cases,
        tiers.join(", "),
        io.at(&gate.at)
    );
    if let Some(scorer) = gate.scorer.known().and_then(|id| scorer_text(io, id)) {
        text.push_str(&format!("\n{scorer}"));
    }
    text
}

/// Words on lines of at most 100 characters.
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
