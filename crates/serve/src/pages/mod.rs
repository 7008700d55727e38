//! Pages of the viewer. Everything on them was written by models, tools or attackers, so all texts go through [`shown`], and no page has a script or a
//! style of its own.

mod attack_summary;
mod charts;
mod compare;
mod delegation_graph;
mod filter_form;
mod frame;
mod production;
mod red_team;
mod run;
mod runs;
mod search;
mod trial;
mod trial_input;
mod trials;
mod workspace;

pub use attack_summary::{AttackSeverity, AttackSummary, FindingEntry, HeatEntry, attack_texts};
pub use compare::{CompareChoice, ComparePage, TrialPair, compare_page, comparison_file, trial_pair_page};
pub use filter_form::FilterQuery;
pub use frame::{PageAssets, error_page};
pub(crate) use frame::{SCRIPT, STYLE};
pub use production::{ProductionSummary, SignalCourse, UsageEntry, UsageSection, production_page};
pub use red_team::{MAX_FINDINGS, RedTeamPage, red_team_page};
pub use run::{PassRates, RunFacts, RunPage, run_page};
pub use runs::{GateHistory, RunsPage, runs_page};
pub use search::{FoundTrial, SearchPage, search_page};
pub use trial::{RawTrial, TrialView, raw_page, trial_page};
pub use trial_input::{TrialInput, trial_input_page};
pub use trials::{TrialsPage, trials_page};
pub use workspace::workspace_page;

use present::escape::escape_control;
use store::StoredOutcome;

/// Characters of a text that a page shows; the raw page shows more.
const MAX_TEXT_CHARS: usize = 4_000;

/// Returns a text with hidden characters made visible, cut if it is very long.
pub(crate) fn shown(text: &str) -> String {
    shown_within(text, MAX_TEXT_CHARS)
}

pub(crate) fn shown_within(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => escape_control(text),
        Some((end, _)) => format!("{}… ({} bytes more)", escape_control(&text[..end]), text.len() - end),
    }
}

/// Returns a text of several lines with hidden characters made visible.
pub(crate) fn shown_lines(text: &str, most: usize) -> String {
    let (kept, more) = match text.char_indices().nth(most) {
        None => (text, String::new()),
        Some((end, _)) => (&text[..end], format!("\n… ({} bytes more)", text.len() - end)),
    };
    let lines: Vec<String> = kept.split('\n').map(escape_control).collect();
    lines.join("\n") + &more
}

/// Returns the mark of an outcome, so that colour is not the only sign.
pub(crate) fn outcome_mark(outcome: StoredOutcome) -> &'static str {
    match outcome {
        StoredOutcome::Passed => "✓",
        StoredOutcome::Failed => "✗",
        StoredOutcome::Unjudged => "·",
        StoredOutcome::Aborted => "!",
    }
}

/// Returns a time in words.
pub(crate) fn duration(us: u64) -> String {
    match us {
        0..1_000 => format!("{us} µs"),
        1_000..1_000_000 => format!("{:.1} ms", us as f64 / 1e3),
        1_000_000..60_000_000 => format!("{:.1} s", us as f64 / 1e6),
        _ => format!("{} min {} s", us / 60_000_000, us / 1_000_000 % 60),
    }
}

/// Returns the time between two times of a run; nothing if one is unreadable.
pub(crate) fn time_between(started: &str, ended: &str) -> Option<String> {
    let (started, ended) = (humantime::parse_rfc3339(started).ok()?, humantime::parse_rfc3339(ended).ok()?);
    let taken = ended.duration_since(started).ok()?;
    Some(match taken.as_secs() {
        0 => "under 1 s".to_owned(),
        seconds => duration(seconds.saturating_mul(1_000_000)),
    })
}

/// Returns an amount of US dollars from nano-dollars.
pub(crate) fn usd(nanos: u64) -> String {
    if nanos == 0 { "0".to_owned() } else { format!("{:.4}", nanos as f64 / 1e9) }
}

/// Encodes a text for the query of an address.
pub(crate) fn query_value(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~');
    text.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

#[cfg(test)]
mod tests;
