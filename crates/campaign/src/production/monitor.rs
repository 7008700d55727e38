//! Drift over the stored traces, and alerts.

use super::report::ProductionReport;
use super::trace_judge::trace_hex;
use super::usage::trace_cost;
use foreign::TraceFacts;
use model::{ContentHash, Reading, Score, Verdict, Workspace};
use score::drift::{DriftAlarm, DriftBoard, DriftSample, DriftSignal};
use serde::Serialize;
use serde_json::{Value, json};
use store::StoreError;
use store::production::{KeptTrace, ProductionStore};

/// Level of the response times of a trace's model calls, which a reference run has too.
pub(super) const MODEL_LATENCY: &str = "model_latency_ms";
pub(super) const COST: &str = "cost_usd";
/// Traces read at a time.
const PAGE: usize = 1_000;
/// Calls of models, agents and calls of tools of one trace whose latency is watched, of each.
const MAX_LEVELS: usize = 32;

/// Fold over kept traces in the order of their decisions. A replay of the same traces gives the same alarms.
#[derive(Debug, Default)]
pub struct DriftReplay {
    board: DriftBoard,
    /// Answers of the judge come later than their traces, so that they are a stream of their own.
    judged: DriftBoard,
    /// Number of the last trace and of the last answer that were read.
    after: u64,
    after_judged: u64,
}

impl DriftReplay {
    /// Starts with the mix of tools and skills of a reference run.
    pub fn new(board: DriftBoard) -> Self {
        Self { board, ..Self::default() }
    }

    /// Reads the traces that were decided since the last call and returns the alarms they raise. Only the uniform sample counts: traces
    /// that are always kept would look like a change.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read.
    pub fn advance(&mut self, workspace: &Workspace, store: &ProductionStore) -> Result<Vec<DriftAlarm>, StoreError> {
        let mut alarms = self.advance_judged(store)?;
        loop {
            let page = store.kept_traces(0, self.after, PAGE)?;
            let Some(last) = page.last() else { return Ok(alarms) };
            self.after = last.seq;
            for kept in page.iter().filter(|kept| kept.sampled) {
                alarms.extend(drift_sample(workspace, kept).map(|sample| self.board.add(sample)).unwrap_or_default());
            }
        }
    }
}

impl DriftReplay {
    /// Returns changes that few traces have shown so far. [`Self::advance`] returns them once more have come.
    pub fn unsettled(&self) -> Vec<DriftAlarm> {
        self.board.unsettled()
    }

    fn advance_judged(&mut self, store: &ProductionStore) -> Result<Vec<DriftAlarm>, StoreError> {
        let mut alarms = vec![];
        loop {
            let page = store.judgements(0, self.after_judged, PAGE)?;
            let Some(last) = page.last() else { return Ok(alarms) };
            self.after_judged = last.n;
            for judgement in page.into_iter().map(|stored| stored.judgement).filter(|judgement| judgement.sampled) {
                let Ok(score) = serde_json::from_str::<Score>(&judgement.score) else { continue };
                let outcomes: Vec<(String, bool)> = outcome_of(&score).into_iter().collect();
                let trace = trace_hex(&judgement.trace);
                alarms.extend(self.judged.add(DriftSample { at: judgement.at_s, trace, outcomes, ..DriftSample::default() }));
            }
        }
    }
}

/// Returns the scorer and whether the trace had no miss; none if it was not exercised.
fn outcome_of(score: &Score) -> Option<(String, bool)> {
    match score.reading {
        Reading::Tally { of, .. } if of > 0 => Some((score.scorer.to_string(), score.reading.is_clean())),
        Reading::Tally { .. } | Reading::Level(_) | Reading::Unscorable { .. } => None,
    }
}

