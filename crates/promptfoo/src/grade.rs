//! Grading of one output: assertions in order, sets of them, metrics and the verdict of the test.

use crate::assertion_spec::{AssertionSpec, SingleAssertion, has_template};
use crate::graded_output::{GradeFault, GradedOutput, OutputGrader, SingleResult, response_spans};
use crate::judge_calls::JudgeCall;
use crate::output::ResponseView;
use crate::script_answer::{is_script_type, script_answer, transform_body};
use crate::suite::TestSpec;
use crate::template::{render_all, render_plain};
use crate::test_row::ComponentResult;
use model::suite::{AssertionSubject, AssertionValue, CaseAssertion};
use score::assertions::{
    AssertionAggregate, AssertionInput, AssertionMode, AssertionResult, AssertionTotals, ScriptAnswer, decide, function_body,
    skills_of_spans,
};
use script::{FunctionCall, ScriptReply, ScriptRequest};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::sync::Arc;

/// Verdict on an output with the result of each assertion.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OutputGrade {
    pub totals: AssertionTotals,
    pub components: Vec<ComponentResult>,
    /// Cost of the judges, in US dollars.
    pub judge_cost: f64,
}

/// Second argument of an assertion's function.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ScriptContext<'a> {
    prompt: &'a str,
    vars: &'a Map<String, Value>,
    test: &'a Value,
    provider: Value,
    provider_response: ResponseView<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    log_probs: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    config: Option<&'a Value>,
}

