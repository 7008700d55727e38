//! Argument that names the run store.

use crate::shell::shell_quoted;
use crate::store_location::parse_location;
use clap::Args;
use store::StoreLocation;

#[derive(Debug, Args)]
pub(crate) struct StoreArgs {
    /// Store of the runs: a SQLite file, or the URL of a PostgreSQL database (postgres://USER@HOST/DATABASE)
    #[arg(long, value_name = "STORE", env = "BARDO_EVAL_STORE", hide_env_values = true, default_value = STORE, value_parser = parse_location)]
    pub store: StoreLocation,
}

const STORE: &str = ".bardo-eval/store.sqlite";

impl StoreArgs {
    /// Returns the flags with which `show` finds a trial of this run in this store.
    pub(crate) fn show_flags(&self, run: &str) -> String {
        format!(" --run {run}{}", self.store_flag())
    }

    /// Returns the flag that makes a command use the same store, or nothing for the default store.
    pub(crate) fn store_flag(&self) -> String {
        match &self.store {
            StoreLocation::File(path) if path.as_os_str() == STORE => String::new(),
            location => format!(" --store {}", shell_quoted(&location.to_string())),
        }
    }
}
