//! Default subject, judge and budget of runs, read from `bardo-eval.yaml`.

use crate::location::Spanned;
use crate::money::Money;
use crate::problem::ProblemReport;
use crate::waiver::{CheckWaiver, read_waiver};
use crate::yaml::{YamlFields, YamlNode, list, name, spanned, text};

#[derive(Debug, Clone, Default)]
pub struct RunDefaults {
    /// Name of the subject to evaluate.
    pub subject: Option<Spanned<String>>,
    /// Name of the subject that judges rubrics.
    pub judge: Option<Spanned<String>>,
    /// Most that a run may cost.
    pub budget: Option<Money>,
    /// Findings of checks that are accepted, each with a reason.
    pub waivers: Vec<CheckWaiver>,
}

pub(crate) fn read_defaults(node: &YamlNode, report: &ProblemReport) -> Option<RunDefaults> {
    let fields = YamlFields::open(node, "bardo-eval.yaml", report)?;
    let subject = fields.optional("subject", spanned(name));
    let judge = fields.optional("judge", spanned(name));
    let budget = fields.optional("budget_usd", read_usd);
    let waivers = fields.or_default("waive", list(read_waiver));
    fields.close();
    Some(RunDefaults { subject, judge, budget, waivers })
}

fn read_usd(node: &YamlNode, report: &ProblemReport) -> Option<Money> {
    let written = text(node, report)?;
    let money = written.parse();
    if money.is_err() {
        report.add(
            node.line,
            format!("{} is not a dollar amount", node.describe()),
            "write digits with at most nine after the point, as in 2.50",
        );
    }
    money.ok()
}
