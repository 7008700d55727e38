//! Gates judged on a span of production traffic.

use super::weighted_rate::{WeightedRate, WeightedTally};
use crate::scorers::scorer_named;
use model::{Gate, GateAggregate, GateResult, GateWindow, Metric, Reading, Score, SliceAxis, SliceFilter, Verdict, Workspace, WorstCase};
use std::collections::BTreeSet;

/// Name of the traffic as a subject of gates.
const PRODUCTION: &str = "production";
const MAX_WORST: usize = 3;
/// Most names that the workspace does not have and that get a slice of their own.
const MAX_UNLISTED: usize = 32;

/// Scores of one kept trace.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceScores {
    pub trace: String,
    /// Seconds since 1970.
    pub at: u64,
    /// Traces that this one stands for.
    pub weight: f64,
    pub agents: BTreeSet<String>,
    pub skills: BTreeSet<String>,
    pub scores: Vec<Score>,
}

/// Verdict of a gate on the newest traffic.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowVerdict {
    pub window: GateWindow,
    pub result: GateResult,
}

/// Judges every gate that has a window on the traces of that window before `now`. Rates count each trace with its weight. A gate needs
/// its `min_cases` in kept traces that exercise it; a broken bound is missed with any number.
pub fn judge_window(workspace: &Workspace, traces: &[TraceScores], now: u64) -> Vec<WindowVerdict> {
    let mut verdicts = vec![];
    for gate in &workspace.gates {
        let Some(window) = gate.window else { continue };
        let from = now.saturating_sub(window.seconds());
        let recent: Vec<&TraceScores> = traces.iter().filter(|trace| trace.at > from && trace.at <= now).collect();
        for slice in slices(workspace, gate, &recent) {
            let readings = readings(workspace, gate, &slice, &recent);
            verdicts.push(WindowVerdict { window, result: judge(workspace, gate, &slice, &readings) });
        }
    }
    verdicts
}

/// Part of the traffic that a gate judges on its own.
#[derive(Debug, Clone, PartialEq, Eq)]
enum WindowSlice<'t> {
    All,
    Named(&'t str),
    /// Names beyond [`MAX_UNLISTED`] that the workspace does not have. Senders of spans make names up, and none may hide among many.
    Others(BTreeSet<&'t str>),
    /// No name occurs: the gate is judged, without evidence, instead of left out.
    Empty,
}

impl WindowSlice<'_> {
    fn contains(&self, name: &str) -> bool {
        match self {
            WindowSlice::All => true,
            WindowSlice::Named(own) => *own == name,
            WindowSlice::Others(names) => names.contains(name),
            WindowSlice::Empty => false,
        }
    }

    fn label(&self, axis: Option<SliceAxis>) -> String {
        let value = match self {
            WindowSlice::All => return "all".to_owned(),
            WindowSlice::Named(name) => (*name).to_owned(),
            WindowSlice::Others(names) => format!("of {} other names", names.len()),
            WindowSlice::Empty => "none".to_owned(),
        };
        axis.map_or_else(|| value.clone(), |axis| format!("{} {value}", axis.word()))
    }
}

/// Returns the values of the gate's axis that occur; one pooled slice without an axis.
fn slices<'t>(workspace: &Workspace, gate: &Gate, traces: &[&'t TraceScores]) -> Vec<WindowSlice<'t>> {
    let Some(axis) = gate.slice.each else { return vec![WindowSlice::All] };
    let all: BTreeSet<&'t str> = match axis {
        SliceAxis::Agent => traces.iter().flat_map(|trace| &trace.agents).map(String::as_str).collect(),
        SliceAxis::Skill => traces.iter().flat_map(|trace| &trace.skills).map(String::as_str).collect(),
        // Traffic has no profile and no category of attack.
        SliceAxis::Profile | SliceAxis::Asi => BTreeSet::new(),
    };
    let names = all.into_iter().filter(|name| !gate.slice.except.iter().any(|except| **except == **name));
    let (known, unknown): (Vec<&str>, Vec<&str>) = names.partition(|name| is_known(workspace, axis, name));
    let known = known.into_iter().filter(|name| !reads_only(workspace, gate, name));
    let mut found: Vec<WindowSlice<'t>> = known.chain(unknown.iter().copied().take(MAX_UNLISTED)).map(WindowSlice::Named).collect();
    let others: BTreeSet<&str> = unknown.into_iter().skip(MAX_UNLISTED).collect();
    if !others.is_empty() {
        found.push(WindowSlice::Others(others));
    }
    if found.is_empty() { vec![WindowSlice::Empty] } else { found }
}

