//! Gates judged on a span of production traffic.

use super::weighted_rate::{WeightedRate, WeightedTally};
use crate::scorers::scorer_named;
use model::{Gate, GateAggregate, GateResult, GateWindow, Metric, Reading, Score, SliceAxis, SliceFilter, Verdict, Workspace, WorstCase};
use std::collections::BTreeSet;

/// Name of the traffic as a subject of gates.
const PRODUCTION: &str = "production";
const MAX_WORST: usize = 3;

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
        for slice in slices(gate, &recent) {
            let readings = readings(workspace, gate, slice.as_deref(), &recent);
            verdicts.push(WindowVerdict { window, result: judge(workspace, gate, slice, &readings) });
        }
    }
    verdicts
}

/// Returns the values of the gate's axis that occur; one pooled slice without an axis.
fn slices(gate: &Gate, traces: &[&TraceScores]) -> Vec<Option<String>> {
    let Some(axis) = gate.slice.each else { return vec![None] };
    let names: BTreeSet<&String> = match axis {
        SliceAxis::Agent => traces.iter().flat_map(|trace| &trace.agents).collect(),
        SliceAxis::Skill => traces.iter().flat_map(|trace| &trace.skills).collect(),
        // Traffic has no profile and no category of attack.
        SliceAxis::Profile | SliceAxis::Asi => BTreeSet::new(),
    };
    let kept = names.into_iter().filter(|name| !gate.slice.except.iter().any(|except| **except == **name));
    let found: Vec<Option<String>> = kept.map(|name| Some(name.clone())).collect();
    // A gate without a slice is judged, without evidence, instead of left out.
    if found.is_empty() { vec![Some("none".to_owned())] } else { found }
}

/// Reading of one trace for a gate.
struct WindowReading<'t> {
    trace: &'t TraceScores,
    score: &'t Score,
    reading: &'t Reading,
}

fn readings<'t>(workspace: &Workspace, gate: &Gate, slice: Option<&str>, traces: &[&'t TraceScores]) -> Vec<WindowReading<'t>> {
    let mut found = vec![];
    for trace in traces.iter().filter(|trace| is_selected(workspace, gate, trace)) {
        for score in trace.scores.iter().filter(|score| score.scorer == gate.scorer.value) {
            let reading = match (gate.slice.each, slice) {
                (Some(SliceAxis::Agent), Some(agent)) if !score.by_agent.is_empty() => score.by_agent.get(agent),
                (Some(SliceAxis::Agent), Some(agent)) => trace.agents.contains(agent).then_some(&score.reading),
                (Some(SliceAxis::Skill), Some(skill)) => trace.skills.contains(skill).then_some(&score.reading),
                (Some(SliceAxis::Profile | SliceAxis::Asi), _) => None,
                (Some(SliceAxis::Agent | SliceAxis::Skill) | None, _) => Some(&score.reading),
            };
            found.extend(reading.map(|reading| WindowReading { trace, score, reading }));
        }
    }
    found
}

fn is_selected(workspace: &Workspace, gate: &Gate, trace: &TraceScores) -> bool {
    match &gate.slice.only {
        None => true,
        Some(SliceFilter::Agent(name)) => trace.agents.contains(&name.value),
        Some(SliceFilter::Skill(name)) => trace.skills.contains(&name.value),
        Some(SliceFilter::Writes) => trace.agents.iter().any(|name| workspace.agent(name).is_some_and(|agent| *agent.writes)),
        Some(SliceFilter::Profile(_) | SliceFilter::Tag(_) | SliceFilter::Suites(_)) => false,
    }
}

fn judge(workspace: &Workspace, gate: &Gate, slice: Option<String>, readings: &[WindowReading<'_>]) -> GateResult {
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
    let label = match (gate.slice.each, slice) {
        (Some(axis), Some(value)) => format!("{} {value}", axis.word()),
        (Some(_) | None, Some(_) | None) => "all".to_owned(),
    };
    GateResult {
        gate: gate.id.value.clone(),
        subject: PRODUCTION.to_owned(),
        spec: gate.spec.as_str().to_owned(),
        metric: Metric {
            scorer: gate.scorer.value.clone(),
            slice: label,
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
