//! Reports of mistakes in files and arguments.

use super::escape::{escape_cell, escape_control, markdown_code};
use super::{FORMAT, annotations, junit, sarif};
use crate::args::ReportFormat;
use crate::exit::ExitKind;
use crate::io::CliOutput;
use model::{Problem, UserError};
use serde_json::{Value, json};

/// Reports the mistakes of a workspace's files.
pub(crate) fn print_problems(io: &CliOutput, command: &str, problems: &[Problem]) -> ExitKind {
    let errors: Vec<UserError> = problems.iter().cloned().map(UserError::from).collect();
    if has_message(io) {
        let rest = print_mistakes(io, &errors);
        let more = if rest > 0 { format!(" ({rest} not shown; --verbose shows all)") } else { String::new() };
        io.print_message(&format!("{}{more}; nothing was run", model::count(errors.len(), "problem")));
    }
    document(io, command, &errors)
}

/// Reports mistakes that keep a command from running anything.
pub(crate) fn print_refusal(io: &CliOutput, command: &str, errors: &[UserError]) -> ExitKind {
    if has_message(io) {
        print_mistakes(io, errors);
        io.print_message("nothing was run");
    }
    document(io, command, errors)
}

/// Reports a mistake of a command that runs no cases.
pub(crate) fn print_error(io: &CliOutput, command: &str, error: &UserError) -> ExitKind {
    if has_message(io) {
        print_mistake(io, error);
    }
    document(io, command, std::slice::from_ref(error))
}

/// Returns whether mistakes are printed as messages: as text, and beside a report that goes to a file, so that no failure is silent.
fn has_message(io: &CliOutput) -> bool {
    io.format == ReportFormat::Text || io.output_file().is_some()
}

/// Mistakes printed without `--verbose`.
const MAX_MISTAKES: usize = 50;

/// Prints the first mistakes and returns the number of the others.
fn print_mistakes(io: &CliOutput, errors: &[UserError]) -> usize {
    let shown = if io.verbose { errors.len() } else { errors.len().min(MAX_MISTAKES) };
    errors[..shown].iter().for_each(|error| print_mistake(io, error));
    errors.len() - shown
}

/// Prints one mistake: where, what and remedy on one line, details below.
fn print_mistake(io: &CliOutput, error: &UserError) {
    let mut lines = error.what.split('\n').map(escape_control);
    let place = error.location.iter().map(|place| io.paint.strong(&escape_control(&io.location(place))));
    let remedy = if error.remedy.is_empty() { String::new() } else { io.paint.dim(&format!("; {}", escape_control(&error.remedy))) };
    let columns: Vec<String> = place.chain(lines.next().map(|what| what + &remedy)).collect();
    io.print_message(&columns.join("  "));
    for line in lines {
        io.print_message(&line);
    }
}

/// Writes the mistakes as the result, in the requested format. As text they are messages, and there is no result.
fn document(io: &CliOutput, command: &str, errors: &[UserError]) -> ExitKind {
    let text = match io.format {
        ReportFormat::Text => return ExitKind::Usage,
        ReportFormat::Json => {
            let rows: Vec<Value> = errors.iter().map(|error| row(io, error)).collect();
            let document = json!({ "format": FORMAT, "command": command, "problems": rows, "exit": ExitKind::Usage.code() });
            format!("{document:#}\n")
        }
        ReportFormat::Junit => junit::problems(io, command, errors),
        ReportFormat::Github => annotations::problems(io, errors),
        ReportFormat::Sarif => sarif::problems(io, errors),
        ReportFormat::Markdown => markdown(io, command, errors),
    };
    io.print_result(&text, ExitKind::Usage)
}

fn row(io: &CliOutput, error: &UserError) -> Value {
    match &error.location {
        Some(place) => json!({ "file": io.file_path(place), "line": place.line, "what": error.what, "remedy": error.remedy }),
        None => json!({ "what": error.what, "remedy": error.remedy }),
    }
}

fn markdown(io: &CliOutput, command: &str, errors: &[UserError]) -> String {
    let place = |error: &UserError| error.location.as_ref().map(|place| markdown_code(&io.location(place))).unwrap_or_default();
    let rows: String = errors
        .iter()
        .map(|error| format!("| {} | {} | {} |\n", place(error), escape_cell(&error.what), escape_cell(&error.remedy)))
        .collect();
    format!("## {command}: nothing was run\n\n| where | what | remedy |\n|---|---|---|\n{rows}")
}
