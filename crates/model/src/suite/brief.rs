//! Brief of a case: the only part that a subject can see.

use super::attack::WorldFault;
use super::case_fixture::{CaseFixture, read_case_fixtures};
use super::persona::{Persona, read_persona};
use crate::location::Spanned;
use crate::problem::ProblemReport;
use crate::yaml::{YamlFields, YamlNode, flag, list, name, spanned, text};
use std::collections::BTreeMap;

#[derive(Debug, Clone)]
pub struct Brief {
    pub surface: CaseSurface,
    pub user_script: UserScript,
    /// World of the trial: the named one, or the default of the workspace.
    pub world: Spanned<String>,
    /// Recorded answers, used before those of the world. The first match applies.
    pub fixtures: Vec<CaseFixture>,
    /// Texts in holes of the world that an attack replaces.
    pub fills: BTreeMap<String, String>,
    /// Behaviour of the world that a fault changes.
    pub faults: Vec<WorldFault>,
    pub peers: PeerMode,
    /// The activated skill is carried out by its agent. Set only on the skill surface.
    pub carry_out: bool,
}

impl Brief {
    /// Returns whether agents of the workspace act: the agent of the surface, or the agent of the activated skill.
    pub fn runs_agents(&self) -> bool {
        self.carry_out || self.surface.agent().is_some()
    }
}

/// Interface given to the subject: the tools of a profile, the context of an agent, or a list of skills to choose from.
#[derive(Debug, Clone)]
pub enum CaseSurface {
    Profile(Spanned<String>),
    Agent(Spanned<String>),
    /// All skills, because naming one would give the answer away.
    Skills,
}

impl CaseSurface {
    /// Returns the agent of an agent surface.
    pub fn agent(&self) -> Option<&Spanned<String>> {
        match self {
            CaseSurface::Agent(name) => Some(name),
            CaseSurface::Profile(_) | CaseSurface::Skills => None,
        }
    }
}

#[derive(Debug, Clone)]
pub enum UserScript {
    Turns(Vec<Spanned<String>>),
    Persona(Box<Persona>),
}

impl UserScript {
    /// Returns the first message of the user.
    pub fn opening(&self) -> &str {
        match self {
            UserScript::Turns(turns) => turns.first().map_or("", |turn| turn.as_str()),
            UserScript::Persona(persona) => &persona.opening,
        }
    }
}

/// Source of answers to delegations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PeerMode {
    /// The world answers as guardian and assessor, based on the policy. The subject plays every other agent.
    Stub,
    /// The subject plays all agents.
    Own,
    /// Another subject plays the other agents.
    Subject(String),
}

pub(super) fn read_brief(node: &YamlNode, report: &ProblemReport) -> Option<Brief> {
    let fields = YamlFields::open(node, "a brief", report)?;
    let surface = fields.required("surface", read_surface);
    let turns = fields.optional("turns", list(spanned(text)));
    let persona = fields.optional("persona", read_persona);
    // A workspace replaces the empty name by its default world.
    let world = if fields.has("world") {
        fields.optional("world", spanned(name))
    } else {
        Some(Spanned::new(String::new(), report.location(node.line)))
    };
    let fixtures = fields.or_default("fixtures", read_case_fixtures);
    let peers = fields.optional("peers", name).map_or(PeerMode::Stub, |word| match word.as_str() {
        "stub" => PeerMode::Stub,
        "self" => PeerMode::Own,
        _ => PeerMode::Subject(word),
    });
    let carry_out = fields.or_default("carry_out", flag);
    fields.close();
    if carry_out && !matches!(surface, Some(CaseSurface::Skills) | None) {
        report.add(node.line, "only an activated skill can be carried out", "remove carry_out or write surface: { skills: all }");
    }
    let user_script = match (turns, persona) {
        (Some(turns), None) if !turns.is_empty() => Some(UserScript::Turns(turns)),
        (None, Some(persona)) => Some(UserScript::Persona(Box::new(persona))),
        (Some(_) | None, Some(_) | None) => {
            report.add(node.line, "a brief needs turns or a persona", "write turns: [\"…\"] or persona: {…}, not both");
            None
        }
    };
    Some(Brief {
        surface: surface?,
        user_script: user_script?,
        world: world?,
        fixtures,
        fills: BTreeMap::new(),
        faults: vec![],
        peers,
        carry_out,
    })
}

fn read_surface(node: &YamlNode, report: &ProblemReport) -> Option<CaseSurface> {
    let fields = YamlFields::open(node, "a surface", report)?;
    let profile = fields.optional("profile", spanned(name)).map(CaseSurface::Profile);
    let agent = fields.optional("agent", spanned(name)).map(CaseSurface::Agent);
    let skills = fields.optional("skills", text).and_then(|word| {
        if word != "all" {
            report.add(node.line, "a skill surface shows all skills", "write skills: all");
        }
        (word == "all").then_some(CaseSurface::Skills)
    });
    fields.close();
    let mut given: Vec<CaseSurface> = [profile, agent, skills].into_iter().flatten().collect();
    if given.len() != 1 {
        report.add(node.line, "a surface is one of profile, agent or skills", "write { agent: … }, { profile: … } or { skills: all }");
        return None;
    }
    Some(given.remove(0))
}
