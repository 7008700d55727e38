//! Arguments of `compare`.

use super::report_files::ReportFileArgs;
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
    /// Exit 1 on a regression of a gate or of the cases as a whole (which needs enough cases), or on anything that got worse: a case, or a reading of a gate
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = FailOn::Regression)]
    pub fail_on: FailOn,
    #[command(flatten)]
    pub reports: ReportFileArgs,
    #[command(flatten)]
    pub store: StoreArgs,
}

/// Changes that end with exit 1.
// Comments on the variants would make the help of every option two lines longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    Regression,
    Any,
}
