//! Tools of the catalogue, read from one file per category.

use super::kind::ParamKind;
use super::legacy::read_operation;
use super::op_class::OpClass;
use super::op_target::{LiveView, OpTarget, PrepareTarget, read_prepares, read_via};
use super::operation::ToolOp;
use super::param::{ParamSpec, read_kind, read_param};
use super::roles::IdKind;
use super::schema::JsonSchema;
use crate::hash::ContentHash;
use crate::location::{Location, Spanned};
use crate::problem::ProblemReport;
use crate::tool_listing::ToolListing;
use crate::yaml::{YamlFields, YamlNode, json, list, map, name, one_of, spanned, text, unsigned};
use indexmap::IndexMap;
use serde_json::{Map, Value, json as value};

#[derive(Debug, Clone)]
pub struct Tool {
    pub name: Spanned<String>,
    pub category: String,
    pub description: Spanned<String>,
    pub capability: ToolCapability,
    pub risk: RiskLayer,
    pub acts: Spanned<ToolOp>,
    pub via: OpTarget,
    /// Present for quotes only.
    pub prepares: Option<PrepareTarget>,
    /// Absent for reads that are answered from fixtures.
    pub view: Option<LiveView>,
    /// Lifetime of an answer in seconds. A repeated call after it is not redundant.
    pub ttl_s: Option<u64>,
    pub aliases: Vec<Spanned<String>>,
    pub params: IndexMap<String, ParamSpec>,
    pub schema: JsonSchema,
    /// Hash of the listing when it was imported from a server.
    pub pinned: Option<Spanned<String>>,
    /// Name on its server, if the workspace uses another one because two servers share it.
    pub remote_name: Option<String>,
    /// Name and version of the server that an imported tool comes from, as its file states them.
    pub server: Option<String>,
    /// Output schema of an imported tool, if its server has one.
    pub output: Option<Value>,
    pub at: Location,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolCapability {
    Read,
    Write,
    Privileged,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RiskLayer {
    Layer1,
    Layer2,
    Layer3,
}

/// Parameters by which a tool that declares one of them only prepares an action.
const PREVIEW_PARAMS: [&str; 2] = ["dry_run", "dryRun"];

impl Tool {
    pub fn writes(&self) -> bool {
        match self.capability {
            ToolCapability::Read => false,
            ToolCapability::Write | ToolCapability::Privileged => true,
        }
    }

    /// Returns whether a call with these arguments only prepares an action and sends nothing. A parameter that the tool does not declare says
    /// nothing: a server ignores it.
    pub fn is_dry_run(&self, args: &Value) -> bool {
        let declares = |name: &str| self.params.get(name).is_some_and(|param| param.schema["type"] == "boolean");
        PREVIEW_PARAMS.iter().any(|name| args.get(name) == Some(&Value::Bool(true)) && declares(name))
    }

    /// Returns whether the tool is imported and has no live implementation in a world, so that a server answers it.
    pub fn is_foreign(&self) -> bool {
        self.pinned.is_some() && self.view.is_none() && matches!(self.acts.class(), OpClass::PassThrough | OpClass::Read)
    }

    pub fn listing(&self) -> ToolListing {
        ToolListing { name: self.name.value.clone(), description: self.description.value.clone(), input_schema: self.schema.value.clone() }
    }

    /// Returns the name that the server of an imported tool knows.
    pub fn server_name(&self) -> &str {
        self.remote_name.as_deref().unwrap_or(&self.name)
    }

    /// Returns whether the tool was imported from the server that calls itself `name`, in any version. `None` if its file names no server.
    pub fn is_of_server(&self, name: &str) -> Option<bool> {
        let server = self.server.as_deref()?.trim();
        Some(server == name.trim() || server.rsplit_once(' ').is_some_and(|(own, _version)| own.trim() == name.trim()))
    }

    /// Returns the listing as its server sends it, which pins an imported tool.
    pub fn server_listing(&self) -> ToolListing {
        ToolListing { name: self.server_name().to_owned(), ..self.listing() }
    }

    /// Returns whether this is the name or an alias of the tool.
    pub fn has_name(&self, name: &str) -> bool {
        *self.name == name || self.aliases.iter().any(|alias| alias.value == name)
    }
}

impl ToolListing {
    /// Returns the hash that pins an imported tool. White space around the description is ignored.
    pub fn hash(&self) -> ContentHash {
        ContentHash::of_json(&value!({ "name": self.name, "description": self.description.trim(), "input_schema": self.input_schema }))
    }
}

const CAPABILITIES: &[(&str, ToolCapability)] =
    &[("read", ToolCapability::Read), ("write", ToolCapability::Write), ("privileged", ToolCapability::Privileged)];
const RISKS: &[(&str, RiskLayer)] = &[("layer1", RiskLayer::Layer1), ("layer2", RiskLayer::Layer2), ("layer3", RiskLayer::Layer3)];

pub(crate) fn read_tools(node: &YamlNode, report: &ProblemReport) -> Option<Vec<Tool>> {
    let fields = YamlFields::open(node, "a tool file", report)?;
    let category = fields.required("category", name);
    let tools = fields.required("tools", list(read_tool));
    let server = fields.optional("server", text);
    fields.close();
    let category = category?;
    let mut tools = tools?;
    for tool in &mut tools {
        tool.category.clone_from(&category);
        tool.server.clone_from(&server);
    }
    Some(tools)
}

fn read_tool(node: &YamlNode, report: &ProblemReport) -> Option<Tool> {
    let fields = YamlFields::open(node, "a tool", report)?;
    let name_ = fields.required("name", spanned(name));
    let description = fields.required("description", spanned(text));
    let capability = fields.required("capability", one_of(CAPABILITIES));
    let risk = fields.required_by_policy("risk", one_of(RISKS));
    let via = fields.or_default("via", read_via);
    let acts = fields.required_by_policy("acts", |node, report| {
        let op = read_operation(node, &text(node, report)?, via.legacy.as_ref(), report)?;
        Some(Spanned::new(op, report.location(node.line)))
    });
    let prepares = fields.optional("prepares", read_prepares);
    let view = fields.optional("view", one_of(LiveView::ALL));
    let ttl_s = fields.optional("ttl_s", unsigned);
    let aliases = fields.or_default("aliases", list(spanned(name)));
    let pinned = fields.optional("pinned", spanned(text));
    let remote_name = fields.optional("remote_name", name);
    let output = fields.optional("output_schema", json);
    let shape = match fields.get("input_schema") {
        Some(schema) => {
            let kinds = fields.or_default("kinds", map(read_kind));
            imported_schema(schema, kinds, report)
        }
        None => {
            let prepared = report.has_policy() && matches!(capability, Some(ToolCapability::Write | ToolCapability::Privileged));
            Some(native_schema(fields.or_default("params", map(read_param)), prepared))
        }
    };
    fields.close();
    let (params, schema) = shape?;
    let (name_, capability) = (name_?, capability?);
    let (usual_risk, usual_op) = match capability {
        ToolCapability::Read => (RiskLayer::Layer1, ToolOp::Read),
        ToolCapability::Write | ToolCapability::Privileged => (RiskLayer::Layer3, ToolOp::PassThrough),
    };
    let acts = acts.unwrap_or_else(|| Spanned::new(usual_op, name_.at.clone()));
    if !report.has_policy() && !matches!(acts.value, ToolOp::Read | ToolOp::PassThrough) {
        report.add(
            node.line,
            format!("acts: {} needs policy.yaml", acts.value.word()),
            "write acts: read or acts: pass_through, or remove acts",
        );
    }
    if !report.has_policy() && !matches!(view, None | Some(LiveView::Memory | LiveView::Files)) {
        report.add(node.line, "this view reads a chain, which needs policy.yaml", "write view: memory or view: files, or remove view");
    }
    Some(Tool {
        name: name_,
        category: String::new(),
        description: description?,
        capability,
        risk: risk.unwrap_or(usual_risk),
        acts,
        via: via.target,
        prepares,
        view,
        ttl_s,
        aliases,
        params,
        schema,
        pinned,
        remote_name,
        server: None,
        output,
        at: report.location(node.line),
    })
}

/// Builds the schema of a tool from its parameters. A write that can be prepared also accepts `dry_run` and `action_id`.
fn native_schema(mut params: IndexMap<String, ParamSpec>, prepared: bool) -> (IndexMap<String, ParamSpec>, JsonSchema) {
    if prepared {
        for (name, param) in action_params() {
            params.entry(name.to_owned()).or_insert(param);
        }
    }
    let properties: Map<String, Value> = params.iter().map(|(name, param)| (name.clone(), param.schema.clone())).collect();
    let required: Vec<&String> = params.iter().filter(|(_, param)| param.required).map(|(name, _)| name).collect();
    let schema = value!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false });
    (params, JsonSchema::new(schema))
}

