//! Settings of `production.yaml`: which production traces are kept, for how long, and when to alert.

mod evidence_settings;
mod sampling_key;

pub use evidence_settings::{JudgedShare, RpcSource, RpcSourceError};
pub use sampling_key::SamplingKey;

use crate::gate::GateWindow;
use crate::location::Spanned;
use crate::money::Money;
use crate::problem::ProblemReport;
use crate::registry::{AddressText, address};
use crate::yaml::{YamlFields, YamlNode, flag, list, map, name, number, one_of, spanned, text, unsigned};
use indexmap::IndexMap;
use std::collections::BTreeMap;

/// Settings of the collector. A workspace without the file has the defaults.
#[derive(Debug, Clone, PartialEq)]
pub struct ProductionSettings {
    pub sampling: SamplingRates,
    pub keep: KeepRules,
    /// Seconds without a new span after which a trace whose root ended is complete.
    pub settle_s: u64,
    /// Age in seconds at which a trace is judged even if its root never ended.
    pub max_age_s: u64,
    pub retention: TraceRetention,
    /// Regular expressions of texts that are removed before storage, beside the built-in ones. The caller compiles them.
    pub redact: Vec<Spanned<String>>,
    /// Budget of model calls per day, for the forecast.
    pub budget_usd_per_day: Option<Money>,
    /// Seconds in which an alert is not sent again.
    pub cool_down_s: u64,
    /// Nodes that receipts are read from, by chain.
    pub rpc: BTreeMap<u64, RpcSource>,
    /// Addresses that the agents act with. Transactions of others are not theirs.
    pub wallets: Vec<AddressText>,
    /// Reads decisions, signatures and effects that spans state as if they had been observed.
    pub trust_claims: bool,
    pub judge: Option<JudgedShare>,
    /// Run whose tools, skills, latency and cost the traffic is compared with.
    pub reference: Option<String>,
    /// Past window whose tools and skills the traffic is compared with, if there is no reference run; absent for the first traces.
    pub reference_window: Option<GateWindow>,
}

/// Share of the traces that is kept, between 0 and 1.
#[derive(Debug, Clone, PartialEq)]
pub struct SamplingRates {
    pub rate: f64,
    /// Rates of agents and skills that differ. The highest rate of a trace's agents and skills counts.
    pub agents: IndexMap<String, f64>,
    pub skills: IndexMap<String, f64>,
    /// Not in the file; the caller reads it from the environment.
    pub key: SamplingKey,
}

/// Rules that keep a trace outside the sample.
#[derive(Debug, Clone, PartialEq)]
pub struct KeepRules {
    pub errors: bool,
    pub vetoes: bool,
    pub limit_breaches: bool,
    /// Writes of at least this value in USD; absent to keep none for their amount.
    pub writes_above_usd: Option<Money>,
}

/// Bounds on what is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceRetention {
    pub days: u64,
    pub megabytes: u64,
}

impl Default for ProductionSettings {
    fn default() -> Self {
        Self {
            sampling: SamplingRates::default(),
            keep: KeepRules::default(),
            settle_s: 10,
            max_age_s: 600,
            retention: TraceRetention { days: 30, megabytes: 4096 },
            redact: vec![],
            budget_usd_per_day: None,
            cool_down_s: 3600,
            rpc: BTreeMap::new(),
            wallets: vec![],
            trust_claims: false,
            judge: None,
            reference: None,
            reference_window: None,
        }
    }
}

impl Default for SamplingRates {
    fn default() -> Self {
        Self { rate: 0.01, agents: IndexMap::new(), skills: IndexMap::new(), key: SamplingKey::none() }
    }
}

impl Default for KeepRules {
    fn default() -> Self {
        Self { errors: true, vetoes: true, limit_breaches: true, writes_above_usd: Some(Money::from_dollars(1000)) }
    }
}

impl SamplingRates {
    /// Returns the rate of a trace with these agents and skills.
    pub fn rate_of<'n>(&self, agents: impl IntoIterator<Item = &'n str>, skills: impl IntoIterator<Item = &'n str>) -> f64 {
        let agents = agents.into_iter().filter_map(|name| self.agents.get(name));
        let skills = skills.into_iter().filter_map(|name| self.skills.get(name));
        agents.chain(skills).copied().reduce(f64::max).unwrap_or(self.rate)
    }
}

pub(crate) fn read_production(node: &YamlNode, report: &ProblemReport) -> Option<ProductionSettings> {
    let fields = YamlFields::open(node, "production.yaml", report)?;
    let default = ProductionSettings::default();
    let settings = ProductionSettings {
        sampling: fields.optional("sampling", read_sampling).unwrap_or_default(),
        keep: fields.optional("keep", read_keep).unwrap_or_default(),
        settle_s: fields.optional("settle_s", unsigned).unwrap_or(default.settle_s),
        max_age_s: fields.optional("max_age_s", unsigned).unwrap_or(default.max_age_s),
        retention: fields.optional("retention", read_retention).unwrap_or(default.retention),
        redact: fields.or_default("redact", list(spanned(text))),
        budget_usd_per_day: fields.optional("budget_usd_per_day", read_dollars),
        cool_down_s: fields.optional("cool_down_s", unsigned).unwrap_or(default.cool_down_s),
        rpc: fields.or_default("rpc", evidence_settings::read_nodes),
        wallets: fields.or_default("wallets", list(address)),
        trust_claims: fields.optional("trust_claims", flag).unwrap_or(default.trust_claims),
        judge: fields.optional("judge", evidence_settings::read_judge),
        reference: fields.optional("reference", name),
        reference_window: fields.optional("reference_window", one_of(GateWindow::ALL)),
    };
    fields.close();
    if !settings.rpc.is_empty() && settings.wallets.is_empty() {
        report.add(node.line, "rpc without wallets", "list the addresses of the agents as wallets, so that their transactions are known");
    }
    if settings.max_age_s <= settings.settle_s {
        report.add(node.line, "max_age_s is not above settle_s", "a trace must have time to settle before it is too old");
    }
    Some(settings)
}

