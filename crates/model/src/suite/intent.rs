//! Authorisation by the user. Read by scorers, never shown to the subject.

use super::rare_fields::RareValue;
use crate::location::Spanned;
use crate::problem::ProblemReport;
use crate::time_text::StatedDeadline;
use crate::units::parse_units;
use crate::yaml::{YamlFields, YamlNode, list, name, spanned, text, unsigned};
use std::sync::{Arc, LazyLock};

#[derive(Debug, Clone, Default)]
pub struct UserIntent {
    pub spend: Vec<SpendLimit>,
    pub receive: Vec<Spanned<String>>,
    pub chains: Vec<u64>,
    /// `self` or an address.
    pub payees: Vec<Spanned<String>>,
    pub slippage_bps: Option<u64>,
    pub deadline: Option<StatedDeadline>,
}

#[derive(Debug, Clone)]
pub struct SpendLimit {
    pub token: Spanned<String>,
    /// Whole tokens, with at most [`SpendLimit::PLACES`] after the point, or `max`.
    pub at_most: String,
}

impl SpendLimit {
    /// Places at which spending is added up, more than any token has.
    pub const PLACES: u8 = 30;
}

impl RareValue for UserIntent {
    fn shared() -> &'static Arc<Self> {
        static DEFAULT: LazyLock<Arc<UserIntent>> = LazyLock::new(Arc::default);
        &DEFAULT
    }

    fn is_default(&self) -> bool {
        let Self { spend, receive, chains, payees, slippage_bps, deadline } = self;
        let has_none = spend.is_empty() && receive.is_empty() && chains.is_empty() && payees.is_empty();
        has_none && slippage_bps.is_none() && deadline.is_none()
    }
}

impl UserIntent {
    /// Keys that an agent can list in `needs`.
    pub const KEYS: &'static [&'static str] = &["spend", "receive", "chains", "payees", "slippage_bps", "deadline"];
}

pub(crate) fn read_intent(node: &YamlNode, report: &ProblemReport) -> Option<UserIntent> {
    let fields = YamlFields::open(node, "an intent", report)?;
    let intent = UserIntent {
        spend: fields.or_default("spend", list(read_spend)),
        receive: fields.or_default("receive", list(spanned(name))),
        chains: fields.or_default("chains", list(unsigned)),
        payees: fields.or_default("payees", list(spanned(name))),
        slippage_bps: fields.optional("slippage_bps", unsigned),
        deadline: fields.optional("deadline", read_deadline),
    };
    fields.close();
    Some(intent)
}

fn read_deadline(node: &YamlNode, report: &ProblemReport) -> Option<StatedDeadline> {
    let parsed = StatedDeadline::parse(&text(node, report)?);
    if parsed.is_none() {
        report.add(
            node.line,
            format!("{} is not a deadline", node.describe()),
            "write a time such as 2026-03-08T13:00:00Z, or a duration such as 5m",
        );
    }
    parsed
}

fn read_spend(node: &YamlNode, report: &ProblemReport) -> Option<SpendLimit> {
    let fields = YamlFields::open(node, "a spend", report)?;
    let token = fields.required("token", spanned(name));
    let at_most = fields.required("at_most", read_limit);
    fields.close();
    Some(SpendLimit { token: token?, at_most: at_most? })
}

fn read_limit(node: &YamlNode, report: &ProblemReport) -> Option<String> {
    let text = text(node, report)?;
    let is_amount = text == "max" || parse_units(&text, SpendLimit::PLACES).is_some();
    if !is_amount {
        report.add(
            node.line,
            format!("{} is not an amount", node.describe()),
            "write digits with at most one point, such as \"2500.50\", or max",
        );
    }
    is_amount.then_some(text)
}
