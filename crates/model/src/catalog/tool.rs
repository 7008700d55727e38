//! One tool of the catalogue, and the file that lists the tools of a category.

use super::kind::Kind;
use super::legacy::read_operation;
use super::operation::ToolOp;
use super::param::{Param, read_kind, read_param};
use super::roles::IdKind;
use super::schema::Schema;
use super::via::{OpTarget, Prepares, View, read_prepares, read_via};
use crate::hash::Hash;
use crate::listing::Listing;
use crate::place::{Place, Spot};
use crate::problem::Report;
use crate::yaml::{Fields, Node, json, list, map, name, one_of, spot, text, whole};
use indexmap::IndexMap;
use serde_json::{Map, Value, json as value};

#[derive(Debug, Clone)]
pub struct Tool {
    pub name: Spot<String>,
    pub category: String,
    pub description: Spot<String>,
    pub capability: Capability,
    pub risk: Risk,
    pub acts: Spot<ToolOp>,
    pub via: OpTarget,
    /// Only quotes have it.
    pub prepares: Option<Prepares>,
    /// A read without one is answered from the world's fixtures.
    pub view: Option<View>,
    /// How long an answer stays true; asking again later is not a repetition.
    pub ttl_s: Option<u64>,
    pub aliases: Vec<Spot<String>>,
    pub params: IndexMap<String, Param>,
    pub schema: Schema,
    /// The hash a tool had when it was imported from a server.
    pub pinned: Option<Spot<String>>,
    /// The schema of an imported tool's answers, where its server gave one.
    pub output: Option<Value>,
    pub at: Place,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capability {
    Read,
    Write,
    Privileged,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Risk {
    Layer1,
    Layer2,
    Layer3,
}

impl Tool {
    pub fn writes(&self) -> bool {
        match self.capability {
            Capability::Read => false,
            Capability::Write | Capability::Privileged => true,
        }
    }

    pub fn listing(&self) -> Listing {
        Listing { name: self.name.value.clone(), description: self.description.value.clone(), input_schema: self.schema.value.clone() }
    }

    /// Whether the tool goes by this name, now or formerly.
    pub fn answers_to(&self, name: &str) -> bool {
        *self.name == name || self.aliases.iter().any(|alias| alias.value == name)
    }
}

impl Listing {
    /// What a pinned tool is compared by. White space around a description is not part of it.
    pub fn hash(&self) -> Hash {
        Hash::of(&value!({ "name": self.name, "description": self.description.trim(), "input_schema": self.input_schema }))
    }
}

const CAPABILITIES: &[(&str, Capability)] =
    &[("read", Capability::Read), ("write", Capability::Write), ("privileged", Capability::Privileged)];
const RISKS: &[(&str, Risk)] = &[("layer1", Risk::Layer1), ("layer2", Risk::Layer2), ("layer3", Risk::Layer3)];

pub(crate) fn read_tools(node: &Node, report: &Report) -> Option<Vec<Tool>> {
    let fields = Fields::open(node, "a tool file", report)?;
    let category = fields.need("category", name);
    let tools = fields.need("tools", list(read_tool));
    fields.maybe("server", text);
    fields.close();
    let category = category?;
    let mut tools = tools?;
    for tool in &mut tools {
        tool.category.clone_from(&category);
    }
    Some(tools)
}

fn read_tool(node: &Node, report: &Report) -> Option<Tool> {
    let fields = Fields::open(node, "a tool", report)?;
    let name_ = fields.need("name", spot(name));
    let description = fields.need("description", spot(text));
    let capability = fields.need("capability", one_of(CAPABILITIES));
    let risk = fields.need("risk", one_of(RISKS));
    let via = fields.or_default("via", read_via);
    let acts = fields.need("acts", |node, report| {
        let op = read_operation(node, &text(node, report)?, via.deed.as_ref(), report)?;
        Some(Spot::new(op, report.place(node.line)))
    });
    let prepares = fields.maybe("prepares", read_prepares);
    let view = fields.maybe("view", one_of(View::ALL));
    let ttl_s = fields.maybe("ttl_s", whole);
    let aliases = fields.or_default("aliases", list(spot(name)));
    let pinned = fields.maybe("pinned", spot(text));
    let output = fields.maybe("output_schema", json);
    let shape = match fields.get("input_schema") {
        Some(schema) => {
            let kinds = fields.or_default("kinds", map(read_kind));
            imported(schema, kinds, report)
        }
        None => Some(own(fields.or_default("params", map(read_param)), capability)),
    };
    fields.close();
    let (params, schema) = shape?;
    Some(Tool {
        name: name_?,
        category: String::new(),
        description: description?,
        capability: capability?,
        risk: risk?,
        acts: acts?,
        via: via.target,
        prepares,
        view,
        ttl_s,
        aliases,
        params,
        schema,
        pinned,
        output,
        at: report.place(node.line),
    })
}

/// The schema of a tool written in our own form. Every write also takes `dry_run` and `action_id`: actions have identity.
fn own(mut params: IndexMap<String, Param>, capability: Option<Capability>) -> (IndexMap<String, Param>, Schema) {
    if matches!(capability, Some(Capability::Write | Capability::Privileged)) {
        for (name, param) in action_params() {
            params.entry(name.to_owned()).or_insert(param);
        }
    }
    let properties: Map<String, Value> = params.iter().map(|(name, param)| (name.clone(), param.schema.clone())).collect();
    let required: Vec<&String> = params.iter().filter(|(_, param)| param.required).map(|(name, _)| name).collect();
    let schema = value!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false });
    (params, Schema::new(schema))
}

fn action_params() -> [(&'static str, Param); 2] {
    let param = |kind, schema: Value| Param {
        kind: Some(kind),
        required: false,
        default: None,
        description: schema["description"].as_str().unwrap_or_default().to_owned(),
        schema,
        at: Place::new("", 0),
    };
    [
        (
            "dry_run",
            param(Kind::Flag, value!({ "type": "boolean", "description": "Prepare the action, return its action_id, send nothing." })),
        ),
        (
            "action_id",
            param(
                Kind::Id(IdKind::Action),
                value!({ "type": "string", "minLength": 1, "maxLength": 128,
                    "description": "Execute exactly the action that was quoted, previewed or dry-run under this id." }),
            ),
        ),
    ]
}

/// A schema taken over from a server as it is; kinds are added beside it.
fn imported(node: &Node, mut kinds: IndexMap<String, Kind>, report: &Report) -> Option<(IndexMap<String, Param>, Schema)> {
    let schema = json(node, report)?;
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let params = schema["properties"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, property)| {
            let param = Param {
                kind: kinds.shift_remove(name),
                required: required.contains(&name.as_str()),
                default: property.get("default").cloned(),
                description: property["description"].as_str().unwrap_or_default().to_owned(),
                schema: property.clone(),
                at: report.place(node.line),
            };
            (name.clone(), param)
        })
        .collect();
    for name in kinds.keys() {
        report.add(node.line, format!("kinds names \"{name}\", which is not a parameter"), "remove it or correct the name");
    }
    Some((params, Schema::new(schema)))
}
