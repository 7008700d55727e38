//! Names and aliases are unique. Spec 3, tier 1: config.

use super::{Check, ExampleWorkspace, FindingCollector};
use model::{Location, Spanned, Workspace};
use std::collections::BTreeMap;

pub(super) struct NamesUnique;

impl Check for NamesUnique {
    fn id(&self) -> &'static str {
        "names_unique"
    }

    fn manual(&self) -> &'static str {
        "No two tools share a name or an alias, no two entries of the registry an id, a name or an alias, and the names of profiles, agents, skills, \
         outputs, worlds and subjects are each used once. Of two entries with one name only the first would be found."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        // Names before aliases, like the lookup, so that the alias is reported.
        let mut tools = SeenNames::of("tool name or alias");
        workspace.tools.iter().for_each(|tool| tools.add(&tool.name, &tool.name.at, found));
        workspace.tools.iter().flat_map(|tool| &tool.aliases).for_each(|alias| tools.add(alias, &alias.at, found));

        let mut chains = SeenNames::of("chain id, name or alias");
        for chain in &workspace.chains {
            // Chain lookup ignores case.
            chains.add(&chain.id.to_string(), &chain.at, found);
            [&chain.name].into_iter().chain(&chain.aliases).for_each(|name| chains.add(&name.to_lowercase(), &chain.at, found));
        }

        check_unique("profile", workspace.profiles.iter().map(|profile| &profile.name), found);
        check_unique("agent", workspace.agents.iter().map(|agent| &agent.name), found);
        check_unique("skill", workspace.skills.iter().map(|skill| &skill.name), found);
        check_unique("output", workspace.outputs.iter().map(|output| &output.name), found);
        check_unique("world", workspace.worlds.iter().map(|world| &world.name), found);
        check_unique("subject", workspace.subjects.iter().map(|subject| &subject.name), found);
    }

    fn rejects(&self) -> ExampleWorkspace {
        ExampleWorkspace::minimal().edit("tools/wallet.yaml", "aliases: [simulate_transaction]", "aliases: [balance_of]")
    }
}

fn check_unique<'w>(what: &'static str, names: impl Iterator<Item = &'w Spanned<String>>, found: &mut FindingCollector) {
    let mut known = SeenNames::of(what);
    names.for_each(|name| known.add(name, &name.at, found));
}

/// Names seen so far with their first location.
struct SeenNames {
    what: &'static str,
    first: BTreeMap<String, Location>,
}

impl SeenNames {
    fn of(what: &'static str) -> Self {
        Self { what, first: BTreeMap::new() }
    }

    fn add(&mut self, name: &str, at: &Location, found: &mut FindingCollector) {
        found.record_examined();
        match self.first.get(name) {
            Some(first) => found.error(at, format!("{} {name} is used twice", self.what), format!("rename one; the first is at {first}")),
            None => {
                self.first.insert(name.to_owned(), at.clone());
            }
        }
    }
}
