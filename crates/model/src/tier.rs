//! The five tiers of evaluation and when CI runs them.

use crate::place::Place;
use crate::problem::Report;
use crate::suite::SuiteKind;
use crate::yaml::{Fields, Node, list, name, number, one_of, text, whole};

#[derive(Debug, Clone)]
pub struct Tiers {
    pub tiers: Vec<Tier>,
    pub ci: Vec<CiRow>,
}

#[derive(Debug, Clone)]
pub struct Tier {
    pub tier: u64,
    pub name: String,
    pub trigger: String,
    pub minutes_at_most: Option<f64>,
    pub live: Live,
    pub budget_usd: f64,
    pub trials: u64,
    pub suites: Vec<SuiteKind>,
    pub what: String,
    pub at: Place,
}

/// What may talk to a model in this tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Live {
    None,
    Judge,
    Subject,
}

#[derive(Debug, Clone)]
pub struct CiRow {
    pub event: String,
    pub tiers: Vec<u64>,
    pub when_changed: Vec<String>,
}

const LIVE: &[(&str, Live)] = &[("none", Live::None), ("judge", Live::Judge), ("subject", Live::Subject)];

pub(crate) fn read_tiers(node: &Node, report: &Report) -> Option<Tiers> {
    let fields = Fields::open(node, "tiers.yaml", report)?;
    let tiers = fields.need("tiers", list(read_tier));
    let ci = fields.need("ci", list(read_ci));
    fields.close();
    Some(Tiers { tiers: tiers?, ci: ci? })
}

fn read_tier(node: &Node, report: &Report) -> Option<Tier> {
    let fields = Fields::open(node, "a tier", report)?;
    let tier = fields.need("tier", whole);
    let name_ = fields.need("name", name);
    let trigger = fields.need("trigger", text);
    let minutes_at_most = fields.maybe("minutes_at_most", number);
    let live = fields.need("live", one_of(LIVE));
    let budget_usd = fields.need("budget_usd", number);
    let trials = fields.need("trials", whole);
    let suites = fields.need("suites", list(one_of(SuiteKind::ALL)));
    let what = fields.need("what", text);
    fields.close();
    Some(Tier {
        tier: tier?,
        name: name_?,
        trigger: trigger?,
        minutes_at_most,
        live: live?,
        budget_usd: budget_usd?,
        trials: trials?,
        suites: suites?,
        what: what?,
        at: report.place(node.line),
    })
}

fn read_ci(node: &Node, report: &Report) -> Option<CiRow> {
    let fields = Fields::open(node, "a ci row", report)?;
    let event = fields.need("event", name);
    let tiers = fields.need("tiers", list(whole));
    let when_changed = fields.or_default("when_changed", list(name));
    fields.close();
    Some(CiRow { event: event?, tiers: tiers?, when_changed })
}

#[cfg(test)]
mod tests;
