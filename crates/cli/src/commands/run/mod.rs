//! `run`: runs cases against subjects and judges the gates.

mod changed;
mod comparisons;
mod early_stop;
mod fingerprints;
mod last_failed;
mod outcome;
mod progress;
mod queued;
mod service_remedy;
mod start;

use super::compare::NamedSide;
use super::shrink::shrink_findings;
use super::world::imported_tools::{self, ServerAccess};
use crate::args::{RunArgs, SmokeArgs};
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::workspace_source::WorkspaceSource;
use crate::{files, report};
use campaign::{PreparedRun, RedTeamReport, RunEnvironment, RunHandle, RunPlan, RunStorage, RunSummary, prepare};
use model::{CaseTexts, SuiteKind, UserError, Workspace};
use outcome::{ExecutedRun, RunStop, print_run_report, red_team_reports};
use progress::{TrialPlayer, execute_watched};
pub(super) use queued::PROGRAM;
use start::RunStart;
pub(super) use start::run_environment;
use std::sync::Arc;
use std::time::Duration;
use store::SearchIndex;

/// Tier without trials; `run --tier 1` is `smoke`.
const SMOKE_TIER: u64 = 1;

pub(crate) fn run(io: &CliOutput, source: &WorkspaceSource, args: &RunArgs) -> ExitKind {
    if args.tier == Some(SMOKE_TIER) && args.resume.is_none() {
        return super::smoke(io, source, &SmokeArgs { seed: args.seed });
    }
    let problems = super::report_files::report_file_problems(io, &args.reports);
    if !problems.is_empty() {
        return report::print_refusal(io, "run", &problems);
    }
    let case_texts = if args.shrink.is_some() { CaseTexts::Kept } else { CaseTexts::Dropped };
    match super::open_checked_workspace_with(io, source, "run", case_texts) {
        Ok(workspace) => evaluate(io, source, args, &Arc::new(workspace)).unwrap_or_else(|stop| stop.report(io)),
        Err(exit) => exit,
    }
}

fn evaluate(io: &CliOutput, source: &WorkspaceSource, args: &RunArgs, workspace: &Arc<Workspace>) -> Result<ExitKind, RunStop> {
    let asks_for_attacks = args.suite.iter().any(|suite| suite.split('/').next() == Some(SuiteKind::RedTeam.word()));
    if asks_for_attacks && workspace.probes.is_empty() {
        let remedy = if workspace.policy.is_some() {
            "add files to probes/; docs/guide/redteam.md describes the format"
        } else {
            "probes are made for cases whose profile or agent has a tool with capability: write; add such a case, or files to probes/"
        };
        return Err(UserError::new("the workspace has no probes, so there is nothing to attack with", remedy).into());
    }
    let against = args.against.as_deref().map(|name| NamedSide::open(source, &args.store.store, Some(name))).transpose()?;
    if let Some(against) = &against {
        against.print_unfinished(io, &args.store.store_flag());
    }
    let changed = changed::changed_selection(args, source, workspace, against.as_ref())?;
    if let Some(changed) = changed.as_ref().filter(|changed| changed.cases.is_empty()) {
        return Err(RunStop::Unchanged { parts: changed.changes.by_kind().len(), showing: changed.left_out_showing });
    }
    let RunStart { spec, origin, sandbox } = RunStart::of(args, source, workspace, changed.as_ref())?;
    let plan = RunPlan::resolve(spec, workspace.clone())?;
    if let Some(against) = &against {
        let subjects: Vec<String> = plan.subjects().iter().map(|subject| subject.name.value.clone()).collect();
        comparisons::check_subjects(against, &subjects)?;
    }
    if plan.is_empty() {
        return Err(RunStop::Empty { tier: args.tier });
    }
    let misspelt: Vec<UserError> = plan.unknown_names().into_iter().map(UserError::from).collect();
    if !misspelt.is_empty() {
        return Err(misspelt.into());
    }
    if args.dry_run {
        if let Some(changed) = &changed {
            io.print_message(&report::changed_text(changed));
            if let Some(note) = report::left_out_note(changed.left_out_showing, args.against.as_deref()) {
                io.print_message(&note);
            }
        }
        let missing = plan.missing_recordings(|subject| start::is_recorded(source, subject));
        return Ok(io.print_result(&report::plan(io, &plan, &plan.forecast(), missing.as_ref()), ExitKind::Clean));
    }
    imported_tools::check_server_writes(io, &plan)?;
    imported_tools::note_stubs(io, source, &plan);
    if plan.spec().settings.sandbox.is_some() {
        crate::sandbox::print_fallback(io, &sandbox.choice);
    }
    super::block_on(async {
        let options = plan.spec().options.clone();
        let answers = imported_tools::parse_tool_answers(source, workspace, &options.foreign_tools, ServerAccess::of(&options));
        let environment = run_environment(source, sandbox, plan.spec())?;
        let prepared = match args.workers {
            Some(_) => queued::prepare_watch(args, plan, &environment)?,
            None => prepare(plan, &environment, answers).await?,
        };
        let handle = match args.workers {
            Some(_) => RunHandle::open_to_watch(origin, &prepared)?,
            None => {
                queued::take_over(args, &origin)?;
                RunHandle::open(origin, &prepared)?
            }
        };
        write_run_id(args, &handle)?;
        if handle.storage() == RunStorage::Store {
            fingerprints::save_fingerprint(&args.store.store, source, workspace);
        }
        let stopwatch = prepared.clock().stopwatch();
        let published = match args.workers {
            Some(_) => Some(queued::publish(io, source, args, (&prepared, &handle)).await?),
            None => None,
        };
        let wait = Duration::from_secs(args.worker_wait);
        let player = published.as_ref().map_or(TrialPlayer::ThisProcess, |published| TrialPlayer::Workers(published, wait));
        let summary = execute_watched(io, &prepared, &handle, player).await?;
        let elapsed = stopwatch.elapsed();
        let mut red_team = red_team_reports(&handle, prepared.plan().workspace(), &summary);
        keep_attacks(io, args, (&prepared, &handle), &summary, &red_team);
        if let Some(folder) = &args.shrink {
            for line in shrink_findings(&prepared, &red_team, args, folder).await {
                io.print_message(&line);
            }
        }
        if args.enforce_too {
            red_team.extend(enforced_reports(io, source, &prepared, &environment).await?);
        }
        // The run has ended: its report is worth more than the comparison.
        let comparisons = comparisons::run_comparisons(against.as_ref(), &prepared, &handle, &summary).unwrap_or_else(|why| {
            io.print_message(&format!("the run could not be compared: {why}"));
            vec![]
        });
        let executed = ExecutedRun { prepared: &prepared, handle: &handle, summary: &summary, red_team, comparisons, changed, elapsed };
        Ok(print_run_report(io, source, args, &executed))
    })?
}

