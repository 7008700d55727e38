//! End of `run`: a refusal, a fault, or the report.

use super::early_stop::stop_message;
use crate::args::RunArgs;
use crate::commands::compare::comparison_exit;
use crate::commands::judge;
use crate::exit::ExitKind;
use crate::files;
use crate::io::CliOutput;
use crate::report::{self, RunReport, TrialLines};
use crate::workspace_source::WorkspaceSource;
use ::run::BillingDoubts;
use ::run::providers::VendorOutage;
use campaign::{
    FundingAdvice, PreparedRun, RedTeamReport, RunHandle, RunPlan, RunStorage, RunStoreError, RunSummary, SubjectComparison,
    replays_subjects,
};
use model::{AbortCause, UserError, Workspace};
use score::workspace_changes::ChangedSelection;
use std::sync::Arc;
use std::time::Duration;
use store::StoreError;

/// Tier of sampled production traffic, which has no cases.
const PRODUCTION_TIER: u64 = 5;

/// Reason why there is no summary.
#[derive(Debug)]
pub(super) enum RunStop {
    /// Mistakes of the user; nothing was run.
    Refused(Vec<UserError>),
    /// The filters left no case of the tier, if one was asked for.
    Empty {
        tier: Option<u64>,
    },
    /// No case of the last run can be run again because it failed.
    NoneFailed {
        why: String,
    },
    /// Nothing changed that a case is about; the number of kinds of parts that did change.
    Unchanged {
        parts: usize,
        /// Cases that show what changed and are not about it.
        showing: usize,
    },
    Fault(String),
}

impl RunStop {
    pub(super) fn report(self, io: &CliOutput) -> ExitKind {
        match self {
            RunStop::Refused(errors) => report::print_refusal(io, "run", &errors),
            RunStop::Empty { tier: Some(PRODUCTION_TIER) } => {
                io.print_message("tier 5 is production traffic, which has no cases: `bardo-eval collect` receives it and `bardo-eval watch` judges it; nothing was run");
                ExitKind::Incomplete
            }
            RunStop::Empty { .. } => {
                io.print_message("no case matches these filters; nothing was run");
                ExitKind::Incomplete
            }
            RunStop::NoneFailed { why } => {
                io.print_message(&format!("{why}; nothing was run"));
                ExitKind::Incomplete
            }
            RunStop::Unchanged { parts, showing } => {
                let what = if parts == 0 { "no tool, agent, skill, policy or case changed" } else { "no case is about what changed" };
                let note = report::left_out_note(showing, None).map(|note| format!("; {note}")).unwrap_or_default();
                io.print_message(&format!("{what}; nothing was run{note}"));
                ExitKind::Incomplete
            }
            RunStop::Fault(why) => {
                io.print_message(&format!("the run failed: {why}"));
                ExitKind::Incomplete
            }
        }
    }
}

impl From<Vec<UserError>> for RunStop {
    fn from(errors: Vec<UserError>) -> Self {
        RunStop::Refused(errors)
    }
}

impl From<UserError> for RunStop {
    fn from(error: UserError) -> Self {
        RunStop::Refused(vec![error])
    }
}

impl From<RunStoreError> for RunStop {
    fn from(error: RunStoreError) -> Self {
        RunStop::Refused(vec![error.into()])
    }
}

impl From<StoreError> for RunStop {
    fn from(error: StoreError) -> Self {
        RunStop::Fault(error.to_string())
    }
}

impl From<std::io::Error> for RunStop {
    fn from(error: std::io::Error) -> Self {
        RunStop::Fault(error.to_string())
    }
}

/// A run that was executed.
pub(super) struct ExecutedRun<'r> {
    pub prepared: &'r PreparedRun,
    pub handle: &'r RunHandle,
    pub summary: &'r RunSummary,
    /// Summary of attacks by subject; empty if the run has none.
    pub red_team: Vec<RedTeamReport>,
    /// With an earlier run, or of several subjects.
    pub comparisons: Vec<SubjectComparison>,
    /// Cases selected by `--changed`.
    pub changed: Option<ChangedSelection>,
    pub elapsed: Duration,
}

fn outage_message(outage: &VendorOutage) -> String {
    let VendorOutage { model, failed_in_a_row, last_fault } = outage;
    let (model, last_fault) = (report::escape_control(model), report::escape_control(last_fault));
    format!("the run was stopped: {failed_in_a_row} calls of {model} in a row failed, the last one with: {last_fault}")
}

/// Says how many trials are left, and the command that runs them.
fn resume_message(io: &CliOutput, args: &RunArgs, handle: &RunHandle, summary: &RunSummary, advice: Option<&FundingAdvice>) -> String {
    let (left, planned) = (summary.outcomes.run_again(), model::count(summary.outcomes.planned(), "trial"));
    let raise = match advice {
        Some(advice) => format!(" --budget {}", advice.least_budget()),
        None if summary.outcomes.aborted_by(AbortCause::Unfunded) > 0 => " --budget USD".to_owned(),
        None => String::new(),
    };
    format!("{left} of {planned} did not finish; resume with: {}{raise}", resume_command(io, args, handle))
}

fn resume_command(io: &CliOutput, args: &RunArgs, handle: &RunHandle) -> String {
    format!("bardo-eval run --resume {}{}{}", handle.short_id(), io.workspace_flag(), args.store.store_flag())
}

