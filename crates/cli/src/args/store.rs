//! Argument that names the run store.

use crate::shell::shell_quoted;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct StoreArgs {
    /// SQLite file with the stored runs
    #[arg(long, value_name = "FILE", default_value = STORE)]
    pub store: PathBuf,
}

const STORE: &str = ".bardo-eval/store.sqlite";

impl StoreArgs {
    /// Returns the flags with which `show` finds a trial of this run in this store.
    pub(crate) fn show_flags(&self, run: &str) -> String {
        format!(" --run {run}{}", self.store_flag())
    }

    /// Returns the flag that makes a command use the same store, or nothing for the default store.
    pub(crate) fn store_flag(&self) -> String {
        if self.store.as_os_str() == STORE {
            String::new()
        } else {
            format!(" --store {}", shell_quoted(&self.store.display().to_string()))
        }
    }
}
