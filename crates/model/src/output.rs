//! JSON Schema of an agent's final answer.

use crate::catalog::JsonSchema;
use crate::location::{Location, Spanned};
use crate::problem::ProblemReport;
use crate::yaml::{YamlFields, YamlNode, json, name, spanned, text};

#[derive(Debug, Clone)]
pub struct OutputSchema {
    pub name: Spanned<String>,
    pub about: String,
    pub schema: JsonSchema,
    pub at: Location,
}

pub(crate) fn read_output(node: &YamlNode, report: &ProblemReport) -> Option<OutputSchema> {
    let fields = YamlFields::open(node, "an output", report)?;
    let name_ = fields.required("output", spanned(name));
    let about = fields.required("about", text);
    let schema = fields.required("schema", json);
    fields.close();
    Some(OutputSchema { name: name_?, about: about?, schema: JsonSchema::new(schema?), at: report.location(node.line) })
}
