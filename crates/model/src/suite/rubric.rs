//! Rubric of a case: a quality of the answer that only a judge can decide.

use crate::location::Spanned;
use crate::problem::ProblemReport;
use crate::yaml::{YamlFields, YamlNode, YamlShape, list, spanned, text};

/// Largest number of facts of one rubric.
const MAX_FACTS: usize = 8;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseRubric {
    /// Statement that the judge holds against the run.
    pub asks: Spanned<String>,
    /// Facts that the last answer must state. Empty for a rubric that is a plain text.
    pub facts: Vec<RubricFact>,
    /// Plausible answer that misses at least one fact.
    pub counter_example: Option<Spanned<String>>,
}

/// Wordings of one fact, each as good as the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RubricFact {
    pub wordings: Vec<String>,
}

impl CaseRubric {
    /// Returns the rubric as the judge reads it.
    pub fn judge_text(&self) -> String {
        if self.facts.is_empty() {
            return self.asks.value.clone();
        }
        let facts: Vec<String> = self.facts.iter().map(RubricFact::quoted).collect();
        format!(
            "{} The last answer states each of these facts, in these words or others of the same meaning: {}.",
            *self.asks,
            facts.join("; ")
        )
    }
}

impl RubricFact {
    fn quoted(&self) -> String {
        self.wordings.iter().map(|wording| format!("\"{wording}\"")).collect::<Vec<_>>().join(" or ")
    }
}

/// Reads `rubric: TEXT`, or the mapping with `asks`, `facts` and `counter_example`.
pub(super) fn read_rubric(node: &YamlNode, report: &ProblemReport) -> Option<CaseRubric> {
    if !matches!(node.shape, YamlShape::Map(_)) {
        return Some(CaseRubric { asks: spanned(text)(node, report)?, facts: vec![], counter_example: None });
    }
    let fields = YamlFields::open(node, "a rubric", report)?;
    let asks = fields.required("asks", spanned(text));
    let facts = fields.required("facts", list(read_fact));
    let counter_example = fields.required("counter_example", spanned(text));
    fields.close();
    let facts = facts?;
    if facts.is_empty() || facts.len() > MAX_FACTS {
        report.add(
            node.line,
            format!("a rubric has 1 to {MAX_FACTS} facts, this one has {}", facts.len()),
            "list the facts that an answer must state",
        );
        return None;
    }
    Some(CaseRubric { asks: asks?, facts, counter_example: Some(counter_example?) })
}

/// Reads one wording, or a list of wordings.
fn read_fact(node: &YamlNode, report: &ProblemReport) -> Option<RubricFact> {
    let wordings = match node.shape {
        YamlShape::List(_) => list(text)(node, report)?,
        YamlShape::Scalar { .. } | YamlShape::Map(_) => vec![text(node, report)?],
    };
    if wordings.is_empty() || wordings.iter().any(|wording| !wording.chars().any(char::is_alphanumeric)) {
        report.add(node.line, "a fact of a rubric is empty", "write a number or words, or a list of wordings");
        return None;
    }
    Some(RubricFact { wordings })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::test_support::{assert_problems, read_ok};

    const RUBRIC: &str = "asks: Names the risk.\nfacts: [\"0.3\", [sandwich, MEV]]\ncounter_example: Sold at market.\n";

    #[test]
    fn a_rubric_is_read_with_its_facts() {
        let rubric = read_ok(RUBRIC, read_rubric);
        let facts: Vec<Vec<String>> = rubric.facts.iter().map(|fact| fact.wordings.clone()).collect();
        assert_eq!(facts, [vec!["0.3".to_owned()], vec!["sandwich".to_owned(), "MEV".to_owned()]]);
        assert_eq!(rubric.counter_example.as_ref().map(|text| text.as_str()), Some("Sold at market."));
        let shown = rubric.judge_text();
        assert!(shown.starts_with("Names the risk. ") && shown.contains("\"0.3\"; \"sandwich\" or \"MEV\""), "{shown}");
        assert!(!shown.contains("Sold at market"), "{shown}");
    }

    #[test]
    fn a_plain_text_is_a_rubric_without_facts() {
        let rubric = read_ok("Names the risk.\n", read_rubric);
        assert_eq!((rubric.judge_text().as_str(), rubric.facts.len()), ("Names the risk.", 0));
    }

    #[test]
    fn incomplete_rubrics_are_refused() {
        let none = "1: a rubric has 1 to 8 facts, this one has 0 | list the facts that an answer must state";
        let empty = "2: a fact of a rubric is empty | write a number or words, or a list of wordings";
        assert_problems(
            RUBRIC,
            read_rubric,
            &[
                ("[\"0.3\", [sandwich, MEV]]", "[]", none),
                ("[sandwich, MEV]", "[]", empty),
                ("\"0.3\"", "\"-\"", empty),
                (
                    "facts:",
                    "fact:",
                    "1: a rubric lacks \"facts\" | add facts: …\n2: a rubric has no key \"fact\" | did you mean \"facts\"?",
                ),
            ],
        );
    }
}
