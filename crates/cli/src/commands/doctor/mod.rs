//! `doctor`: checks the local setup. API keys are named, never shown.

mod subject_row;

use crate::args::{ReportFormat, StoreArgs};
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::report::{FORMAT, table};
use crate::workspace_source::WorkspaceSource;
use crate::{env, files};
use campaign::open_existing_store;
use model::{CaseTexts, SubjectFile, Workspace};
use serde_json::{Value, json};
use std::path::Path;
use store::StoreLocation;
use subject_row::subject_row;

#[derive(Debug)]
struct DoctorRow {
    what: String,
    state: DoctorState,
    note: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DoctorState {
    Ok,
    Missing,
    Broken,
}

pub(crate) fn doctor(io: &CliOutput, source: &WorkspaceSource, args: &StoreArgs) -> ExitKind {
    let mut rows = vec![row("version", DoctorState::Ok, env!("CARGO_PKG_VERSION"))];
    // Chains are of no use to a workspace without a policy.
    let mut uses_chains = true;
    let next = match source.open(CaseTexts::Dropped) {
        Ok(workspace) => {
            io.note_default_workspace();
            uses_chains = workspace.policy.is_some();
            super::print_load_warnings(io, &workspace);
            rows.push(row("workspace", DoctorState::Ok, &format!("{} {}", source.label(), workspace.hash.short())));
            let subjects: Vec<(&SubjectFile, DoctorRow)> = workspace.subjects.iter().map(|file| (file, subject_row(file))).collect();
            let next = next_steps(io, &subjects);
            let (models, keyless): (Vec<_>, Vec<_>) =
                subjects.into_iter().partition(|(file, _)| file.provider.is_llm() || file.external.is_some());
            rows.push(core_row(&workspace, &keyless));
            rows.extend(models.into_iter().map(|(_, row)| row));
            next
        }
        Err(problems) => {
            let problems = model::count(problems.len(), "problem");
            rows.push(row("workspace", DoctorState::Broken, &format!("{} has {problems}; run `bardo-eval smoke`", source.label())));
            vec![format!("bardo-eval smoke{}", io.workspace_flag())]
        }
    };
    // Before there is a workspace, nothing says that chains are wanted.
    let asks_for_chains = uses_chains && *source != WorkspaceSource::Embedded;
    rows.extend(match find_anvil() {
        Some(path) => uses_chains.then(|| row("anvil", DoctorState::Ok, &path)),
        None => asks_for_chains.then(|| row("anvil", DoctorState::Missing, "only needed for --chain anvil; npm package @foundry-rs/anvil")),
    });
    rows.push(store_row(&args.store));
    let exit = if rows.iter().any(|row| row.state == DoctorState::Broken) { ExitKind::Missed } else { ExitKind::Clean };
    io.print_result(&render(io, &rows, &next, exit), exit)
}

/// Opens the chains of the first world, which every run without a key needs.
fn core_row(workspace: &Workspace, keyless: &[(&SubjectFile, DoctorRow)]) -> DoctorRow {
    let names: Vec<&str> = keyless.iter().map(|(file, _)| file.name.as_str()).collect();
    match super::block_on(super::world::check_embedded_chains(workspace)) {
        Ok(Ok(world)) if !names.is_empty() => {
            row("keyless core", DoctorState::Ok, &format!("world {world} opens; {} need no key and no network", names.join(", ")))
        }
        Ok(Ok(_)) => row("keyless core", DoctorState::Broken, "the workspace has no subject that needs no key; add subjects/baseline.yaml"),
        Ok(Err(why)) => row("keyless core", DoctorState::Broken, &why.to_string()),
        Err(why) => row("keyless core", DoctorState::Broken, &format!("cannot start the async runtime: {why}")),
    }
}

/// Returns the commands to try next: without a key, and with a model that is ready.
fn next_steps(io: &CliOutput, subjects: &[(&SubjectFile, DoctorRow)]) -> Vec<String> {
    let flag = io.workspace_flag();
    let models = || subjects.iter().filter(|(file, _)| file.provider.is_llm());
    let ready = models().find(|(_, row)| row.state == DoctorState::Ok);
    let model = match (ready, models().find_map(|(file, _)| file.key_env.as_deref().map(|key| (file, key)))) {
        (Some((file, _)), _) => Some(format!("bardo-eval run --subject {} --budget 1{flag}", file.name.value)),
        (None, Some((file, key))) => Some(format!("{key}=… bardo-eval run --subject {} --budget 1{flag}", file.name.value)),
        (None, None) => None,
    };
    [format!("bardo-eval run{flag}")].into_iter().chain(model).collect()
}

fn row(what: &str, state: DoctorState, note: &str) -> DoctorRow {
    DoctorRow { what: what.to_owned(), state, note: note.to_owned() }
}

fn find_anvil() -> Option<String> {
    let local = Path::new(".tools/node_modules/.bin/anvil");
    env::find_program("anvil").or_else(|| files::exists(local).then(|| local.to_owned())).map(|path| path.display().to_string())
}

fn store_row(location: &StoreLocation) -> DoctorRow {
    let shown = location.to_string();
    match open_existing_store(location).and_then(|store| store.map(|store| store.runs()).transpose()) {
        Ok(None) => row("store", DoctorState::Ok, &format!("{shown}, will be created by the first run")),
        Ok(Some(runs)) => row("store", DoctorState::Ok, &format!("{shown}, {}", model::count(runs.len(), "run"))),
        Err(error) => row("store", DoctorState::Broken, &format!("{shown}: {error}")),
    }
}

fn render(io: &CliOutput, rows: &[DoctorRow], next: &[String], exit: ExitKind) -> String {
    let word = |state| match state {
        DoctorState::Ok => "ok",
        DoctorState::Missing => "missing",
        DoctorState::Broken => "broken",
    };
    match io.format {
        ReportFormat::Json => {
            let rows: Vec<Value> = rows.iter().map(|row| json!({ "what": row.what, "state": word(row.state), "note": row.note })).collect();
            format!("{:#}\n", json!({ "format": FORMAT, "command": "doctor", "rows": rows, "next": next, "exit": exit.code() }))
        }
        ReportFormat::Text | ReportFormat::Junit | ReportFormat::Markdown | ReportFormat::Github | ReportFormat::Sarif => {
            let rows = rows
                .iter()
                .map(|row| {
                    let state = match row.state {
                        DoctorState::Ok => io.paint.good(word(row.state)),
                        DoctorState::Missing => io.paint.unsure(word(row.state)),
                        DoctorState::Broken => io.paint.bad(word(row.state)),
                    };
                    vec![row.what.clone(), state, row.note.clone()]
                })
                .collect();
            let next: Vec<String> = next.iter().map(|command| format!("next: {command}\n")).collect();
            format!("{}\n\n{}", table(&["what", "state", "note"], rows), next.concat())
        }
    }
}
