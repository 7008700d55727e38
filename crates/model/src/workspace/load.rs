//! Loads a workspace from files, and collects the problems of all files.

use super::built_in;
use super::review_roles;
use super::{CasePosition, Workspace};
use crate::agent::read_agent;
use crate::catalog::{Tool, read_profile, read_tools};
use crate::coverage::read_coverage;
use crate::defaults::read_defaults;
use crate::external_scorer::read_scorers;
use crate::files::WorkspaceFiles;
use crate::gate::read_gates;
use crate::hash::ContentHash;
use crate::location::Location;
use crate::markdown;
use crate::output::read_output;
use crate::policy::read_policy;
use crate::probe::read_probe;
use crate::problem::{CaseTexts, Problem, ProblemReport, WorkspaceTraits, did_you_mean};
use crate::production::read_production;
use crate::registry::read_chain;
use crate::skill::read_skill;
use crate::subject::read_subject;
use crate::suite::{Suite, read_suite};
use crate::tier::read_tiers;
use crate::version::read_version;
use crate::world::read_world;
use crate::yaml::{self, YamlLimits, YamlNode};
use std::collections::{BTreeMap, HashMap};

/// Kind of a workspace file, by its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileKind {
    Gates,
    Tiers,
    Policy,
    Defaults,
    Coverage,
    Version,
    Production,
    Scorers,
    Tools,
    Profiles,
    Outputs,
    Registry,
    Subjects,
    Worlds,
    Suites,
    Probes,
    Agents,
    Skills,
    /// Not part of the workspace: used by other commands, or documentation.
    Ignored,
}

/// Path that is not a workspace file.
struct UnknownFile {
    remedy: String,
}

const FOLDERS: &[(&str, &str, FileKind)] = &[
    ("tools", "yaml", FileKind::Tools),
    ("profiles", "yaml", FileKind::Profiles),
    ("outputs", "yaml", FileKind::Outputs),
    ("registry", "yaml", FileKind::Registry),
    ("subjects", "yaml", FileKind::Subjects),
    ("worlds", "yaml", FileKind::Worlds),
    ("suites", "yaml", FileKind::Suites),
    ("agents", "md", FileKind::Agents),
    ("skills", "md", FileKind::Skills),
    ("golden", "", FileKind::Ignored),
    ("cassettes", "", FileKind::Ignored),
    ("judge", "jsonl", FileKind::Ignored),
    ("probes", "yaml", FileKind::Probes),
    // Programs of scorers.yaml.
    ("scorers", "", FileKind::Ignored),
    // Read when the policy names one of them.
    ("contracts", "json", FileKind::Ignored),
];
const ROOT_FILES: &[(&str, FileKind)] = &[
    ("gates.yaml", FileKind::Gates),
    ("tiers.yaml", FileKind::Tiers),
    ("policy.yaml", FileKind::Policy),
    ("bardo-eval.yaml", FileKind::Defaults),
    ("coverage.yaml", FileKind::Coverage),
    ("version.yaml", FileKind::Version),
    ("scorers.yaml", FileKind::Scorers),
    ("production.yaml", FileKind::Production),
];

/// Returns the kind of a file.
fn file_kind(path: &str) -> Result<FileKind, UnknownFile> {
    if path.ends_with("README.md") {
        return Ok(FileKind::Ignored);
    }
    let Some((folder, rest)) = path.split_once('/') else {
        return ROOT_FILES
            .iter()
            .find(|(name, _)| *name == path)
            .map(|(_, kind)| *kind)
            .ok_or_else(|| UnknownFile { remedy: did_you_mean(path, ROOT_FILES.iter().map(|(name, _)| *name)) });
    };
    let Some((_, ending, kind)) = FOLDERS.iter().find(|(name, _, _)| *name == folder) else {
        return Err(UnknownFile { remedy: did_you_mean(folder, FOLDERS.iter().map(|(name, _, _)| *name)) });
    };
    let fits = ending.is_empty() || rest.rsplit_once('.').is_some_and(|(_, found)| found == *ending);
    if fits { Ok(*kind) } else { Err(UnknownFile { remedy: format!("files in {folder}/ end in .{ending}") }) }
}

