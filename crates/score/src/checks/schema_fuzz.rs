//! Validation accepts generated valid arguments and rejects invalid ones. Spec 4, property-based input generation.

use super::{Check, ExampleWorkspace, FindingCollector};
use model::Workspace;

pub(super) struct SchemaFuzz;

/// Number of valid and of invalid arguments per tool.
const SAMPLES_PER_TOOL: usize = 50;

impl Check for SchemaFuzz {
    fn id(&self) -> &'static str {
        "schema_fuzz"
    }

    fn manual(&self) -> &'static str {
        "From the schema of each tool 50 valid and 50 invalid argument objects are generated (from --seed), each invalid one with a known \
         mistake: a missing or extra key, a wrong type, a value out of bounds or outside its enum, a broken pattern. Validation must \
         accept the valid and reject the invalid ones. A schema without valid values or with an unsupported keyword is a warning."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        for tool in &workspace.tools {
            found.record_examined();
            let name = &tool.name.value;
            let samples = match jsongen::samples(&tool.schema.value, found.seed(), SAMPLES_PER_TOOL) {
                Ok(samples) => samples,
                Err(unsupported) => {
                    // An imported schema may use keywords that the generator does not support, so this is not an error.
                    let remedy = match tool.pinned {
                        Some(_) => "the schema is that of the server: waive this in bardo-eval.yaml, or ask for a simpler one",
                        None => "simplify the schema, or waive this in bardo-eval.yaml",
                    };
                    found.warning(&tool.at, format!("no arguments could be generated for {name}: {unsupported}"), remedy);
                    continue;
                }
            };
            if let Some(value) = samples.valid.iter().find(|value| !tool.schema.accepts(value)) {
                let why = tool.schema.violations(value).first().map(|violation| violation.what.clone()).unwrap_or_default();
                found.error(&tool.at, format!("{name} rejects arguments that its schema permits: {}", short(value)), why);
            }
            if let Some(sample) = samples.invalid.iter().find(|sample| tool.schema.accepts(&sample.value)) {
                let what = format!("{name} accepts invalid arguments: {} ({})", short(&sample.value), sample);
                found.error(&tool.at, what, "state the bound in the schema");
            }
        }
    }

    fn rejects(&self) -> ExampleWorkspace {
        // The pattern contradicts the length, so no value is valid.
        ExampleWorkspace::minimal().edit(
            "tools/wallet.yaml",
            "action_id: { kind: id(action), type: string, description: The prepared action. }",
            "action_id: { kind: id(action), type: string, pattern: \"^[a-z]{3}$\", minLength: 5, description: The prepared action. }",
        )
    }
}

fn short(value: &serde_json::Value) -> String {
    model::shortened(&value.to_string(), 120)
}
