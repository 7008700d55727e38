//! Skills: requests a user can make, and the agent or tool that handles them.

use crate::catalog::{ParamSpec, read_param};
use crate::location::{Location, Spanned};
use crate::problem::ProblemReport;
use crate::yaml::{YamlFields, YamlNode, list, map, name, spanned, text};
use indexmap::IndexMap;
use serde_json::{Map, Value};

#[derive(Debug, Clone)]
pub struct Skill {
    pub name: Spanned<String>,
    pub description: String,
    pub category: String,
    pub handler: SkillHandler,
    /// Other agents that it involves.
    pub also: Vec<Spanned<String>>,
    pub triggers: Vec<Spanned<String>>,
    pub examples: Vec<String>,
    pub redirects: Vec<SkillRedirect>,
    pub params: IndexMap<String, ParamSpec>,
    pub body: String,
    pub at: Location,
}

impl Skill {
    /// Returns the hand-over to the agent that carries the skill out: its name, the defaults of its parameters, and the given values.
    pub fn hand_over(&self, given: Map<String, Value>) -> Map<String, Value> {
        let defaults = self.params.iter().filter_map(|(name, param)| Some((name.clone(), param.default.clone()?)));
        let mut params: Map<String, Value> = defaults.collect();
        params.extend(given);
        params.insert("skill".to_owned(), Value::String(self.name.value.clone()));
        params
    }
}

#[derive(Debug, Clone)]
pub enum SkillHandler {
    Agent(Spanned<String>),
    /// The skill is a single tool call.
    Tool(Spanned<String>),
}

/// Situation in which another skill should be chosen.
#[derive(Debug, Clone)]
pub struct SkillRedirect {
    pub when: String,
    pub to: Spanned<String>,
}

pub(crate) fn read_skill(node: &YamlNode, body: &str, report: &ProblemReport) -> Option<Skill> {
    let fields = YamlFields::open(node, "a skill", report)?;
    let name_ = fields.required("name", spanned(name));
    let description = fields.required("description", text);
    let category = fields.required("category", text);
    let agent = fields.optional("agent", spanned(name)).map(SkillHandler::Agent);
    let tool = fields.optional("tool", spanned(name)).map(SkillHandler::Tool);
    let also = fields.or_default("also", list(spanned(name)));
    let triggers = fields.required("triggers", list(spanned(text)));
    let examples = fields.required("examples", list(text));
    let redirects = fields.or_default("redirects", list(read_redirect));
    let params = fields.or_default("params", map(read_param));
    fields.close();
    let handler = match (agent, tool) {
        (Some(one), None) | (None, Some(one)) => Some(one),
        (None, None) | (Some(_), Some(_)) => {
            report.add(node.line, "a skill is handled by exactly one agent or one tool", "write agent: or tool:");
            None
        }
    };
    Some(Skill {
        name: name_?,
        description: description?,
        category: category?,
        handler: handler?,
        also,
        triggers: triggers?,
        examples: examples?,
        redirects,
        params,
        body: body.trim().to_owned(),
        at: report.location(node.line),
    })
}

fn read_redirect(node: &YamlNode, report: &ProblemReport) -> Option<SkillRedirect> {
    let fields = YamlFields::open(node, "a redirect", report)?;
    let when = fields.required("when", text);
    let to = fields.required("to", spanned(name));
    fields.close();
    Some(SkillRedirect { when: when?, to: to? })
}

mod listing;

pub use listing::SkillListing;

#[cfg(test)]
mod tests;
