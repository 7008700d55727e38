//! A table with one row per trial and scorer, for pandas, DuckDB and spreadsheets.

use super::ExportedTrial;
use model::{EventKind, Reading, Score};

/// Names of the columns, as the first line.
pub const HEADER: &str = "run,started,n,trial,case,subject,seed,ending,wall_ms,events,calls,scorer,hit,of,level,unscorable,reasons";

/// Returns the rows of a trial. One without scores has one row with an empty scorer.
pub fn trial_rows(trial: &ExportedTrial<'_>) -> String {
    let transcript = trial.transcript;
    let calls = transcript.events.iter().filter(|event| matches!(event.happened, EventKind::Called { .. })).count();
    let begin = [
        trial.run.to_owned(),
        trial.started.to_owned(),
        trial.n.to_string(),
        transcript.trial.to_string(),
        cell(&transcript.case),
        cell(&transcript.subject),
        trial.seed.to_string(),
        trial.ending_word(),
        (trial.wall_us / 1000).to_string(),
        transcript.events.len().to_string(),
        calls.to_string(),
    ]
    .join(",");
    if trial.scores.is_empty() {
        return format!("{begin},,,,,,\n");
    }
    trial.scores.iter().map(|score| format!("{begin},{}\n", score_cells(score))).collect()
}

fn score_cells(score: &Score) -> String {
    let name = cell(&score.scorer.to_string());
    let reasons = cell(&score.reasons());
    match &score.reading {
        Reading::Tally { hit, of } => format!("{name},{hit},{of},,,{reasons}"),
        Reading::Level(level) => format!("{name},,,{level},,{reasons}"),
        Reading::Unscorable { why } => format!("{name},,,,{},{reasons}", cell(why)),
    }
}

/// Quotes a text. Spreadsheets would run one that begins like a formula, so it gets an apostrophe.
fn cell(text: &str) -> String {
    let safe = if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{text}") } else { text.to_owned() };
    if safe.contains(['"', ',', '\n', '\r']) { format!("\"{}\"", safe.replace('"', "\"\"")) } else { safe }
}

#[cfg(test)]
mod tests {
    use super::cell;

    #[test]
    fn cells_are_quoted_and_never_formulas() {
        for (text, written) in [("a", "a"), ("a,b", "\"a,b\""), ("a \"b\"", "\"a \"\"b\"\"\""), ("=1+1", "'=1+1"), ("a\nb", "\"a\nb\"")] {
            assert_eq!(cell(text), written);
        }
    }
}
