//! Arguments that name stores of runs.

use crate::shell::shell_quoted;
use crate::store_location::parse_location;
use clap::{Args, Subcommand};
use store::StoreLocation;

#[derive(Debug, Args)]
pub(crate) struct StoreArgs {
    /// Store of the runs: a SQLite file, or the URL of a PostgreSQL database (postgres://USER@HOST/DATABASE)
    #[arg(long, value_name = "STORE", env = "BARDO_EVAL_STORE", hide_env_values = true, default_value = STORE, value_parser = parse_location)]
    pub store: StoreLocation,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    /// Copy runs to another store, and verify each copy by hash; runs that are there already stay
    #[command(
        after_help = "Examples:\n  bardo-eval store copy .bardo-eval/store.sqlite postgres://evals@db.example/evals          all runs\n  bardo-eval store copy postgres://evals@db.example/evals nightly.sqlite 8d41f0             one run, to a file"
    )]
    Copy(StoreCopyArgs),
}

#[derive(Debug, Args)]
pub(crate) struct StoreCopyArgs {
    /// Store to read: a SQLite file, or the URL of a PostgreSQL database
    #[arg(value_parser = parse_location)]
    pub from: StoreLocation,
    /// Store to copy to; created if it is missing
    #[arg(value_parser = parse_location)]
    pub to: StoreLocation,
    /// Runs, each by id prefix [default: all]
    #[arg(value_name = "RUN")]
    pub runs: Vec<String>,
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
            StoreLocation::File(_) | StoreLocation::Postgres(_) => format!(" --store {}", shell_quoted(&self.store.to_string())),
        }
    }
}
