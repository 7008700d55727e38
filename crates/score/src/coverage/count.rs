//! Cases of every part of a workspace.

use super::case_facts::{
    chains, delegations, expected_tools, has_simulated_user, is_flow_with_own_peers, language, seated_agent, swaps_in_skill_or_flow, turns,
    write_tools_used,
};
use model::suite::Case;
use model::{CoverageMinimums, Workspace};
use std::collections::{BTreeMap, BTreeSet};

/// Kind of part whose cases are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CoverageGroup {
    Suite,
    Agent,
    Skill,
    CarriedOutSkill,
    Tool,
    WriteTool,
    Delegation,
    Chain,
    World,
    Language,
    Turns,
    Total,
}

impl CoverageGroup {
    pub const ALL: &'static [CoverageGroup] = &[
        CoverageGroup::Suite,
        CoverageGroup::Agent,
        CoverageGroup::Skill,
        CoverageGroup::CarriedOutSkill,
        CoverageGroup::Tool,
        CoverageGroup::WriteTool,
        CoverageGroup::Delegation,
        CoverageGroup::Chain,
        CoverageGroup::World,
        CoverageGroup::Language,
        CoverageGroup::Turns,
        CoverageGroup::Total,
    ];

    pub fn word(self) -> &'static str {
        match self {
            CoverageGroup::Suite => "suite",
            CoverageGroup::Agent => "agent",
            CoverageGroup::Skill => "skill",
            CoverageGroup::CarriedOutSkill => "skill carried out",
            CoverageGroup::Tool => "tool expected",
            CoverageGroup::WriteTool => "write tool used",
            CoverageGroup::Delegation => "delegation",
            CoverageGroup::Chain => "chain",
            CoverageGroup::World => "world",
            CoverageGroup::Language => "language",
            CoverageGroup::Turns => "turns",
            CoverageGroup::Total => "total",
        }
    }
}

/// Cases of one part, and how many it needs; zero if no minimum applies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoverageRow {
    pub group: CoverageGroup,
    pub item: String,
    pub cases: u64,
    pub needed: u64,
}

impl CoverageRow {
    pub fn is_short(&self) -> bool {
        self.cases < self.needed
    }
}

/// Counts the cases of every part of a workspace, parts without a case included.
pub fn coverage(workspace: &Workspace) -> Vec<CoverageRow> {
    let mut counts = CaseCounts::default();
    for case in workspace.cases() {
        counts.add(workspace, case);
    }
    let minimums = workspace.coverage.as_ref();
    let mut rows = counts.rows(workspace, minimums);
    rows.extend(counts.totals(minimums));
    rows
}

#[derive(Default)]
struct CaseCounts {
    by_item: BTreeMap<(CoverageGroup, String), u64>,
    simulated_users: u64,
    own_peers: u64,
    swaps: u64,
    all: u64,
}

impl CaseCounts {
    fn add(&mut self, workspace: &Workspace, case: &Case) {
        let mut count = |group: CoverageGroup, item: &str| *self.by_item.entry((group, item.to_owned())).or_default() += 1;
        count(CoverageGroup::Suite, case.kind.word());
        count(CoverageGroup::World, &case.brief.world);
        count(CoverageGroup::Language, language(case));
        count(CoverageGroup::Turns, turns(case));
        seated_agent(case).into_iter().for_each(|agent| count(CoverageGroup::Agent, agent));
        if let Some(skill) = &case.expect.skill {
            count(CoverageGroup::Skill, skill);
            if case.brief.carry_out {
                count(CoverageGroup::CarriedOutSkill, skill);
            }
        }
        expected_tools(workspace, case).into_iter().for_each(|tool| count(CoverageGroup::Tool, tool));
        write_tools_used(workspace, case).into_iter().for_each(|tool| count(CoverageGroup::WriteTool, tool));
        delegations(case).into_iter().for_each(|(from, to)| count(CoverageGroup::Delegation, &edge_name(from, to)));
        for chain in chains(workspace, case) {
            count(CoverageGroup::Chain, &chain_name(workspace, chain));
        }
        self.all += 1;
        self.simulated_users += u64::from(has_simulated_user(case));
        self.own_peers += u64::from(is_flow_with_own_peers(case));
        self.swaps += u64::from(swaps_in_skill_or_flow(workspace, case));
    }

