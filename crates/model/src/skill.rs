//! A skill: what a user may ask for, and who handles it.

use crate::catalog::{Param, read_param};
use crate::place::{Place, Spot};
use crate::problem::Report;
use crate::yaml::{Fields, Node, list, map, name, spot, text};
use indexmap::IndexMap;

#[derive(Debug, Clone)]
pub struct Skill {
    pub name: Spot<String>,
    pub description: String,
    pub category: String,
    pub handler: Handler,
    pub also: Vec<Spot<String>>,
    pub triggers: Vec<Spot<String>>,
    pub examples: Vec<String>,
    pub redirects: Vec<Redirect>,
    pub params: IndexMap<String, Param>,
    pub body: String,
    pub at: Place,
}

#[derive(Debug, Clone)]
pub enum Handler {
    Agent(Spot<String>),
    /// A skill that is one direct tool call.
    Tool(Spot<String>),
}

#[derive(Debug, Clone)]
pub struct Redirect {
    pub when: String,
    pub to: Spot<String>,
}

pub(crate) fn read_skill(node: &Node, body: &str, report: &Report) -> Option<Skill> {
    let fields = Fields::open(node, "a skill", report)?;
    let name_ = fields.need("name", spot(name));
    let description = fields.need("description", text);
    let category = fields.need("category", text);
    let agent = fields.maybe("agent", spot(name)).map(Handler::Agent);
    let tool = fields.maybe("tool", spot(name)).map(Handler::Tool);
    let also = fields.or_default("also", list(spot(name)));
    let triggers = fields.need("triggers", list(spot(text)));
    let examples = fields.need("examples", list(text));
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
        at: report.place(node.line),
    })
}

fn read_redirect(node: &Node, report: &Report) -> Option<Redirect> {
    let fields = Fields::open(node, "a redirect", report)?;
    let when = fields.need("when", text);
    let to = fields.need("to", spot(name));
    fields.close();
    Some(Redirect { when: when?, to: to? })
}

#[cfg(test)]
mod tests;