fn is_known(workspace: &Workspace, axis: SliceAxis, name: &str) -> bool {
    match axis {
        SliceAxis::Agent => workspace.agent(name).is_some(),
        SliceAxis::Skill => workspace.skills.iter().any(|skill| skill.name.value == name),
        SliceAxis::Profile | SliceAxis::Asi => false,
    }
}

/// Returns whether a gate on agents that write leaves this agent out, as it does in runs.
fn reads_only(workspace: &Workspace, gate: &Gate, agent: &str) -> bool {
    let only_writers = gate.slice.each == Some(SliceAxis::Agent) && matches!(gate.slice.only, Some(SliceFilter::Writes));
    only_writers && workspace.agent(agent).is_some_and(|agent| !*agent.writes)
}

/// Reading of one trace for a gate.
struct WindowReading<'t> {
    trace: &'t TraceScores,
    score: &'t Score,
    reading: &'t Reading,
}

fn readings<'t>(workspace: &Workspace, gate: &Gate, slice: &WindowSlice<'_>, traces: &[&'t TraceScores]) -> Vec<WindowReading<'t>> {
    let mut found = vec![];
    for trace in traces.iter().filter(|trace| is_selected(workspace, gate, trace)) {
        for score in trace.scores.iter().filter(|score| score.scorer == gate.scorer.value) {
            let has = |names: &BTreeSet<String>| names.iter().any(|name| slice.contains(name));
            let readings: Vec<&Reading> = match gate.slice.each {
                Some(SliceAxis::Agent) if !score.by_agent.is_empty() => {
                    score.by_agent.iter().filter(|(agent, _)| slice.contains(agent)).map(|(_, reading)| reading).collect()
                }
                Some(SliceAxis::Agent) => has(&trace.agents).then_some(&score.reading).into_iter().collect(),
                Some(SliceAxis::Skill) => has(&trace.skills).then_some(&score.reading).into_iter().collect(),
                Some(SliceAxis::Profile | SliceAxis::Asi) => vec![],
                None => vec![&score.reading],
            };
            found.extend(readings.into_iter().map(|reading| WindowReading { trace, score, reading }));
        }
    }
    found
}

fn is_selected(workspace: &Workspace, gate: &Gate, trace: &TraceScores) -> bool {
    match &gate.slice.only {
        None => true,
        Some(SliceFilter::Agent(name)) => trace.agents.contains(&name.value),
        Some(SliceFilter::Skill(name)) => trace.skills.contains(&name.value),
        // An agent without a file may write.
        Some(SliceFilter::Writes) => trace.agents.iter().any(|name| workspace.agent(name).is_none_or(|agent| *agent.writes)),
        Some(SliceFilter::Profile(_) | SliceFilter::Tag(_) | SliceFilter::Suites(_)) => false,
    }
}

fn judge(workspace: &Workspace, gate: &Gate, slice: &WindowSlice<'_>, readings: &[WindowReading<'_>]) -> GateResult {
    let exercised: Vec<&WindowReading<'_>> = readings.iter().filter(|reading| reading.reading.is_exercised()).collect();
    let traces: BTreeSet<&str> = exercised.iter().map(|reading| reading.trace.trace.as_str()).collect();
    let tallies: Vec<WeightedTally> = exercised.iter().filter_map(|reading| tally(reading)).collect();
    let rate = WeightedRate::of(tallies.clone());
    let value = aggregate(gate.aggregate, &exercised, rate);
    let interval = match gate.aggregate {
        GateAggregate::Rate => rate.map(|rate| (rate.low, rate.high)),
        GateAggregate::MissRate => rate.map(|rate| (1.0 - rate.high, 1.0 - rate.low)),
        GateAggregate::Misses | GateAggregate::Max | GateAggregate::Mean | GateAggregate::PassHatK => None,
    };
    let unscorable = readings.iter().filter(|reading| matches!(reading.reading, Reading::Unscorable { .. })).count();
    let (verdict, because) = match value {
        Some(value) if !gate.bound.holds(value) => (Verdict::Missed, String::new()),
        // A trace that could not be read might be a miss.
        Some(_) | None if unscorable > 0 => (Verdict::NoEvidence, format!("{} cannot be scored", model::count(unscorable, "trace"))),
        Some(_) if traces.len() >= gate.min_cases => (Verdict::Met, String::new()),
        Some(_) => (Verdict::NoEvidence, format!("{} of {}", traces.len(), model::count(gate.min_cases, "trace"))),
        None if scorer_named(workspace, &gate.scorer).is_none() => {
            (Verdict::NoEvidence, format!("{} is not measured by this version", gate.scorer.value))
        }
        None => (Verdict::NoEvidence, format!("nothing measured, {} needed", model::count(gate.min_cases, "trace"))),
    };
    GateResult {
        gate: gate.id.value.clone(),
        subject: PRODUCTION.to_owned(),
        spec: gate.spec.as_str().to_owned(),
        metric: Metric {
            scorer: gate.scorer.value.clone(),
            slice: slice.label(gate.slice.each),
            value,
            low: interval.map(|(low, _)| low),
            high: interval.map(|(_, high)| high),
            exact: None,
            n: exercised.len() as u64,
            effective_n: rate.map(|rate| rate.effective_n),
            cases: traces.len(),
        },
        bound: gate.bound,
        verdict,
        rules_out: None,
        because,
        worst: worst(gate, &exercised),
    }
}

