//! Tools and parameters say what they are for, and no two tools say the same. Design: a tool is chosen by its description.

use super::{Check, Example, Findings};
use model::{Param, Place, Tool, Workspace};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

pub(super) struct Descriptions;

/// Shorter says too little to choose by; longer drowns the others in the list.
const CHARACTERS: RangeInclusive<usize> = 50..=500;

impl Check for Descriptions {
    fn id(&self) -> &'static str {
        "descriptions"
    }

    fn manual(&self) -> &'static str {
        "A tool is chosen by its description, so each has 50 to 500 characters and no two tools share one. \
         Every parameter of a tool or a skill is described too: a model fills in badly what nobody explained."
    }

    fn check(&self, workspace: &Workspace, found: &mut Findings) {
        let mut said = BTreeMap::new();
        for tool in &workspace.tools {
            found.look();
            let (name, at) = (&*tool.name, &tool.description.at);
            let length = tool.description.trim().chars().count();
            if !CHARACTERS.contains(&length) {
                let remedy = format!("write {} to {}: what it does, and when to use it", CHARACTERS.start(), CHARACTERS.end());
                add(found, tool, at, format!("the description of {name} has {length} characters"), remedy);
            }
            // Space and capitals do not tell two tools apart.
            let words: Vec<String> = tool.description.split_whitespace().map(str::to_lowercase).collect();
            let first = *said.entry(words).or_insert(tool);
            if !std::ptr::eq(first, tool) {
                let remedy = format!("say what sets it apart from the one at {}", first.description.at);
                add(found, tool, at, format!("{name} has the same description as {}", *first.name), remedy);
            }
            for (param, Param { description, at, .. }) in &tool.params {
                found.look();
                if description.trim().is_empty() {
                    let at = if at.line > 0 { at } else { &tool.at };
                    add(found, tool, at, format!("parameter {param} of {name} has no description"), "say what belongs there".into());
                }
            }
        }
        for skill in &workspace.skills {
            for (param, Param { description, at, .. }) in &skill.params {
                found.look();
                if description.trim().is_empty() {
                    found.error(at, format!("parameter {param} of skill {} has no description", *skill.name), "say what belongs there");
                }
            }
        }
    }

    fn rejects(&self) -> Example {
        Example::minimal().edit(
            "tools/wallet.yaml",
            "Balance of one token held by the agent's own wallet on one chain, in whole tokens; it moves nothing.",
            "Gets the balance.",
        )
    }
}

/// The words of an imported tool are its server's; they are worth a warning, not a failure.
fn add(found: &mut Findings, tool: &Tool, at: &Place, what: String, remedy: String) {
    if tool.pinned.is_some() {
        found.warning(at, what, remedy);
    } else {
        found.error(at, what, remedy);
    }
}
