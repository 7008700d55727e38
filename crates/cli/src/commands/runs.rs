//! `runs`: lists, shows and removes stored runs.

use crate::args::{ReportFormat, RunsCommand};
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::report::{self, FORMAT, table};
use crate::stored_runs;
use model::{Money, UserError, Verdict};
use serde_json::{Value, json};
use store::{StoreLocation, StoredRun};

pub(crate) fn runs(io: &CliOutput, command: &RunsCommand) -> ExitKind {
    let done = match command {
        RunsCommand::List(store) => list(io, &store.store),
        RunsCommand::Show(args) => show(io, &args.store.store, args.run.as_deref()),
        RunsCommand::Rm(args) => remove(io, &args.store.store, &args.runs),
    };
    done.map_or_else(|why| report::print_refusal(io, "runs", &[why]), |text| io.print_result(&text, ExitKind::Clean))
}

fn list(io: &CliOutput, location: &StoreLocation) -> Result<String, UserError> {
    let runs = stored_runs::list_runs(location)?;
    if io.format == ReportFormat::Json {
        let items: Vec<Value> = runs.iter().map(document).collect();
        return Ok(format!("{:#}\n", json!({ "format": FORMAT, "command": "runs list", "items": items, "exit": 0 })));
    }
    let rows = runs.iter().map(|run| {
        vec![
            run.short_run_id().to_owned(),
            run.started.clone(),
            run.subjects.join(", "),
            format!("{} of {}", run.finished, run.planned),
            run.passed.to_string(),
            spent(run),
            state(run),
            run.record.as_ref().map_or_else(String::new, |record| record.short().to_owned()),
        ]
    });
    Ok(format!("{}\n", table(&["run", "started", "subjects", "trials", "passed", "spent", "state", "record"], rows.collect())))
}

/// Returns whether a run has evidence and an end.
fn state(run: &StoredRun) -> String {
    match (&run.ended, run.aborted) {
        (None, _) => "unfinished".to_owned(),
        (Some(_), 0) => "complete".to_owned(),
        (Some(_), aborted) if aborted == run.finished => "aborted".to_owned(),
        (Some(_), aborted) => format!("complete, {aborted} aborted"),
    }
}

fn show(io: &CliOutput, location: &StoreLocation, wanted: Option<&str>) -> Result<String, UserError> {
    let (store, run) = stored_runs::find_run(location, wanted)?;
    let telemetry = store.telemetry(run.run)?;
    let calls = store.call_counts(run.run)?;
    let verdicts = store.verdicts(&run)?;
    if io.format == ReportFormat::Json {
        let mut shown = document(&run);
        shown["settings"] = serde_json::from_str(&run.settings).unwrap_or_default();
        shown["calls"] =
            json!({ "settled": calls.settled, "failed": calls.failed, "under_way": calls.reserved, "attempts": calls.attempts });
        shown["telemetry"] = telemetry.iter().map(|(what, n)| (what.clone(), json!(n))).collect::<serde_json::Map<_, _>>().into();
        shown["verdicts"] = json!(verdicts.judgements);
        return Ok(format!("{:#}\n", json!({ "format": FORMAT, "command": "runs show", "run": shown, "exit": 0 })));
    }
    let of = |verdict| verdicts.judgements.iter().filter(|judgement| judgement.verdict == verdict).count();
    let mut rows = vec![
        vec!["run".to_owned(), run.id.clone()],
        vec!["record".into(), run.record.as_ref().map_or("not complete".into(), ToString::to_string)],
        vec!["workspace".into(), run.workspace.to_string()],
        vec!["workspace version".into(), workspace_version(&run).map_or("none".into(), |version| version.to_string())],
        vec!["started".into(), run.started.clone()],
        vec!["ended".into(), run.ended.clone().unwrap_or_default()],
        vec!["trials".into(), format!("{} of {} ended, {} passed", run.finished, run.planned, run.passed)],
        vec!["spent".into(), spent(&run)],
        vec!["budget".into(), run.budget.map_or("none".into(), |nanos| format!("{} USD", Money::from_nanos(nanos)))],
        vec![
            "calls".into(),
            format!(
                "{} settled, {} failed, {} in flight, {}",
                calls.settled,
                calls.failed,
                calls.reserved,
                model::count(calls.attempts, "attempt")
            ),
        ],
        vec![
            "verdicts".into(),
            format!("{} met, {} missed, {} without evidence", of(Verdict::Met), of(Verdict::Missed), of(Verdict::NoEvidence)),
        ],
        vec!["state".into(), state(&run)],
        vec!["asked for".into(), settings_text(&run.settings)],
    ];
    rows.extend(telemetry.iter().map(|(what, n)| vec![what.replace('_', " "), n.to_string()]));
    Ok(format!("{}\n", table(&["what", "value"], rows)))
}

