//! Where a conversation takes place: at a case's table, or at a seat of the workspace that a person chose.

use crate::args::ChatArgs;
use model::suite::{Brief, CaseSurface, PeerMode, UserScript};
use model::{Location, Spanned, UserError, Workspace};

#[derive(Debug, Clone)]
pub(crate) struct ChatScenario {
    /// The case, or the seat written out so that it can be found again: `chat agent trader in small`.
    pub name: String,
    pub brief: Brief,
}

impl ChatScenario {
    pub(super) fn from_args(workspace: &Workspace, args: &ChatArgs) -> Result<Self, UserError> {
        if let Some(name) = &args.case {
            let case =
                workspace.case(name).ok_or_else(|| UserError::unknown("case", name, workspace.cases().map(|case| case.id.as_str())))?;
            if let PeerMode::Subject(other) = &case.brief.peers {
                let what = format!("{other} would play the peers of {name}, which chat cannot do");
                return Err(UserError::new(what, "choose a seat with --agent"));
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

    /// The seat by its written name, as it stands in a transcript.
    pub(crate) fn from_name(workspace: &Workspace, name: &str) -> Result<Self, UserError> {
        if let Some(case) = workspace.case(name) {
            return Ok(Self { name: name.to_owned(), brief: case.brief.clone() });
        }
        let here = Location::new("chat", 0);
        let spot = |text: &str| Spanned::new(text.to_owned(), here.clone());
        let words: Vec<&str> = name.split(' ').collect();
        let (surface, world, peers) = match words.as_slice() {
            ["chat", "agent", agent, "in", world, peers @ ..] => {
                workspace
                    .agent(agent)
                    .ok_or_else(|| UserError::unknown("agent", agent, workspace.agents.iter().map(|one| one.name.as_str())))?;
                (CaseSurface::Agent(spot(agent)), *world, peers)
            }
            ["chat", "profile", profile, "in", world, peers @ ..] => {
                workspace
                    .profile(profile)
                    .ok_or_else(|| UserError::unknown("profile", profile, workspace.profiles.iter().map(|one| one.name.as_str())))?;
                (CaseSurface::Profile(spot(profile)), *world, peers)
            }
            ["chat", "skills", "all", "in", world, peers @ ..] => (CaseSurface::Skills, *world, peers),
            _ => return Err(UserError::unknown("case", name, workspace.cases().map(|case| case.id.as_str()))),
        };
        workspace.world(world).ok_or_else(|| UserError::unknown("world", world, workspace.worlds.iter().map(|one| one.name.as_str())))?;
        let peers = if peers == ["with", "own", "peers"] { PeerMode::Own } else { PeerMode::Stub };
        Ok(Self { name: name.to_owned(), brief: Brief { surface, user_script: UserScript::Turns(vec![]), world: spot(world), peers } })
    }

    pub(super) fn title(&self) -> String {
        match &self.brief.surface {
            CaseSurface::Agent(name) => format!("the seat of {}", name.value),
            CaseSurface::Profile(name) => format!("the tools of profile {}", name.value),
            CaseSurface::Skills => "the front desk with all skills".to_owned(),
        }
    }
}
