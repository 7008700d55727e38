//! Profiles and agents list existing tools by their canonical names. Spec 2.1 and tier 1.

use super::graph::misnamed_tool;
use super::{Check, ExampleWorkspace, FindingCollector};
use model::{ProfileTools, Spanned, Workspace, did_you_mean};

pub(super) struct ToolsExist;

impl Check for ToolsExist {
    fn id(&self) -> &'static str {
        "tools_exist"
    }

    fn manual(&self) -> &'static str {
        "Profiles and agents list tools of the catalogue, each once and by its current name: aliases are for reading old transcripts only. \
         A category that a profile excludes must exist, otherwise the profile would show tools that it should hide."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        for profile in &workspace.profiles {
            let whose = format!("profile {}", *profile.name);
            match &profile.tools {
                ProfileTools::Listed(names) => check_tools(&whose, names, workspace, found),
                ProfileTools::AllExcept(categories) => check_categories(&whose, categories, workspace, found),
            }
        }
        for agent in &workspace.agents {
            check_tools(&format!("agent {}", *agent.name), &agent.tools, workspace, found);
        }
    }

    fn rejects(&self) -> ExampleWorkspace {
        ExampleWorkspace::minimal().edit("profiles/trader.yaml", "tx_simulate", "simulate_transaction")
    }
}

fn check_tools(whose: &str, names: &[Spanned<String>], workspace: &Workspace, found: &mut FindingCollector) {
    for (n, name) in names.iter().enumerate() {
        // Suggestions are costly, and a full report would not show them.
        if found.is_full() {
            return;
        }
        found.record_examined();
        if let Some((what, remedy)) = misnamed_tool(workspace, name) {
            found.error(&name.at, format!("{whose} lists {what}"), remedy);
        }
        check_once(whose, names, n, found);
    }
}

fn check_categories(whose: &str, categories: &[Spanned<String>], workspace: &Workspace, found: &mut FindingCollector) {
    for (n, category) in categories.iter().enumerate() {
        found.record_examined();
        if !workspace.tools.iter().any(|tool| tool.category == **category) {
            let guess = did_you_mean(category, workspace.tools.iter().map(|tool| tool.category.as_str()));
            let remedy = if guess.is_empty() { "remove it or name a category of tools/".to_owned() } else { guess };
            found.error(&category.at, format!("{whose} excludes {}, which is not a category", **category), remedy);
        }
        check_once(whose, categories, n, found);
    }
}

fn check_once(whose: &str, names: &[Spanned<String>], n: usize, found: &mut FindingCollector) {
    if let Some(first) = names[..n].iter().find(|earlier| earlier.value == names[n].value) {
        found.error(&names[n].at, format!("{whose} names {} twice", *names[n]), format!("keep one; the first is at {}", first.at));
    }
}
