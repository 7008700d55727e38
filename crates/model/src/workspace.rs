//! Workspace: all files about the system under test, its suites and its gates.

mod assets;
mod built_in;
mod executed_args;
mod load;
mod prepared_write;
mod review_roles;
mod suite_file;

pub use prepared_write::PreparedWrite;

use crate::agent::Agent;
use crate::catalog::{Tool, ToolProfile};
use crate::coverage::CoverageMinimums;
use crate::defaults::RunDefaults;
use crate::external_scorer::ExternalScorer;
use crate::gate::Gate;
use crate::hash::ContentHash;
use crate::location::Spanned;
use crate::output::OutputSchema;
use crate::policy::Policy;
use crate::probe::Probe;
use crate::problem::Problem;
use crate::production::ProductionSettings;
use crate::registry::ChainRegistry;
use crate::review::ReviewRole;
use crate::skill::Skill;
use crate::subject::SubjectFile;
use crate::suite::{Case, CaseSurface, Suite};
use crate::tier::TiersFile;
use crate::version::WorkspaceVersion;
use crate::world::WorldFile;
use std::collections::{BTreeMap, HashMap};

#[derive(Debug, Clone)]
pub struct Workspace {
    pub tools: Vec<Tool>,
    pub profiles: Vec<ToolProfile>,
    pub agents: Vec<Agent>,
    pub skills: Vec<Skill>,
    pub outputs: Vec<OutputSchema>,
    pub chains: Vec<ChainRegistry>,
    /// Present exactly in a workspace of the DeFi rules: `policy.yaml` puts them into force.
    pub policy: Option<Policy>,
    pub gates: Vec<Gate>,
    /// Reason why `gates.yaml` may be weaker than the specification as a whole.
    pub gates_deviate: Option<Spanned<String>>,
    pub tiers: TiersFile,
    pub subjects: Vec<SubjectFile>,
    pub worlds: Vec<WorldFile>,
    pub suites: Vec<Suite>,
    pub probes: Vec<Probe>,
    pub defaults: RunDefaults,
    pub coverage: Option<CoverageMinimums>,
    pub version: Option<WorkspaceVersion>,
    /// Settings of the collector of production traces.
    pub production: ProductionSettings,
    /// Programs that score trials.
    pub scorers: Vec<ExternalScorer>,
    pub hash: ContentHash,
    /// Uses of older keys and values that should be updated.
    pub warnings: Vec<Problem>,
    /// Indices into `tools` by name and alias.
    tool_index: BTreeMap<String, usize>,
    /// Positions of cases by id.
    case_index: HashMap<String, CasePosition>,
}

/// Indices of a suite in a workspace and of a case in that suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CasePosition {
    pub suite: usize,
    pub case: usize,
}

impl Workspace {
    /// Returns a tool by name or alias.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tool_index.get(name).map(|at| &self.tools[*at])
    }

    /// Returns whether a case expects a call of a tool that fits.
    pub fn expects_tool(&self, case: &Case, fits: impl Fn(&Tool) -> bool) -> bool {
        let calls = case.expect.calls.iter().flat_map(|calls| calls.expected_calls());
        calls.filter_map(|call| self.tool(&call.tool)).any(fits)
    }

    /// Returns the number of the workspace's version, if it has one.
    pub fn version_number(&self) -> Option<u64> {
        self.version.as_ref().map(|version| version.version)
    }

    pub fn agent(&self, name: &str) -> Option<&Agent> {
        self.agents.iter().find(|agent| *agent.name == name)
    }

    /// Returns the agent with a review role.
    pub fn reviewer(&self, role: ReviewRole) -> Option<&Agent> {
        self.agents.iter().find(|agent| agent.serves_as(role))
    }

    /// Returns the agent that approves or vetoes prepared actions.
    pub fn guardian(&self) -> Option<&Agent> {
        self.reviewer(ReviewRole::Guardian)
    }

    /// Returns the agent that approves or vetoes proposals.
    pub fn assessor(&self) -> Option<&Agent> {
        self.reviewer(ReviewRole::Assessor)
    }

    /// Returns the review role of an agent, by its name.
    pub fn review_role(&self, agent: &str) -> Option<ReviewRole> {
        self.agent(agent)?.serves.as_ref().map(|serves| serves.value)
    }

    pub fn profile(&self, name: &str) -> Option<&ToolProfile> {
        self.profiles.iter().find(|profile| *profile.name == name)
    }

    pub fn skill(&self, name: &str) -> Option<&Skill> {
        self.skills.iter().find(|skill| *skill.name == name)
    }

    pub fn output(&self, name: &str) -> Option<&OutputSchema> {
        self.outputs.iter().find(|output| *output.name == name)
    }

    pub fn subject(&self, name: &str) -> Option<&SubjectFile> {
        self.subjects.iter().find(|subject| *subject.name == name)
    }

    pub fn world(&self, name: &str) -> Option<&WorldFile> {
        self.worlds.iter().find(|world| *world.name == name)
    }

    /// Adds suites that no file contains, such as those of the red team.
    pub fn add_suites(&mut self, suites: Vec<Suite>) {
        self.suites.extend(suites);
        self.case_index = load::index_by_id(&self.suites);
    }

    pub fn cases(&self) -> impl Iterator<Item = &Case> {
        self.suites.iter().flat_map(|suite| &suite.cases)
    }

    /// Returns a case by its id; the first one, if the id occurs twice.
    pub fn case(&self, id: &str) -> Option<&Case> {
        let CasePosition { suite, case } = self.case_position(id)?;
        self.suites.get(suite)?.cases.get(case).filter(|case| *case.id == id)
    }

    /// Returns the position of a case.
    pub fn case_position(&self, id: &str) -> Option<CasePosition> {
        self.case_index.get(id).copied()
    }

    /// Returns a chain by id, name or alias.
    pub fn chain(&self, name: &str) -> Option<&ChainRegistry> {
        let name = name.to_lowercase();
        self.chains.iter().find(|chain| chain.name == name || chain.aliases.contains(&name) || chain.id.to_string() == name)
    }

    /// Returns the tools of a surface. A skill surface has none, because the subject selects a skill there.
    pub fn surface_tools(&self, surface: &CaseSurface) -> Vec<&Tool> {
        match surface {
            CaseSurface::Profile(name) => self.profile(name).map(|profile| profile.select(&self.tools)).unwrap_or_default(),
            CaseSurface::Agent(name) => self.agent_tools(name),
            CaseSurface::Skills => vec![],
        }
    }

    pub fn agent_tools(&self, agent: &str) -> Vec<&Tool> {
        self.agent(agent).map(|agent| agent.tools.iter().filter_map(|name| self.tool(name)).collect()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
