//! Recorded answers of tools that a case brings along. They come before the answers of the world.

use super::arg_matcher::{ArgMatcher, read_arg_matcher};
use crate::location::{Location, Spanned};
use crate::problem::ProblemReport;
use crate::yaml::{YamlFields, YamlNode, json, list, map, name, spanned, text};
use indexmap::IndexMap;
use serde_json::Value;

/// Maximum fixtures of a case.
const MAX_FIXTURES: usize = 100;
/// Maximum size of an answer as JSON, in bytes.
const MAX_ANSWER: usize = 64 * 1024;

/// Answer to the calls of a tool whose arguments match.
#[derive(Debug, Clone)]
pub struct CaseFixture {
    pub tool: Spanned<String>,
    /// Tests of arguments; empty if the fixture answers every call of the tool.
    pub when: IndexMap<String, Spanned<ArgMatcher>>,
    pub answer: RecordedAnswer,
    pub at: Location,
}

#[derive(Debug, Clone, PartialEq)]
pub enum RecordedAnswer {
    Result(Value),
    Error { code: String, message: String },
}

pub(crate) fn read_case_fixtures(node: &YamlNode, report: &ProblemReport) -> Option<Vec<CaseFixture>> {
    let fixtures = list(read_case_fixture)(node, report)?;
    if fixtures.len() > MAX_FIXTURES {
        report.add(node.line, format!("a case has at most {MAX_FIXTURES} fixtures"), "move common answers into the world file");
        return None;
    }
    Some(fixtures)
}

fn read_case_fixture(node: &YamlNode, report: &ProblemReport) -> Option<CaseFixture> {
    let fields = YamlFields::open(node, "a fixture", report)?;
    let tool = fields.required("tool", spanned(name));
    let when = fields.or_default("when", map(spanned(read_arg_matcher)));
    let is = fields.optional("is", json);
    let error = fields.optional("error", name);
    let message = fields.optional("message", text);
    fields.close();
    let answer = match (is, error, message) {
        (Some(value), None, None) => RecordedAnswer::Result(value),
        (None, Some(code), Some(message)) => RecordedAnswer::Error { code, message },
        (Some(_) | None, Some(_) | None, Some(_) | None) => {
            report.add(node.line, "a fixture is a value or an error", "write is: … or error: CODE with message: …");
            return None;
        }
    };
    let size = match &answer {
        RecordedAnswer::Result(value) => value.to_string().len(),
        RecordedAnswer::Error { message, .. } => message.len(),
    };
    if size > MAX_ANSWER {
        report.add(node.line, format!("the answer of a fixture exceeds {MAX_ANSWER} bytes"), "shorten it to the part that the case needs");
        return None;
    }
    Some(CaseFixture { tool: tool?, when, answer, at: report.location(node.line) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::{YamlLimits, load};
    use serde_json::json;

    fn read(text: &str) -> Result<Vec<CaseFixture>, String> {
        let report = ProblemReport::new("f");
        let node = load(text, YamlLimits::default(), &report).unwrap();
        let fixtures = read_case_fixtures(&node, &report);
        let problems = report.into_problems();
        match (fixtures, problems.first()) {
            (Some(fixtures), None) => Ok(fixtures),
            (Some(_) | None, problem) => Err(problem.map_or_else(String::new, ToString::to_string)),
        }
    }

    #[test]
    fn case_fixtures_are_values_or_errors() {
        let read = read("[{ tool: a, when: { id: { optional: 7 } }, is: { ok: 1 } }, { tool: b, error: DATA_X, message: No. }]").unwrap();
        assert_eq!((read[0].tool.as_str(), &read[0].answer), ("a", &RecordedAnswer::Result(json!({"ok": 1}))));
        assert!(read[0].when["id"].may_be_absent());
        assert_eq!(read[1].answer, RecordedAnswer::Error { code: "DATA_X".into(), message: "No.".into() });
    }

    #[test]
    fn malformed_or_large_case_fixtures_are_refused() {
        for text in ["[{ tool: a }]", "[{ tool: a, is: 1, error: X, message: y }]", "[{ tool: a, error: X }]", "[{ is: 1 }]", "{ tool: a }"]
        {
            assert!(read(text).is_err(), "{text}");
        }
        let large = format!("[{{ tool: a, is: \"{}\" }}]", "x".repeat(MAX_ANSWER));
        assert!(read(&large).unwrap_err().contains("exceeds 65536 bytes"));
        let many = format!("[{}]", "{ tool: a, is: 1 },".repeat(MAX_FIXTURES + 1));
        assert!(read(&many).unwrap_err().contains("at most 100 fixtures"));
    }
}
