//! A gate: a bound on a metric, as data.

use crate::place::{Place, Spot};
use crate::problem::Report;
use crate::scorer::ScorerName;
use crate::yaml::{Fields, Node, Shape, flag, list, name, number, one_of, spot, text, whole};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone)]
pub struct Gate {
    pub id: Spot<String>,
    pub spec: Origin,
    pub scorer: Spot<ScorerName>,
    pub slice: Slice,
    pub tiers: Vec<u64>,
    /// Distinct cases without which the gate has no evidence.
    pub min_cases: usize,
    pub aggregate: Aggregate,
    pub bound: Bound,
    pub why: String,
    pub at: Place,
}

/// Where a gate comes from: a line of the specification, or us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    Spec(String),
    Ours,
}

impl Origin {
    pub fn text(&self) -> &str {
        match self {
            Origin::Spec(line) => line,
            Origin::Ours => "ours",
        }
    }
}

/// Which trials a gate is judged on.
#[derive(Debug, Clone, Default)]
pub struct Slice {
    pub each: Option<Axis>,
    pub except: Vec<Spot<String>>,
    pub only: Option<Only>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    Profile,
    Agent,
    Skill,
    Asi,
}

impl Axis {
    pub fn word(self) -> &'static str {
        match self {
            Axis::Profile => "profile",
            Axis::Agent => "agent",
            Axis::Skill => "skill",
            Axis::Asi => "asi",
        }
    }
}

#[derive(Debug, Clone)]
pub enum Only {
    Profile(Spot<String>),
    Agent(Spot<String>),
    Skill(Spot<String>),
    Tag(Spot<String>),
    /// Agents that hold a write tool.
    Writes,
}

/// How the readings of a slice become one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aggregate {
    /// Good over all.
    Rate,
    MissRate,
    /// How many were not good.
    Misses,
    Max,
    Mean,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    AtLeast(f64),
    AtMost(f64),
}

impl Bound {
    pub fn holds(self, value: f64) -> bool {
        match self {
            Bound::AtLeast(bound) => value >= bound,
            Bound::AtMost(bound) => value <= bound,
        }
    }
}

const AGGREGATES: &[(&str, Aggregate)] = &[
    ("rate", Aggregate::Rate),
    ("miss_rate", Aggregate::MissRate),
    ("misses", Aggregate::Misses),
    ("max", Aggregate::Max),
    ("mean", Aggregate::Mean),
];
const AXES: &[(&str, Axis)] = &[("profile", Axis::Profile), ("agent", Axis::Agent), ("skill", Axis::Skill), ("asi", Axis::Asi)];

pub(crate) fn read_gates(node: &Node, report: &Report) -> Option<Vec<Gate>> {
    let fields = Fields::open(node, "gates.yaml", report)?;
    let gates = fields.need("gates", list(read_gate));
    fields.close();
    gates
}

/// Reads any name; a check reports those that no scorer has.
fn scorer(node: &Node, report: &Report) -> Option<ScorerName> {
    name(node, report).map(Into::into)
}

fn read_gate(node: &Node, report: &Report) -> Option<Gate> {
    let fields = Fields::open(node, "a gate", report)?;
    let id = fields.need("id", spot(name));
    let spec = fields.need("spec", text).map(|line| if line == "ours" { Origin::Ours } else { Origin::Spec(line) });
    let scorer = fields.need("scorer", spot(scorer));
    let slice = fields.need("slice", read_slice);
    let tiers = fields.need("tiers", list(whole));
    let min_cases = fields.need("min_cases", whole);
    let aggregate = fields.need("aggregate", one_of(AGGREGATES));
    let at_least = fields.maybe("at_least", number);
    let at_most = fields.maybe("at_most", number);
    let why = fields.need("why", text);
    fields.close();
    let bound = match (at_least, at_most) {
        (Some(bound), None) => Some(Bound::AtLeast(bound)),
        (None, Some(bound)) => Some(Bound::AtMost(bound)),
        (None, None) | (Some(_), Some(_)) => {
            report.add(node.line, "a gate needs one bound", "write at_least or at_most");
            None
        }
    };
    if min_cases == Some(0) {
        report.add(node.line, "min_cases is 0, so the gate would pass on nothing", "write at least 1");
    }
    Some(Gate {
        id: id?,
        spec: spec?,
        scorer: scorer?,
        slice: slice?,
        tiers: tiers?,
        min_cases: usize::try_from(min_cases?).unwrap_or(usize::MAX),
        aggregate: aggregate?,
        bound: bound?,
        why: why?,
        at: report.place(node.line),
    })
}

fn read_slice(node: &Node, report: &Report) -> Option<Slice> {
    if matches!(&node.shape, Shape::Scalar { text, .. } if text == "pooled") {
        return Some(Slice::default());
    }
    let fields = Fields::open(node, "a slice (or the word pooled)", report)?;
    let slice = Slice {
        each: fields.maybe("each", one_of(AXES)),
        except: fields.or_default("except", list(spot(name))),
        only: fields.maybe("only", read_only),
    };
    fields.close();
    if slice.each.is_none() && slice.only.is_none() {
        report.add(node.line, "a slice needs each or only", "or write slice: pooled");
    }
    Some(slice)
}

fn read_only(node: &Node, report: &Report) -> Option<Only> {
    let fields = Fields::open(node, "only", report)?;
    let profile = fields.maybe("profile", spot(name)).map(Only::Profile);
    let agent = fields.maybe("agent", spot(name)).map(Only::Agent);
    let skill = fields.maybe("skill", spot(name)).map(Only::Skill);
    let tag = fields.maybe("tag", spot(name)).map(Only::Tag);
    let writes = fields.maybe("writes", flag).filter(|writes| *writes).map(|_| Only::Writes);
    fields.close();
    let mut given: Vec<Only> = [profile, agent, skill, tag, writes].into_iter().flatten().collect();
    if given.len() != 1 {
        report.add(node.line, "only names exactly one thing", "one of profile, agent, skill, tag, writes: true");
        return None;
    }
    Some(given.remove(0))
}

#[cfg(test)]
mod tests;
