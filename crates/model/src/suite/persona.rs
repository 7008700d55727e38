//! Simulated user: goal, facts that it tells only when asked, temper and stop rule.

use crate::location::Spanned;
use crate::problem::ProblemReport;
use crate::yaml::{YamlFields, YamlNode, YamlShape, list, map, name, one_of, spanned, text, unsigned};
use indexmap::IndexMap;

#[derive(Debug, Clone)]
pub struct Persona {
    pub opening: String,
    /// Goal in its own words. Only the user simulator reads it.
    pub goal: String,
    pub facts: IndexMap<String, PersonaFact>,
    pub corrections: Vec<PersonaCorrection>,
    pub temper: PersonaTemper,
    /// Percentage of mistyped words. Values are never mistyped.
    pub typos: u64,
    /// Reply to a request for confirmation.
    pub consent: String,
    pub stop: StopRule,
}

/// Fact that the user tells only when asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersonaFact {
    pub says: String,
    /// Phrases of a question that asks for it, including the name of the fact.
    pub asked: Vec<String>,
}

/// Changed mind of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersonaCorrection {
    /// Corrected fact. Messages are counted from the one that told it, or from the start of the conversation without a fact.
    pub fact: Option<Spanned<String>>,
    /// Fires after this many agent messages.
    pub after: u64,
    pub says: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PersonaTemper {
    #[default]
    Plain,
    Chatty,
    /// Leaves after repeated questions for facts it has told.
    Impatient,
}

impl PersonaTemper {
    pub const ALL: &'static [(&'static str, PersonaTemper)] =
        &[("plain", PersonaTemper::Plain), ("chatty", PersonaTemper::Chatty), ("impatient", PersonaTemper::Impatient)];

    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(_, temper)| *temper == self).map_or("", |(word, _)| word)
    }
}

/// Condition on which the user leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StopRule {
    /// Words in an agent message that end the conversation. Without any, the first message without a question ends it.
    pub said: Vec<String>,
    /// Most turns of the user.
    pub turns: u64,
}

const DEFAULT_CONSENT: &str = "Yes, if it is what I asked for.";
const DEFAULT_TURNS: u64 = 8;

pub(super) fn read_persona(node: &YamlNode, report: &ProblemReport) -> Option<Persona> {
    let fields = YamlFields::open(node, "a persona", report)?;
    let opening = fields.required("opening", text);
    let goal = fields.required("goal", text);
    let mut facts = fields.or_default("facts", map(read_fact));
    let corrections = fields.or_default("corrections", list(read_correction));
    let temper = fields.optional("temper", one_of(PersonaTemper::ALL)).unwrap_or_default();
    let typos = fields.optional("typos", unsigned).unwrap_or(0);
    let consent = fields.optional("consent", text).unwrap_or_else(|| DEFAULT_CONSENT.to_owned());
    let stop = fields.optional("stop", read_stop).unwrap_or(StopRule { said: vec![], turns: DEFAULT_TURNS });
    fields.close();
    for (name, fact) in &mut facts {
        fact.asked.push(name.replace('_', " "));
    }
    let persona = Persona { opening: opening?, goal: goal?, facts, corrections, temper, typos, consent, stop };
    persona.check(node, report);
    Some(persona)
}

impl Persona {
    /// Reports settings that make the conversation ambiguous or give a fact away.
    fn check(&self, node: &YamlNode, report: &ProblemReport) {
        for fact in self.corrections.iter().filter_map(|correction| correction.fact.as_ref()) {
            if !self.facts.contains_key(fact.as_str()) {
                report.add(
                    fact.at.line,
                    format!("the persona corrects {}, which is not one of its facts", fact.value),
                    "use a name from facts",
                );
            }
        }
        if self.typos > 50 {
            report.add(node.line, "more than half of the persona's words would be mistyped", "typos is a percentage, at most 50");
        }
        if self.stop.turns == 0 {
            report.add(node.line, "the persona never speaks", "set stop.turns to 1 or more");
        }
        for (n, (name, fact)) in self.facts.iter().enumerate() {
            let others = || self.facts.iter().skip(n + 1);
            for phrase in &fact.asked {
                if let Some((other, _)) =
                    others().find(|(_, other)| other.asked.iter().any(|word| normalize_words(word) == normalize_words(phrase)))
                {
                    report.add(
                        node.line,
                        format!("\"{phrase}\" asks for both {name} and {other}"),
                        "use different asked phrases for each fact",
                    );
                }
            }
            if normalize_words(&self.opening).contains(&normalize_words(&fact.says)) {
                report.add(
                    node.line,
                    format!("the opening already says {name}"),
                    "facts are told only when asked; remove it from opening or facts",
                );
            }
        }
    }
}

fn normalize_words(text: &str) -> String {
    let words = text.to_lowercase();
    words.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Reads a fact: its text, alone or with the phrases that ask for it.
fn read_fact(node: &YamlNode, report: &ProblemReport) -> Option<PersonaFact> {
    if !matches!(node.shape, YamlShape::Map(_)) {
        return text(node, report).map(|says| PersonaFact { says, asked: vec![] });
    }
    let fields = YamlFields::open(node, "a fact", report)?;
    let says = fields.required("says", text);
    let asked = fields.or_default("asked", list(text));
    fields.close();
    Some(PersonaFact { says: says?, asked })
}

fn read_correction(node: &YamlNode, report: &ProblemReport) -> Option<PersonaCorrection> {
    let fields = YamlFields::open(node, "a correction", report)?;
    let fact = fields.optional("fact", spanned(name));
    let after = fields.optional("after", unsigned).unwrap_or(1);
    let says = fields.required("says", text);
    fields.close();
    if after == 0 {
        report.add(node.line, "a correction cannot come before the first agent message", "set after to 1 or more");
    }
    Some(PersonaCorrection { fact, after, says: says? })
}

fn read_stop(node: &YamlNode, report: &ProblemReport) -> Option<StopRule> {
    let fields = YamlFields::open(node, "a stop rule", report)?;
    let said = fields.or_default("said", list(text));
    let turns = fields.optional("turns", unsigned).unwrap_or(DEFAULT_TURNS);
    fields.close();
    Some(StopRule { said, turns })
}
