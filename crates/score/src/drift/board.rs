//! All monitors of a deployment, and the alarms they raise: since when, by how much, in which slices, with example traces.

use super::level_monitor::LevelMonitor;
use super::mix_monitor::MixMonitor;
use super::rate_monitor::RateMonitor;
use super::reference_level::ReferenceLevel;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Newest samples that are kept to explain an alarm.
const MAX_RECENT: usize = 4_000;
/// Most monitors of one kind, and most values of one identity; names come from outside.
const MAX_MONITORS: usize = 512;
const MAX_VALUES: usize = 1_024;
const MAX_EXAMPLES: usize = 3;
const MAX_SLICES: usize = 3;
/// Traces after which a new version is reported that fewer than [`MAX_EXAMPLES`] traces show.
const MAX_PASSED: usize = 20;

/// Measurements of one trace of the uniform sample.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DriftSample {
    /// Seconds since 1970.
    pub at: u64,
    pub trace: String,
    /// Axis and value, such as `agent` and `trade-executor`.
    pub slices: Vec<(String, String)>,
    /// Scorers that were exercised, with whether the trace had no miss.
    pub outcomes: Vec<(String, bool)>,
    /// Quantities such as `latency_ms` and `cost_usd`.
    pub levels: Vec<(String, f64)>,
    /// Tools by call, and skills by activation.
    pub tools: Vec<String>,
    pub skills: Vec<String>,
    /// Versions, such as the model that answered and the hash of a tool's schema.
    pub identities: Vec<(String, String)>,
}

/// Quantity that changed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum DriftSignal {
    /// Share of traces without a miss of a scorer.
    PassRate {
        scorer: String,
    },
    Level {
        what: String,
    },
    /// Mix of tools or skills.
    Mix {
        what: String,
    },
    Version {
        what: String,
    },
}

impl DriftSignal {
    /// Returns a name for reports, which is also the key of alerts.
    pub fn name(&self) -> String {
        match self {
            DriftSignal::PassRate { scorer } => format!("pass rate of {scorer}"),
            DriftSignal::Level { what } => what.clone(),
            DriftSignal::Mix { what } => format!("mix of {what}"),
            DriftSignal::Version { what } => what.clone(),
        }
    }
}

/// Change that was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DriftAlarm {
    pub signal: DriftSignal,
    /// Seconds since 1970: begin of the change, and the sample at which it was found.
    pub since: u64,
    pub found: u64,
    pub before: String,
    pub after: String,
    /// Traces since the change.
    pub samples: u64,
    pub detector: &'static str,
    /// Slices that moved most.
    pub slices: Vec<SliceShift>,
    /// Traces since the change that show it.
    pub examples: Vec<String>,
}

/// Change of one slice, among the newest samples.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SliceShift {
    pub slice: String,
    pub before: Option<f64>,
    pub after: f64,
    pub samples: u64,
}

/// Version or schema that was not seen before.
#[derive(Debug, Clone)]
struct NewVersion {
    what: String,
    value: String,
    before: String,
    since: u64,
    /// Traces that have it, and all since the first of them.
    shown_by: usize,
    passed: usize,
}

impl NewVersion {
    fn is_in(&self, sample: &DriftSample) -> bool {
        sample.identities.iter().any(|(what, value)| *what == self.what && *value == self.value)
    }

    fn is_settled(&self) -> bool {
        self.shown_by >= MAX_EXAMPLES || self.passed >= MAX_PASSED
    }
}

/// Monitors of every signal.
#[derive(Debug, Default)]
pub struct DriftBoard {
    rates: BTreeMap<String, RateMonitor>,
    levels: BTreeMap<String, LevelMonitor>,
    tools: MixMonitor,
    skills: MixMonitor,
    versions: BTreeMap<String, BTreeSet<String>>,
    /// New values whose alarm waits for further traces.
    new_versions: Vec<NewVersion>,
    /// Quantities that are compared with a reference run.
    references: BTreeMap<String, ReferenceLevel>,
    recent: VecDeque<DriftSample>,
}

impl DriftBoard {
    /// Compares the mixes of tools and skills with those of a reference run instead of the first traces.
    pub fn with_reference(mut self, tools: BTreeMap<String, f64>, skills: BTreeMap<String, f64>) -> Self {
        if !tools.is_empty() {
            self.tools = MixMonitor::with_reference(tools);
        }
        if !skills.is_empty() {
            self.skills = MixMonitor::with_reference(skills);
        }
        self
    }

