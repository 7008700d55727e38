//! `tools confusable`: tool pairs ranked by similarity, as in the confusability warning.

use super::export::select_profiles;
use crate::args::{ConfusableArgs, ReportFormat};
use crate::commands::open_workspace;
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::report;
use crate::workspace_source::WorkspaceSource;
use score::checks::confusable_pairs;
use score::confusability::{ConfusablePair, WARN_SIMILARITY};
use serde_json::json;

pub(super) fn confusable(io: &CliOutput, source: &WorkspaceSource, args: &ConfusableArgs) -> ExitKind {
    let workspace = match open_workspace(io, source, "tools confusable") {
        Ok(workspace) => workspace,
        Err(exit) => return exit,
    };
    let profiles = match select_profiles(&workspace, &args.profile) {
        Ok(profiles) => profiles,
        Err(lines) => return report::print_refusal(io, "tools confusable", &lines),
    };
    let ranked: Vec<(&str, Vec<ConfusablePair>)> = profiles
        .into_iter()
        .map(|profile| (profile.name.as_str(), confusable_pairs(&workspace, profile).into_iter().take(args.top).collect()))
        .collect();
    let text = match io.format {
        ReportFormat::Json => {
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
            format!(
                "{:#}\n",
                json!({ "format": 1, "command": "tools confusable", "warn_over": WARN_SIMILARITY, "profiles": rows, "exit": 0 })
            )
        }
        ReportFormat::Text | ReportFormat::Junit | ReportFormat::Markdown | ReportFormat::Github | ReportFormat::Sarif => {
            ranked.iter().map(|(profile, pairs)| format!("{}\n{}\n", io.paint.strong(profile), rows(io, pairs))).collect()
        }
    };
    io.print_result(&text, ExitKind::Clean)
}

fn rows(io: &CliOutput, pairs: &[ConfusablePair]) -> String {
    let width = pairs.iter().map(|pair| pair.a.len() + pair.b.len() + 3).max().unwrap_or(0);
    pairs
        .iter()
        .map(|pair| {
            let names = format!("{:<width$}", format!("{} / {}", pair.a, pair.b));
            let similarity = format!("{:.2}", pair.similarity);
            let similarity = if pair.similarity > WARN_SIMILARITY { io.paint.unsure(&similarity) } else { similarity };
            format!("  {similarity}  {names}  {}\n", io.paint.dim(&pair.words.join(", ")))
        })
        .collect()
}
