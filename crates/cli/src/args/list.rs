//! What can be listed.

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[arg(value_enum)]
    pub what: Listable,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Listable {
    Tools,
    Profiles,
    Agents,
    Skills,
    Suites,
    Cases,
    Worlds,
    Subjects,
    Chains,
    Tiers,
    Gates,
    Checks,
    Scorers,
}
