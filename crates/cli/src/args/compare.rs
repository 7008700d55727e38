//! Arguments of `compare`.

use super::store::StoreArgs;
use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// Earlier side: a run by id prefix, or golden for the baselines of the workspace; with a subject as in 8d41f0@baseline
    #[arg(value_name = "A")]
    pub before: String,
    /// Later side, named in the same way [default: the last stored run]
    #[arg(value_name = "B")]
    pub after: Option<String>,
    /// Changes that end with exit 1
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = FailOn::Regression)]
    pub fail_on: FailOn,
    #[command(flatten)]
    pub store: StoreArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// A gate or the cases as a whole got worse, beyond chance
    Regression,
    /// Any case got worse
    Any,
}