impl Workspace {
    /// Loads a workspace.
    ///
    /// # Errors
    ///
    /// Returns the problems of all files, sorted by location.
    pub fn load(files: &WorkspaceFiles) -> Result<Self, Vec<Problem>> {
        Self::load_from(files.clone(), CaseTexts::Kept)
    }

    /// Like [`Workspace::load`], but drops the text of each suite once it is read, so that texts and cases are not in memory together.
    /// The texts of cases are kept all the same if the workspace has scorers of its own, which read them.
    ///
    /// # Errors
    ///
    /// Returns the problems of all files, sorted by location.
    pub fn load_from(mut files: WorkspaceFiles, case_texts: CaseTexts) -> Result<Self, Vec<Problem>> {
        let hash = hash_files(&files);
        let case_texts = if files.get("scorers.yaml").is_some() { CaseTexts::Kept } else { case_texts };
        let traits = WorkspaceTraits { has_policy: files.get("policy.yaml").is_some(), case_texts };
        let mut loader = WorkspaceLoader { traits, ..WorkspaceLoader::default() };
        for (path, text) in files.iter_mut() {
            loader.read(path, text);
            if path.starts_with("suites/") {
                *text = String::new();
            }
        }
        loader.finish(&files, hash)
    }
}

#[derive(Default)]
struct WorkspaceLoader {
    traits: WorkspaceTraits,
    parts: WorkspaceParts,
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
}

#[derive(Default)]
struct WorkspaceParts {
    tools: Vec<Tool>,
    profiles: Vec<crate::catalog::ToolProfile>,
    agents: Vec<crate::agent::Agent>,
    skills: Vec<crate::skill::Skill>,
    outputs: Vec<crate::output::OutputSchema>,
    chains: Vec<crate::registry::ChainRegistry>,
    subjects: Vec<crate::subject::SubjectFile>,
    worlds: Vec<crate::world::WorldFile>,
    suites: Vec<crate::suite::Suite>,
    probes: Vec<crate::probe::Probe>,
    policy: Option<crate::policy::Policy>,
    gates: Option<crate::gate::GatesFile>,
    tiers: Option<crate::tier::TiersFile>,
    defaults: crate::defaults::RunDefaults,
    coverage: Option<crate::coverage::CoverageMinimums>,
    version: Option<crate::version::WorkspaceVersion>,
    production: crate::production::ProductionSettings,
    scorers: Vec<crate::external_scorer::ExternalScorer>,
}

impl WorkspaceLoader {
    fn read(&mut self, path: &str, text: &str) {
        match file_kind(path) {
            Ok(FileKind::Ignored) => {}
            Ok(FileKind::Agents | FileKind::Skills) => self.read_markdown(path, text),
            Ok(kind) => {
                let report = ProblemReport::new(path).in_workspace(self.traits);
                if let Some(node) = yaml::load(text, YamlLimits::default(), &report) {
                    self.parts.read_file(kind, path, &node, &report);
                }
                self.collect_problems(report);
            }
            Err(UnknownFile { remedy }) => {
                let what = "nothing reads this file".to_owned();
                self.problems.push(Problem { at: Location::new(path, 1), what, remedy });
            }
        }
    }

    fn read_markdown(&mut self, path: &str, text: &str) {
        let report = ProblemReport::with_line_offset(path, 1).in_workspace(self.traits);
        if let Some((front, body)) = markdown::split(text, &report)
            && let Some(node) = yaml::load(front, YamlLimits::default(), &report)
        {
            if path.starts_with("agents/") {
                self.parts.agents.extend(read_agent(&node, body, &report));
            } else {
                self.parts.skills.extend(read_skill(&node, body, &report));
            }
        }
        self.collect_problems(report);
    }

