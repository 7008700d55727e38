//! Most common causes of failed trials.

use super::super::cause_text::confusion;
use super::super::escape::escape_control;
use super::super::wrap::{PaintedCell, fitted_rows};
use crate::io::CliOutput;
use campaign::RunSummary;

/// Causes of a kind without `--verbose`.
const MAX_TOOLS: usize = 3;
const MAX_OTHERS: usize = 4;
const MAX_VERBOSE: usize = 20;
/// Columns before the causes: the margin and the widest kind with its gap.
const CAUSES_START: usize = 12;

const SEPARATOR: &str = ", ";

pub(super) fn render(io: &CliOutput, summary: &RunSummary) -> String {
    let most = |usual: usize| if io.verbose { MAX_VERBOSE } else { usual };
    let tools: Vec<String> = summary
        .causes
        .confused_tools()
        .into_iter()
        .take(most(MAX_TOOLS))
        .map(|(tools, trials)| format!("{} ({trials})", confusion(tools)))
        .collect();
    let uncalled = summary.causes.uncalled_tools().into_iter().take(most(MAX_TOOLS));
    let uncalled: Vec<String> = uncalled.map(|(tool, trials)| format!("for {tool} ({trials})")).collect();
    let arguments: Vec<String> =
        summary.causes.arguments().into_iter().take(most(MAX_OTHERS)).map(|(name, trials)| format!("{name} ({trials})")).collect();
    let missing: Vec<String> = summary.causes.missing().into_iter().map(|(what, trials)| format!("{what} ({trials})")).collect();
    let fit = |causes: Vec<String>| if io.verbose { causes } else { fitting(causes, io.width.saturating_sub(CAUSES_START)) };
    let value: Vec<String> = summary.causes.wrong_value().map(str::to_owned).into_iter().collect();
    let rules: Vec<String> =
        summary.causes.rules().into_iter().take(most(MAX_OTHERS)).map(|(rule, trials)| format!("{rule} ({trials})")).collect();
    let broken: Vec<String> =
        summary.causes.broken_rules().into_iter().take(most(MAX_OTHERS)).map(|(rule, trials)| format!("{rule} ({trials})")).collect();
    let missing = missing.into_iter().take(most(MAX_OTHERS)).collect();
    let causes = [
        ("tools", tools),
        ("no tool", uncalled),
        ("calls", fit(missing)),
        ("arguments", arguments),
        ("such as", fit(value)),
        ("rules", rules),
        ("such as", fit(broken)),
    ];
    let rows: Vec<Vec<PaintedCell>> = causes
        .into_iter()
        .filter(|(_, causes)| !causes.is_empty())
        .map(|(kind, causes)| vec![PaintedCell::plain(kind), PaintedCell::plain(escape_control(&causes.join(SEPARATOR)))])
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    format!("{}\n{}", io.paint.strong("most common causes (trials)"), fitted_rows(&rows, io.width, 1))
}

/// Returns the first causes that fit one line together.
fn fitting(causes: Vec<String>, width: usize) -> Vec<String> {
    let mut left = width;
    let fits = |cause: &String| {
        let room = left.checked_sub(escape_control(cause).chars().count());
        left = room.unwrap_or_default().saturating_sub(SEPARATOR.len());
        room.is_some()
    };
    causes.into_iter().take_while(fits).collect()
}
