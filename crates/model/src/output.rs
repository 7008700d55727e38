//! The shape an agent's final answer must have.

use crate::catalog::Schema;
use crate::place::{Place, Spot};
use crate::problem::Report;
use crate::yaml::{Fields, Node, json, name, spot, text};

#[derive(Debug, Clone)]
pub struct Output {
    pub name: Spot<String>,
    pub about: String,
    pub schema: Schema,
    pub at: Place,
}

pub(crate) fn read_output(node: &Node, report: &Report) -> Option<Output> {
    let fields = Fields::open(node, "an output", report)?;
    let name_ = fields.need("output", spot(name));
    let about = fields.need("about", text);
    let schema = fields.need("schema", json);
    fields.close();
    Some(Output { name: name_?, about: about?, schema: Schema::new(schema?), at: report.place(node.line) })
}