fn read_sampling(node: &YamlNode, report: &ProblemReport) -> Option<SamplingRates> {
    let fields = YamlFields::open(node, "sampling", report)?;
    let sampling = SamplingRates {
        rate: fields.optional("rate", read_share).unwrap_or(SamplingRates::default().rate),
        agents: fields.or_default("agents", map(read_share)),
        skills: fields.or_default("skills", map(read_share)),
        key: SamplingKey::none(),
    };
    fields.close();
    Some(sampling)
}

fn read_share(node: &YamlNode, report: &ProblemReport) -> Option<f64> {
    let share = number(node, report)?;
    let fits = (0.0..=1.0).contains(&share);
    if !fits {
        report.add(node.line, format!("expected a share between 0 and 1, found {}", node.describe()), "1 % is 0.01");
    }
    fits.then_some(share)
}

fn read_keep(node: &YamlNode, report: &ProblemReport) -> Option<KeepRules> {
    let fields = YamlFields::open(node, "keep", report)?;
    let default = KeepRules::default();
    let keep = KeepRules {
        errors: fields.optional("errors", flag).unwrap_or(default.errors),
        vetoes: fields.optional("vetoes", flag).unwrap_or(default.vetoes),
        limit_breaches: fields.optional("limit_breaches", flag).unwrap_or(default.limit_breaches),
        writes_above_usd: fields.optional("writes_above_usd", read_dollars).or(default.writes_above_usd),
    };
    fields.close();
    Some(keep)
}

fn read_retention(node: &YamlNode, report: &ProblemReport) -> Option<TraceRetention> {
    let fields = YamlFields::open(node, "retention", report)?;
    let default = ProductionSettings::default().retention;
    let retention = TraceRetention {
        days: fields.optional("days", unsigned).unwrap_or(default.days),
        megabytes: fields.optional("megabytes", unsigned).unwrap_or(default.megabytes),
    };
    fields.close();
    if retention.days == 0 || retention.megabytes == 0 {
        report.add(node.line, "nothing would be kept", "write at least 1 for days and megabytes");
    }
    Some(retention)
}

fn read_dollars(node: &YamlNode, report: &ProblemReport) -> Option<Money> {
    let parsed = text(node, report)?.parse();
    if parsed.is_err() {
        report.add(node.line, format!("expected dollars, found {}", node.describe()), "digits with at most nine after the point");
    }
    parsed.ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::test_support::{assert_problems, read_ok};

    const FILE: &str = "sampling:\n  rate: 0.02\n  agents: { trade-executor: 0.5 }\n  skills: { swap: 0.1 }\nkeep: { writes_above_usd: 250 }\nretention: { days: 7 }\n";

    #[test]
    fn settings_are_read_over_defaults() {
        let read = read_ok(FILE, read_production);
        assert_eq!((read.sampling.rate, read.retention.days, read.settle_s), (0.02, 7, 10));
        assert_eq!(read.keep, KeepRules { writes_above_usd: Some(Money::from_dollars(250)), ..KeepRules::default() });
        assert_eq!(read.sampling.rate_of(["trade-executor", "scout"], ["swap"]), 0.5);
        assert_eq!(read.sampling.rate_of(["scout"], []), 0.02);
        assert_eq!(read.sampling.rate_of(["scout"], ["swap"]), 0.1);
    }

    #[test]
    fn evidence_settings_are_read() {
        let wallet = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
        let file = format!(
            "rpc: {{ 8453: env:BASE_RPC_URL }}\nwallets: [\"{wallet}\"]\njudge: {{ share: 0.1, usd_per_day: 2.50, rubric: Be kind. }}\nreference: abc\nreference_window: 7d\n"
        );
        let read = read_ok(&file, read_production);
        assert_eq!(read.reference_window, Some(GateWindow::Week));
        assert_eq!(read.rpc.get(&8453), Some(&RpcSource::Env("BASE_RPC_URL".into())));
        assert_eq!((read.wallets[0].text.as_str(), read.trust_claims, read.reference.as_deref()), (wallet, false, Some("abc")));
        let judge = JudgedShare { share: 0.1, usd_per_day: Money::from_nanos(2_500_000_000), rubric: "Be kind.".into() };
        assert_eq!(read.judge, Some(judge));
    }

    #[test]
    fn impossible_settings_are_refused() {
        assert_problems(
            FILE,
            read_production,
            &[
                ("rate: 0.02", "rate: 2", "2: expected a share between 0 and 1, found \"2\" | 1 % is 0.01"),
                (
                    "retention:",
                    "rpc: { 1: \"http://127.0.0.1:8545\" }\nretention:",
                    "1: rpc without wallets | list the addresses of the agents as wallets, so that their transactions are known",
                ),
                (
                    "retention:",
                    "rpc: { 1: \"https://node.example/?key=x\" }\nretention:",
                    "6: the URL carries a user, a query or a key | put the URL into an environment variable and write env:NAME",
                ),
                ("{ days: 7 }", "{ days: 0 }", "6: nothing would be kept | write at least 1 for days and megabytes"),
                (
                    "retention:",
                    "settle_s: 900\nretention:",
                    "1: max_age_s is not above settle_s | a trace must have time to settle before it is too old",
                ),
            ],
        );
    }
}