    /// Compares the mixes of tools and skills with those of a past window.
    pub fn with_past_window(self, window_s: u64) -> Self {
        Self { tools: MixMonitor::over_window(window_s), skills: MixMonitor::over_window(window_s), ..self }
    }

    /// Compares quantities with those of a reference run too, whose values are given by name. Too few values are left out.
    pub fn with_reference_levels(mut self, levels: BTreeMap<String, Vec<f64>>) -> Self {
        self.references = levels.into_iter().filter_map(|(what, values)| Some((what, ReferenceLevel::new(values)?))).collect();
        self
    }

    /// Adds a trace. Returns the changes that it reveals.
    pub fn add(&mut self, sample: DriftSample) -> Vec<DriftAlarm> {
        if self.recent.len() >= MAX_RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(sample.clone());
        let mut alarms = vec![];
        for (scorer, good) in &sample.outcomes {
            let Some(monitor) = bounded(&mut self.rates, scorer) else { continue };
            if let Some(shift) = monitor.add(sample.at, *good) {
                let measure = |sample: &DriftSample| outcome(sample, scorer);
                let signal = DriftSignal::PassRate { scorer: scorer.clone() };
                let slices = self.slice_shifts(shift.since, HarmDirection::Lower, &measure);
                let examples = self.examples(shift.since, |sample| outcome(sample, scorer) == Some(0.0));
                let (before, after) = (percent(shift.before), percent(shift.after));
                let (since, samples, detector) = (shift.since, shift.samples, shift.detector);
                alarms.push(DriftAlarm { signal, since, found: sample.at, before, after, samples, detector, slices, examples });
            }
        }
        for (what, value) in &sample.levels {
            let Some(monitor) = bounded(&mut self.levels, what) else { continue };
            if let Some(shift) = monitor.add(sample.at, *value) {
                let measure = |sample: &DriftSample| level(sample, what);
                let slices = self.slice_shifts(shift.since, HarmDirection::Higher, &measure);
                let examples = self.examples(shift.since, |sample| level(sample, what).is_some_and(|level| level > shift.before));
                let quantile = if shift.quantile < 0.9 { "p50" } else { "p95" };
                let signal = DriftSignal::Level { what: what.clone() };
                let (before, after) = (format!("{quantile} {}", short(shift.before)), format!("{quantile} {}", short(shift.after)));
                let (since, samples, detector) = (shift.since, shift.samples, shift.detector);
                alarms.push(DriftAlarm { signal, since, found: sample.at, before, after, samples, detector, slices, examples });
            }
        }
        self.add_references(&sample, &mut alarms);
        self.add_mixes(&sample, &mut alarms);
        self.add_versions(&sample, &mut alarms);
        alarms
    }

    fn add_references(&mut self, sample: &DriftSample, alarms: &mut Vec<DriftAlarm>) {
        for (what, value) in &sample.levels {
            let Some(found) = self.references.get_mut(what).and_then(|reference| reference.add(sample.at, *value)) else { continue };
            let measure = |sample: &DriftSample| level(sample, what);
            alarms.push(DriftAlarm {
                signal: DriftSignal::Level { what: format!("{what} against the reference") },
                since: found.shift.since,
                found: sample.at,
                before: format!("p50 {}", short(found.before)),
                after: format!("p50 {}", short(found.after)),
                samples: found.shift.samples,
                detector: "population stability index",
                slices: self.slice_shifts(found.shift.since, HarmDirection::Higher, &measure),
                examples: self.examples(found.shift.since, |sample| level(sample, what).is_some_and(|level| level > found.before)),
            });
        }
    }

    fn add_mixes(&mut self, sample: &DriftSample, alarms: &mut Vec<DriftAlarm>) {
        let shifts = [("tools", self.tools.add(sample.at, &sample.tools)), ("skills", self.skills.add(sample.at, &sample.skills))];
        for (what, shift) in shifts {
            let Some(shift) = shift else { continue };
            let kinds = |sample: &DriftSample| if what == "tools" { sample.tools.clone() } else { sample.skills.clone() };
            let moved: Vec<&(String, f64, f64)> = shift.index.moved.iter().take(MAX_SLICES).collect();
            let kind = moved.first().map(|(name, _, _)| name.clone()).unwrap_or_default();
            let slices = moved
                .into_iter()
                .map(|(name, before, after)| SliceShift {
                    slice: name.clone(),
                    before: Some(*before),
                    after: *after,
                    samples: shift.samples,
                })
                .collect();
            alarms.push(DriftAlarm {
                signal: DriftSignal::Mix { what: what.to_owned() },
                since: shift.since,
                found: sample.at,
                before: "index 0".to_owned(),
                after: format!("index {:.2} ({:.2} to {:.2})", shift.index.value, shift.index.low, shift.index.high),
                samples: shift.samples,
                detector: "population stability index",
                slices,
                examples: self.examples(shift.since, |sample| kinds(sample).contains(&kind)),
            });
        }
    }

