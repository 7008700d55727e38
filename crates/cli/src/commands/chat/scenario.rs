//! Setting of a conversation: a case, or an agent, profile or the skills in a world.

use crate::args::ChatArgs;
use model::suite::{Brief, CaseSurface, PeerMode, UserScript};
use model::{Location, Spanned, UserError, Workspace};
use std::collections::BTreeMap;

#[derive(Debug, Clone)]
pub(crate) struct ChatScenario {
    /// Id of the case, or the setting in words from which it can be restored: `chat agent trader in small`.
    pub name: String,
    pub brief: Brief,
}

impl ChatScenario {
    pub(super) fn from_args(workspace: &Workspace, args: &ChatArgs) -> Result<Self, UserError> {
        if let Some(name) = &args.case {
            let case =
                workspace.case(name).ok_or_else(|| UserError::unknown("case", name, workspace.cases().map(|case| case.id.as_str())))?;
            if let PeerMode::Subject(other) = &case.brief.peers {
                let what = format!("{other} plays the peers of case {name}, which chat does not support");
                return Err(UserError::new(what, "choose an agent with --agent"));
            }
            return Ok(Self { name: name.clone(), brief: case.brief.clone() });
        }
        let surface = match (&args.agent, &args.profile) {
            (Some(agent), _) => format!("agent {agent}"),
            (None, Some(profile)) => format!("profile {profile}"),
            (None, None) => "skills all".to_owned(),
        };
        let world = match &args.world {
            Some(world) => world.clone(),
            None => workspace
                .worlds
                .first()
                .map(|world| world.name.value.clone())
                .ok_or_else(|| UserError::without_remedy("the workspace has no world"))?,
        };
        let peers = if args.own_peers { " with own peers" } else { "" };
        Self::from_name(workspace, &format!("chat {surface} in {world}{peers}"))
    }

    /// Restores the scenario from its name in a transcript.
    pub(crate) fn from_name(workspace: &Workspace, name: &str) -> Result<Self, UserError> {
        if let Some(case) = workspace.case(name) {
            return Ok(Self { name: name.to_owned(), brief: case.brief.clone() });
        }
        let here = Location::new("chat", 0);
        let spanned = |text: &str| Spanned::new(text.to_owned(), here.clone());
        let words: Vec<&str> = name.split(' ').collect();
        let (surface, world, peers) = match words.as_slice() {
            ["chat", "agent", agent, "in", world, peers @ ..] => {
                workspace
                    .agent(agent)
                    .ok_or_else(|| UserError::unknown("agent", agent, workspace.agents.iter().map(|one| one.name.as_str())))?;
                (CaseSurface::Agent(spanned(agent)), *world, peers)
            }
            ["chat", "profile", profile, "in", world, peers @ ..] => {
                workspace
                    .profile(profile)
                    .ok_or_else(|| UserError::unknown("profile", profile, workspace.profiles.iter().map(|one| one.name.as_str())))?;
                (CaseSurface::Profile(spanned(profile)), *world, peers)
            }
            ["chat", "skills", "all", "in", world, peers @ ..] => (CaseSurface::Skills, *world, peers),
            _ => return Err(UserError::unknown("case", name, workspace.cases().map(|case| case.id.as_str()))),
        };
        workspace.world(world).ok_or_else(|| UserError::unknown("world", world, workspace.worlds.iter().map(|one| one.name.as_str())))?;
        let peers = if peers == ["with", "own", "peers"] { PeerMode::Own } else { PeerMode::Stub };
        let user_script = UserScript::Turns(vec![]);
        let brief = Brief {
            surface,
            user_script,
            world: spanned(world),
            fixtures: vec![],
            fills: BTreeMap::new(),
            faults: vec![],
            peers,
            carry_out: false,
        };
        Ok(Self { name: name.to_owned(), brief })
    }

    pub(super) fn title(&self) -> String {
        match &self.brief.surface {
            CaseSurface::Agent(name) => format!("agent {}", name.value),
            CaseSurface::Profile(name) => format!("profile {}", name.value),
            CaseSurface::Skills => "all skills".to_owned(),
        }
    }
}
