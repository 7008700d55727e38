//! From files to a workspace. Every mistake of every file comes back together.

use super::Workspace;
use super::review_roles;
use crate::agent::read_agent;
use crate::catalog::{Tool, read_profile, read_tools};
use crate::defaults::read_defaults;
use crate::files::Files;
use crate::gate::read_gates;
use crate::hash::Hash;
use crate::markdown;
use crate::output::read_output;
use crate::place::Place;
use crate::policy::read_policy;
use crate::problem::{Problem, Report, did_you_mean};
use crate::registry::read_chain;
use crate::skill::read_skill;
use crate::subject::read_subject;
use crate::suite::read_suite;
use crate::tier::read_tiers;
use crate::world::read_world;
use crate::yaml::{self, Limits, Node};
use std::collections::BTreeMap;

/// What a path of a workspace holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Room {
    Gates,
    Tiers,
    Policy,
    Defaults,
    Tools,
    Profiles,
    Outputs,
    Registry,
    Subjects,
    Worlds,
    Suites,
    Agents,
    Skills,
    /// Read by other commands or by people only.
    Ignored,
}

/// File of a workspace that nothing reads.
struct Unread {
    remedy: String,
}

const FOLDERS: &[(&str, &str, Room)] = &[
    ("tools", "yaml", Room::Tools),
    ("profiles", "yaml", Room::Profiles),
    ("outputs", "yaml", Room::Outputs),
    ("registry", "yaml", Room::Registry),
    ("subjects", "yaml", Room::Subjects),
    ("worlds", "yaml", Room::Worlds),
    ("suites", "yaml", Room::Suites),
    ("agents", "md", Room::Agents),
    ("skills", "md", Room::Skills),
    ("golden", "", Room::Ignored),
    ("cassettes", "", Room::Ignored),
    ("judge", "jsonl", Room::Ignored),
    ("probes", "", Room::Ignored),
];
const ROOT_FILES: &[(&str, Room)] =
    &[("gates.yaml", Room::Gates), ("tiers.yaml", Room::Tiers), ("policy.yaml", Room::Policy), ("bardo-eval.yaml", Room::Defaults)];

/// Returns the room that reads a file, or the remedy for a file that nothing reads.
fn room(path: &str) -> Result<Room, Unread> {
    if path.ends_with("README.md") {
        return Ok(Room::Ignored);
    }
    let Some((folder, rest)) = path.split_once('/') else {
        return ROOT_FILES
            .iter()
            .find(|(name, _)| *name == path)
            .map(|(_, room)| *room)
            .ok_or_else(|| Unread { remedy: did_you_mean(path, ROOT_FILES.iter().map(|(name, _)| *name)) });
    };
    let Some((_, ending, room)) = FOLDERS.iter().find(|(name, _, _)| *name == folder) else {
        return Err(Unread { remedy: did_you_mean(folder, FOLDERS.iter().map(|(name, _, _)| *name)) });
    };
    let fits = ending.is_empty() || rest.rsplit_once('.').is_some_and(|(_, found)| found == *ending);
    if fits { Ok(*room) } else { Err(Unread { remedy: format!("files in {folder}/ end in .{ending}") }) }
}

impl Workspace {
    /// Reads a workspace, or says everything that is wrong with its files.
    pub fn load(files: &Files) -> Result<Self, Vec<Problem>> {
        let mut found = Found::default();
        for (path, text) in files.iter() {
            found.read(path, text);
        }
        found.finish(files)
    }
}

#[derive(Default)]
struct Found {
    parts: Parts,
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
}

#[derive(Default)]
struct Parts {
    tools: Vec<Tool>,
    profiles: Vec<crate::catalog::Profile>,
    agents: Vec<crate::agent::Agent>,
    skills: Vec<crate::skill::Skill>,
    outputs: Vec<crate::output::Output>,
    chains: Vec<crate::registry::Chain>,
    subjects: Vec<crate::subject::SubjectFile>,
    worlds: Vec<crate::world::WorldFile>,
    suites: Vec<crate::suite::Suite>,
    policy: Option<crate::policy::Policy>,
    gates: Option<Vec<crate::gate::Gate>>,
    tiers: Option<crate::tier::Tiers>,
    defaults: crate::defaults::Defaults,
}

impl Found {
    fn read(&mut self, path: &str, text: &str) {
        match room(path) {
            Ok(Room::Ignored) => {}
            Ok(Room::Agents | Room::Skills) => self.read_markdown(path, text),
            Ok(room) => {
                let report = Report::new(path);
                if let Some(node) = yaml::load(text, Limits::default(), &report) {
                    self.parts.take(room, path, &node, &report);
                }
                self.take(report);
            }
            Err(Unread { remedy }) => {
                let what = "nothing reads this file".to_owned();
                self.problems.push(Problem { at: Place::new(path, 1), what, remedy });
            }
        }
    }

