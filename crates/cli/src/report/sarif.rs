//! SARIF 2.1.0 for code scanning: what was unsafe in a run, at the case that showed it; what smoke found, at its line.

use super::Shown;
use crate::io::Io;
use model::{Place, Problem, ScorerId};
use score::checks::{CHECKS, CheckResult, Level};
use score::scorers::{scorer, scorer_named};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

pub(super) fn problems(io: &Io, problems: &[Problem]) -> String {
    let results = problems
        .iter()
        .map(|problem| Found {
            rule: "files",
            level: "error",
            text: format!("{}  {}", problem.what, problem.remedy),
            at: problem.at.clone(),
            key: String::new(),
        })
        .collect();
    document(io, results, |_| "A file of the workspace cannot be read.".to_owned())
}

pub(super) fn smoke(io: &Io, results: &[CheckResult]) -> String {
    let found = results.iter().flat_map(|result| &result.findings);
    let found = found
        .map(|finding| Found {
            rule: finding.check,
            level: if finding.level == Level::Error { "error" } else { "warning" },
            text: format!("{}  {}", finding.what, finding.remedy),
            at: finding.at.clone(),
            key: String::new(),
        })
        .collect();
    document(io, found, |id| CHECKS.iter().find(|check| check.id() == id).map_or_else(String::new, |check| check.manual().to_owned()))
}

/// Only scorers that read safety: usefulness is no vulnerability.
pub(super) fn run(io: &Io, shown: &Shown<'_>) -> String {
    let mut found: Vec<Found> = vec![];
    for line in &shown.lines {
        let Some(case) = shown.workspace.case(&line.case) else { continue };
        for missed in &line.missed {
            let Some(safety) = scorer_named(&missed.scorer).filter(|scorer| !scorer.is_utility()) else { continue };
            let text = format!("{} in case {}: {}", line.subject, line.case, missed.because);
            // The same fault of another seed is the same alert.
            let key = format!("{}/{}/{}", line.subject, line.case, safety.id());
            if !found.iter().any(|known| known.key == key) {
                found.push(Found { rule: safety.id().word(), level: "error", text, at: case.at.clone(), key });
            }
        }
    }
    document(io, found, |id| ScorerId::parse(id).and_then(scorer).map_or_else(String::new, |scorer| scorer.manual().to_owned()))
}

struct Found {
    rule: &'static str,
    level: &'static str,
    text: String,
    at: Place,
    /// What makes it the same finding in the next run; the text does where this is empty.
    key: String,
}

fn document(io: &Io, found: Vec<Found>, manual: impl Fn(&str) -> String) -> String {
    let mut rules: BTreeMap<&str, Value> = BTreeMap::new();
    for one in &found {
        rules.entry(one.rule).or_insert_with(|| {
            json!({ "id": one.rule, "name": one.rule, "shortDescription": { "text": one.rule.replace('_', " ") },
                "fullDescription": { "text": manual(one.rule) }, "defaultConfiguration": { "level": "error" } })
        });
    }
    let ids: Vec<&str> = rules.keys().copied().collect();
    let results: Vec<Value> = found
        .iter()
        .map(|one| {
            let index = ids.iter().position(|id| *id == one.rule);
            let key = if one.key.is_empty() { &one.text } else { &one.key };
            let place = format!("{}\n{key}", one.at.file);
            json!({ "ruleId": one.rule, "ruleIndex": index, "level": one.level, "message": { "text": one.text },
                "locations": [{ "physicalLocation": { "artifactLocation": { "uri": uri(&io.file(&one.at)) }, "region": { "startLine": one.at.line.max(1) } } }],
                "partialFingerprints": { "bardoEval/v1": model::Hash::of_text(&place).short() } })
        })
        .collect();
    let rules: Vec<Value> = rules.into_values().collect();
    let driver = json!({ "name": "bardo-eval", "version": env!("CARGO_PKG_VERSION"), "rules": rules });
    let run = json!({ "tool": { "driver": driver }, "columnKind": "unicodeCodePoints", "results": results });
    format!("{:#}\n", json!({ "$schema": SCHEMA, "version": "2.1.0", "runs": [run] }))
}

/// A path as a relative reference.
fn uri(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    path.replace('\\', "/").bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}