    fn collect_problems(&mut self, report: ProblemReport) {
        self.warnings.extend(report.take_warnings());
        self.problems.extend(report.into_problems());
    }

    fn finish(mut self, files: &WorkspaceFiles, hash: ContentHash) -> Result<Workspace, Vec<Problem>> {
        if files.is_empty() {
            let remedy = "run `bardo-eval init` to write one".to_owned();
            return Err(vec![Problem { at: Location::new(".", 0), what: "there is no workspace here: no file was found".into(), remedy }]);
        }
        for (name, present) in [
            ("gates.yaml", !self.traits.has_policy || files.get("gates.yaml").is_some()),
            ("tiers.yaml", !self.traits.has_policy || files.get("tiers.yaml").is_some()),
            ("tools/", files.iter().any(|(path, _)| path.starts_with("tools/"))),
        ] {
            if !present {
                let remedy = "run `bardo-eval init` in another folder and copy it from there".to_owned();
                self.problems.push(Problem { at: Location::new(name, 0), what: "missing from the workspace".into(), remedy });
            }
        }
        if let Some(contract) = self.parts.policy.as_mut().and_then(|policy| policy.contract.as_mut()) {
            self.problems.extend(contract.load_artifact(files).err());
        }
        self.fill_in(files);
        if self.traits.has_policy {
            self.warnings.extend(review_roles::assign_legacy_roles(&mut self.parts.agents));
        }
        self.problems.extend(review_roles::duplicate_role_problems(&self.parts.agents));
        self.warnings.sort();
        let WorkspaceParts {
            tools,
            profiles,
            agents,
            skills,
            outputs,
            chains,
            subjects,
            worlds,
            suites,
            probes,
            policy,
            gates,
            tiers,
            defaults,
            coverage,
            version,
            production,
            scorers,
        } = self.parts;
        match (gates, tiers) {
            (Some(gates), Some(tiers)) if self.problems.is_empty() => Ok(Workspace {
                tool_index: index_by_name(&tools),
                case_index: index_by_id(&suites),
                tools,
                profiles,
                agents,
                skills,
                outputs,
                chains,
                policy,
                gates: gates.gates,
                gates_deviate: gates.deviates,
                tiers,
                subjects,
                worlds,
                suites,
                probes,
                defaults,
                coverage,
                version,
                production,
                scorers,
                hash,
                warnings: self.warnings,
            }),
            (Some(_) | None, Some(_) | None) => {
                self.problems.sort();
                Err(self.problems)
            }
        }
    }

    /// Adds the parts that files may leave out: gates, tiers, subjects and a world where no policy is in force, the world of cases that
    /// name none, and whether an agent writes.
    fn fill_in(&mut self, files: &WorkspaceFiles) {
        let parts = &mut self.parts;
        if !self.traits.has_policy {
            if let Some(chain) = files.iter().find(|(path, _)| path.starts_with("registry/")) {
                let what = "a registry of chains needs policy.yaml".to_owned();
                let remedy = "add policy.yaml, which puts the DeFi rules into force, or remove registry/".to_owned();
                self.problems.push(Problem { at: Location::new(chain.0, 1), what, remedy });
            }
            if files.get("gates.yaml").is_none() {
                parts.gates = built_in::gates();
            }
            if files.get("tiers.yaml").is_none() {
                parts.tiers = built_in::tiers();
            }
            if let (Some(gates), Some(tiers)) = (&mut parts.gates, &parts.tiers) {
                built_in::add_red_team_tiers(gates, tiers);
            }
            parts.subjects.extend(built_in::missing_subjects(&parts.subjects));
            if !files.iter().any(|(path, _)| path.starts_with("worlds/")) {
                parts.worlds.push(crate::world::WorldFile::empty("empty", Location::new("worlds/empty.yaml", 0)));
            }
            let writes = |name: &str| parts.tools.iter().any(|tool| tool.has_name(name) && tool.writes());
            for agent in &mut parts.agents {
                agent.writes.value |= agent.tools.iter().any(|name| writes(name));
            }
        }
        let default = built_in::default_world(&parts.worlds);
        for case in parts.suites.iter_mut().flat_map(|suite| &mut suite.cases).filter(|case| case.brief.world.is_empty()) {
            match &default {
                Ok(name) => case.brief.world.value.clone_from(name),
                Err(problem) => {
                    self.problems.push(Problem { at: case.brief.world.at.clone(), ..problem.clone() });
                }
            }
        }
        if let (Err(problem), true) = (default, parts.worlds.iter().filter(|world| world.is_default).count() > 1) {
            self.problems.push(problem);
        }
    }
}

