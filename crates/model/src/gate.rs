//! Gates: bounds on metrics, read from `gates.yaml`.

use crate::location::{Location, Spanned};
use crate::problem::ProblemReport;
use crate::scorer::{ScorerId, ScorerName};
use crate::suite::SuiteKind;
use crate::yaml::{YamlFields, YamlNode, YamlShape, flag, list, name, number, one_of, spanned, text, unsigned};
use serde::{Deserialize, Serialize};

/// Content of `gates.yaml`.
#[derive(Debug, Clone)]
pub struct GatesFile {
    pub gates: Vec<Gate>,
    /// Reason why gates of this file may be weaker than the specification, or missing.
    pub deviates: Option<Spanned<String>>,
}

#[derive(Debug, Clone)]
pub struct Gate {
    pub id: Spanned<String>,
    pub spec: GateOrigin,
    pub scorer: Spanned<ScorerName>,
    pub slice: SliceSpec,
    pub tiers: Vec<u64>,
    /// Fewest distinct cases that count as evidence.
    pub min_cases: usize,
    pub aggregate: GateAggregate,
    /// Trials of a case that must all pass, for `pass_hat_k`; absent if all trials of the run must.
    pub k: Option<u64>,
    pub bound: GateBound,
    /// Span of production traffic on which the gate is judged too; absent if it is not.
    pub window: Option<GateWindow>,
    pub why: String,
    /// Reason why the gate may be weaker than the line of the specification that it quotes.
    pub deviates: Option<Spanned<String>>,
    pub at: Location,
}

impl Gate {
    /// Returns whether a run of the tier is judged by the gate; without a tier, its cases were selected by hand, and any gate may judge it.
    pub fn judges_tier(&self, tier: Option<u64>) -> bool {
        tier.is_none_or(|tier| self.tiers.contains(&tier))
    }
}

/// Source of a gate: a line of the specification, or this project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GateOrigin {
    Spec(String),
    Ours,
}

impl GateOrigin {
    pub fn as_str(&self) -> &str {
        match self {
            GateOrigin::Spec(line) => line,
            GateOrigin::Ours => "ours",
        }
    }
}

/// Trials a gate is judged on. The default pools all of them.
#[derive(Debug, Clone, Default)]
pub struct SliceSpec {
    pub each: Option<SliceAxis>,
    pub except: Vec<Spanned<String>>,
    pub only: Option<SliceFilter>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SliceAxis {
    Profile,
    Agent,
    Skill,
    Asi,
}

impl SliceAxis {
    pub fn word(self) -> &'static str {
        match self {
            SliceAxis::Profile => "profile",
            SliceAxis::Agent => "agent",
            SliceAxis::Skill => "skill",
            SliceAxis::Asi => "asi",
        }
    }
}

#[derive(Debug, Clone)]
pub enum SliceFilter {
    Profile(Spanned<String>),
    Agent(Spanned<String>),
    Skill(Spanned<String>),
    Tag(Spanned<String>),
    /// Agents that may write.
    Writes,
    /// Cases of these suites.
    Suites(Vec<SuiteKind>),
}

/// Aggregation of the readings of a slice into one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateAggregate {
    /// Hits divided by the total.
    Rate,
    MissRate,
    /// Number of misses.
    Misses,
    Max,
    Mean,
    /// Mean chance that all of `k` trials of a case pass.
    PassHatK,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateBound {
    AtLeast(f64),
    AtMost(f64),
}

impl GateBound {
    pub fn value(self) -> f64 {
        match self {
            GateBound::AtLeast(bound) | GateBound::AtMost(bound) => bound,
        }
    }

    pub fn holds(self, value: f64) -> bool {
        match self {
            GateBound::AtLeast(bound) => value >= bound,
            GateBound::AtMost(bound) => value <= bound,
        }
    }
}

/// Span of production traffic that a gate is judged on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GateWindow {
    Hour,
    Day,
    Week,
}

impl GateWindow {
    pub const ALL: &[(&str, GateWindow)] = &[("1h", GateWindow::Hour), ("24h", GateWindow::Day), ("7d", GateWindow::Week)];

    pub fn word(self) -> &'static str {
        match self {
            GateWindow::Hour => "1h",
            GateWindow::Day => "24h",
            GateWindow::Week => "7d",
        }
    }

    pub fn seconds(self) -> u64 {
        match self {
            GateWindow::Hour => 3_600,
            GateWindow::Day => 86_400,
            GateWindow::Week => 604_800,
        }
    }
}

const AGGREGATES: &[(&str, GateAggregate)] = &[
    ("rate", GateAggregate::Rate),
    ("miss_rate", GateAggregate::MissRate),
    ("misses", GateAggregate::Misses),
    ("max", GateAggregate::Max),
    ("mean", GateAggregate::Mean),
    ("pass_hat_k", GateAggregate::PassHatK),
];
const AXES: &[(&str, SliceAxis)] =
    &[("profile", SliceAxis::Profile), ("agent", SliceAxis::Agent), ("skill", SliceAxis::Skill), ("asi", SliceAxis::Asi)];

pub(crate) fn read_gates(node: &YamlNode, report: &ProblemReport) -> Option<GatesFile> {
    let fields = YamlFields::open(node, "gates.yaml", report)?;
    let gates = fields.required("gates", list(read_gate));
    let deviates = fields.optional("deviates", spanned(text));
    fields.close();
    Some(GatesFile { gates: gates?, deviates })
}

