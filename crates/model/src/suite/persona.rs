//! A simulated user: what it wants, what it knows and tells only when asked, how it behaves and when it leaves.

use crate::place::Spot;
use crate::problem::Report;
use crate::yaml::{Fields, Node, Shape, list, map, name, one_of, spot, text, whole};
use indexmap::IndexMap;

#[derive(Debug, Clone)]
pub struct Persona {
    pub opening: String,
    /// What it wants, in its own words. Nobody but the player of the persona reads it.
    pub goal: String,
    pub facts: IndexMap<String, Fact>,
    pub corrections: Vec<Correction>,
    pub temper: Temper,
    /// Of a hundred words, how many are mistyped. Values never are.
    pub typos: u64,
    /// What it says when asked whether to go ahead.
    pub consent: String,
    pub stop: Stop,
}

/// Something the user tells when asked for it, and only then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    pub says: String,
    /// Words of a question that asks for it; the fact's own name is one of them.
    pub asked: Vec<String>,
}

/// The user changes its mind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Correction {
    /// The fact that is corrected: counting starts when it was told. Without one it starts with the conversation.
    pub fact: Option<Spot<String>>,
    /// After hearing so many messages.
    pub after: u64,
    pub says: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Temper {
    #[default]
    Plain,
    Chatty,
    /// Leaves when it is asked a third time for what it has said.
    Impatient,
}

impl Temper {
    pub const ALL: &'static [(&'static str, Temper)] =
        &[("plain", Temper::Plain), ("chatty", Temper::Chatty), ("impatient", Temper::Impatient)];

    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(_, temper)| *temper == self).map_or("", |(word, _)| word)
    }
}

/// When the user leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    /// On a statement with one of these words; without any, on the first statement that asks nothing.
    pub said: Vec<String>,
    /// After so many turns of its own, whatever was said.
    pub turns: u64,
}

const CONSENT: &str = "Yes, if it is what I asked for.";
const TURNS: u64 = 8;

pub(super) fn read_persona(node: &Node, report: &Report) -> Option<Persona> {
    let fields = Fields::open(node, "a persona", report)?;
    let opening = fields.need("opening", text);
    let goal = fields.need("goal", text);
    let mut facts = fields.or_default("facts", map(read_fact));
    let corrections = fields.or_default("corrections", list(read_correction));
    let temper = fields.maybe("temper", one_of(Temper::ALL)).unwrap_or_default();
    let typos = fields.maybe("typos", whole).unwrap_or(0);
    let consent = fields.maybe("consent", text).unwrap_or_else(|| CONSENT.to_owned());
    let stop = fields.maybe("stop", read_stop).unwrap_or(Stop { said: vec![], turns: TURNS });
    fields.close();
    for (name, fact) in &mut facts {
        fact.asked.push(name.replace('_', " "));
    }
    let persona = Persona { opening: opening?, goal: goal?, facts, corrections, temper, typos, consent, stop };
    persona.check(node, report);
    Some(persona)
}

impl Persona {
    /// What would make the conversation ambiguous or give a fact away.
    fn check(&self, node: &Node, report: &Report) {
        for fact in self.corrections.iter().filter_map(|correction| correction.fact.as_ref()) {
            if !self.facts.contains_key(fact.as_str()) {
                report.add(fact.at.line, format!("the persona corrects {}, which is none of its facts", fact.value), "name one of facts");
            }
        }
        if self.typos > 50 {
            report.add(node.line, "more than half of the persona's words would be mistyped", "typos is a share of a hundred, 50 at most");
        }
        if self.stop.turns == 0 {
            report.add(node.line, "the persona never speaks", "stop.turns is 1 or more");
        }
        for (n, (name, fact)) in self.facts.iter().enumerate() {
            let others = || self.facts.iter().skip(n + 1);
            for phrase in &fact.asked {
                if let Some((other, _)) = others().find(|(_, other)| other.asked.iter().any(|word| folded(word) == folded(phrase))) {
                    report.add(node.line, format!("\"{phrase}\" asks for both {name} and {other}"), "give each fact its own asking words");
                }
            }
            if folded(&self.opening).contains(&folded(&fact.says)) {
                report.add(node.line, format!("the opening already says {name}"), "a fact is told only when asked; leave it out of one");
            }
        }
    }
}

fn folded(text: &str) -> String {
    let words = text.to_lowercase();
    words.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// What it says, alone or with the words that ask for it.
fn read_fact(node: &Node, report: &Report) -> Option<Fact> {
    if !matches!(node.shape, Shape::Map(_)) {
        return text(node, report).map(|says| Fact { says, asked: vec![] });
    }
    let fields = Fields::open(node, "a fact", report)?;
    let says = fields.need("says", text);
    let asked = fields.or_default("asked", list(text));
    fields.close();
    Some(Fact { says: says?, asked })
}

fn read_correction(node: &Node, report: &Report) -> Option<Correction> {
    let fields = Fields::open(node, "a correction", report)?;
    let fact = fields.maybe("fact", spot(name));
    let after = fields.maybe("after", whole).unwrap_or(1);
    let says = fields.need("says", text);
    fields.close();
    if after == 0 {
        report.add(node.line, "a correction comes after nothing was heard", "after is 1 or more");
    }
    Some(Correction { fact, after, says: says? })
}

fn read_stop(node: &Node, report: &Report) -> Option<Stop> {
    let fields = Fields::open(node, "a stop rule", report)?;
    let said = fields.or_default("said", list(text));
    let turns = fields.maybe("turns", whole).unwrap_or(TURNS);
    fields.close();
    Some(Stop { said, turns })
}
