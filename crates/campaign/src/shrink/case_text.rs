//! Case as a file states it. What is played is what was read back from the text.

use super::ShrinkError;
use model::suite::UserScript;
use model::{Case, SuiteKind, Workspace, yaml};
use serde_json::{Value, json};

/// Longest id of a case.
const MAX_ID: usize = 100;
const SUFFIX: &str = "_shrunk";
/// Name of the file while it is only read back.
const UNSAVED: &str = "reproducer.yaml";

#[derive(Debug, Clone, PartialEq)]
pub(super) struct CaseText {
    pub kind: SuiteKind,
    pub case: Value,
    /// Texts of the attacker; none for other cases.
    pub attack_texts: Vec<String>,
}

impl CaseText {
    /// Returns the text of a variant of the case `original`: as it was written, with its present turns, and with its attack.
    pub(super) fn of_case(case: &Case, original: &str, attack_texts: Vec<String>) -> Self {
        let mut written = (*case.written).clone();
        written["id"] = json!(reproducer_id(original));
        written["brief"]["world"] = json!(case.brief.world.value);
        if let UserScript::Turns(turns) = &case.brief.user_script {
            written["brief"]["turns"] = turns.iter().map(|turn| json!(turn.value)).collect();
        }
        if let Some(attack) = case.attack.as_deref() {
            written["attack"] = attack.to_json(&case.brief.fills);
            written["tags"] = json!(["reproducer"]);
        }
        Self { kind: case.kind, case: written, attack_texts }
    }

    pub(super) fn id(&self) -> &str {
        self.case["id"].as_str().unwrap_or_default()
    }

    /// Returns a suite with this case alone, as YAML.
    pub(super) fn suite(&self, about: &str) -> String {
        yaml::emit(&json!({ "suite": self.kind.word(), "about": about, "cases": [self.case] }))
    }

    /// Reads the case back.
    ///
    /// # Errors
    /// If the text is no case.
    pub(super) fn read(&self, workspace: &Workspace) -> Result<Case, ShrinkError> {
        let unwritable = |why: String| ShrinkError::Unwritable { case: self.id().to_owned(), why };
        let suite = workspace.read_suite_file(UNSAVED, &self.suite("Candidate.")).map_err(|problems| {
            unwritable(
                problems.first().map_or_else(|| "it has no case".to_owned(), |problem| format!("{}; {}", problem.what, problem.remedy)),
            )
        })?;
        suite.cases.into_iter().next().ok_or_else(|| unwritable("it has no case".to_owned()))
    }
}

/// Returns the id of a reproducer. It has no dots, which mark ids of generated attacks.
fn reproducer_id(id: &str) -> String {
    let plain: String = id.trim_end_matches(SUFFIX).replace('.', "_");
    let room = MAX_ID - SUFFIX.len();
    let start = plain.len().saturating_sub(room);
    format!("{}{SUFFIX}", &plain[start..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use score::example::ExampleWorkspace;

    #[test]
    fn every_case_of_a_workspace_reads_back_as_itself() {
        let workspace = ExampleWorkspace::minimal().load().expect("a workspace");
        for case in workspace.cases() {
            let text = CaseText::of_case(case, &case.id, vec![]);
            let read = text.read(&workspace).expect("a case");
            assert_eq!(CaseText::of_case(&read, &case.id, vec![]), text, "{}", case.id.value);
            assert_eq!((read.reference.len(), read.kind), (case.reference.len(), case.kind));
        }
    }

    #[test]
    fn ids_are_short_and_have_no_dots() {
        assert_eq!(reproducer_id("a.b_2.c.1"), "a_b_2_c_1_shrunk");
        assert_eq!(reproducer_id("a_shrunk"), "a_shrunk");
        assert_eq!(reproducer_id(&"x".repeat(300)).len(), MAX_ID);
    }
}
