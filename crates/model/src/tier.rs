//! Tiers of evaluation, and the CI events that run them.

mod change_trigger;

#[cfg(test)]
pub(crate) use change_trigger::WORKSPACE_PARTS;

use crate::location::{Location, Spanned};
use crate::problem::ProblemReport;
use crate::suite::SuiteKind;
use crate::yaml::{YamlFields, YamlNode, list, name, number, one_of, spanned, text, unsigned};
use rapidfuzz::distance::damerau_levenshtein;

#[derive(Debug, Clone)]
pub struct TiersFile {
    pub tiers: Vec<Tier>,
    pub ci: Vec<CiRow>,
    /// Reason why rows of this file may be weaker than the specification, or missing.
    pub deviates: Option<Spanned<String>>,
}

#[derive(Debug, Clone)]
pub struct Tier {
    pub tier: u64,
    pub name: String,
    pub trigger: String,
    pub minutes_at_most: Option<f64>,
    pub live: LiveRole,
    pub budget_usd: f64,
    pub trials: u64,
    pub suites: Vec<SuiteKind>,
    /// Subject that judges rubrics if its key or recordings are available.
    pub judge: Option<Spanned<String>>,
    pub what: String,
    /// Reason why the tier may be weaker than in the specification.
    pub deviates: Option<Spanned<String>>,
    pub at: Location,
}

/// Role that may call a live model in a tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LiveRole {
    None,
    Judge,
    Subject,
}

#[derive(Debug, Clone)]
pub struct CiRow {
    pub event: String,
    pub tiers: Vec<u64>,
    /// Folders and files of the workspace, such as `tools` and `policy.yaml`; paths of the repository begin with `/`.
    pub when_changed: Vec<String>,
    /// Reason why the row may be weaker than in the specification.
    pub deviates: Option<Spanned<String>>,
    pub at: Location,
}

const LIVE: &[(&str, LiveRole)] = &[("none", LiveRole::None), ("judge", LiveRole::Judge), ("subject", LiveRole::Subject)];

pub(crate) fn read_tiers(node: &YamlNode, report: &ProblemReport) -> Option<TiersFile> {
    let fields = YamlFields::open(node, "tiers.yaml", report)?;
    let tiers = fields.required("tiers", list(read_tier));
    let ci = fields.required("ci", list(read_ci));
    let deviates = fields.optional("deviates", spanned(text));
    fields.close();
    Some(TiersFile { tiers: tiers?, ci: ci?, deviates })
}

fn read_tier(node: &YamlNode, report: &ProblemReport) -> Option<Tier> {
    let fields = YamlFields::open(node, "a tier", report)?;
    let tier = fields.required("tier", unsigned);
    let name_ = fields.required("name", name);
    let trigger = fields.required("trigger", text);
    let minutes_at_most = fields.optional("minutes_at_most", number);
    let live = fields.required("live", one_of(LIVE));
    let budget_usd = fields.required("budget_usd", number);
    let trials = fields.required("trials", unsigned);
    let suites = fields.required("suites", list(one_of(SuiteKind::ALL)));
    let judge = fields.optional("judge", spanned(name));
    let what = fields.required("what", text);
    let deviates = fields.optional("deviates", spanned(text));
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
        judge,
        what: what?,
        deviates,
        at: report.location(node.line),
    })
}

/// Events that the files of CI systems know. A row may have others, for `ci plan --event`.
const KNOWN_EVENTS: [&str; 4] = ["pull_request", "merge", "nightly", "manual"];

/// Event of other CI systems that is no mistake of "merge", however near.
const MERGED: &str = "merged";

/// Reads the name of an event. One that is a known one with a mistake would never happen.
fn event_name(node: &YamlNode, report: &ProblemReport) -> Option<String> {
    let event = name(node, report)?;
    let Some(meant) = mistaken_event(&event) else { return Some(event) };
    report.add(node.line, format!("\"{event}\" is not an event of CI"), format!("did you mean \"{meant}\"?"));
    None
}

/// Returns the known event that a name is with a mistake of one letter, or of two in a longer name.
fn mistaken_event(event: &str) -> Option<&'static str> {
    let lower = event.to_lowercase();
    if KNOWN_EVENTS.contains(&event) || lower == MERGED {
        return None;
    }
    let mistakes = |known: &str| if known.len() < 7 { 1 } else { 2 };
    let is_near = |known: &&&str| {
        // Comparing lengths first is cheap, and a name may be as long as a file.
        lower.chars().count().abs_diff(known.len()) <= mistakes(known)
            && damerau_levenshtein::distance(lower.chars(), known.chars()) <= mistakes(known)
    };
    KNOWN_EVENTS.iter().find(is_near).copied()
}

fn read_ci(node: &YamlNode, report: &ProblemReport) -> Option<CiRow> {
    let fields = YamlFields::open(node, "a ci row", report)?;
    let event = fields.required("event", event_name);
    let tiers = fields.required("tiers", list(unsigned));
    let when_changed: Vec<Vec<String>> = fields.or_default("when_changed", list(change_trigger::read_change_trigger));
    let deviates = fields.optional("deviates", spanned(text));
    fields.close();
    Some(CiRow { event: event?, tiers: tiers?, when_changed: when_changed.concat(), deviates, at: report.location(node.line) })
}

#[cfg(test)]
mod tests;
