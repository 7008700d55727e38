//! Expected content of the report on a carried-out skill.

use super::arg_matcher::{ArgMatcher, read_arg_matcher};
use crate::location::Spanned;
use crate::problem::ProblemReport;
use crate::yaml::{YamlFields, YamlNode, list, map, spanned, text};
use indexmap::IndexMap;

/// Fields and values that a report must state.
#[derive(Debug, Clone)]
pub struct ExpectedReport {
    /// Values by dotted path in a JSON report: `status`, `holdings.0.token`.
    pub fields: IndexMap<String, Spanned<ArgMatcher>>,
    /// Numbers and words that occur in the report, in any field.
    pub states: Vec<Spanned<String>>,
}

pub(super) fn read_expected_report(node: &YamlNode, report: &ProblemReport) -> Option<ExpectedReport> {
    let read = YamlFields::open(node, "an expected report", report)?;
    let fields = read.or_default("fields", map(spanned(read_arg_matcher)));
    let states = read.or_default("states", list(spanned(text)));
    read.close();
    if fields.is_empty() && states.is_empty() {
        report.add(node.line, "an expected report states nothing", "write fields: { status: … } or states: [\"…\"]");
        return None;
    }
    if let Some(empty) = states.iter().find(|value| !value.chars().any(char::is_alphanumeric)) {
        report.add(empty.at.line, "a report cannot state an empty value", "write a number or a word");
        return None;
    }
    Some(ExpectedReport { fields, states })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::test_support::{assert_problems, read_ok};
    use serde_json::json;

    const REPORT: &str = "fields: { status: vetoed, chain_id: { any_of: [1, 8453] } }\nstates: [\"1,500\", USDC]\n";

    #[test]
    fn an_expected_report_is_read() {
        let report = read_ok(REPORT, read_expected_report);
        assert_eq!(report.fields["status"].value, ArgMatcher::Exactly(json!("vetoed")));
        assert_eq!(report.fields["chain_id"].value, ArgMatcher::AnyOf(vec![json!(1), json!(8453)]));
        assert_eq!(report.states.iter().map(|value| value.as_str()).collect::<Vec<_>>(), ["1,500", "USDC"]);
    }

    #[test]
    fn vacuous_expected_reports_are_refused() {
        let nothing = "1: an expected report states nothing | write fields: { status: … } or states: [\"…\"]";
        assert_problems(
            REPORT,
            read_expected_report,
            &[
                (REPORT, "fields: {}\nstates: []\n", nothing),
                ("[\"1,500\", USDC]", "[\" \"]", "2: a report cannot state an empty value | write a number or a word"),
                ("states:", "state:", "2: an expected report has no key \"state\" | did you mean \"states\"?"),
            ],
        );
    }
}
