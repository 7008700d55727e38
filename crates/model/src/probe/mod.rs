//! Probes: attack goals and faults, as data. A probe contains neither encodings nor carrier text; strategies and channels add them.

mod fault;
mod inject;

pub use fault::{FaultProbe, FaultVariant};
pub use inject::{GoalText, InjectProbe};

use crate::location::{Location, Spanned};
use crate::problem::ProblemReport;
use crate::registry::{AddressText, address};
use crate::suite::attack::{AttackChannel, AttackKind, OracleId, OwaspCategory};
use crate::yaml::{YamlFields, YamlNode, list, name, one_of, spanned, text, unsigned};
use fault::read_fault;
use inject::read_inject;

#[derive(Debug, Clone)]
pub struct Probe {
    pub name: Spanned<String>,
    pub about: String,
    pub asi: Vec<OwaspCategory>,
    /// Threat ids of the OWASP guide, `T1` to `T17`.
    pub threats: Vec<String>,
    /// Names of the same attack in the specification of the system under test.
    pub known_as: Vec<String>,
    /// Oracles that obeying should violate.
    pub oracles: Vec<OracleId>,
    pub payload: ProbePayload,
    pub carriers: Vec<ProbeCarrier>,
    /// Amounts for `<amount>`; the seed picks one.
    pub amounts: Vec<String>,
    /// Address that `<look_alike>` resembles.
    pub resembles: Option<Spanned<AddressText>>,
    pub at: Location,
}

#[derive(Debug, Clone)]
pub enum ProbePayload {
    Inject(InjectProbe),
    Fault(FaultProbe),
}

/// Scenario that a probe attacks, and the place of the attack in it.
#[derive(Debug, Clone)]
pub struct ProbeCarrier {
    pub channel: AttackChannel,
    /// Id of a case that reads the holes.
    pub scenario: Spanned<String>,
    /// Holes of its world. The seed picks the first one that is filled; a strategy with several segments fills the next ones.
    pub holes: Vec<Spanned<String>>,
    /// Tool whose answers or description end with the text, in place of holes.
    pub tool: Option<Spanned<String>>,
    /// Turn of the user that the text is added to, from 1.
    pub turn: Option<u64>,
    pub at: Location,
}

impl Probe {
    pub fn kind(&self) -> AttackKind {
        match self.payload {
            ProbePayload::Inject(_) => AttackKind::Inject,
            ProbePayload::Fault(_) => AttackKind::Fault,
        }
    }
}

pub(crate) fn read_probe(node: &YamlNode, report: &ProblemReport) -> Option<Probe> {
    let fields = YamlFields::open(node, "a probe", report)?;
    let name_ = fields.required("probe", spanned(name));
    let about = fields.required("about", text);
    let asi = fields.required("asi", list(one_of(OwaspCategory::ALL)));
    let threats = fields.or_default("threats", list(name));
    let known_as = fields.or_default("known_as", list(name));
    let oracles = fields.required("oracles", list(one_of(OracleId::ALL)));
    let inject = fields.optional("inject", read_inject).map(ProbePayload::Inject);
    let fault = fields.optional("fault", read_fault).map(ProbePayload::Fault);
    let given = [fields.has("inject"), fields.has("fault")];
    let carriers = fields.required("carriers", list(read_carrier));
    let amounts = fields.or_default("amounts", list(text));
    let resembles = fields.optional("resembles", spanned(address));
    fields.close();
    if given[0] == given[1] {
        report.add(node.line, "a probe injects text or is a fault", "write inject: {…} or fault: {…}, not both");
    }
    if carriers.as_ref().is_some_and(Vec::is_empty) {
        report.add(node.line, "a probe without a carrier attacks nothing", "write carriers: [{ channel: …, scenario: …, holes: […] }]");
    }
    if asi.as_ref().is_some_and(Vec::is_empty) {
        report.add(node.line, "a probe belongs to an OWASP category", "write asi: [asi01]");
    }
    Some(Probe {
        name: name_?,
        about: about?,
        asi: asi?,
        threats,
        known_as,
        oracles: oracles?,
        payload: inject.or(fault)?,
        carriers: carriers?,
        amounts,
        resembles,
        at: report.location(node.line),
    })
}

fn read_carrier(node: &YamlNode, report: &ProblemReport) -> Option<ProbeCarrier> {
    let fields = YamlFields::open(node, "a carrier", report)?;
    let channel = fields.required("channel", one_of(AttackChannel::ALL));
    let scenario = fields.required("scenario", spanned(name));
    let holes = fields.or_default("holes", list(spanned(name)));
    let tool = fields.optional("tool", spanned(name));
    let turn = fields.optional("turn", unsigned);
    fields.close();
    let by_tool = matches!(channel, Some(AttackChannel::ToolResult | AttackChannel::ToolDescription));
    if tool.is_some() && (!by_tool || !holes.is_empty()) {
        let remedy = "write tool: NAME with channel: tool_result or tool_description, and no holes";
        report.add(node.line, "a tool carries text in its answers or its description", remedy);
    }
    let by_user = channel == Some(AttackChannel::User);
    if by_user && !holes.is_empty() {
        report.add(node.line, "a user fills no hole", "remove holes; turn: N chooses the message");
    }
    if turn == Some(0) || (turn.is_some() && !by_user) {
        report.add(node.line, "turn is the number of a user message", "write turn: 1 or higher, with channel: user");
    }
    Some(ProbeCarrier { channel: channel?, scenario: scenario?, holes, tool, turn, at: report.location(node.line) })
}

#[cfg(test)]
mod tests;
