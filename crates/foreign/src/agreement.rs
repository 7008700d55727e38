//! Verdicts of a source beside our readings: how often they agree, and every case in which they do not.

use crate::action_match::action_match;
use crate::attack_signs::{AttackSigns, SignState};
use crate::log_readings::has_told;
use crate::problem::LogPlace;
use crate::recording::{LogRecording, SourceOutcome, shorten};
use std::collections::BTreeMap;

/// Most disagreements that are kept; the others are counted.
const MAX_DISAGREEMENTS: usize = 100_000;
/// Most verdicts with a row of their own: names come from the log.
const MAX_ROWS: usize = 200;

/// Our reading of what a verdict is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CounterpartReading {
    Good,
    Bad,
    /// We cannot tell, for this reason.
    Absent(String),
}

impl CounterpartReading {
    fn of(good: bool) -> Self {
        if good { CounterpartReading::Good } else { CounterpartReading::Bad }
    }
}

/// Verdict of a source and our reading of the same thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerdictPair {
    pub verdict: String,
    /// Name of our reading.
    pub reading: &'static str,
    pub source: SourceOutcome,
    pub ours: CounterpartReading,
    /// The verdict as written, and what it is about.
    pub written: String,
}

impl VerdictPair {
    /// Pairs every verdict of a recording with our reading. `case_pass` is known if the workspace has the case.
    pub fn all(recording: &LogRecording, case_pass: Option<bool>, signs: Option<&AttackSigns>) -> Vec<Self> {
        let pair = |verdict: &crate::recording::SourceVerdict| {
            let (reading, ours, about) = counterpart(recording, verdict, case_pass, signs);
            let written = if about.is_empty() { verdict.written.clone() } else { format!("{} for {about}", verdict.written) };
            Self { verdict: verdict.name.clone(), reading, source: verdict.outcome.clone(), ours, written: shorten(&written) }
        };
        recording.verdicts.iter().map(pair).collect()
    }
}

fn counterpart(
    recording: &LogRecording,
    verdict: &crate::recording::SourceVerdict,
    case_pass: Option<bool>,
    signs: Option<&AttackSigns>,
) -> (&'static str, CounterpartReading, String) {
    match (verdict.name.as_str(), verdict.about) {
        ("action_match", Some(at)) => match recording.expected.get(at) {
            Some(action) => ("action_match", CounterpartReading::of(action_match(action, &recording.transcript)), action.name.clone()),
            None => ("action_match", CounterpartReading::Absent("there is no such action".into()), String::new()),
        },
        ("communicate", Some(at)) => match recording.required_texts.get(at) {
            Some(text) => ("required_texts", CounterpartReading::of(has_told(recording, text)), format!("\"{text}\"")),
            None => ("required_texts", CounterpartReading::Absent("there is no such text".into()), String::new()),
        },
        ("security", _) => ("goal_reached", goal_counterpart(signs), String::new()),
        _ => match case_pass {
            Some(passed) => ("case_pass", CounterpartReading::of(passed), String::new()),
            None if verdict.name == "reward" => ("reference_path", reference_path(recording), String::new()),
            None => ("case_pass", CounterpartReading::Absent("the case is not in the workspace".into()), String::new()),
        },
    }
}

fn goal_counterpart(signs: Option<&AttackSigns>) -> CounterpartReading {
    match signs.map(|signs| (&signs.seen, &signs.reached)) {
        Some((_, SignState::Yes(_))) => CounterpartReading::Bad,
        Some((SignState::No, SignState::No)) => CounterpartReading::Absent("the payload was never seen".into()),
        Some((_, SignState::No)) => CounterpartReading::Good,
        Some((_, SignState::Unknown(why))) => CounterpartReading::Absent((*why).to_owned()),
        None => CounterpartReading::Absent("nothing was injected".into()),
    }
}

/// Returns whether all expected actions were made and all required texts told: one path to a reward, not the only one.
fn reference_path(recording: &LogRecording) -> CounterpartReading {
    if recording.expected.is_empty() && recording.required_texts.is_empty() {
        return CounterpartReading::Absent("the log has no expected actions".into());
    }
    let actions = recording.expected.iter().all(|action| action_match(action, &recording.transcript));
    CounterpartReading::of(actions && recording.required_texts.iter().all(|text| has_told(recording, text)))
}

/// Counts of one verdict and one reading.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgreementRow {
    pub both_good: u64,
    pub both_bad: u64,
    pub only_source_good: u64,
    pub only_ours_good: u64,
    /// Numbers of pairs that say nothing, by reason.
    pub not_compared: BTreeMap<String, u64>,
}

impl AgreementRow {
    pub fn compared(&self) -> u64 {
        self.both_good + self.both_bad + self.only_source_good + self.only_ours_good
    }

    pub fn agreed(&self) -> u64 {
        self.both_good + self.both_bad
    }
}

/// Recording about which a source and we disagree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disagreement {
    pub at: LogPlace,
    pub case: String,
    pub trial: Option<u64>,
    pub pair: VerdictPair,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgreementTable {
    /// Rows by the name of the verdict and of our reading.
    pub rows: BTreeMap<(String, &'static str), AgreementRow>,
    pub disagreements: Vec<Disagreement>,
    /// Disagreements past the limit of the list.
    pub unlisted: u64,
}

impl AgreementTable {
    pub fn add(&mut self, recording: &LogRecording, pair: VerdictPair) {
        let key = (pair.verdict.clone(), pair.reading);
        let has_row = self.rows.len() < MAX_ROWS || self.rows.contains_key(&key);
        let row = self.rows.entry(if has_row { key } else { ("other verdicts".to_owned(), "any") }).or_default();
        let is_disagreement = match (&pair.source, &pair.ours) {
            (SourceOutcome::NotEvidence(why), _) | (_, CounterpartReading::Absent(why)) => {
                // Reasons may quote the log.
                let why: String = why.chars().take(100).collect();
                let known = row.not_compared.len() < 20 || row.not_compared.contains_key(&why);
                *row.not_compared.entry(if known { why } else { "other reasons".to_owned() }).or_default() += 1;
                false
            }
            (SourceOutcome::Good, CounterpartReading::Good) => {
                row.both_good += 1;
                false
            }
            (SourceOutcome::Bad, CounterpartReading::Bad) => {
                row.both_bad += 1;
                false
            }
            (SourceOutcome::Good, CounterpartReading::Bad) => {
                row.only_source_good += 1;
                true
            }
            (SourceOutcome::Bad, CounterpartReading::Good) => {
                row.only_ours_good += 1;
                true
            }
        };
        if is_disagreement && self.disagreements.len() >= MAX_DISAGREEMENTS {
            self.unlisted += 1;
        } else if is_disagreement {
            let (at, case) = (recording.at.clone(), shorten(&recording.transcript.case));
            self.disagreements.push(Disagreement { at, case, trial: recording.trial, pair });
        }
    }
}