    fn rows(&self, workspace: &Workspace, minimums: Option<&CoverageMinimums>) -> Vec<CoverageRow> {
        let least = |of: fn(&CoverageMinimums) -> u64| minimums.map_or(0, of);
        let mut needed: BTreeMap<(CoverageGroup, String), u64> = self.by_item.keys().map(|key| (key.clone(), 0)).collect();
        let mut need = |group: CoverageGroup, item: String, cases: u64| {
            needed.insert((group, item), cases);
        };
        for agent in &workspace.agents {
            need(CoverageGroup::Agent, agent.name.value.clone(), least(|minimums| minimums.cases_per_agent));
            for to in &agent.delegates_to {
                let every = least(|minimums| u64::from(minimums.every_delegation));
                need(CoverageGroup::Delegation, edge_name(&agent.name, to), every);
            }
        }
        for skill in &workspace.skills {
            need(CoverageGroup::Skill, skill.name.value.clone(), least(|minimums| minimums.cases_per_skill));
            let is_left_out = minimums.is_some_and(|minimums| minimums.not_carried_out.contains(&skill.name));
            let carried_out = if is_left_out { 0 } else { least(|minimums| minimums.carried_out_per_skill) };
            need(CoverageGroup::CarriedOutSkill, skill.name.value.clone(), carried_out);
        }
        let reachable = reachable_tools(workspace);
        for tool in &workspace.tools {
            need(CoverageGroup::Tool, tool.name.value.clone(), 0);
            if tool.writes() {
                let every = if reachable.contains(tool.name.as_str()) { least(|minimums| u64::from(minimums.every_write_tool)) } else { 0 };
                need(CoverageGroup::WriteTool, tool.name.value.clone(), every);
            }
        }
        for chain in &workspace.chains {
            need(CoverageGroup::Chain, chain.name.clone(), least(|minimums| minimums.cases_per_chain));
        }
        for world in &workspace.worlds {
            need(CoverageGroup::World, world.name.value.clone(), 0);
        }
        for language in minimums.iter().flat_map(|minimums| &minimums.languages) {
            need(CoverageGroup::Language, language.clone(), least(|minimums| minimums.cases_per_language));
        }
        let row = |((group, item), needed): ((CoverageGroup, String), u64)| {
            let cases = self.by_item.get(&(group, item.clone())).copied().unwrap_or_default();
            CoverageRow { group, item, cases, needed }
        };
        needed.into_iter().map(row).collect()
    }

    fn totals(&self, minimums: Option<&CoverageMinimums>) -> Vec<CoverageRow> {
        let least = |of: fn(&CoverageMinimums) -> u64| minimums.map_or(0, of);
        let total = |item: &str, cases, needed| CoverageRow { group: CoverageGroup::Total, item: item.to_owned(), cases, needed };
        let swaps = total("swaps in skills and flows", self.swaps, least(|minimums| minimums.swaps_in_skills_and_flows));
        let mut totals = vec![
            total("cases", self.all, 0),
            total("cases with a simulated user", self.simulated_users, least(|minimums| minimums.simulated_users)),
            total("flows in which the subject plays all agents", self.own_peers, least(|minimums| minimums.flows_with_own_peers)),
        ];
        // Most workspaces of other trades have none.
        totals.extend(Some(swaps).filter(|row| row.cases > 0 || row.needed > 0));
        totals
    }
}

/// Returns the tools that some profile or agent has.
fn reachable_tools(workspace: &Workspace) -> BTreeSet<&str> {
    let shown = workspace.profiles.iter().flat_map(|profile| profile.select(&workspace.tools)).map(|tool| tool.name.as_str());
    let held = workspace.agents.iter().flat_map(|agent| &agent.tools).filter_map(|name| workspace.tool(name));
    shown.chain(held.map(|tool| tool.name.as_str())).collect()
}

fn edge_name(from: &str, to: &str) -> String {
    format!("{from} to {to}")
}

fn chain_name(workspace: &Workspace, id: u64) -> String {
    workspace.chains.iter().find(|chain| chain.id == id).map_or_else(|| id.to_string(), |chain| chain.name.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::ExampleWorkspace;

    fn row(rows: &[CoverageRow], group: CoverageGroup, item: &str) -> (u64, u64) {
        let found = rows.iter().find(|row| row.group == group && row.item == item).unwrap_or_else(|| panic!("no row {item}: {rows:#?}"));
        (found.cases, found.needed)
    }

    #[test]
    fn parts_with_and_without_cases_are_counted() {
        let minimums = "cases_per_agent: 2\ncases_per_skill: 1\ncarried_out_per_skill: 1\nlanguages: [zh]\ncases_per_language: 3\n\
                        every_write_tool: true\nsimulated_users: 4\n";
        let workspace = ExampleWorkspace::minimal().with("coverage.yaml", minimums).load().expect("the example loads");
        let rows = coverage(&workspace);
        assert_eq!(row(&rows, CoverageGroup::Agent, "trader").1, 2);
        assert_eq!(row(&rows, CoverageGroup::Skill, "swap"), (1, 1));
        assert_eq!(row(&rows, CoverageGroup::CarriedOutSkill, "swap"), (0, 1));
        assert_eq!(row(&rows, CoverageGroup::Language, "zh"), (0, 3));
        assert_eq!(row(&rows, CoverageGroup::WriteTool, "swap_execute").1, 1);
        assert!(row(&rows, CoverageGroup::WriteTool, "swap_execute").0 > 0);
        assert_eq!(row(&rows, CoverageGroup::Total, "cases with a simulated user"), (0, 4));
        assert!(row(&rows, CoverageGroup::Chain, "base").0 > 0);
    }

    #[test]
    fn nothing_is_needed_without_a_file() {
        let workspace = ExampleWorkspace::minimal().load().expect("the example loads");
        assert!(coverage(&workspace).iter().all(|row| row.needed == 0));
    }
}
