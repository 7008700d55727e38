//! Reports of mistakes in files and arguments.

use super::escape::{cell, visible};
use super::{FORMAT, annotations, count, junit, sarif};
use crate::args::Format;
use crate::exit::Exit;
use crate::io::Io;
use model::{Problem, UserError};
use serde_json::{Value, json};

/// Reports the mistakes of a workspace's files.
pub(crate) fn problems(io: &Io, command: &str, problems: &[Problem]) -> Exit {
    let errors: Vec<UserError> = problems.iter().cloned().map(UserError::from).collect();
    if io.format != Format::Text {
        return document(io, command, &errors);
    }
    let shown = if io.verbose { errors.len() } else { errors.len().min(50) };
    for error in &errors[..shown] {
        say(io, error);
    }
    let rest = errors.len() - shown;
    let more = if rest > 0 { format!(" ({rest} not shown; --verbose shows all)") } else { String::new() };
    io.say(&format!("{}{more}; nothing was run", count(errors.len(), "problem")));
    Exit::Usage
}

/// Reports mistakes that keep a command from running anything.
pub(crate) fn refused(io: &Io, command: &str, errors: &[UserError]) -> Exit {
    if io.format != Format::Text {
        return document(io, command, errors);
    }
    for error in errors {
        say(io, error);
    }
    io.say("nothing was run");
    Exit::Usage
}

/// Reports a mistake of a command that runs no cases.
pub(crate) fn complained(io: &Io, command: &str, error: &UserError) -> Exit {
    if io.format != Format::Text {
        return document(io, command, std::slice::from_ref(error));
    }
    say(io, error);
    Exit::Usage
}

/// Prints one mistake: where, what and remedy on one line, details below.
fn say(io: &Io, error: &UserError) {
    let mut lines = error.what.split('\n').map(visible);
    let place = error.place.iter().map(|place| io.paint.strong(&visible(&io.at(place))));
    let remedy = Some(&error.remedy).filter(|remedy| !remedy.is_empty()).map(|remedy| io.paint.dim(&visible(remedy)));
    let columns: Vec<String> = place.chain(lines.next()).chain(remedy).collect();
    io.say(&columns.join("  "));
    for line in lines {
        io.say(&line);
    }
}

/// Writes the mistakes as the result, in the format that was asked for.
fn document(io: &Io, command: &str, errors: &[UserError]) -> Exit {
    let text = match io.format {
        Format::Text => errors.iter().map(|error| format!("{error}\n")).collect(),
        Format::Json => {
            let rows: Vec<Value> = errors.iter().map(|error| row(io, error)).collect();
            let document = json!({ "format": FORMAT, "command": command, "problems": rows, "exit": Exit::Usage.code() });
            format!("{document:#}\n")
        }
        Format::Junit => junit::problems(io, command, errors),
        Format::Github => annotations::problems(io, errors),
        Format::Sarif => sarif::problems(io, errors),
        Format::Markdown => markdown(io, command, errors),
    };
    io.result(&text, Exit::Usage)
}

fn row(io: &Io, error: &UserError) -> Value {
    match &error.place {
        Some(place) => json!({ "file": io.file(place), "line": place.line, "what": error.what, "remedy": error.remedy }),
        None => json!({ "what": error.what, "remedy": error.remedy }),
    }
}

fn markdown(io: &Io, command: &str, errors: &[UserError]) -> String {
    let place = |error: &UserError| error.place.as_ref().map(|place| format!("`{}`", io.at(place))).unwrap_or_default();
    let rows: String =
        errors.iter().map(|error| format!("| {} | {} | {} |\n", place(error), cell(&error.what), cell(&error.remedy))).collect();
    format!("## {command}: nothing was run\n\n| where | what | remedy |\n|---|---|---|\n{rows}")
}