    fn read_markdown(&mut self, path: &str, text: &str) {
        let report = Report::starting_at(path, 1);
        if let Some((front, body)) = markdown::split(text, &report)
            && let Some(node) = yaml::load(front, Limits::default(), &report)
        {
            if path.starts_with("agents/") {
                self.parts.agents.extend(read_agent(&node, body, &report));
            } else {
                self.parts.skills.extend(read_skill(&node, body, &report));
            }
        }
        self.take(report);
    }

    fn take(&mut self, report: Report) {
        self.warnings.extend(report.take_warnings());
        self.problems.extend(report.into_problems());
    }

    fn finish(mut self, files: &Files) -> Result<Workspace, Vec<Problem>> {
        if files.is_empty() {
            let remedy = "run `bardo-eval init` to write one".to_owned();
            return Err(vec![Problem { at: Place::new(".", 0), what: "there is no workspace here: no file was found".into(), remedy }]);
        }
        for (name, present) in [
            ("gates.yaml", files.get("gates.yaml").is_some()),
            ("tiers.yaml", files.get("tiers.yaml").is_some()),
            ("policy.yaml", files.get("policy.yaml").is_some()),
            ("tools/", files.iter().any(|(path, _)| path.starts_with("tools/"))),
        ] {
            if !present {
                let remedy = "run `bardo-eval init` elsewhere and take it from there".to_owned();
                self.problems.push(Problem { at: Place::new(name, 0), what: "the workspace lacks this".into(), remedy });
            }
        }
        self.warnings.extend(review_roles::assign_legacy(&mut self.parts.agents));
        self.problems.extend(review_roles::doubles(&self.parts.agents));
        self.warnings.sort();
        let Parts { tools, profiles, agents, skills, outputs, chains, subjects, worlds, suites, policy, gates, tiers, defaults } =
            self.parts;
        match (policy, gates, tiers) {
            (Some(policy), Some(gates), Some(tiers)) if self.problems.is_empty() => Ok(Workspace {
                by_name: names(&tools),
                tools,
                profiles,
                agents,
                skills,
                outputs,
                chains,
                policy,
                gates,
                tiers,
                subjects,
                worlds,
                suites,
                defaults,
                hash: hash(files),
                warnings: self.warnings,
            }),
            (Some(_) | None, Some(_) | None, Some(_) | None) => {
                self.problems.sort();
                Err(self.problems)
            }
        }
    }
}

impl Parts {
    fn take(&mut self, room: Room, path: &str, node: &Node, report: &Report) {
        match room {
            Room::Gates => self.gates = read_gates(node, report),
            Room::Tiers => self.tiers = read_tiers(node, report),
            Room::Policy => self.policy = read_policy(node, report),
            Room::Defaults => self.defaults = read_defaults(node, report).unwrap_or_default(),
            Room::Tools => self.tools.extend(read_tools(node, report).into_iter().flatten()),
            Room::Profiles => self.profiles.extend(read_profile(node, report)),
            Room::Outputs => self.outputs.extend(read_output(node, report)),
            Room::Registry => self.chains.extend(read_chain(node, report)),
            Room::Subjects => self.subjects.extend(read_subject(node, report)),
            Room::Worlds => self.worlds.extend(read_world(node, report)),
            Room::Suites => self.suites.extend(read_suite(path, node, report)),
            Room::Agents | Room::Skills | Room::Ignored => {}
        }
    }
}

/// Names win over aliases; of two equal names the first wins, and smoke says so.
fn names(tools: &[Tool]) -> BTreeMap<String, usize> {
    let mut by_name = BTreeMap::new();
    for (at, tool) in tools.iter().enumerate() {
        by_name.entry(tool.name.value.clone()).or_insert(at);
    }
    for (at, tool) in tools.iter().enumerate() {
        for alias in &tool.aliases {
            by_name.entry(alias.value.clone()).or_insert(at);
        }
    }
    by_name
}

fn hash(files: &Files) -> Hash {
    // What runs leave behind is no part of what they are about.
    let given = |path: &str| !path.starts_with("cassettes/") && !path.starts_with("golden/");
    let all: String =
        files.iter().filter(|(path, _)| given(path)).map(|(path, text)| format!("{path}\n{}\n", Hash::of_text(text))).collect();
    Hash::of_text(&all)
}
