//! The ranking behind the confusability warning.

use super::export::chosen;
use crate::args::{ConfusableArgs, Format};
use crate::commands::open;
use crate::exit::Exit;
use crate::io::Io;
use crate::open::Source;
use crate::report;
use score::checks::confusable_pairs;
use score::confusability::{Pair, WARN};
use serde_json::json;

pub(super) fn confusable(io: &Io, source: &Source, args: &ConfusableArgs) -> Exit {
    let workspace = match open(io, source, "tools confusable") {
        Ok(workspace) => workspace,
        Err(exit) => return exit,
    };
    let profiles = match chosen(&workspace, &args.profile) {
        Ok(profiles) => profiles,
        Err(lines) => return report::refused(io, "tools confusable", &lines),
    };
    let ranked: Vec<(&str, Vec<Pair>)> = profiles
        .into_iter()
        .map(|profile| (profile.name.as_str(), confusable_pairs(&workspace, profile).into_iter().take(args.top).collect()))
        .collect();
    let text = match io.format {
        Format::Json => {
            let rows: Vec<_> = ranked
                .iter()
                .map(|(profile, pairs)| {
                    let pairs: Vec<_> = pairs
                        .iter()
                        .map(|pair| json!({ "a": pair.a, "b": pair.b, "similarity": pair.similarity, "words": pair.words }))
                        .collect();
                    json!({ "profile": profile, "pairs": pairs })
                })
                .collect();
            format!("{:#}\n", json!({ "format": 1, "command": "tools confusable", "warn_over": WARN, "profiles": rows, "exit": 0 }))
        }
        Format::Text | Format::Junit | Format::Markdown | Format::Github | Format::Sarif => {
            ranked.iter().map(|(profile, pairs)| format!("{}\n{}\n", io.paint.strong(profile), rows(io, pairs))).collect()
        }
    };
    io.result(&text, Exit::Clean)
}

fn rows(io: &Io, pairs: &[Pair]) -> String {
    let width = pairs.iter().map(|pair| pair.a.len() + pair.b.len() + 3).max().unwrap_or(0);
    pairs
        .iter()
        .map(|pair| {
            let names = format!("{:<width$}", format!("{} / {}", pair.a, pair.b));
            let similarity = format!("{:.2}", pair.similarity);
            let similarity = if pair.similarity > WARN { io.paint.unsure(&similarity) } else { similarity };
            format!("  {similarity}  {names}  {}\n", io.paint.dim(&pair.words.join(", ")))
        })
        .collect()
}
