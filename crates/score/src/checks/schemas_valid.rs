//! Schemas compile, describe objects, and have valid defaults and enums. Spec 3, tier 1: schema validation.

use super::{Check, ExampleWorkspace, FindingCollector};
use model::{JsonSchema, Location, ParamSpec, Tool, Workspace};
use serde_json::{Value, json};

pub(super) struct SchemasValid;

impl Check for SchemasValid {
    fn id(&self) -> &'static str {
        "schemas_valid"
    }

    fn manual(&self) -> &'static str {
        "The input schema of every tool and the schema of every output compiles as JSON Schema 2020-12 and is of type object. The default \
         of a parameter, of a tool or a skill, must itself fit the parameter's schema, and an enum lists each value once. References to \
         external schemas are never followed and are errors."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        for tool in &workspace.tools {
            found.record_examined();
            check_tool(tool, found);
        }
        for output in &workspace.outputs {
            found.record_examined();
            check_whole(&format!("output {}", *output.name), &output.schema, &output.at, found);
            check_enums(&format!("output {}", *output.name), &output.schema.value, &output.at, found);
        }
        for skill in &workspace.skills {
            for (name, param) in &skill.params {
                found.record_examined();
                let whose = format!("parameter {name} of skill {}", *skill.name);
                let schema = JsonSchema::new(param.schema.clone());
                if let Some(defect) = schema.defect() {
                    found.error(&param.at, format!("the schema of {whose} is unusable: {defect}"), "correct it");
                } else if let Some(default) = &param.default {
                    let wrong = schema.violations(default).into_iter().map(|violation| violation.what).collect();
                    check_default(&whose, wrong, &param.at, found);
                }
                check_enums(&whose, &param.schema, &param.at, found);
            }
        }
    }

    fn rejects(&self) -> ExampleWorkspace {
        ExampleWorkspace::minimal().edit("tools/wallet.yaml", "maximum: 5000, default: 50", "maximum: 5000, default: 5001")
    }
}

fn check_tool(tool: &Tool, found: &mut FindingCollector) {
    let usable = check_whole(&format!("tool {}", *tool.name), &tool.schema, place_of_defect(tool), found);
    for (name, param) in &tool.params {
        let whose = format!("parameter {name} of {}", *tool.name);
        if let (true, Some(default)) = (usable, &param.default) {
            // Validate inside the whole schema, so that local references resolve; ignore violations of other parameters.
            let own = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
            let violations = tool.schema.violations(&json!({ (name.as_str()): default })).into_iter();
            let of_it = violations.filter(|violation| violation.path == own || violation.path.starts_with(&format!("{own}/")));
            check_default(&whose, of_it.map(|violation| violation.what).collect(), &param.at, found);
        }
        check_enums(&whose, &param.schema, &param.at, found);
    }
    if let Value::Object(mut rest) = (*tool.schema.value).clone() {
        rest.remove("properties");
        check_enums(&format!("tool {}", *tool.name), &Value::Object(rest), &tool.at, found);
    }
}

/// Returns the location of the first parameter with a defect of its own, otherwise that of the tool.
fn place_of_defect(tool: &Tool) -> &Location {
    let broken = |param: &&ParamSpec| param.at.line > 0 && JsonSchema::new(param.schema.clone()).defect().is_some();
    if tool.schema.defect().is_some() { tool.params.values().find(broken).map_or(&tool.at, |param| &param.at) } else { &tool.at }
}

fn check_whole(whose: &str, schema: &JsonSchema, at: &Location, found: &mut FindingCollector) -> bool {
    if let Some(defect) = schema.defect() {
        found.error(
            at,
            format!("the schema of {whose} is unusable: {defect}"),
            "correct it; only references inside the schema are followed",
        );
        return false;
    }
    if schema.value["type"] != "object" {
        found.error(at, format!("the schema of {whose} is not of type object"), "write type: object");
    }
    true
}

fn check_default(whose: &str, wrong: Vec<String>, at: &Location, found: &mut FindingCollector) {
    if let Some(what) = wrong.first() {
        found.error(at, format!("the default of {whose} does not fit: {what}"), "change the default or the bounds");
    }
}

fn check_enums(whose: &str, schema: &Value, at: &Location, found: &mut FindingCollector) {
    let twice =
        |values: &[Value]| values.iter().enumerate().find(|(n, value)| values[..*n].contains(value)).map(|(_, value)| value.clone());
    if let Some(value) = schema["enum"].as_array().and_then(|values| twice(values)) {
        found.error(at, format!("an enum of {whose} lists {value} twice"), "keep one");
    }
    for (keyword, inner) in schema.as_object().into_iter().flatten() {
        match (keyword.as_str(), inner) {
            // These hold values, in which "enum" is not a keyword.
            ("enum" | "const" | "default" | "examples", _) => {}
            ("properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas", Value::Object(named)) => {
                named.values().for_each(|inner| check_enums(whose, inner, at, found));
            }
            (_, Value::Array(several)) => several.iter().for_each(|inner| check_enums(whose, inner, at, found)),
            (_, inner) => check_enums(whose, inner, at, found),
        }
    }
}
