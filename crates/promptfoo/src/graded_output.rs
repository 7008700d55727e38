//! Output of a provider with its surroundings, and what the grading of it needs and returns.

use crate::provider_answer::ProviderAnswer;
use crate::providers::ProviderCaller;
use model::ContentHash;
use run::providers::FaultKind;
use score::assertions::{AssertionMode, AssertionResult, TraceSpan, TrajectoryStep, steps_of_spans, tool_calls};
use script::ScriptPool;
use serde_json::{Map, Value};

/// Reason why an output could not be graded.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GradeFault {
    pub why: String,
    /// Kind of the fault, if a judge failed.
    pub fault: Option<FaultKind>,
}

impl From<String> for GradeFault {
    fn from(why: String) -> Self {
        Self { why, fault: None }
    }
}

impl GradeFault {
    pub(crate) fn named(self, type_name: &str) -> Self {
        Self { why: format!("{type_name}: {}", self.why), ..self }
    }
}

/// Result of one assertion with what its script or its judge adds.
pub(crate) struct SingleResult {
    pub result: AssertionResult,
    pub named: Map<String, Value>,
    pub judge_cost: f64,
}

/// Evidence for the assertions of one output.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GradedOutput<'a> {
    pub answer: &'a ProviderAnswer,
    pub output: &'a Value,
    pub prompt: &'a str,
    pub vars: &'a Map<String, Value>,
    pub provider_id: &'a str,
    pub provider_config: &'a Value,
    pub latency_ms: f64,
    /// Id of the trial, if models are asked.
    pub trial: Option<&'a ContentHash>,
    pub repeat: usize,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct OutputGrader<'a> {
    pub pool: &'a ScriptPool,
    /// Calls the models that judge.
    pub caller: &'a ProviderCaller<'a>,
    pub mode: AssertionMode,
    pub template_env: &'a Value,
}

impl OutputGrader<'_> {
    /// Returns the steps of a trace; in the strict mode else those that the tool calls of an output are.
    pub(crate) fn steps(&self, spans: Option<&[TraceSpan]>, output: &Value) -> Option<Vec<TrajectoryStep>> {
        match (spans, self.mode) {
            (Some(spans), _) => Some(steps_of_spans(spans, &[])),
            (None, AssertionMode::Strict) => {
                Some(tool_calls(output).into_iter().map(|(name, args)| TrajectoryStep::tool_call(&name, args)).collect())
            }
            (None, AssertionMode::Compat) => None,
        }
    }
}

/// Returns the spans of a trace that a provider returns beside its output, as `metadata.trace` or `trace`.
pub(crate) fn response_spans(response: &Map<String, Value>) -> Option<Vec<TraceSpan>> {
    let trace = response.get("metadata").and_then(|metadata| metadata.get("trace")).or_else(|| response.get("trace"))?;
    TraceSpan::of_trace(trace)
}