    /// Notes values that were not seen before. An alarm waits for as many traces as it names, or until enough others have passed.
    fn add_versions(&mut self, sample: &DriftSample, alarms: &mut Vec<DriftAlarm>) {
        for (what, value) in &sample.identities {
            let Some(seen) = bounded(&mut self.versions, what) else { continue };
            if seen.len() >= MAX_VALUES || seen.contains(value) {
                continue;
            }
            // The first value is what counts as usual.
            if !seen.is_empty() {
                let before = seen.iter().rev().take(MAX_SLICES).cloned().collect::<Vec<_>>().join(", ");
                let (what, value) = (what.clone(), value.clone());
                self.new_versions.push(NewVersion { what, value, before, since: sample.at, shown_by: 0, passed: 0 });
            }
            seen.insert(value.clone());
        }
        for version in &mut self.new_versions {
            version.passed += 1;
            version.shown_by += usize::from(version.is_in(sample));
        }
        let (settled, waiting): (Vec<NewVersion>, Vec<NewVersion>) =
            std::mem::take(&mut self.new_versions).into_iter().partition(NewVersion::is_settled);
        self.new_versions = waiting;
        alarms.extend(settled.iter().map(|version| self.version_alarm(version)));
    }

    /// Returns the alarms on new versions that too few traces have shown so far.
    pub fn unsettled(&self) -> Vec<DriftAlarm> {
        self.new_versions.iter().map(|version| self.version_alarm(version)).collect()
    }

    fn version_alarm(&self, version: &NewVersion) -> DriftAlarm {
        let measure = |sample: &DriftSample| {
            let is_known = sample.identities.iter().any(|(what, _)| *what == version.what);
            is_known.then(|| f64::from(u8::from(version.is_in(sample))))
        };
        DriftAlarm {
            signal: DriftSignal::Version { what: version.what.clone() },
            since: version.since,
            // The first trace shows the change; the others are examples.
            found: version.since,
            before: version.before.clone(),
            after: version.value.clone(),
            samples: version.shown_by as u64,
            detector: "new value",
            slices: self
                .slice_shifts(version.since, HarmDirection::Higher, &measure)
                .into_iter()
                .filter(|slice| slice.after > 0.0)
                .collect(),
            examples: self.examples(version.since, |sample| version.is_in(sample)),
        }
    }

    fn examples(&self, since: u64, shows: impl Fn(&DriftSample) -> bool) -> Vec<String> {
        let newest = self.recent.iter().rev().take_while(|sample| sample.at >= since).filter(|sample| shows(sample));
        newest.take(MAX_EXAMPLES).map(|sample| sample.trace.clone()).collect()
    }

    /// Returns the slices whose mean moved most in the bad direction, weighted by their samples.
    fn slice_shifts(&self, since: u64, worse: HarmDirection, measure: &dyn Fn(&DriftSample) -> Option<f64>) -> Vec<SliceShift> {
        let mut sums: BTreeMap<&(String, String), [MeanSum; 2]> = BTreeMap::new();
        for sample in &self.recent {
            let Some(value) = measure(sample) else { continue };
            let side = usize::from(sample.at >= since);
            for slice in &sample.slices {
                sums.entry(slice).or_default()[side].add(value);
            }
        }
        let mut shifts: Vec<(f64, SliceShift)> = vec![];
        for ((axis, value), [old, new]) in sums {
            let Some(after) = new.mean() else { continue };
            let before = old.mean();
            let fall = before.unwrap_or(after) - after;
            let harm = new.n * if worse == HarmDirection::Lower { fall } else { -fall };
            shifts.push((harm, SliceShift { slice: format!("{axis} {value}"), before, after, samples: new.n as u64 }));
        }
        shifts.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.slice.cmp(&b.1.slice)));
        shifts.into_iter().take(MAX_SLICES).map(|(_, shift)| shift).collect()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HarmDirection {
    Lower,
    Higher,
}

#[derive(Debug, Default)]
struct MeanSum {
    n: f64,
    sum: f64,
}

