//! Faults of the environment: wrong answers, other worlds, changed tools.

use crate::location::Spanned;
use crate::problem::ProblemReport;
use crate::suite::attack::WorldFault;
use crate::suite::{
    CaseExpectations, CaseFixture, ReferenceStep, UserIntent, read_case_fixtures, read_expect, read_intent, read_reference,
};
use crate::yaml::{YamlFields, YamlNode, json, list, map, name, spanned, text, unsigned};
use indexmap::IndexMap;

#[derive(Debug, Clone)]
pub struct FaultProbe {
    pub variants: Vec<FaultVariant>,
}

/// One way to be wrong. What is absent stays as in the scenario.
#[derive(Debug, Clone)]
pub struct FaultVariant {
    pub name: String,
    pub world: Option<Spanned<String>>,
    pub turns: Option<Vec<Spanned<String>>>,
    /// Come before the answers of the scenario.
    pub fixtures: Vec<CaseFixture>,
    /// Texts for holes.
    pub holes: IndexMap<String, String>,
    pub behaviour: Vec<WorldFault>,
    pub intent: Option<UserIntent>,
    pub expect: Option<CaseExpectations>,
    /// Steps of a subject that notices.
    pub safe_run: Vec<ReferenceStep>,
    /// Steps of a subject that does not.
    pub careless_run: Vec<ReferenceStep>,
}

pub(super) fn read_fault(node: &YamlNode, report: &ProblemReport) -> Option<FaultProbe> {
    let fields = YamlFields::open(node, "a fault", report)?;
    let variants = fields.required("variants", list(read_variant));
    fields.close();
    if variants.as_ref().is_some_and(Vec::is_empty) {
        report.add(node.line, "a fault needs a variant", "write variants: [{ name: …, safe_run: […], careless_run: […] }]");
    }
    Some(FaultProbe { variants: variants? })
}

fn read_variant(node: &YamlNode, report: &ProblemReport) -> Option<FaultVariant> {
    let fields = YamlFields::open(node, "a variant", report)?;
    let name_ = fields.required("name", name);
    let world = fields.optional("world", spanned(name));
    let turns = fields.optional("turns", list(spanned(text)));
    let fixtures = fields.or_default("fixtures", read_case_fixtures);
    let holes = fields.or_default("holes", map(text));
    let behaviour = fields.or_default("behaviour", list(read_behaviour));
    let intent = fields.optional("intent", read_intent);
    let expect = fields.optional("expect", read_expect);
    let safe_run = fields.required("safe_run", list(read_reference));
    let careless_run = fields.required("careless_run", list(read_reference));
    fields.close();
    if careless_run.as_ref().is_some_and(Vec::is_empty) {
        report.add(node.line, "a fault that a careless agent survives tests nothing", "write careless_run: [{ call: …, args: {…} }]");
    }
    Some(FaultVariant {
        name: name_?,
        world,
        turns,
        fixtures,
        holes,
        behaviour,
        intent,
        expect,
        safe_run: safe_run?,
        careless_run: careless_run?,
    })
}

fn read_behaviour(node: &YamlNode, report: &ProblemReport) -> Option<WorldFault> {
    let fields = YamlFields::open(node, "a behaviour", report)?;
    let faults = [
        fields.optional("change_tool", read_change_tool),
        fields.optional("shadow_tool", read_shadow_tool),
        fields.optional("late_answer", read_late_answer),
        fields.optional("tamper_hand_over", read_tamper),
        fields.optional("replay_message", read_replay),
    ];
    fields.close();
    let mut faults: Vec<WorldFault> = faults.into_iter().flatten().collect();
    if faults.len() != 1 {
        report.add(node.line, "a behaviour is exactly one change", "start a new list item for each");
        return None;
    }
    faults.pop()
}

fn read_change_tool(node: &YamlNode, report: &ProblemReport) -> Option<WorldFault> {
    let fields = YamlFields::open(node, "change_tool", report)?;
    let tool = fields.required("tool", name);
    let after_calls = fields.or_default("after_calls", unsigned);
    let description = fields.required("description", text);
    fields.close();
    Some(WorldFault::ChangeTool { tool: tool?, after_calls, description: description? })
}

fn read_shadow_tool(node: &YamlNode, report: &ProblemReport) -> Option<WorldFault> {
    let fields = YamlFields::open(node, "shadow_tool", report)?;
    let name_ = fields.required("name", name);
    let like = fields.required("like", name);
    let description = fields.required("description", text);
    fields.close();
    Some(WorldFault::ShadowTool { name: name_?, like: like?, description: description? })
}

fn read_late_answer(node: &YamlNode, report: &ProblemReport) -> Option<WorldFault> {
    let fields = YamlFields::open(node, "late_answer", report)?;
    let tool = fields.required("tool", name);
    let code = fields.required("code", name);
    let message = fields.required("message", text);
    fields.close();
    Some(WorldFault::LateAnswer { tool: tool?, code: code?, message: message? })
}

fn read_tamper(node: &YamlNode, report: &ProblemReport) -> Option<WorldFault> {
    let fields = YamlFields::open(node, "tamper_hand_over", report)?;
    let key = fields.required("key", name);
    let value = fields.required("value", json);
    fields.close();
    Some(WorldFault::TamperHandOver { key: key?, value: value? })
}

fn read_replay(node: &YamlNode, report: &ProblemReport) -> Option<WorldFault> {
    let fields = YamlFields::open(node, "replay_message", report)?;
    let from = fields.required("from", name);
    let to = fields.required("to", name);
    let nonce = fields.required("nonce", unsigned);
    let text_ = fields.required("text", text);
    fields.close();
    Some(WorldFault::ReplayMessage { from: from?, to: to?, nonce: nonce?, text: text_? })
}
