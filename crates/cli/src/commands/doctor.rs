//! `doctor`: checks the local setup. API keys are named, never shown.

use crate::args::{ReportFormat, StoreArgs};
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::report::{FORMAT, table};
use crate::workspace_source::WorkspaceSource;
use crate::{env, files};
use campaign::open_store;
use model::{AgentEndpoint, ExternalAgent, SubjectFile};
use serde_json::{Value, json};
use std::path::Path;

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
    let workspace = source.open();
    let mut rows = vec![row("version", DoctorState::Ok, env!("CARGO_PKG_VERSION"))];
    match &workspace {
        Ok(workspace) => {
            super::print_load_warnings(io, workspace);
            rows.push(row("workspace", DoctorState::Ok, &format!("{} {}", source.label(), workspace.hash.short())));
            rows.extend(workspace.subjects.iter().flat_map(subject_rows));
        }
        Err(problems) => rows.push(row(
            "workspace",
            DoctorState::Broken,
            &format!("{} has {}; run `bardo-eval smoke`", source.label(), model::count(problems.len(), "problem")),
        )),
    }
    rows.push(match find_anvil() {
        Some(path) => row("anvil", DoctorState::Ok, &path),
        None => row("anvil", DoctorState::Missing, "only needed for --chain anvil; npm package @foundry-rs/anvil"),
    });
    rows.push(store_row(&args.store));
    let exit = if rows.iter().any(|row| row.state == DoctorState::Broken) { ExitKind::Missed } else { ExitKind::Clean };
    io.print_result(&render(io, &rows, exit), exit)
}

fn row(what: &str, state: DoctorState, note: &str) -> DoctorRow {
    DoctorRow { what: what.to_owned(), state, note: note.to_owned() }
}

fn subject_rows(subject: &SubjectFile) -> Vec<DoctorRow> {
    let name = &subject.name.value;
    let mut rows = vec![row(&format!("subject {name}"), DoctorState::Ok, &subject.about)];
    rows.extend(subject.external.iter().flat_map(|agent| external_agent_rows(name, agent)));
    if !subject.provider.is_llm() {
        return rows;
    }
    let provider = subject.provider.word();
    let key = match &subject.key_env {
        Some(variable) if env::is_set(variable) => {
            row(&format!("key of {name}"), DoctorState::Ok, &format!("{variable} is set, for provider {provider}"))
        }
        Some(variable) => row(&format!("key of {name}"), DoctorState::Missing, &format!("set {variable} to run it (provider {provider})")),
        None => {
            row(&format!("key of {name}"), DoctorState::Ok, &format!("none needed for provider {provider}; its server must be running"))
        }
    };
    let price = match &subject.price {
        Some(price) => {
            let note = format!("${} in, ${} out per million tokens, as of {}", price.input_per_mtok, price.output_per_mtok, price.as_of);
            row(&format!("price of {name}"), DoctorState::Ok, &note)
        }
        None => row(&format!("price of {name}"), DoctorState::Missing, "needed for runs with a budget"),
    };
    rows.extend([key, price]);
    rows
}

/// Checks what an external agent needs to be started. A URL is not contacted.
fn external_agent_rows(name: &str, agent: &ExternalAgent) -> Vec<DoctorRow> {
    let mut rows = match &agent.endpoint {
        AgentEndpoint::Url(url) => vec![row(&format!("address of {name}"), DoctorState::Ok, &format!("{url}, called for each move"))],
        AgentEndpoint::Command(command) => {
            let program = command.first().map(String::as_str).unwrap_or_default();
            let here = Path::new(program);
            let found = env::find_program(program).or_else(|| files::exists(here).then(|| here.to_owned()));
            vec![match found {
                Some(path) => row(&format!("program of {name}"), DoctorState::Ok, &path.display().to_string()),
                None => row(&format!("program of {name}"), DoctorState::Missing, &format!("{program} is neither a file nor in PATH")),
            }]
        }
    };
    rows.extend(agent.env.iter().filter(|variable| !env::is_set(variable)).map(|variable| {
        row(&format!("environment of {name}"), DoctorState::Missing, &format!("{variable} is not set, so the agent will not see it"))
    }));
    rows
}

fn find_anvil() -> Option<String> {
    let local = Path::new(".tools/node_modules/.bin/anvil");
    env::find_program("anvil").or_else(|| files::exists(local).then(|| local.to_owned())).map(|path| path.display().to_string())
}

fn store_row(path: &Path) -> DoctorRow {
    let shown = path.display().to_string();
    if !files::exists(path) {
        return row("store", DoctorState::Ok, &format!("{shown}, will be created by the first run"));
    }
    match open_store(path).and_then(|store| store.runs()) {
        Ok(runs) => row("store", DoctorState::Ok, &format!("{shown}, {}", model::count(runs.len(), "run"))),
        Err(error) => row("store", DoctorState::Broken, &format!("{shown}: {error}")),
    }
}

fn render(io: &CliOutput, rows: &[DoctorRow], exit: ExitKind) -> String {
    let word = |state| match state {
        DoctorState::Ok => "ok",
        DoctorState::Missing => "missing",
        DoctorState::Broken => "broken",
    };
    match io.format {
        ReportFormat::Json => {
            let rows: Vec<Value> = rows.iter().map(|row| json!({ "what": row.what, "state": word(row.state), "note": row.note })).collect();
            format!("{:#}\n", json!({ "format": FORMAT, "command": "doctor", "rows": rows, "exit": exit.code() }))
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
            format!("{}\n", table(&["what", "state", "note"], rows))
        }
    }
}