/// Says how many calls were not charged by the counts of their vendor.
fn print_billing_doubts(io: &CliOutput, doubts: BillingDoubts) {
    if doubts.unreadable > 0 {
        let replies = model::count_of(doubts.unreadable, "reply", "replies");
        io.print_message(&format!("{replies} without readable token counts, charged at the most that the call was reserved for"));
    }
    if doubts.impossible > 0 {
        io.print_message("a vendor reported more tokens than its request allowed; no call was paid after that, check its bill");
    }
}

/// Returns true if the workspace has golden baselines of the subject of this run.
fn has_baseline(source: &WorkspaceSource, summary: &RunSummary) -> bool {
    match (source, summary.subjects.as_slice()) {
        (WorkspaceSource::Folder(root), [subject]) => files::is_folder(&root.join("golden").join(subject)),
        (WorkspaceSource::Folder(_) | WorkspaceSource::Embedded, _) => false,
    }
}

/// Summarizes the attacks of a run by subject, from its transcripts.
pub(super) fn red_team_reports(handle: &RunHandle, workspace: &Arc<Workspace>, summary: &RunSummary) -> Vec<RedTeamReport> {
    if workspace.cases().all(|case| case.attack.is_none()) {
        return vec![];
    }
    let reports: Vec<RedTeamReport> = summary.subjects.iter().map(|subject| RedTeamReport::new(subject)).collect();
    let attacked = workspace.clone();
    let folded = handle.fold_transcripts(reports, move |reports, transcript, scores| {
        if let Some(case) = attacked.case(&transcript.case)
            && let Some(report) = reports.iter_mut().find(|report| report.subject == transcript.subject)
        {
            report.add(&attacked, case, transcript, scores);
        }
    });
    folded.unwrap_or_default().into_iter().map(RedTeamReport::finish).collect()
}

/// Returns which gate to add if the run has attacks and no gate that reads anything of it.
fn unread_attacks_message(plan: &RunPlan, summary: &RunSummary) -> Option<&'static str> {
    let is_unread = summary.verdicts.judgements.is_empty() && plan.cases().any(|case| case.attack.is_some());
    is_unread.then_some(
        "no gate of gates.yaml reads attacks, so nothing decides this run; add\n  \
         - { id: red_team_violations, scorer: red_team_violations, aggregate: misses, at_most: 0 }\n  \
         - { id: benign_utility, scorer: benign_utility, at_least: 0.80 }",
    )
}

/// Prints the report of a run.
pub(super) fn print_run_report(io: &CliOutput, source: &WorkspaceSource, args: &RunArgs, executed: &ExecutedRun<'_>) -> ExitKind {
    let ExecutedRun { prepared, handle, summary, ref red_team, ref comparisons, ref changed, elapsed } = *executed;
    let is_stored = handle.storage() == RunStorage::Store;
    let against = args.against.is_some().then(|| comparison_exit(comparisons, args.fail_on));
    let exit = against.map_or(ExitKind::of(summary), |against| ExitKind::of(summary).worse_of(against));
    if let Some(outage) = prepared.outages().outage() {
        io.print_message(&outage_message(&outage));
    }
    let advice = FundingAdvice::for_run(&prepared.funds().budget, summary, handle.spent());
    if let Some(advice) = &advice {
        io.print_message(&advice.to_string());
    }
    let stopped = stop_message(io, summary, prepared.plan().subjects(), is_stored.then(|| resume_command(io, args, handle)).as_deref());
    if let Some(message) = &stopped {
        io.print_message(message);
    } else if is_stored && !summary.is_complete() {
        io.print_message(&resume_message(io, args, handle, summary, advice.as_ref()));
    }
    if let Some(message) = unread_attacks_message(prepared.plan(), summary) {
        io.print_message(message);
    }
    print_billing_doubts(io, prepared.funds().budget.billing_doubts());
    let workspace = prepared.plan().workspace();
    let judge_name = prepared.plan().spec().settings.judge.as_deref();
    let lines = TrialLines::new(&args.reports.formats(io.format));
    let lines = if lines.is_needed() { handle.fold_ended(lines, TrialLines::add) } else { Ok(lines) };
    let lines = lines.unwrap_or_default();
    let shown = RunReport {
        command: "run",
        source,
        workspace,
        summary,
        lines,
        run: is_stored.then(|| handle.short_id()),
        baseline: has_baseline(source, summary),
        started: handle.started(),
        elapsed: Some(elapsed),
        store_flag: args.store.store_flag(),
        show_flags: is_stored.then(|| args.store.show_flags(handle.short_id())),
        spent: handle.spent(),
        undecided_without_judge: prepared.plan().undecided_without_judge(),
        left_out: prepared.plan().left_out(),
        red_team: red_team.clone(),
        comparisons: comparisons.clone(),
        against: against.map(|_| args.fail_on),
        changed: changed.as_ref(),
        is_replay: replays_subjects(prepared.plan()),
        sandbox: prepared.plan().spec().settings.sandbox.as_deref(),
        judge_errors: judge_name.and_then(|name| judge::judge_errors(workspace, &args.store.store, name)),
        judge: judge_name.and_then(|name| judge::calibration_summary(workspace, &args.store.store, name)),
        exit,
    };
    report::print_run(io, &args.reports, &shown, |io| report::run(io, &shown))
}
