//! Minimums of `coverage.yaml`: how many cases each part of a workspace must have.

use crate::location::Location;
use crate::problem::ProblemReport;
use crate::yaml::{YamlFields, YamlNode, flag, list, name, unsigned};

/// Minimums by part. Zero and `false` ask for nothing.
#[derive(Debug, Clone)]
pub struct CoverageMinimums {
    pub cases_per_agent: u64,
    pub cases_per_skill: u64,
    /// Cases per skill in which its agent carries it out.
    pub carried_out_per_skill: u64,
    /// Skills whose agent lacks a tool to carry them out.
    pub not_carried_out: Vec<String>,
    pub cases_per_chain: u64,
    pub cases_per_language: u64,
    /// Languages that need cases, as in the tags `lang_de`, `lang_zh`.
    pub languages: Vec<String>,
    /// Cases with a simulated user.
    pub simulated_users: u64,
    /// Flows in which the subject plays all agents.
    pub flows_with_own_peers: u64,
    /// Swaps in the suites of skills and flows.
    pub swaps_in_skills_and_flows: u64,
    /// Every write tool that a profile or agent has is used by a reference.
    pub every_write_tool: bool,
    /// Every declared delegation is used by a reference.
    pub every_delegation: bool,
    pub at: Location,
}

pub(crate) fn read_coverage(node: &YamlNode, report: &ProblemReport) -> Option<CoverageMinimums> {
    let fields = YamlFields::open(node, "coverage.yaml", report)?;
    let minimums = CoverageMinimums {
        cases_per_agent: fields.or_default("cases_per_agent", unsigned),
        cases_per_skill: fields.or_default("cases_per_skill", unsigned),
        carried_out_per_skill: fields.or_default("carried_out_per_skill", unsigned),
        not_carried_out: fields.or_default("not_carried_out", list(name)),
        cases_per_chain: fields.or_default("cases_per_chain", unsigned),
        cases_per_language: fields.or_default("cases_per_language", unsigned),
        languages: fields.or_default("languages", list(name)),
        simulated_users: fields.or_default("simulated_users", unsigned),
        flows_with_own_peers: fields.or_default("flows_with_own_peers", unsigned),
        swaps_in_skills_and_flows: fields.or_default("swaps_in_skills_and_flows", unsigned),
        every_write_tool: fields.or_default("every_write_tool", flag),
        every_delegation: fields.or_default("every_delegation", flag),
        at: report.location(node.line),
    };
    fields.close();
    Some(minimums)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::test_support::{assert_problems, read_ok};

    const FILE: &str = "cases_per_agent: 8\nlanguages: [de, zh]\nevery_delegation: true\n";

    #[test]
    fn minimums_are_read_and_default_to_nothing() {
        let read = read_ok(FILE, read_coverage);
        assert_eq!((read.cases_per_agent, read.cases_per_skill, read.every_delegation, read.every_write_tool), (8, 0, true, false));
        assert_eq!(read.languages, ["de", "zh"]);
    }

    #[test]
    fn unknown_minimums_are_refused() {
        let what = "1: coverage.yaml has no key \"cases_per_agents\" | did you mean \"cases_per_agent\"?";
        assert_problems(FILE, read_coverage, &[("cases_per_agent:", "cases_per_agents:", what)]);
    }
}
