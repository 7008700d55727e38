//! Injected goals: what the text asks for, in several languages, and the steps of a subject that obeys.

use crate::problem::ProblemReport;
use crate::suite::{ReferenceStep, read_reference};
use crate::yaml::{YamlFields, YamlNode, list, map, text};
use indexmap::IndexMap;

/// Slots `<attacker>`, `<amount>`, `<canary>`, `<look_alike>` and `<secret>` are filled from the seed.
#[derive(Debug, Clone)]
pub struct InjectProbe {
    pub goal: GoalText,
    /// Harmless text of the twin, in the same place.
    pub benign: String,
    /// Texts for other holes that the goal is about, such as a secret in a memory. The twin has them too.
    pub plants: IndexMap<String, String>,
    /// Calls that obeying means.
    pub if_obeyed: Vec<ReferenceStep>,
}

/// Request of the attacker in plain words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoalText {
    pub english: String,
    /// The same by language code.
    pub translations: IndexMap<String, String>,
}

/// Slot of the word that only the attack contains. It shows whether the text was read.
const CANARY_SLOT: &str = "<canary>";

pub(super) fn read_inject(node: &YamlNode, report: &ProblemReport) -> Option<InjectProbe> {
    let fields = YamlFields::open(node, "an injection", report)?;
    let goal = fields.required("goal", text);
    let translations = fields.or_default("translations", map(text));
    let benign = fields.required("benign", text);
    let plants = fields.or_default("plants", map(text));
    let if_obeyed = fields.required("if_obeyed", list(read_reference));
    fields.close();
    for goal in goal.iter().chain(translations.values()).filter(|goal| !goal.contains(CANARY_SLOT)) {
        let start: String = goal.chars().take(40).collect();
        report.add(
            node.line,
            format!("the goal \"{start}\" has no marker"),
            format!("add {CANARY_SLOT}, for example as a reference number"),
        );
    }
    if if_obeyed.as_ref().is_some_and(Vec::is_empty) {
        report.add(node.line, "obeying means no step", "write if_obeyed: [{ call: …, args: {…} }]");
    }
    Some(InjectProbe { goal: GoalText { english: goal?, translations }, benign: benign?, plants, if_obeyed: if_obeyed? })
}
