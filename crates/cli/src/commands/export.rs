//! `export`: writes a stored run in formats that others read.

use crate::args::{RunExportArgs, RunExportFormat};
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::report;
use crate::stored_runs::{self, OpenedRun};
use foreign::export::{ExportedTrial, csv, inspect, jsonl, otlp};
use std::io::{self, Write};
use std::time::SystemTime;
use store::{StoreError, UnreadTrial};

pub(crate) fn export(io: &CliOutput, args: &RunExportArgs) -> ExitKind {
    let opened = match stored_runs::open_run(&args.store.store, args.run.as_deref()) {
        Ok(opened) => opened,
        Err(why) => return report::print_refusal(io, "export", &[why]),
    };
    let exit = io.stream_result(|out| match args.to {
        RunExportFormat::Jsonl => write_trials(&opened, out, |trial| format!("{}\n", jsonl::trial_line(trial))),
        RunExportFormat::Csv => {
            writeln!(out, "{}", csv::HEADER)?;
            write_trials(&opened, out, csv::trial_rows)
        }
        RunExportFormat::Otlp => write_trials(&opened, out, |trial| format!("{}\n", otlp::trial_request(trial))),
        RunExportFormat::Inspect => write_inspect(&opened, out),
    });
    if exit == ExitKind::Clean && opened.run.record.is_none() {
        io.print_message("note: the run is not complete; the trials that ended were exported");
    }
    exit
}

/// Writes the text of every trial, one at a time.
fn write_trials(opened: &OpenedRun, out: &mut dyn Write, mut text: impl FnMut(&ExportedTrial<'_>) -> String) -> io::Result<()> {
    for_each_trial(opened, |trial| out.write_all(text(trial).as_bytes()))
}

fn for_each_trial(opened: &OpenedRun, mut take: impl FnMut(&ExportedTrial<'_>) -> io::Result<()>) -> io::Result<()> {
    let run = &opened.run;
    let started = humantime::parse_rfc3339(&run.started).unwrap_or(SystemTime::UNIX_EPOCH);
    let started_ms = started.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(0));
    let mut written = Ok(());
    let mut write = |unread: &UnreadTrial<'_>| -> Result<(), StoreError> {
        if written.is_err() {
            return Ok(());
        }
        let (transcript, scores) = (unread.transcript()?, unread.scores()?);
        written = take(&ExportedTrial {
            run: &run.id,
            started: &run.started,
            started_ms,
            n: unread.n,
            seed: unread.trial.seed,
            wall_us: unread.wall_us()?,
            transcript: &transcript,
            scores: &scores,
        });
        Ok(())
    };
    let read = opened.store.for_each_unread(run.run, &mut write);
    read.map_err(|error| io::Error::other(error.to_string()))?;
    written
}

/// Reads the run twice: the results stand before the samples.
fn write_inspect(opened: &OpenedRun, out: &mut dyn Write) -> io::Result<()> {
    let run = &opened.run;
    let mut results = inspect::InspectResults::default();
    let ended = opened.store.for_each_ended(run.run, |trial| results.add(&trial.ending, &trial.scores));
    ended.map_err(|error| io::Error::other(error.to_string()))?;
    let subject = if run.subjects.is_empty() { "none".to_owned() } else { run.subjects.join(", ") };
    let header = inspect::InspectHeader {
        run: &run.id,
        started: &run.started,
        ended: run.ended.as_deref().unwrap_or(&run.started),
        subject: &subject,
        workspace: run.workspace.short(),
        complete: run.record.is_some(),
    };
    out.write_all(inspect::document_begin(&header, &results).as_bytes())?;
    let (mut samples, mut is_first) = (inspect::InspectSamples::default(), true);
    write_trials(opened, out, |trial| {
        let separator = if std::mem::take(&mut is_first) { "\n" } else { ",\n" };
        format!("{separator}{}", samples.sample(trial))
    })?;
    out.write_all(inspect::DOCUMENT_END.as_bytes())
}