fn remove(io: &CliOutput, location: &StoreLocation, wanted: &[String]) -> Result<String, UserError> {
    let mut removed = vec![];
    let mut last_store = None;
    for wanted in wanted {
        let (store, run) = stored_runs::find_only_run(location, wanted)?;
        let _lock = store.lock_run(&run.id)?;
        store.remove_run(run.run)?;
        removed.push(run.short_run_id().to_owned());
        last_store = Some(store);
    }
    if let Some(store) = last_store {
        store.shrink();
    }
    Ok(match io.format {
        ReportFormat::Json => format!("{:#}\n", json!({ "format": FORMAT, "command": "runs rm", "removed": removed, "exit": 0 })),
        ReportFormat::Text | ReportFormat::Junit | ReportFormat::Markdown | ReportFormat::Github | ReportFormat::Sarif => {
            format!("removed {}\n", removed.join(", "))
        }
    })
}

fn document(run: &StoredRun) -> Value {
    json!({
        "run": run.id, "record": run.record, "started": run.started, "ended": run.ended, "workspace": run.workspace,
        "workspace_version": workspace_version(run),
        "subjects": run.subjects, "state": state(run),
        "trials": { "planned": run.planned, "ended": run.finished, "passed": run.passed, "aborted": run.aborted },
        "budget_usd": run.budget.map(|nanos| Money::from_nanos(nanos).as_usd()), "spent_usd": Money::from_nanos(run.spent).as_usd(), "claim": run.claim,
    })
}

/// Returns the stored settings as words: `subjects reference; trials 1`. Absent and empty ones are left out.
fn settings_text(settings: &str) -> String {
    let parsed: Value = serde_json::from_str(settings).unwrap_or_default();
    let mut words = vec![];
    for (key, value) in parsed.as_object().into_iter().flatten() {
        match value {
            // Claim and options are objects of one level.
            Value::Object(inner) => words.extend(inner.iter().filter_map(|(key, value)| setting_word(key, value))),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => words.extend(setting_word(key, value)),
        }
    }
    words.join("; ")
}

fn setting_word(key: &str, value: &Value) -> Option<String> {
    let shown = match value {
        Value::Null | Value::Bool(false) | Value::Object(_) => return None,
        // The default, and nothing in a workspace without chains.
        Value::String(text) if key == "chain" && text == "embedded" => return None,
        Value::Bool(true) => "yes".to_owned(),
        Value::Number(nanos) if key.ends_with("budget") => format!("{} USD", Money::from_nanos(nanos.as_u64()?)),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        Value::Array(items) if items.is_empty() => return None,
        Value::Array(items) => {
            items.iter().map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned)).collect::<Vec<_>>().join(", ")
        }
    };
    Some(format!("{} {shown}", key.replace('_', " ")))
}

fn workspace_version(run: &StoredRun) -> Option<u64> {
    run.plan.as_ref().and_then(|plan| plan.workspace_version)
}

fn spent(run: &StoredRun) -> String {
    format!("{} USD", Money::from_nanos(run.spent))
}