impl WorkspaceParts {
    fn read_file(&mut self, kind: FileKind, path: &str, node: &YamlNode, report: &ProblemReport) {
        match kind {
            FileKind::Gates => self.gates = read_gates(node, report),
            FileKind::Tiers => self.tiers = read_tiers(node, report),
            FileKind::Policy => self.policy = read_policy(node, report),
            FileKind::Defaults => self.defaults = read_defaults(node, report).unwrap_or_default(),
            FileKind::Coverage => self.coverage = read_coverage(node, report),
            FileKind::Version => self.version = read_version(node, report),
            FileKind::Production => self.production = read_production(node, report).unwrap_or_default(),
            FileKind::Scorers => self.scorers = read_scorers(node, report).unwrap_or_default(),
            FileKind::Tools => self.tools.extend(read_tools(node, report).into_iter().flatten()),
            FileKind::Profiles => self.profiles.extend(read_profile(node, report)),
            FileKind::Outputs => self.outputs.extend(read_output(node, report)),
            FileKind::Registry => self.chains.extend(read_chain(node, report)),
            FileKind::Subjects => self.subjects.extend(read_subject(node, report)),
            FileKind::Worlds => self.worlds.extend(read_world(node, report)),
            FileKind::Suites => self.suites.extend(read_suite(path, node, report)),
            FileKind::Probes => self.probes.extend(read_probe(node, report)),
            FileKind::Agents | FileKind::Skills | FileKind::Ignored => {}
        }
    }
}

/// Indexes tools by name and alias. Names win over aliases. Of two equal names the first wins; a smoke check reports the other.
fn index_by_name(tools: &[Tool]) -> BTreeMap<String, usize> {
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

/// Indexes cases by id. Of two equal ids the first wins; a smoke check reports the other.
pub(super) fn index_by_id(suites: &[Suite]) -> HashMap<String, CasePosition> {
    let mut by_id = HashMap::with_capacity(suites.iter().map(|suite| suite.cases.len()).sum());
    for (suite_at, suite) in suites.iter().enumerate() {
        for (at, case) in suite.cases.iter().enumerate() {
            by_id.entry(case.id.value.clone()).or_insert(CasePosition { suite: suite_at, case: at });
        }
    }
    by_id
}

fn hash_files(files: &WorkspaceFiles) -> ContentHash {
    // Output of earlier runs is not part of the workspace.
    let is_input = |path: &str| !path.starts_with("cassettes/") && !path.starts_with("golden/");
    let all: String =
        files.iter().filter(|(path, _)| is_input(path)).map(|(path, text)| format!("{path}\n{}\n", ContentHash::of_text(text))).collect();
    ContentHash::of_text(&all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tier::WORKSPACE_PARTS;

    #[test]
    fn changes_of_every_part_can_trigger_a_tier() {
        let mut parts: Vec<&str> = FOLDERS.iter().map(|(name, _, _)| *name).chain(ROOT_FILES.iter().map(|(name, _)| *name)).collect();
        parts.sort_unstable();
        assert_eq!(parts, WORKSPACE_PARTS);
    }
}
