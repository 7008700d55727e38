//! Commands, one module each.

mod case;
mod chat;
mod ci;
mod collect;
mod command_files;
mod compare;
mod completions;
mod cost;
mod coverage;
mod doctor;
mod explain;
mod export;
mod golden;
mod guard;
mod import;
mod init;
mod judge;
mod list;
mod logs;
mod man;
mod models;
mod plain_results;
mod promptfoo;
mod red_team;
mod report_files;
mod run;
mod runs;
mod score;
mod selftest;
mod show;
mod shrink;
mod smoke;
mod store_copy;
mod tools;
mod traffic;
mod view;
mod watch;
mod work;
mod world;

pub(crate) use case::case;
pub(crate) use chat::chat;
pub(crate) use ci::ci;
pub(crate) use collect::collect;
pub(crate) use compare::compare;
pub(crate) use completions::completions;
pub(crate) use cost::cost;
pub(crate) use doctor::doctor;
pub(crate) use explain::explain;
pub(crate) use export::export;
pub(crate) use golden::golden;
pub(crate) use guard::guard;
pub(crate) use import::import;
pub(crate) use init::init;
pub(crate) use judge::judge;
pub(crate) use list::list;
pub(crate) use man::man;
pub(crate) use promptfoo::promptfoo;
pub(crate) use red_team::red_team;
pub(crate) use run::run;
pub(crate) use runs::runs;
pub(crate) use score::score;
pub(crate) use selftest::selftest;
pub(crate) use show::show;
pub(crate) use shrink::shrink;
pub(crate) use smoke::smoke;
pub(crate) use store_copy::store;
pub(crate) use tools::tools;
pub(crate) use view::view;
pub(crate) use watch::watch;
pub(crate) use work::work;
pub(crate) use world::world;

use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::report;
use crate::workspace_source::WorkspaceSource;
use model::{CaseTexts, UserError, Workspace};

/// Opens the workspace, or reports its mistakes and returns the exit.
fn open_workspace(io: &CliOutput, source: &WorkspaceSource, command: &str) -> Result<Workspace, ExitKind> {
    open_workspace_with(io, source, command, CaseTexts::Dropped)
}

fn open_workspace_with(io: &CliOutput, source: &WorkspaceSource, command: &str, case_texts: CaseTexts) -> Result<Workspace, ExitKind> {
    let workspace = source.open(case_texts).map_err(|problems| report::print_problems(io, command, &problems))?;
    io.note_default_workspace();
    print_load_warnings(io, &workspace);
    ::world::chain::policy_contract::policy_deployment(&workspace).map_err(|problem| report::print_problems(io, command, &[problem]))?;
    if let Some(notice) = ::world::chain::policy_contract::policy_notice(&workspace) {
        io.print_message(&format!("note: {notice}."));
    }
    Ok(workspace)
}

/// Load warnings printed; further ones are only counted.
const WARNINGS_SHOWN: usize = 5;

/// Prints a warning for each key or value of an older version.
fn print_load_warnings(io: &CliOutput, workspace: &Workspace) {
    for warning in workspace.warnings.iter().take(WARNINGS_SHOWN) {
        io.print_message(&format!("warning: {}  {}; {}", io.location(&warning.at), warning.what, warning.remedy));
    }
    let more = workspace.warnings.len().saturating_sub(WARNINGS_SHOWN);
    if more > 0 {
        let warnings = model::count(more, "more warning");
        io.print_message(&format!("{warnings}; `bardo-eval smoke --verbose{}` lists them all", io.workspace_flag()));
    }
}

/// Checks of a workspace that a run makes too. Without them, a misspelt name would drop a gate.
const CHECKED_BEFORE_RUNS: &[&str] =
    &["names_unique", "tools_exist", "case_ids_unique", "tiers_complete", "gates_resolve", "gates_measured", "spec_bounds"];

/// Like [`open_workspace`], for commands that judge gates. Also fails on duplicate names, unknown tools, unresolved gates and gates weaker than the
/// specification, which would make verdicts misleading.
fn open_checked_workspace(io: &CliOutput, source: &WorkspaceSource, command: &str) -> Result<Workspace, ExitKind> {
    open_checked_workspace_with(io, source, command, CaseTexts::Dropped)
}

/// Like [`open_checked_workspace`]; reproducers of `shrink` need the texts of cases.
fn open_checked_workspace_with(
    io: &CliOutput,
    source: &WorkspaceSource,
    command: &str,
    case_texts: CaseTexts,
) -> Result<Workspace, ExitKind> {
    let workspace = open_workspace_with(io, source, command, case_texts)?;
    let broken: Vec<UserError> = ::score::checks::run_selected(&workspace, CHECKED_BEFORE_RUNS)
        .into_iter()
        .filter(|finding| finding.level == ::score::checks::FindingLevel::Error)
        .map(UserError::from)
        .collect();
    if broken.is_empty() { Ok(workspace) } else { Err(report::print_refusal(io, command, &broken)) }
}

/// Runs a future to completion on a new runtime, and does not wait for a pending read of standard input, which no signal ends.
fn block_on_with_stdin<T>(work: impl Future<Output = T>) -> std::io::Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let done = runtime.block_on(work);
    runtime.shutdown_timeout(STDIN_PATIENCE);
    Ok(done)
}

/// Time for everything but the read to end.
const STDIN_PATIENCE: std::time::Duration = std::time::Duration::from_millis(100);

/// Runs a future to completion on this thread: work that mostly waits is done with fewer wake-ups than on several.
fn block_on_one_thread<T>(work: impl Future<Output = T>) -> std::io::Result<T> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(work))
}

/// Runs a future to completion on a new runtime.
fn block_on<T>(work: impl Future<Output = T>) -> std::io::Result<T> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(work))
}
