//! Mistakes in files or arguments: all of them, and nothing was run.

use super::escape::{cell, visible};
use super::{FORMAT, annotations, count, junit, sarif};
use crate::args::Format;
use crate::exit::Exit;
use crate::io::Io;
use model::Problem;
use serde_json::{Value, json};

/// Reports the mistakes of a workspace's files.
pub(crate) fn problems(io: &Io, command: &str, problems: &[Problem]) -> Exit {
    let shown = if io.verbose { problems.len() } else { problems.len().min(50) };
    match io.format {
        Format::Text => {
            for problem in &problems[..shown] {
                io.say(&format!(
                    "{}  {}  {}",
                    io.paint.strong(&visible(&io.at(&problem.at))),
                    visible(&problem.what),
                    io.paint.dim(&visible(&problem.remedy))
                ));
            }
            let rest = problems.len() - shown;
            let more = if rest > 0 { format!(" ({rest} not shown; --verbose shows all)") } else { String::new() };
            io.say(&format!("{}{more}; nothing was run", count(problems.len(), "problem")));
            Exit::Usage
        }
        Format::Json => {
            let rows: Vec<Value> = problems
                .iter()
                .map(|problem| json!({ "file": io.file(&problem.at), "line": problem.at.line, "what": problem.what, "remedy": problem.remedy }))
                .collect();
            let document = json!({ "format": FORMAT, "command": command, "problems": rows, "exit": Exit::Usage.code() });
            io.result(&format!("{document:#}\n"), Exit::Usage)
        }
        Format::Junit => io.result(&junit::problems(io, command, problems), Exit::Usage),
        Format::Github => io.result(&annotations::problems(io, problems), Exit::Usage),
        Format::Sarif => io.result(&sarif::problems(io, problems), Exit::Usage),
        Format::Markdown => {
            let rows: String = problems
                .iter()
                .map(|problem| format!("| `{}` | {} | {} |\n", io.at(&problem.at), cell(&problem.what), cell(&problem.remedy)))
                .collect();
            let text = format!("## {command}: nothing was run\n\n| where | what | remedy |\n|---|---|---|\n{rows}");
            io.result(&text, Exit::Usage)
        }
    }
}

/// Reports arguments that name what does not exist.
pub(crate) fn refused(io: &Io, command: &str, lines: &[String]) -> Exit {
    if io.format == Format::Json {
        let rows: Vec<Value> = lines.iter().map(|line| json!({ "what": line })).collect();
        let document = json!({ "format": FORMAT, "command": command, "problems": rows, "exit": Exit::Usage.code() });
        return io.result(&format!("{document:#}\n"), Exit::Usage);
    }
    for line in lines {
        io.say(line);
    }
    io.say("nothing was run");
    Exit::Usage
}