fn action_params() -> [(&'static str, ParamSpec); 2] {
    let param = |kind, schema: Value| ParamSpec {
        kind: Some(kind),
        required: false,
        default: None,
        description: schema["description"].as_str().unwrap_or_default().to_owned(),
        schema,
        at: Location::new("", 0),
    };
    [
        (
            "dry_run",
            param(ParamKind::Flag, value!({ "type": "boolean", "description": "Prepare the action, return its action_id, send nothing." })),
        ),
        (
            "action_id",
            param(
                ParamKind::Id(IdKind::Action),
                value!({ "type": "string", "minLength": 1, "maxLength": 128,
                    "description": "Execute exactly the action that was quoted, previewed or dry-run under this id." }),
            ),
        ),
    ]
}

/// Reads the schema of an imported tool, unchanged, and adds the kinds of its parameters.
fn imported_schema(
    node: &YamlNode,
    mut kinds: IndexMap<String, ParamKind>,
    report: &ProblemReport,
) -> Option<(IndexMap<String, ParamSpec>, JsonSchema)> {
    let schema = json(node, report)?;
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let params = schema["properties"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, property)| {
            let param = ParamSpec {
                kind: kinds.shift_remove(name),
                required: required.contains(&name.as_str()),
                default: property.get("default").cloned(),
                description: property["description"].as_str().unwrap_or_default().to_owned(),
                schema: property.clone(),
                at: report.location(node.line),
            };
            (name.clone(), param)
        })
        .collect();
    for name in kinds.keys() {
        report.add(node.line, format!("kinds names \"{name}\", which is not a parameter"), "remove it or correct the name");
    }
    Some((params, JsonSchema::new(schema)))
}