fn tally(reading: &WindowReading<'_>) -> Option<WeightedTally> {
    match reading.reading {
        Reading::Tally { hit, of } => Some(WeightedTally { hit: *hit as f64, of: *of as f64, weight: reading.trace.weight }),
        Reading::Level(_) | Reading::Unscorable { .. } => None,
    }
}

fn aggregate(aggregate: GateAggregate, readings: &[&WindowReading<'_>], rate: Option<WeightedRate>) -> Option<f64> {
    let levels = || {
        readings.iter().filter_map(|reading| match reading.reading {
            Reading::Level(level) => Some((*level, reading.trace.weight)),
            Reading::Tally { .. } | Reading::Unscorable { .. } => None,
        })
    };
    match aggregate {
        GateAggregate::Rate => rate.map(|rate| rate.value),
        GateAggregate::MissRate => rate.map(|rate| 1.0 - rate.value),
        // Misses that were seen. Traces outside the sample may have more.
        GateAggregate::Misses => rate.map(|_| {
            readings
                .iter()
                .map(|reading| if let Reading::Tally { hit, of } = reading.reading { of.saturating_sub(*hit) as f64 } else { 0.0 })
                .sum()
        }),
        GateAggregate::Max => levels().map(|(level, _)| level).reduce(f64::max),
        GateAggregate::Mean => {
            let (sum, weight) = levels().fold((0.0, 0.0), |(sum, all), (level, weight)| (sum + level * weight, all + weight));
            (weight > 0.0).then(|| sum / weight)
        }
        // Every trace is another task.
        GateAggregate::PassHatK => None,
    }
}

fn worst(gate: &Gate, readings: &[&WindowReading<'_>]) -> Vec<WorstCase> {
    let breaks = |reading: &Reading| match reading {
        Reading::Tally { hit, of } => hit < of,
        Reading::Level(level) => !gate.bound.holds(*level),
        Reading::Unscorable { .. } => false,
    };
    let missed = readings.iter().rev().filter(|reading| breaks(reading.reading)).take(MAX_WORST);
    missed
        .map(|reading| WorstCase {
            case: reading.trace.trace.clone(),
            trial: reading.trace.trace.clone(),
            because: reading.score.reasons(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::ExampleWorkspace;
    use model::{GateBound, ScorerId};

    fn workspace(window: Option<GateWindow>) -> Workspace {
        let mut workspace = ExampleWorkspace::minimal().load().expect("a workspace");
        let mut gate = workspace.gates.iter().find(|gate| gate.aggregate == GateAggregate::Rate).expect("a gate").clone();
        gate.scorer.value = ScorerId::SafetyPipeline.into();
        (gate.window, gate.min_cases, gate.bound, gate.slice) = (window, 3, GateBound::AtLeast(0.9), model::SliceSpec::default());
        workspace.gates = vec![gate];
        workspace
    }

    fn trace(n: u64, at: u64, good: bool, weight: f64) -> TraceScores {
        let scores = vec![Score::new(ScorerId::SafetyPipeline, Reading::from_bool(good), vec![])];
        TraceScores { trace: format!("t{n}"), at, weight, agents: BTreeSet::new(), skills: BTreeSet::new(), scores }
    }

    fn verdicts(traces: &[TraceScores], now: u64) -> Vec<Verdict> {
        judge_window(&workspace(Some(GateWindow::Hour)), traces, now).into_iter().map(|verdict| verdict.result.verdict).collect()
    }

    #[test]
    fn only_traces_of_the_window_count() {
        let traces: Vec<TraceScores> = (0..10).map(|n| trace(n, 1_000 + n, n != 0, 100.0)).collect();
        assert_eq!(verdicts(&traces, 1_010), [Verdict::Met]);
        assert_eq!(verdicts(&traces, 1_009 + 3_600), [Verdict::NoEvidence]);
        assert_eq!(verdicts(&[], 1_010), [Verdict::NoEvidence]);
        assert_eq!(verdicts(&traces[..1], 1_010), [Verdict::Missed], "a broken bound is missed with one trace");
        assert_eq!(verdicts(&traces[1..3], 1_010), [Verdict::NoEvidence], "two of three");
        assert!(judge_window(&workspace(None), &traces, 1_010).is_empty(), "a gate without a window is not judged");
    }

    #[test]
    fn a_trace_that_cannot_be_scored_blocks_the_gate() {
        let mut traces: Vec<TraceScores> = (0..10).map(|n| trace(n, 1_000, true, 1.0)).collect();
        assert_eq!(verdicts(&traces, 1_010), [Verdict::Met]);
        traces[0].scores[0].reading = Reading::Unscorable { why: "no verdict".into() };
        assert_eq!(verdicts(&traces, 1_010), [Verdict::NoEvidence]);
        traces[1].scores[0].reading = Reading::from_bool(false);
        traces[2].scores[0].reading = Reading::from_bool(false);
        assert_eq!(verdicts(&traces, 1_010), [Verdict::Missed], "a broken bound is missed all the same");
    }

    fn each_agent(only: Option<SliceFilter>) -> Workspace {
        let mut workspace = workspace(Some(GateWindow::Hour));
        workspace.gates[0].slice = model::SliceSpec { each: Some(SliceAxis::Agent), only, ..model::SliceSpec::default() };
        workspace
    }

    fn by_agents(n: u64, good: bool, agents: &[&str]) -> TraceScores {
        TraceScores { agents: agents.iter().map(|agent| (*agent).to_owned()).collect(), ..trace(n, 1_000, good, 1.0) }
    }

    #[test]
    fn agents_that_only_read_have_no_slice_in_a_gate_on_writers() {
        let mut workspace = each_agent(Some(SliceFilter::Writes));
        workspace.agents.iter_mut().for_each(|agent| agent.writes.value = false);
        let name = workspace.agents[0].name.value.clone();
        let slices = |workspace: &Workspace| -> Vec<String> {
            let traces: Vec<TraceScores> = (0..3).map(|n| by_agents(n, true, &[&name, "made-up"])).collect();
            judge_window(workspace, &traces, 1_010).into_iter().map(|verdict| verdict.result.metric.slice).collect()
        };
        assert_eq!(slices(&workspace), ["agent made-up"], "an agent without a file may write");
        workspace.agents[0].writes.value = true;
        assert_eq!(slices(&workspace), [format!("agent {name}"), "agent made-up".to_owned()]);
    }

    #[test]
    fn made_up_names_share_a_slice_in_which_a_miss_counts() {
        let workspace = each_agent(None);
        let names: Vec<String> = (0..10_000).map(|n| format!("made-up {n:05}")).collect();
        let mut traces: Vec<TraceScores> = names.iter().zip(0..).map(|(name, n)| by_agents(n, true, &[name])).collect();
        let verdicts = judge_window(&workspace, &traces, 1_010);
        assert_eq!(verdicts.len(), MAX_UNLISTED + 1);
        let last = &verdicts[MAX_UNLISTED].result;
        assert_eq!((last.metric.slice.as_str(), last.verdict, last.metric.cases), ("agent of 9968 other names", Verdict::Met, 9_968));
        // Misses under the last of the names.
        traces.extend((0..2_000).map(|n| by_agents(20_000 + n, false, &["made-up 09999"])));
        let verdicts = judge_window(&workspace, &traces, 1_010);
        assert_eq!(verdicts[MAX_UNLISTED].result.verdict, Verdict::Missed);
        // The workspace's own agents keep theirs.
        let own = workspace.agents[0].name.value.clone();
        traces.push(by_agents(90_000, true, &[&own]));
        let slices: Vec<String> = judge_window(&workspace, &traces, 1_010).into_iter().map(|verdict| verdict.result.metric.slice).collect();
        assert!(slices.contains(&format!("agent {own}")) && slices.len() == MAX_UNLISTED + 2, "{slices:?}");
    }

    #[test]
    fn always_kept_failures_count_with_their_weight() {
        let mut traces: Vec<TraceScores> = (0..10).map(|n| trace(n, 1_000, true, 100.0)).collect();
        traces.extend((10..20).map(|n| trace(n, 1_000, false, 1.0)));
        let verdict = &judge_window(&workspace(Some(GateWindow::Hour)), &traces, 1_010)[0].result;
        // 1,000 of 1,010 traces, and not 10 of 20.
        assert_eq!(verdict.verdict, Verdict::Met);
        assert!((verdict.metric.value.unwrap() - 1000.0 / 1010.0).abs() < 1e-9);
        assert_eq!(verdict.worst.len(), 3);
    }
}
