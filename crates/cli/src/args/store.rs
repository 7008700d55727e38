//! The store of runs.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct StoreArgs {
    /// Where runs are kept
    #[arg(long, value_name = "FILE", default_value = STORE)]
    pub store: PathBuf,
}

const STORE: &str = ".bardo-eval/store.sqlite";

impl StoreArgs {
    /// Returns the arguments after a trial with which `show` finds it in a run of this store.
    pub(crate) fn show_flags(&self, run: &str) -> String {
        format!(" --run {run}{}", self.store_flag())
    }

    /// Returns the argument that makes a command use the same store.
    pub(crate) fn store_flag(&self) -> String {
        if self.store.as_os_str() == STORE { String::new() } else { format!(" --store {}", self.store.display()) }
    }
}