/// Keeps the summary of attacks beside the store, so that the viewer shows it without reading every transcript again.
fn keep_attacks(
    io: &CliOutput,
    args: &RunArgs,
    (prepared, handle): (&PreparedRun, &RunHandle),
    summary: &RunSummary,
    red_team: &[RedTeamReport],
) {
    let workspace = prepared.plan().workspace();
    let attacks = report::summarize_attacks(red_team, |id| workspace.case(id).cloned());
    if attacks.is_empty() || handle.storage() != RunStorage::Store || !summary.is_complete() {
        return;
    }
    let kept =
        SearchIndex::open(&args.store.store).and_then(|index| serve::viewer::keep_attacks(&index, handle.id(), &summary.record, &attacks));
    if let Err(error) = kept {
        io.print_message(&format!("the summary of attacks is not kept for the viewer, which will make it again: {error}"));
    }
}

/// Plays the cases of a run again with hooks that block, without storing it, and returns its reports of attacks.
async fn enforced_reports(
    io: &CliOutput,
    source: &WorkspaceSource,
    first: &PreparedRun,
    environment: &RunEnvironment,
) -> Result<Vec<RedTeamReport>, RunStop> {
    let plan = first.plan();
    if plan.subjects().iter().any(|subject| subject.provider.is_llm()) {
        let remedy = "run it again with --defence enforce, which has a budget of its own";
        return Err(UserError::new("--enforce-too would pay every model twice", remedy).into());
    }
    let mut spec = plan.spec().clone();
    spec.settings.enforce = true;
    let again = RunPlan::resolve(spec, plan.workspace().clone())?;
    let options = &plan.spec().options;
    let answers = imported_tools::parse_tool_answers(source, plan.workspace(), &options.foreign_tools, ServerAccess::of(options));
    let prepared = prepare(again, environment, answers).await?;
    let handle = RunHandle::in_memory(&prepared)?;
    let summary = execute_watched(io, &prepared, &handle, TrialPlayer::ThisProcess).await?;
    let mut reports = red_team_reports(&handle, prepared.plan().workspace(), &summary);
    for report in &mut reports {
        report.subject = format!("{} with enforced hooks", report.subject);
    }
    Ok(reports)
}

/// Hands the id of the run to later steps, also if this process is killed.
fn write_run_id(args: &RunArgs, handle: &RunHandle) -> Result<(), RunStop> {
    let Some(path) = &args.run_id_file else { return Ok(()) };
    let cannot = |error| RunStop::Fault(format!("{} cannot be written: {error}", path.display()));
    files::write(path, &format!("{}\n", handle.short_id())).map_err(cannot)
}