fn drift_sample(workspace: &Workspace, kept: &KeptTrace) -> Option<DriftSample> {
    let facts: TraceFacts = serde_json::from_str(&kept.facts).ok()?;
    let scores: Vec<Score> = serde_json::from_str(&kept.scores).ok()?;
    let mut slices: Vec<(String, String)> = facts.agents.iter().map(|agent| ("agent".into(), agent.clone())).collect();
    slices.extend(facts.skills.iter().map(|skill| ("skill".into(), skill.clone())));
    slices.extend(facts.chats.first().and_then(|chat| chat.model.clone()).map(|model| ("model".into(), model)));
    let mut outcomes: Vec<(String, bool)> = scores.iter().filter_map(outcome_of).collect();
    outcomes.push(("error_free".into(), facts.failed == 0));
    let cost = trace_cost(workspace, &facts);
    let mut levels = vec![("latency_ms".to_owned(), facts.end_ns.saturating_sub(facts.start_ns) as f64 / 1e6)];
    if !facts.chats.is_empty() {
        levels.push(("tokens".into(), cost.tokens));
        levels.push((MODEL_LATENCY.into(), facts.chats.iter().map(|chat| chat.ms as f64).sum()));
    }
    levels.extend(cost.usd.filter(|_| !facts.chats.is_empty()).map(|usd| (COST.to_owned(), usd)));
    let models = facts.chats.iter().filter_map(|chat| Some((format!("latency_ms of model {}", chat.model.as_ref()?), chat.ms as f64)));
    let agents = facts.agent_ms.iter().map(|(agent, ms)| (format!("latency_ms of agent {agent}"), *ms as f64));
    let tools = facts.tools.iter().map(|tool| (format!("latency_ms of tool {}", tool.tool), tool.ms as f64));
    // Each kind has its share, so that many calls of a model hide no tool.
    levels.extend(
        [models.take(MAX_LEVELS).collect::<Vec<_>>(), agents.take(MAX_LEVELS).collect(), tools.take(MAX_LEVELS).collect()].concat(),
    );
    let versions =
        facts.chats.iter().filter_map(|chat| Some((format!("version of model {}", chat.model.as_ref()?), chat.version.clone()?)));
    let schemas = facts.tool_schemas.iter().map(|(tool, hash)| (format!("schema of tool {tool}"), hash.clone()));
    Some(DriftSample {
        at: kept.at_s,
        trace: trace_hex(&kept.trace),
        slices,
        outcomes,
        levels,
        tools: facts.tools.iter().map(|tool| tool.tool.clone()).collect(),
        skills: facts.skills.iter().cloned().collect(),
        identities: versions.chain(schemas).collect(),
    })
}

/// Alert for a person: a missed gate, a change, a contradiction, missing evidence, or a budget that is used up.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProductionAlert {
    /// Different for every alert and the same in every delivery of it, so that a receiver can drop repetitions.
    pub id: String,
    /// Alerts with the same key are the same, so that they are sent once per cool-down.
    pub key: String,
    pub title: String,
    pub at_s: u64,
    pub details: Value,
}

/// Returns the alerts that a report and new alarms call for.
pub fn new_alerts(report: &ProductionReport, alarms: &[DriftAlarm], now_s: u64) -> Vec<ProductionAlert> {
    let mut alerts = vec![];
    for verdict in report.verdicts.iter().filter(|verdict| verdict.result.verdict == Verdict::Missed) {
        let result = &verdict.result;
        let value = result.metric.value.map_or_else(|| "no value".to_owned(), |value| format!("{value:.4}"));
        alerts.push(ProductionAlert {
            id: String::new(),
            key: format!("gate {} {} {}", result.gate, result.metric.slice, verdict.window.word()),
            title: format!("gate {} missed on {} over {}: {value}", result.gate, result.metric.slice, verdict.window.word()),
            at_s: now_s,
            details: json!({
                "gate": result.gate, "slice": result.metric.slice, "window": verdict.window.word(), "value": result.metric.value,
                "bound": result.bound, "traces": result.metric.cases, "examples": result.worst.iter().map(|worst| &worst.trial).collect::<Vec<_>>(),
            }),
        });
    }
    for alarm in alarms {
        alerts.push(ProductionAlert {
            id: String::new(),
            // Every new version is a change of its own, also within the cool-down of another.
            key: match &alarm.signal {
                DriftSignal::Version { what } => format!("drift {what} {}", alarm.after),
                DriftSignal::PassRate { .. } | DriftSignal::Level { .. } | DriftSignal::Mix { .. } => {
                    format!("drift {}", alarm.signal.name())
                }
            },
            title: format!("{} changed from {} to {}", alarm.signal.name(), alarm.before, alarm.after),
            // The time of the traffic, so that a replay after a restart finds the alert that it raised before.
            at_s: alarm.found,
            details: serde_json::to_value(alarm).unwrap_or_default(),
        });
    }
    let unproven =
        [("contradiction", "a chain contradicts its trace", &report.contradictions), ("gap", "evidence is missing", &report.gaps)];
    for (key, title, reasons) in unproven {
        if let Some(why) = reasons.last() {
            alerts.push(ProductionAlert {
                id: String::new(),
                key: key.into(),
                title: format!("{title}: {why}"),
                at_s: now_s,
                details: json!({ "reasons": reasons }),
            });
        }
    }
    if let Some(burn) = report.budget.as_ref().filter(|_| report.is_over_budget()) {
        alerts.push(ProductionAlert {
            id: String::new(),
            key: "budget".into(),
            title: format!("model calls will cost {:.2} USD today, the budget is {:.2} USD", burn.forecast_usd, burn.budget_usd),
            at_s: now_s,
            details: serde_json::to_value(burn).unwrap_or_default(),
        });
    }
    for alert in &mut alerts {
        alert.id = ContentHash::of_parts(&[&alert.key, "\n", &alert.at_s.to_string()]).as_str().to_owned();
    }
    alerts
}
