//! A name means one thing. Spec 3, tier 1: config.

use super::{Check, Example, Findings};
use model::{Place, Spot, Workspace};
use std::collections::BTreeMap;

pub(super) struct NamesUnique;

impl Check for NamesUnique {
    fn id(&self) -> &'static str {
        "names_unique"
    }

    fn manual(&self) -> &'static str {
        "No two tools share a name or an alias, no two chains an id, a name or an alias, and the names of profiles, agents, skills, outputs, \
         worlds and subjects are each used once. Of two things with one name only the first would ever be found."
    }

    fn check(&self, workspace: &Workspace, found: &mut Findings) {
        // Names before aliases, as the lookup has it: the alias is the one to go.
        let mut tools = Names::of("tool name or alias");
        workspace.tools.iter().for_each(|tool| tools.add(&tool.name, &tool.name.at, found));
        workspace.tools.iter().flat_map(|tool| &tool.aliases).for_each(|alias| tools.add(alias, &alias.at, found));

        let mut chains = Names::of("chain id, name or alias");
        for chain in &workspace.chains {
            // Chains are looked up in lower case.
            chains.add(&chain.id.to_string(), &chain.at, found);
            [&chain.name].into_iter().chain(&chain.aliases).for_each(|name| chains.add(&name.to_lowercase(), &chain.at, found));
        }

        each_once("profile", workspace.profiles.iter().map(|profile| &profile.name), found);
        each_once("agent", workspace.agents.iter().map(|agent| &agent.name), found);
        each_once("skill", workspace.skills.iter().map(|skill| &skill.name), found);
        each_once("output", workspace.outputs.iter().map(|output| &output.name), found);
        each_once("world", workspace.worlds.iter().map(|world| &world.name), found);
        each_once("subject", workspace.subjects.iter().map(|subject| &subject.name), found);
    }

    fn rejects(&self) -> Example {
        Example::minimal().edit("tools/wallet.yaml", "aliases: [simulate_transaction]", "aliases: [balance_of]")
    }
}

fn each_once<'w>(what: &'static str, names: impl Iterator<Item = &'w Spot<String>>, found: &mut Findings) {
    let mut known = Names::of(what);
    names.for_each(|name| known.add(name, &name.at, found));
}

/// The names met so far and where each was first.
struct Names {
    what: &'static str,
    first: BTreeMap<String, Place>,
}

impl Names {
    fn of(what: &'static str) -> Self {
        Self { what, first: BTreeMap::new() }
    }

    fn add(&mut self, name: &str, at: &Place, found: &mut Findings) {
        found.look();
        match self.first.get(name) {
            Some(first) => found.error(at, format!("{} {name} is used twice", self.what), format!("rename one; the first is at {first}")),
            None => {
                self.first.insert(name.to_owned(), at.clone());
            }
        }
    }
}
