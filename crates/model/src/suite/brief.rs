//! All that a subject may ever see of a case.

use super::persona::{Persona, read_persona};
use crate::place::Spot;
use crate::problem::Report;
use crate::yaml::{Fields, Node, list, name, spot, text};

#[derive(Debug, Clone)]
pub struct Brief {
    pub surface: Surface,
    pub talk: Talk,
    pub world: Spot<String>,
    pub peers: Peers,
}

/// Where the subject is put: the tools of a profile, the seat of an agent, or the front desk where a skill must be chosen.
#[derive(Debug, Clone)]
pub enum Surface {
    Profile(Spot<String>),
    Agent(Spot<String>),
    /// All skills; naming one would give the answer away.
    Skills,
}

impl Surface {
    /// The agent whose seat it is, if it is one.
    pub fn agent(&self) -> Option<&Spot<String>> {
        match self {
            Surface::Agent(name) => Some(name),
            Surface::Profile(_) | Surface::Skills => None,
        }
    }
}

#[derive(Debug, Clone)]
pub enum Talk {
    Turns(Vec<Spot<String>>),
    Persona(Persona),
}

impl Talk {
    /// The first thing the user says.
    pub fn opening(&self) -> &str {
        match self {
            Talk::Turns(turns) => turns.first().map_or("", |turn| turn.as_str()),
            Talk::Persona(persona) => &persona.opening,
        }
    }
}

/// Who answers when the subject delegates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Peers {
    /// Guardian and assessor are computed from policy; every other agent is the subject itself.
    Stub,
    Own,
    Subject(String),
}

pub(super) fn read_brief(node: &Node, report: &Report) -> Option<Brief> {
    let fields = Fields::open(node, "a brief", report)?;
    let surface = fields.need("surface", read_surface);
    let turns = fields.maybe("turns", list(spot(text)));
    let persona = fields.maybe("persona", read_persona);
    let world = fields.need("world", spot(name));
    let peers = fields.maybe("peers", name).map_or(Peers::Stub, |word| match word.as_str() {
        "stub" => Peers::Stub,
        "self" => Peers::Own,
        _ => Peers::Subject(word),
    });
    fields.close();
    let talk = match (turns, persona) {
        (Some(turns), None) if !turns.is_empty() => Some(Talk::Turns(turns)),
        (None, Some(persona)) => Some(Talk::Persona(persona)),
        (Some(_) | None, Some(_) | None) => {
            report.add(node.line, "a brief needs what the user says", "write turns: [\"…\"] or persona: {…}, one of them");
            None
        }
    };
    Some(Brief { surface: surface?, talk: talk?, world: world?, peers })
}

fn read_surface(node: &Node, report: &Report) -> Option<Surface> {
    let fields = Fields::open(node, "a surface", report)?;
    let profile = fields.maybe("profile", spot(name)).map(Surface::Profile);
    let agent = fields.maybe("agent", spot(name)).map(Surface::Agent);
    let skills = fields.maybe("skills", text).and_then(|word| {
        if word != "all" {
            report.add(node.line, "a skill surface shows all skills", "write skills: all");
        }
        (word == "all").then_some(Surface::Skills)
    });
    fields.close();
    let mut given: Vec<Surface> = [profile, agent, skills].into_iter().flatten().collect();
    if given.len() != 1 {
        report.add(node.line, "a surface is one of profile, agent or skills", "write { agent: … }, { profile: … } or { skills: all }");
        return None;
    }
    Some(given.remove(0))
}
