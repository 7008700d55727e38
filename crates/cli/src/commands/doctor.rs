//! What is set up on this machine and what is missing. Keys are named, never shown.

use crate::args::{Format, StoreArgs};
use crate::exit::Exit;
use crate::io::Io;
use crate::open::Source;
use crate::report::{FORMAT, table};
use crate::{env, files};
use campaign::open_store;
use model::{FinishedAgent, Reached, SubjectFile};
use serde_json::{Value, json};
use std::path::Path;

#[derive(Debug)]
struct Row {
    what: String,
    state: State,
    note: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Ok,
    Missing,
    Broken,
}

pub(crate) fn doctor(io: &Io, source: &Source, args: &StoreArgs) -> Exit {
    let workspace = source.open();
    let mut rows = vec![row("version", State::Ok, env!("CARGO_PKG_VERSION"))];
    match &workspace {
        Ok(workspace) => {
            super::warn(io, workspace);
            rows.push(row("workspace", State::Ok, &format!("{} {}", source.label(), workspace.hash.short())));
            rows.extend(workspace.subjects.iter().flat_map(subject_rows));
        }
        Err(problems) => rows.push(row(
            "workspace",
            State::Broken,
            &format!("{} has {} problems; run `bardo-eval smoke`", source.label(), problems.len()),
        )),
    }
    rows.push(match anvil() {
        Some(path) => row("anvil", State::Ok, &path),
        None => row("anvil", State::Missing, "only needed for --chain anvil; npm package @foundry-rs/anvil"),
    });
    rows.push(store_row(&args.store));
    let exit = if rows.iter().any(|row| row.state == State::Broken) { Exit::Missed } else { Exit::Clean };
    io.result(&show(io, &rows, exit), exit)
}

fn row(what: &str, state: State, note: &str) -> Row {
    Row { what: what.to_owned(), state, note: note.to_owned() }
}

fn subject_rows(subject: &SubjectFile) -> Vec<Row> {
    let name = &subject.name.value;
    let mut rows = match run::subjects::available(subject) {
        Ok(_) => vec![row(&format!("subject {name}"), State::Ok, &subject.about)],
        Err(error) => vec![row(&format!("subject {name}"), State::Missing, &error.to_string())],
    };
    rows.extend(subject.finished.iter().flat_map(|agent| finished_rows(name, agent)));
    if !subject.provider.is_llm() {
        return rows;
    }
    let key = match &subject.key_env {
        Some(variable) if env::is_set(variable) => row(&format!("key of {name}"), State::Ok, &format!("{variable} is set")),
        Some(variable) => row(&format!("key of {name}"), State::Missing, &format!("set {variable} to run it")),
        None => row(&format!("key of {name}"), State::Ok, "none needed"),
    };
    let price = match &subject.price {
        Some(price) => {
            let note = format!("${} in, ${} out per million tokens, as of {}", price.input_per_mtok, price.output_per_mtok, price.as_of);
            row(&format!("price of {name}"), State::Ok, &note)
        }
        None => row(&format!("price of {name}"), State::Missing, "without it a run with a budget is refused"),
    };
    rows.extend([key, price]);
    rows
}

/// What a finished agent needs to be started; whether somebody listens at an address shows when it is asked.
fn finished_rows(name: &str, agent: &FinishedAgent) -> Vec<Row> {
    let mut rows = match &agent.reached {
        Reached::Url(url) => vec![row(&format!("address of {name}"), State::Ok, &format!("{url}, asked for each move"))],
        Reached::Command(command) => {
            let program = command.first().map(String::as_str).unwrap_or_default();
            let here = Path::new(program);
            let found = env::find_program(program).or_else(|| files::exists(here).then(|| here.to_owned()));
            vec![match found {
                Some(path) => row(&format!("program of {name}"), State::Ok, &path.display().to_string()),
                None => row(&format!("program of {name}"), State::Missing, &format!("{program} is neither a file nor found in PATH")),
            }]
        }
    };
    rows.extend(agent.env.iter().filter(|variable| !env::is_set(variable)).map(|variable| {
        row(&format!("environment of {name}"), State::Missing, &format!("{variable} is not set, so the agent will not see it"))
    }));
    rows
}

fn anvil() -> Option<String> {
    let local = Path::new(".tools/node_modules/.bin/anvil");
    env::find_program("anvil").or_else(|| files::exists(local).then(|| local.to_owned())).map(|path| path.display().to_string())
}

fn store_row(path: &Path) -> Row {
    let shown = path.display().to_string();
    if !files::exists(path) {
        return row("store", State::Ok, &format!("{shown}, will be created by the first run"));
    }
    match open_store(path).and_then(|store| store.runs()) {
        Ok(runs) => row("store", State::Ok, &format!("{shown}, {} runs", runs.len())),
        Err(error) => row("store", State::Broken, &format!("{shown}: {error}")),
    }
}

fn show(io: &Io, rows: &[Row], exit: Exit) -> String {
    let word = |state| match state {
        State::Ok => "ok",
        State::Missing => "missing",
        State::Broken => "broken",
    };
    match io.format {
        Format::Json => {
            let rows: Vec<Value> = rows.iter().map(|row| json!({ "what": row.what, "state": word(row.state), "note": row.note })).collect();
            format!("{:#}\n", json!({ "format": FORMAT, "command": "doctor", "rows": rows, "exit": exit.code() }))
        }
        Format::Text | Format::Junit | Format::Markdown | Format::Github | Format::Sarif => {
            let rows = rows
                .iter()
                .map(|row| {
                    let state = match row.state {
                        State::Ok => io.paint.good(word(row.state)),
                        State::Missing => io.paint.unsure(word(row.state)),
                        State::Broken => io.paint.bad(word(row.state)),
                    };
                    vec![row.what.clone(), state, row.note.clone()]
                })
                .collect();
            format!("{}\n", table(&["what", "state", "note"], rows))
        }
    }
}
