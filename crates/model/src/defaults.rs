//! What a run takes for granted unless it is told otherwise: `bardo-eval.yaml`.

use crate::money::Money;
use crate::place::Spot;
use crate::problem::Report;
use crate::yaml::{Fields, Node, name, spot, text};

#[derive(Debug, Clone, Default)]
pub struct Defaults {
    /// Who is evaluated.
    pub subject: Option<Spot<String>>,
    /// Who answers questions that no state can.
    pub judge: Option<Spot<String>>,
    /// What a run may cost.
    pub budget: Option<Money>,
}

pub(crate) fn read_defaults(node: &Node, report: &Report) -> Option<Defaults> {
    let fields = Fields::open(node, "bardo-eval.yaml", report)?;
    let subject = fields.maybe("subject", spot(name));
    let judge = fields.maybe("judge", spot(name));
    let budget = fields.maybe("budget_usd", read_usd);
    fields.close();
    Some(Defaults { subject, judge, budget })
}

fn read_usd(node: &Node, report: &Report) -> Option<Money> {
    let written = text(node, report)?;
    let money = written.parse();
    if money.is_err() {
        report.add(
            node.line,
            format!("{} is no amount of dollars", node.describe()),
            "digits with at most nine after the point, as in 2.50",
        );
    }
    money.ok()
}
