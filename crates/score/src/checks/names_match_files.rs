//! Names match file names. Spec 3, tier 1: config.

use super::{Check, ExampleWorkspace, FindingCollector};
use model::{Location, Workspace};

pub(super) struct NamesMatchFiles;

impl Check for NamesMatchFiles {
    fn id(&self) -> &'static str {
        "names_match_files"
    }

    fn manual(&self) -> &'static str {
        "An agent, a profile, an output, a subject, a world and a network have the name of their file, a skill that of its folder. A name in \
         a report then leads to its file without searching."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        workspace.agents.iter().for_each(|agent| check_matches_file("agent", &agent.name, &agent.name.at, found));
        workspace.profiles.iter().for_each(|profile| check_matches_file("profile", &profile.name, &profile.name.at, found));
        workspace.outputs.iter().for_each(|output| check_matches_file("output", &output.name, &output.name.at, found));
        workspace.subjects.iter().for_each(|subject| check_matches_file("subject", &subject.name, &subject.name.at, found));
        workspace.worlds.iter().for_each(|world| check_matches_file("world", &world.name, &world.name.at, found));
        workspace.chains.iter().for_each(|chain| check_matches_file("chain", &chain.name, &chain.at, found));
        for skill in &workspace.skills {
            found.record_examined();
            let (name, at) = (&*skill.name, &skill.name.at);
            match at.file.strip_suffix("/SKILL.md").and_then(|path| path.strip_prefix("skills/")) {
                Some(folder) if folder == name => {}
                Some(folder) => found.error(at, format!("skill {name} is in the folder {folder}"), format!("write name: {folder}")),
                None => found.error(at, format!("skill {name} is not in its own folder"), format!("move it to skills/{name}/SKILL.md")),
            }
        }
    }

    fn rejects(&self) -> ExampleWorkspace {
        ExampleWorkspace::minimal().edit("worlds/small.yaml", "world: small", "world: tiny")
    }
}

fn check_matches_file(what: &str, name: &str, at: &Location, found: &mut FindingCollector) {
    found.record_examined();
    let file = at.file.rsplit('/').next().unwrap_or_default();
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    if stem != name {
        found.error(at, format!("{what} {name} is in {file}"), format!("name it {stem} or rename the file"));
    }
}