/// Reads any name. A check reports names of scorers that do not exist.
fn scorer(node: &YamlNode, report: &ProblemReport) -> Option<ScorerName> {
    name(node, report).map(Into::into)
}

/// Tiers of a gate that names none; only a workspace without `policy.yaml` may leave them out.
const DEFAULT_TIERS: &[u64] = &[2];

/// Returns the tiers of a gate that names none. A gate on attacks belongs to the tiers with the red team, which the workspace fills in.
fn default_tiers(scorer: &ScorerName) -> Vec<u64> {
    if scorer.known().is_some_and(ScorerId::reads_attacks_only) { vec![] } else { DEFAULT_TIERS.to_vec() }
}

/// Returns the origin of a gate without `spec`, where no specification applies.
fn own_gate(report: &ProblemReport) -> Option<String> {
    (!report.has_policy()).then(|| "ours".to_owned())
}

fn read_gate(node: &YamlNode, report: &ProblemReport) -> Option<Gate> {
    let fields = YamlFields::open(node, "a gate", report)?;
    let id = fields.required("id", spanned(name));
    let spec = fields
        .required_by_policy("spec", text)
        .or_else(|| own_gate(report))
        .map(|line| if line == "ours" { GateOrigin::Ours } else { GateOrigin::Spec(line) });
    let scorer = fields.required("scorer", spanned(scorer));
    let slice = fields.required_by_policy("slice", read_slice);
    let tiers = fields.required_by_policy("tiers", list(unsigned));
    let min_cases = fields.required_by_policy("min_cases", unsigned);
    let aggregate = fields.required_by_policy("aggregate", one_of(AGGREGATES));
    let k = fields.optional("k", unsigned);
    let at_least = fields.optional("at_least", number);
    let at_most = fields.optional("at_most", number);
    let window = fields.optional("window", one_of(GateWindow::ALL));
    let why = fields.required_by_policy("why", text);
    let deviates = fields.optional("deviates", spanned(text));
    fields.close();
    let bound = match (at_least, at_most) {
        (Some(bound), None) => Some(GateBound::AtLeast(bound)),
        (None, Some(bound)) => Some(GateBound::AtMost(bound)),
        (None, None) | (Some(_), Some(_)) => {
            report.add(node.line, "a gate needs one bound", "write at_least or at_most");
            None
        }
    };
    if k.is_some_and(|k| k == 0 || aggregate != Some(GateAggregate::PassHatK)) {
        report.add(node.line, "k is the number of trials of pass_hat_k", "write k of at least 1 with aggregate: pass_hat_k, or remove it");
    }
    if min_cases == Some(0) {
        report.add(node.line, "min_cases is 0, so the gate would pass without evidence", "write at least 1");
    }
    let scorer = scorer?;
    Some(Gate {
        id: id?,
        spec: spec?,
        slice: slice.unwrap_or_default(),
        tiers: tiers.unwrap_or_else(|| default_tiers(&scorer)),
        scorer,
        min_cases: usize::try_from(min_cases.unwrap_or(1)).unwrap_or(usize::MAX),
        aggregate: aggregate.unwrap_or(GateAggregate::Rate),
        k,
        bound: bound?,
        window,
        why: why.unwrap_or_default(),
        deviates,
        at: report.location(node.line),
    })
}

fn read_slice(node: &YamlNode, report: &ProblemReport) -> Option<SliceSpec> {
    if matches!(&node.shape, YamlShape::Scalar { text, .. } if text == "pooled") {
        return Some(SliceSpec::default());
    }
    let fields = YamlFields::open(node, "a slice (or the word pooled)", report)?;
    let slice = SliceSpec {
        each: fields.optional("each", one_of(AXES)),
        except: fields.or_default("except", list(spanned(name))),
        only: fields.optional("only", read_slice_filter),
    };
    fields.close();
    if slice.each.is_none() && slice.only.is_none() {
        report.add(node.line, "a slice needs each or only", "or write slice: pooled");
    }
    Some(slice)
}

fn read_slice_filter(node: &YamlNode, report: &ProblemReport) -> Option<SliceFilter> {
    let fields = YamlFields::open(node, "only", report)?;
    let profile = fields.optional("profile", spanned(name)).map(SliceFilter::Profile);
    let agent = fields.optional("agent", spanned(name)).map(SliceFilter::Agent);
    let skill = fields.optional("skill", spanned(name)).map(SliceFilter::Skill);
    let tag = fields.optional("tag", spanned(name)).map(SliceFilter::Tag);
    let writes = fields.optional("writes", flag).filter(|writes| *writes).map(|_| SliceFilter::Writes);
    let suites = fields.optional("suites", list(one_of(SuiteKind::ALL))).map(SliceFilter::Suites);
    fields.close();
    let mut given: Vec<SliceFilter> = [profile, agent, skill, tag, writes, suites].into_iter().flatten().collect();
    if given.len() != 1 {
        report.add(node.line, "only must have exactly one key", "one of profile, agent, skill, tag, suites, writes: true");
        return None;
    }
    Some(given.remove(0))
}

#[cfg(test)]
mod tests;