impl MeanSum {
    fn add(&mut self, value: f64) {
        self.n += 1.0;
        self.sum += value;
    }

    fn mean(&self) -> Option<f64> {
        (self.n > 0.0).then(|| self.sum / self.n)
    }
}

/// Returns the monitor of a name; none if there are too many.
fn bounded<'m, T: Default>(monitors: &'m mut BTreeMap<String, T>, name: &str) -> Option<&'m mut T> {
    if monitors.len() >= MAX_MONITORS && !monitors.contains_key(name) {
        return None;
    }
    Some(monitors.entry(name.to_owned()).or_default())
}

fn outcome(sample: &DriftSample, scorer: &str) -> Option<f64> {
    sample.outcomes.iter().find(|(name, _)| name == scorer).map(|(_, good)| f64::from(u8::from(*good)))
}

fn level(sample: &DriftSample, what: &str) -> Option<f64> {
    sample.levels.iter().find(|(name, _)| name == what).map(|(_, value)| *value)
}

fn percent(rate: f64) -> String {
    format!("{:.1} %", rate * 100.0)
}

fn short(value: f64) -> String {
    if value.abs() >= 100.0 { format!("{value:.0}") } else { format!("{value:.4}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::SeededRng;

    fn samples(count: u64) -> Vec<DriftSample> {
        let mut rng = SeededRng::new(3);
        let sample = |at: u64| {
            let trader = rng.percent(50);
            let changed = at >= 2_000;
            let good = rng.percent(if changed && trader { 60 } else { 95 });
            DriftSample {
                at,
                trace: format!("t{at}"),
                slices: vec![("agent".into(), if trader { "trader" } else { "scout" }.into())],
                outcomes: vec![("safety_pipeline".into(), good)],
                levels: vec![("latency_ms".into(), 500.0 + rng.below(500) as f64)],
                tools: vec![if rng.percent(60) { "quote" } else { "swap" }.into()],
                skills: vec![],
                identities: vec![("model".into(), if changed { "m-2" } else { "m-1" }.into())],
            }
        };
        (0..count).map(sample).collect()
    }

    #[test]
    fn alarms_name_begin_size_slices_and_examples() {
        let mut board = DriftBoard::default();
        let alarms: Vec<DriftAlarm> = samples(4_000).into_iter().flat_map(|sample| board.add(sample)).collect();
        let names: Vec<String> = alarms.iter().map(|alarm| alarm.signal.name()).collect();
        assert_eq!(names, ["model", "pass rate of safety_pipeline"]);
        let rate = &alarms[1];
        assert!((1_900..2_150).contains(&rate.since), "{rate:?}");
        assert_eq!(rate.slices[0].slice, "agent trader");
        assert!(rate.slices[0].after < 0.75 && rate.slices[0].before > Some(0.9), "{rate:?}");
        assert_eq!(rate.examples.len(), 3);
        let version = &alarms[0];
        assert_eq!((version.before.as_str(), version.after.as_str(), version.since), ("m-1", "m-2", 2_000));
        assert_eq!(version.examples, ["t2002", "t2001", "t2000"]);
        assert!(!version.slices.is_empty() && version.slices.iter().all(|slice| slice.before == Some(0.0) && slice.after == 1.0));
    }

    #[test]
    fn a_version_that_one_trace_shows_is_reported() {
        let mut board = DriftBoard::default();
        let mut stream = samples(100);
        stream[50].identities[0].1 = "m-9".into();
        let mut settled = vec![];
        for (n, sample) in stream.into_iter().enumerate() {
            let alarms = board.add(sample);
            let waiting = board.unsettled();
            assert_eq!(waiting.len(), usize::from((50..69).contains(&n)), "sample {n}");
            settled.extend(alarms.into_iter().map(|alarm| (n, alarm)));
        }
        let [(at, alarm)] = &settled[..] else { panic!("{settled:?}") };
        assert_eq!((*at, alarm.since, alarm.found, alarm.samples, alarm.examples.as_slice()), (69, 50, 50, 1, &["t50".to_owned()][..]));
        assert_eq!(alarm.slices.len(), 1, "the agent of the trace and no other: {alarm:?}");
    }

    #[test]
    fn replay_gives_the_same_alarms() {
        let run = || {
            let mut board = DriftBoard::default();
            samples(4_000).into_iter().flat_map(|sample| board.add(sample)).collect::<Vec<_>>()
        };
        assert_eq!(run(), run());
    }
}
