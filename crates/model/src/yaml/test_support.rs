//! Helpers for tests of YAML readers.

use super::{YamlLimits, YamlNode, load};
use crate::problem::ProblemReport;

/// Reads a document and checks that it has no problems.
#[track_caller]
pub(crate) fn read_ok<T>(text: &str, read: impl Fn(&YamlNode, &ProblemReport) -> Option<T>) -> T {
    let (value, problems) = read_with_problems(text, read);
    assert_eq!(problems, "");
    value.expect("a value")
}

/// Applies each edit `(from, to, problems)` to a good document and checks its problems, as `line: what | remedy`.
#[track_caller]
pub(crate) fn assert_problems<T>(good: &str, read: impl Fn(&YamlNode, &ProblemReport) -> Option<T>, edits: &[(&str, &str, &str)]) {
    for (from, to, problems) in edits {
        assert!(good.contains(from), "the document does not contain {from:?}");
        let (_, found) = read_with_problems(&good.replacen(from, to, 1), &read);
        assert_eq!(found, *problems, "{from:?} became {to:?}");
    }
}

/// Checks that the mapping called `what`, which starts on `line`, needs each of these keys. Each key must be on a separate line.
#[track_caller]
pub(crate) fn assert_required_keys<T>(
    good: &str,
    read: impl Fn(&YamlNode, &ProblemReport) -> Option<T>,
    what: &str,
    line: u32,
    keys: &[&str],
) {
    for key in keys {
        let kept: Vec<&str> = good.lines().filter(|line| !line.trim_start().starts_with(&format!("{key}:"))).collect();
        assert_eq!(kept.len() + 1, good.lines().count(), "{key} is on one line");
        let (_, found) = read_with_problems(&kept.join("\n"), &read);
        assert_eq!(found, format!("{line}: {what} lacks \"{key}\" | add {key}: …"));
    }
}

pub(crate) fn read_with_problems<T>(text: &str, read: impl Fn(&YamlNode, &ProblemReport) -> Option<T>) -> (Option<T>, String) {
    let report = ProblemReport::new("file.yaml");
    let value = load(text, YamlLimits::default(), &report).and_then(|node| read(&node, &report));
    let problems = report.into_problems();
    let lines: Vec<String> = problems
        .iter()
        .map(|problem| match problem.remedy.as_str() {
            "" => format!("{}: {}", problem.at.line, problem.what),
            remedy => format!("{}: {} | {remedy}", problem.at.line, problem.what),
        })
        .collect();
    (value, lines.join("\n"))
}
