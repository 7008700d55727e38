//! Arguments of `list`.

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[arg(value_enum)]
    pub what: ListTarget,
    /// Only cases of this suite (behavior/support) or kind of suite (behavior)
    #[arg(long, value_name = "NAME", help_heading = CASES)]
    pub suite: Vec<String>,
    /// Only cases of this agent
    #[arg(long, value_name = "NAME", help_heading = CASES)]
    pub agent: Vec<String>,
    /// Only cases with this tool profile
    #[arg(long, value_name = "NAME", help_heading = CASES)]
    pub profile: Vec<String>,
    /// Only cases that expect this skill
    #[arg(long, value_name = "NAME", help_heading = CASES)]
    pub skill: Vec<String>,
    /// Only cases with this tag
    #[arg(long, value_name = "TAG", help_heading = CASES)]
    pub tag: Vec<String>,
    /// Only cases that expect a call of this tool
    #[arg(long, value_name = "NAME", help_heading = CASES)]
    pub tool: Vec<String>,
}

const CASES: &str = "Options of list cases and list tags";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListTarget {
    Tools,
    Profiles,
    Agents,
    Skills,
    Suites,
    Cases,
    /// Tags of cases, with the number of cases of each
    Tags,
    /// Number of cases by agent, skill, tool, language, turns and more, beside the minimums of coverage.yaml
    Coverage,
    Worlds,
    Subjects,
    Chains,
    Tiers,
    Gates,
    Checks,
    Scorers,
    /// Attack goals and faults of the red team
    Probes,
    /// Ways to disguise an injected text
    Strategies,
    /// Tests of transcripts for unsafe effects
    Oracles,
    /// Mistakes that `selftest` puts into the reference, for subjects fault:NAME
    Faults,
}
