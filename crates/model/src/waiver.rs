//! Waivers: findings of smoke checks that a workspace accepts, with the reason.

use crate::location::{Location, Spanned};
use crate::problem::ProblemReport;
use crate::yaml::{YamlFields, YamlNode, name, spanned, text};

/// Shortest reason, so that a single word is not one.
const MIN_REASON_CHARS: usize = 10;

/// Accepted findings of one check.
#[derive(Debug, Clone)]
pub struct CheckWaiver {
    /// Id of the check.
    pub check: Spanned<String>,
    /// Pattern for the files of the findings; absent for all of them.
    pub place: Option<String>,
    pub reason: String,
    pub at: Location,
}

impl CheckWaiver {
    /// Returns whether the waiver is about findings in this file. `*` stands for any characters.
    pub fn covers(&self, file: &str) -> bool {
        self.place.as_deref().is_none_or(|pattern| fits(pattern, file))
    }
}

fn fits(pattern: &str, text: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(text) = text.strip_prefix(head) else { return false };
    let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    ends.into_iter().any(|at| fits(rest, &text[at..]))
}

pub(crate) fn read_waiver(node: &YamlNode, report: &ProblemReport) -> Option<CheckWaiver> {
    let fields = YamlFields::open(node, "a waiver", report)?;
    let check = fields.required("check", spanned(name));
    let place = fields.optional("where", text);
    let reason = fields.required("reason", text);
    fields.close();
    let reason = reason?;
    if reason.chars().count() < MIN_REASON_CHARS {
        report.add(node.line, "the reason of a waiver is too short", "say why the finding is accepted; every report repeats it");
    }
    // Each star doubles the work of a pattern that does not fit.
    if place.as_ref().is_some_and(|pattern| pattern.matches('*').count() > 4) {
        report.add(node.line, "a pattern has at most four stars", "write a shorter one");
        return None;
    }
    Some(CheckWaiver { check: check?, place, reason, at: report.location(node.line) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::{YamlLimits, load};

    fn waiver(text: &str) -> Result<CheckWaiver, String> {
        let report = ProblemReport::new("bardo-eval.yaml");
        let node = load(text, YamlLimits::default(), &report).unwrap();
        let read = read_waiver(&node, &report);
        match (read, report.into_problems().first()) {
            (Some(waiver), None) => Ok(waiver),
            (_, problem) => Err(problem.map(ToString::to_string).unwrap_or_default()),
        }
    }

    #[test]
    fn waivers_cover_files_by_pattern() {
        let of = |place: &str| waiver(&format!("check: descriptions\nwhere: {place}\nreason: The vendor writes them.\n")).unwrap();
        assert!(of("tools/*.yaml").covers("tools/files.yaml"));
        assert!(of("\"*\"").covers("agents/a.md"));
        assert!(!of("tools/*.yaml").covers("tools/files.yml"));
        assert!(!of("tools/files.yaml").covers("tools/files.yaml2"));
        assert!(waiver("check: descriptions\nreason: The vendor writes them.\n").unwrap().covers("anything"));
    }

    #[test]
    fn waivers_need_a_reason() {
        assert!(waiver("check: descriptions\n").unwrap_err().contains("lacks \"reason\""));
        assert!(waiver("check: descriptions\nreason: ok\n").unwrap_err().contains("too short"));
        assert!(waiver("check: descriptions\nwhere: \"*****\"\nreason: The vendor writes them.\n").unwrap_err().contains("four stars"));
    }
}
