//! Arguments of `list`.

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[arg(value_enum)]
    pub what: ListTarget,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListTarget {
    Tools,
    Profiles,
    Agents,
    Skills,
    Suites,
    Cases,
    /// Number of cases by agent, skill, tool, chain, language and turns, beside the minimums of coverage.yaml
    Coverage,
    Worlds,
    Subjects,
    Chains,
    Tiers,
    Gates,
    Checks,
    Scorers,
}
