//! Scorers of a workspace: programs that read a transcript and answer with a reading, listed in `scorers.yaml`.

use crate::location::{Location, Spanned};
use crate::problem::ProblemReport;
use crate::scorer::ScorerId;
use crate::suite::{Case, SuiteKind};
use crate::text_enum::text_enum;
use crate::yaml::{YamlFields, YamlNode, list, name, one_of, spanned, text, unsigned};

/// Seconds that a program has for one trial, unless its entry says otherwise.
const DEFAULT_SECONDS: u64 = 30;
/// Maximum seconds of an entry.
const MAX_SECONDS: u64 = 600;

text_enum! {
    /// Kind of reading that a scorer answers with.
    ScorerScale { Tally "tally", Level "level" }
}

#[derive(Debug, Clone)]
pub struct ExternalScorer {
    pub id: Spanned<String>,
    pub about: String,
    /// Program and arguments, run without a shell.
    pub command: Vec<String>,
    /// Kinds of suites that it reads; all if empty.
    pub suites: Vec<SuiteKind>,
    /// It reads cases with one of these tags; all if empty.
    pub tags: Vec<String>,
    pub timeout_s: u64,
    pub reads: ScorerScale,
    pub at: Location,
}

impl ExternalScorer {
    /// Returns whether the scorer reads the trials of a case.
    pub fn applies_to(&self, case: &Case) -> bool {
        (self.suites.is_empty() || self.suites.contains(&case.kind))
            && (self.tags.is_empty() || self.tags.iter().any(|tag| case.has_tag(tag)))
    }
}

pub(crate) fn read_scorers(node: &YamlNode, report: &ProblemReport) -> Option<Vec<ExternalScorer>> {
    let fields = YamlFields::open(node, "scorers.yaml", report)?;
    let scorers = fields.required("scorers", list(read_scorer));
    fields.close();
    let scorers = scorers?;
    for (n, scorer) in scorers.iter().enumerate() {
        if let Some(first) = scorers[..n].iter().find(|other| *other.id == *scorer.id) {
            let remedy = format!("rename it; the first is on line {}", first.id.at.line);
            report.add(scorer.id.at.line, format!("there are two scorers {}", *scorer.id), remedy);
        }
    }
    Some(scorers)
}

fn read_scorer(node: &YamlNode, report: &ProblemReport) -> Option<ExternalScorer> {
    let fields = YamlFields::open(node, "a scorer", report)?;
    let id = fields.required("id", spanned(name));
    let about = fields.required("about", text);
    let command = fields.required("command", list(text));
    let (suites, tags) = fields.optional("applies", read_scope).unwrap_or_default();
    let timeout_s = fields.optional("timeout_s", unsigned).unwrap_or(DEFAULT_SECONDS);
    let reads = fields.optional("reads", one_of(ScorerScale::ALL)).unwrap_or(ScorerScale::Tally);
    fields.close();
    let (id, command) = (id?, command?);
    if ScorerId::parse(&id).is_some() {
        report.add(id.at.line, format!("{} is a built-in scorer", *id), "choose another id");
    }
    if command.first().is_none_or(String::is_empty) {
        report.add(node.line, format!("scorer {} has no program", *id), "write command: [program, argument, …]");
    }
    if !(1..=MAX_SECONDS).contains(&timeout_s) {
        report.add(node.line, format!("scorer {} has {timeout_s} seconds", *id), format!("write timeout_s: 1 to {MAX_SECONDS}"));
    }
    Some(ExternalScorer { id, about: about?, command, suites, tags, timeout_s, reads, at: report.location(node.line) })
}

fn read_scope(node: &YamlNode, report: &ProblemReport) -> Option<(Vec<SuiteKind>, Vec<String>)> {
    let fields = YamlFields::open(node, "applies", report)?;
    let suites = fields.or_default("suites", list(one_of(SuiteKind::ALL)));
    let tags = fields.or_default("tags", list(name));
    fields.close();
    Some((suites, tags))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::test_support::{assert_problems, read_ok};

    const SCORERS: &str = "scorers:\n  - id: politeness\n    about: Counts polite answers.\n    command: [python3, polite.py]\n    applies: { suites: [behavior], tags: [talk] }\n    timeout_s: 5\n";

    #[test]
    fn external_scorers_are_read() {
        let scorers = read_ok(SCORERS, read_scorers);
        assert_eq!((scorers[0].id.as_str(), scorers[0].timeout_s), ("politeness", 5));
        assert_eq!(
            (scorers[0].suites.as_slice(), scorers[0].tags.as_slice()),
            ([SuiteKind::Behavior].as_slice(), ["talk".to_owned()].as_slice())
        );
        assert_eq!(scorers[0].command, ["python3", "polite.py"]);
    }

    #[test]
    fn mistakes_in_external_scorers_have_place_and_remedy() {
        let second = "timeout_s: 5\n  - { id: politeness, about: x, command: [y] }";
        assert_problems(
            SCORERS,
            read_scorers,
            &[
                ("id: politeness", "id: hit", "2: hit is a built-in scorer | choose another id"),
                ("id: politeness", "id: benign_utility", "2: benign_utility is a built-in scorer | choose another id"),
                ("timeout_s: 5", second, "7: there are two scorers politeness | rename it; the first is on line 2"),
                ("[python3, polite.py]", "[]", "2: scorer politeness has no program | write command: [program, argument, …]"),
                ("timeout_s: 5", "timeout_s: 0", "2: scorer politeness has 0 seconds | write timeout_s: 1 to 600"),
                ("tags:", "tag:", "5: applies has no key \"tag\" | did you mean \"tags\"?"),
            ],
        );
    }
}
