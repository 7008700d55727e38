//! Tools and parameters have descriptions, and no two tools share one. A model chooses a tool by its description.

use super::{Check, ExampleWorkspace, FindingCollector};
use model::{Location, ParamSpec, Tool, Workspace};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

pub(super) struct DescriptionsCheck;

/// Permitted length. Shorter is too vague to choose by; longer hides the other tools.
const DESCRIPTION_CHARS: RangeInclusive<usize> = 50..=500;

impl Check for DescriptionsCheck {
    fn id(&self) -> &'static str {
        "descriptions"
    }

    fn manual(&self) -> &'static str {
        "A tool is chosen by its description, so each has 50 to 500 characters and no two tools share one. Every parameter of a tool or a \
         skill is described too: models fill in undocumented parameters badly."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        let mut said = BTreeMap::new();
        for tool in &workspace.tools {
            found.record_examined();
            let (name, at) = (&*tool.name, &tool.description.at);
            let length = tool.description.trim().chars().count();
            if !DESCRIPTION_CHARS.contains(&length) {
                let remedy =
                    format!("write {} to {}: what it does, and when to use it", DESCRIPTION_CHARS.start(), DESCRIPTION_CHARS.end());
                report_by_origin(found, tool, at, format!("the description of {name} has {length} characters"), remedy);
            }
            // Ignore differences in whitespace and case.
            let words: Vec<String> = tool.description.split_whitespace().map(str::to_lowercase).collect();
            let first = *said.entry(words).or_insert(tool);
            if !std::ptr::eq(first, tool) {
                let remedy = format!("describe how it differs from the one at {}", first.description.at);
                report_by_origin(found, tool, at, format!("{name} has the same description as {}", *first.name), remedy);
            }
            for (param, ParamSpec { description, at, .. }) in &tool.params {
                found.record_examined();
                if description.trim().is_empty() {
                    let at = if at.line > 0 { at } else { &tool.at };
                    report_by_origin(
                        found,
                        tool,
                        at,
                        format!("parameter {param} of {name} has no description"),
                        "describe its value".into(),
                    );
                }
            }
        }
        for skill in &workspace.skills {
            for (param, ParamSpec { description, at, .. }) in &skill.params {
                found.record_examined();
                if description.trim().is_empty() {
                    found.error(at, format!("parameter {param} of skill {} has no description", *skill.name), "describe its value");
                }
            }
        }
    }

    fn rejects(&self) -> ExampleWorkspace {
        ExampleWorkspace::minimal().edit(
            "tools/wallet.yaml",
            "Balance of one token held by the agent's own wallet on one chain, in whole tokens; it moves nothing.",
            "Gets the balance.",
        )
    }
}

/// Reports a warning for an imported tool, whose texts belong to its server, and an error otherwise.
fn report_by_origin(found: &mut FindingCollector, tool: &Tool, at: &Location, what: String, remedy: String) {
    if tool.pinned.is_some() {
        found.warning(at, what, remedy);
    } else {
        found.error(at, what, remedy);
    }
}
