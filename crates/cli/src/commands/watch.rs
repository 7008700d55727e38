//! `watch`: gates, drift, cost and latency of collected traces.

use super::collect::unix_ms;
use super::traffic;
use crate::args::{ReportFormat, TracesArgs, WatchArgs};
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::report::{self, WatchReport};
use crate::workspace_source::WorkspaceSource;
use ::run::Clock;
use ::score::drift::DriftAlarm;
use campaign::{DriftReplay, ProductionReport, ReportWindow, TraceReviewer};
use model::{UserError, Verdict, Workspace};
use std::time::Duration;
use store::StoreLocation;
use store::production::{ProductionStore, TraceId};

pub(crate) fn watch(io: &CliOutput, source: &WorkspaceSource, args: &WatchArgs) -> ExitKind {
    let mut workspace = match super::open_checked_workspace(io, source, "watch") {
        Ok(workspace) => workspace,
        Err(exit) => return exit,
    };
    if let Err(why) = traffic::read_sampling_key(&mut workspace) {
        return report::print_refusal(io, "watch", &[why]);
    }
    let watched = open_traces(&args.traces)
        .and_then(|store| if args.once { watch_once(io, &workspace, &store, args) } else { watch_live(io, &workspace, &store, args) });
    watched.unwrap_or_else(|why| report::print_refusal(io, "watch", &[why]))
}

/// Opens a store that exists.
pub(super) fn open_traces(args: &TracesArgs) -> Result<ProductionStore, UserError> {
    let missing = || {
        let what = match &args.traces {
            StoreLocation::File(path) => format!("there is no file {}", path.display()),
            StoreLocation::Postgres(target) => format!("there are no traces in {target}"),
        };
        UserError::new(what, "`bardo-eval collect` makes it, or name another with --traces")
    };
    ProductionStore::open_existing(&args.traces)?.ok_or_else(missing)
}

/// Parses 32 hex digits.
pub(super) fn parse_trace_id(text: &str) -> Result<TraceId, UserError> {
    let wrong = || UserError::new(format!("\"{text}\" is not the id of a trace"), "an id has 32 hex digits");
    let number = u128::from_str_radix(text, 16).map_err(|_| wrong())?;
    if text.len() == 32 { Ok(number.to_be_bytes()) } else { Err(wrong()) }
}

/// Reads a report and the alarms within its window.
fn read(
    workspace: &Workspace,
    store: &ProductionStore,
    args: &WatchArgs,
    replay: &mut DriftReplay,
    found: &mut Vec<DriftAlarm>,
) -> Result<(ProductionReport, Vec<DriftAlarm>), UserError> {
    let window = ReportWindow { now_s: unix_ms(Clock::system()) / 1000, length_s: args.window.seconds() };
    found.extend(replay.advance(workspace, store)?);
    let alarms = found.iter().cloned().chain(replay.unsettled()).collect();
    Ok((ProductionReport::read(workspace, store, window)?, alarms))
}

fn watch_once(io: &CliOutput, workspace: &Workspace, store: &ProductionStore, args: &WatchArgs) -> Result<ExitKind, UserError> {
    if let Some(reviewer) = reviewer(workspace, args)? {
        super::block_on(judge_all(reviewer)).map_err(UserError::caused_by)??;
    }
    let mut replay = traffic::drift_replay(workspace, &args.reference)?;
    let (report, alarms) = read(workspace, store, args, &mut replay, &mut vec![])?;
    let shown = WatchReport::new(&report, &alarms, args.window);
    let exit = exit_of(&report, &shown);
    let text = match io.format {
        ReportFormat::Json => report::watch_json(&shown, exit),
        ReportFormat::Markdown => report::watch_markdown(&shown),
        ReportFormat::Text | ReportFormat::Junit | ReportFormat::Github | ReportFormat::Sarif => report::watch_text(&shown),
    };
    Ok(io.print_result(&text, exit))
}

/// Prepares the judge that the arguments name.
fn reviewer<'w>(workspace: &'w Workspace, args: &WatchArgs) -> Result<Option<TraceReviewer<'w>>, UserError> {
    args.judge.as_deref().map(|judge| traffic::reviewer(workspace, &args.traces.traces, judge)).transpose()
}

/// Asks about all chosen traces, until each has an answer or the money of the day is spent.
async fn judge_all(mut reviewer: TraceReviewer<'_>) -> Result<(), UserError> {
    while !reviewer.step(unix_ms(Clock::system())).await?.is_done {}
    Ok(())
}

fn exit_of(report: &ProductionReport, shown: &WatchReport<'_>) -> ExitKind {
    match report.verdict(!shown.alarms.is_empty()) {
        Verdict::Missed => ExitKind::Missed,
        Verdict::NoEvidence => ExitKind::Incomplete,
        Verdict::Met => ExitKind::Clean,
    }
}

/// Shows a new report every few seconds, on a cleared screen if there is one.
fn watch_live(io: &CliOutput, workspace: &Workspace, store: &ProductionStore, args: &WatchArgs) -> Result<ExitKind, UserError> {
    let (mut replay, mut found) = (traffic::drift_replay(workspace, &args.reference)?, vec![]);
    let mut reviewer = reviewer(workspace, args)?;
    let live = async {
        let mut stopped = std::pin::pin!(crate::signals::stop_requested());
        loop {
            if let Some(reviewer) = &mut reviewer {
                reviewer.step(unix_ms(Clock::system())).await?;
            }
            let (report, alarms) = read(workspace, store, args, &mut replay, &mut found)?;
            let shown = WatchReport::new(&report, &alarms, args.window);
            let exit = exit_of(&report, &shown);
            let text = match io.format {
                ReportFormat::Json => report::watch_json(&shown, exit),
                ReportFormat::Markdown => report::watch_markdown(&shown),
                ReportFormat::Text | ReportFormat::Junit | ReportFormat::Github | ReportFormat::Sarif => {
                    let clear = if io.has_result_terminal() { "\u{1b}[2J\u{1b}[H" } else { "" };
                    format!("{clear}{}", report::watch_text(&shown))
                }
            };
            io.print_result(&text, ExitKind::Clean);
            tokio::select! {
                _ = &mut stopped => return Ok(exit),
                () = tokio::time::sleep(Duration::from_secs(args.every)) => {}
            }
        }
    };
    super::block_on(live).map_err(UserError::caused_by)?
}