impl OutputGrader<'_> {
    /// Grades an output.
    ///
    /// # Errors
    /// If an assertion cannot be decided, or in the strict mode none decides.
    pub(crate) async fn grade(&self, test: &TestSpec, graded: GradedOutput<'_>) -> Result<OutputGrade, GradeFault> {
        let mut components = vec![];
        let mut aggregate = AssertionAggregate::new(self.mode);
        let (mut n, mut judge_cost) = (0, 0.0);
        for spec in &test.assertions {
            match spec {
                AssertionSpec::Single(assertion) => {
                    let single = self.single(assertion, n, test, graded).await?;
                    n += 1;
                    judge_cost += single.judge_cost;
                    let purpose = assertion.config.as_ref().and_then(|config| config.get("purpose"));
                    if assertion.type_name == "guardrails" && !single.result.pass && purpose.and_then(Value::as_str) == Some("redteam") {
                        aggregate.guardrail_blocked();
                    }
                    self.add(&mut aggregate, assertion, &single, graded).await?;
                    components.push(component(single.result, &assertion.json));
                }
                AssertionSpec::Set { assertions, threshold, weight, metric, json } => {
                    let mut inner = AssertionAggregate::new(self.mode);
                    let mut nested = vec![];
                    for assertion in assertions {
                        let single = self.single(assertion, n, test, graded).await?;
                        n += 1;
                        judge_cost += single.judge_cost;
                        self.add(&mut inner, assertion, &single, graded).await?;
                        nested.push(component(single.result, &assertion.json));
                    }
                    let totals = inner.totals(*threshold);
                    let result = AssertionResult { pass: totals.pass, score: totals.score, reason: totals.reason.clone() };
                    let metric = self.metric(metric.as_deref(), graded).await?;
                    aggregate.add(&result, metric.as_deref(), *weight);
                    for (name, (score, inner_weight)) in totals.named.iter().filter(|(name, _)| Some(name.as_str()) != metric.as_deref()) {
                        aggregate.add_named(name, *score, inner_weight * weight);
                    }
                    components.push(component(result, json));
                    components.extend(nested);
                }
            }
        }
        if self.mode == AssertionMode::Strict && !test.assertions.iter().any(AssertionSpec::decides) {
            let why = if components.is_empty() { "it has no assertion" } else { "every assertion has weight 0" };
            return Err(format!("nothing decides this test: {why}").into());
        }
        if components.is_empty() {
            let totals = AssertionTotals { pass: true, score: 1.0, reason: "No assertions".to_owned(), named: indexmap::IndexMap::new() };
            return Ok(OutputGrade { totals, components, judge_cost });
        }
        Ok(OutputGrade { totals: aggregate.totals(test.threshold), components, judge_cost })
    }

    async fn add(
        &self,
        aggregate: &mut AssertionAggregate,
        assertion: &SingleAssertion,
        single: &SingleResult,
        graded: GradedOutput<'_>,
    ) -> Result<(), String> {
        let metric = self.metric(assertion.metric.as_deref(), graded).await?;
        aggregate.add(&single.result, metric.as_deref(), assertion.weight);
        for (name, score) in single.named.iter().filter(|(name, _)| Some(name.as_str()) != metric.as_deref()) {
            aggregate.add_named(name, score.as_f64().unwrap_or_default(), assertion.weight);
        }
        Ok(())
    }

    async fn metric(&self, metric: Option<&str>, graded: GradedOutput<'_>) -> Result<Option<String>, String> {
        match metric {
            Some(metric) => crate::template::render(self.pool, metric, graded.vars, self.template_env).await.map(Some),
            None => Ok(None),
        }
    }

    /// Decides the assertion of this position.
    async fn single(
        &self,
        assertion: &SingleAssertion,
        n: usize,
        test: &TestSpec,
        graded: GradedOutput<'_>,
    ) -> Result<SingleResult, GradeFault> {
        let named_type = |why: String| GradeFault::from(why).named(&assertion.type_name);
        let output = match &assertion.transform {
            Some(source) => Cow::Owned(self.transform(source, graded.output, graded).await.map_err(named_type)?),
            None => Cow::Borrowed(graded.output),
        };
        let context = self.context(assertion, test, graded);
        let mut answer = None;
        let mut value = Cow::Borrowed(&assertion.value);
        if let Some((source, function)) = &assertion.script {
            let arguments = vec![output.clone().into_owned(), serde_json::to_value(&context).unwrap_or_default()];
            let call = FunctionCall { name: function.clone(), method: None, constructor: vec![], arguments };
            let reply = self.run(ScriptRequest::Module { source: source.to_string(), call }).await.map_err(named_type)?;
            if is_script_type(&assertion.type_name) {
                answer = Some(script_answer(reply));
                value = Cow::Owned(Some(Value::String(String::new())));
            } else {
                value = Cow::Owned(Some(script_value(reply).map_err(named_type)?));
            }
        } else if assertion.value.as_ref().is_some_and(has_template) {
            value = Cow::Owned(self.rendered(assertion.value.as_ref(), graded).await.map_err(named_type)?);
        }
        if let Some(judge) = test.judges.get(n).and_then(Option::as_deref) {
            return self
                .judged(JudgeCall { judge, n, assertion, test, graded }, (*value).as_ref(), &output)
                .await
                .map_err(|why| why.named(&assertion.type_name));
        }
        let parsed = match &assertion.parsed {
            Some(parsed) => Cow::Borrowed(parsed),
            None => Cow::Owned(CaseAssertion::from_promptfoo(&assertion.type_name, (*value).as_ref(), assertion.threshold)?),
        };
        let text = output.as_str().map_or_else(|| Cow::Owned(output.to_string()), Cow::Borrowed);
        if answer.is_none() {
            answer = self.engine_answer(&parsed, &output, &text, &context).await.map_err(named_type)?;
        }
        let result = self.decided(&parsed, &output, &text, answer.as_ref(), graded).map_err(named_type)?;
        let named = match answer {
            Some(ScriptAnswer::Grade(grade)) => grade.rest.get("namedScores").and_then(Value::as_object).cloned().unwrap_or_default(),
            Some(_) | None => Map::new(),
        };
        Ok(SingleResult { result, named, judge_cost: 0.0 })
    }

    /// Decides an assertion from the output, the response and the answer of its script.
    fn decided(
        &self,
        parsed: &CaseAssertion,
        output: &Value,
        text: &str,
        answer: Option<&ScriptAnswer>,
        graded: GradedOutput<'_>,
    ) -> Result<AssertionResult, String> {
        let subject = parsed.kind.subject();
        let spans = response_spans(&graded.answer.response);
        let steps = if subject == AssertionSubject::Steps { self.steps(spans.as_deref(), output) } else { None };
        let skills = match (&spans, self.mode) {
            (Some(spans), AssertionMode::Strict) if subject == AssertionSubject::Skills => Some(skills_of_spans(spans)),
            (_, _) => None,
        };
        let reads_reply = matches!(subject, AssertionSubject::Reply | AssertionSubject::Skills);
        let response = reads_reply.then(|| Value::Object(graded.answer.response.clone()));
        let empty = Value::Object(Map::new());
        let input = AssertionInput {
            text,
            mode: self.mode,
            output: Some(output),
            response: Some(response.as_ref().unwrap_or(&empty)),
            tools: graded.provider_config.get("tools"),
            spans: spans.as_deref(),
            steps: steps.as_deref(),
            skills: skills.as_deref(),
            script: answer,
            latency_ms: Some(graded.latency_ms),
            cost_usd: graded.answer.cost,
        };
        decide(parsed, &input).map_err(|why| why.to_string())
    }

    /// Runs the JavaScript of an assertion, or a pattern that only JavaScript reads.
    async fn engine_answer(
        &self,
        parsed: &CaseAssertion,
        output: &Value,
        text: &str,
        context: &ScriptContext<'_>,
    ) -> Result<Option<ScriptAnswer>, String> {
        let request = match &parsed.value {
            AssertionValue::Source(source) => ScriptRequest::body(function_body(source), output, context),
            AssertionValue::Ecma(pattern) if pattern.is_match(text).is_none() => {
                ScriptRequest::Regex { source: pattern.source().to_owned(), text: text.to_owned() }
            }
            AssertionValue::Ecma(_)
            | AssertionValue::Absent
            | AssertionValue::Text(_)
            | AssertionValue::TextList(_)
            | AssertionValue::Json(_)
            | AssertionValue::Pattern(_)
            | AssertionValue::Schema(_)
            | AssertionValue::PathTest { .. }
            | AssertionValue::Words(_)
            | AssertionValue::Steps(_)
            | AssertionValue::Spans(_)
            | AssertionValue::Skills(_) => return Ok(None),
        };
        self.run(request).await.map(|reply| Some(script_answer(reply)))
    }

    async fn run(&self, request: ScriptRequest) -> Result<ScriptReply, String> {
        self.pool.run(request).await.map_err(|why| why.to_string())
    }

    /// Applies a transform: an expression, or a function body of several lines.
    pub(crate) async fn transform(&self, source: &str, output: &Value, graded: GradedOutput<'_>) -> Result<Value, String> {
        let metadata = graded.answer.response.get("metadata").cloned().unwrap_or_default();
        let context = json!({ "vars": graded.vars, "prompt": { "label": graded.prompt, "raw": graded.prompt }, "metadata": metadata });
        let reply = self.run(ScriptRequest::body(transform_body(source), output, &context)).await?;
        let value = script_value(reply).and_then(|value| if value.is_null() { Err("returned nothing".to_owned()) } else { Ok(value) });
        value.map_err(|why| format!("the transform {why}"))
    }

    async fn rendered(&self, value: Option<&Value>, graded: GradedOutput<'_>) -> Result<Option<Value>, String> {
        let render = |texts: Vec<String>| render_all(self.pool, texts, graded.vars, self.template_env);
        Ok(match value {
            Some(Value::String(text)) => match render_plain(text, graded.vars) {
                Some(rendered) => Some(Value::String(rendered)),
                None => render(vec![text.clone()]).await?.pop().map(Value::String),
            },
            Some(Value::Array(items)) => {
                let texts = render(items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()).await?;
                let mut texts = texts.into_iter();
                Some(
                    items
                        .iter()
                        .map(|item| if item.is_string() { texts.next().unwrap_or_default().into() } else { item.clone() })
                        .collect(),
                )
            }
            other => other.cloned(),
        })
    }

    fn context<'g>(&self, assertion: &'g SingleAssertion, test: &'g TestSpec, graded: GradedOutput<'g>) -> ScriptContext<'g> {
        ScriptContext {
            prompt: graded.prompt,
            vars: graded.vars,
            test: &test.json,
            provider: json!({ "id": graded.provider_id, "config": graded.provider_config }),
            provider_response: ResponseView { response: &graded.answer.response, output: graded.output },
            log_probs: graded.answer.response.get("logProbs"),
            metadata: graded.answer.response.get("metadata"),
            trace: graded.answer.response.get("metadata").and_then(|metadata| metadata.get("trace")),
            config: assertion.config.as_ref(),
        }
    }
}

/// Returns the value of a script that is no verdict.
fn script_value(reply: ScriptReply) -> Result<Value, String> {
    match reply {
        ScriptReply::Returned { kind, .. } if kind == "undefined" => Err("returned nothing".to_owned()),
        ScriptReply::Returned { value, .. } => Ok(value),
        ScriptReply::Threw(why) => Err(format!("threw {why}")),
        ScriptReply::Stopped(why) => Err(format!("was stopped: {why}")),
        ScriptReply::Rendered(_) => Err("gave no value".to_owned()),
    }
}

fn component(result: AssertionResult, assertion: &Arc<Value>) -> ComponentResult {
    let reason = if result.pass { "Assertion passed".to_owned() } else { result.reason };
    ComponentResult { pass: result.pass, score: result.score, reason, assertion: Arc::clone(assertion) }
}
