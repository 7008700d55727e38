//! Grading of one output: assertions in order, sets of them, metrics and the verdict of the test.

use crate::assertion_spec::{AssertionSpec, SingleAssertion, has_template};
use crate::providers::{ProviderAnswer, ProviderCaller};
use crate::rubric::{rubric_prompt, rubric_verdict};
use crate::script_answer::{function_body, script_answer};
use crate::suite::{ProviderSpec, TestSpec};
use crate::template::render_all;
use model::suite::{AssertionValue, CaseAssertion};
use score::assertions::{
    AssertionAggregate, AssertionInput, AssertionMode, AssertionResult, AssertionTotals, ScriptAnswer, TrajectoryStep, decide, tool_calls,
};
use script::{FunctionCall, ScriptPool, ScriptReply, ScriptRequest};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// Verdict on an output with the result of each assertion.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OutputGrade {
    pub totals: AssertionTotals,
    /// Results in promptfoo's shape.
    pub components: Vec<Value>,
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
    /// Grades an output.
    ///
    /// # Errors
    /// If an assertion cannot be decided.
    pub(crate) async fn grade(&self, test: &TestSpec, graded: GradedOutput<'_>) -> Result<OutputGrade, String> {
        let mut components = vec![];
        let mut aggregate = AssertionAggregate::new(self.mode);
        let mut judges = test.judges.iter();
        for spec in &test.assertions {
            match spec {
                AssertionSpec::Single(assertion) => {
                    let (result, named) = self.single(assertion, judges.next().and_then(Option::as_deref), test, graded).await?;
                    if assertion.type_name == "guardrails"
                        && !result.pass
                        && assertion.config.as_ref().and_then(|config| config.get("purpose")) == Some(&json!("redteam"))
                    {
                        aggregate.guardrail_blocked();
                    }
                    self.add(&mut aggregate, assertion, &result, named, graded).await?;
                    components.push(component(&result, &assertion.json));
                }
                AssertionSpec::Set { assertions, threshold, weight, metric, json } => {
                    let mut inner = AssertionAggregate::new(self.mode);
                    let mut nested = vec![];
                    for assertion in assertions {
                        let (result, named) = self.single(assertion, judges.next().and_then(Option::as_deref), test, graded).await?;
                        self.add(&mut inner, assertion, &result, named, graded).await?;
                        nested.push(component(&result, &assertion.json));
                    }
                    let totals = inner.totals(*threshold);
                    let result = AssertionResult { pass: totals.pass, score: totals.score, reason: totals.reason.clone() };
                    let metric = self.metric(metric.as_deref(), graded).await?;
                    aggregate.add(&result, metric.as_deref(), *weight);
                    for (name, (score, inner_weight)) in totals.named.iter().filter(|(name, _)| Some(name.as_str()) != metric.as_deref()) {
                        aggregate.add_named(name, *score, inner_weight * weight);
                    }
                    components.push(component(&result, json));
                    components.extend(nested);
                }
            }
        }
        if components.is_empty() {
            let totals = AssertionTotals { pass: true, score: 1.0, reason: "No assertions".to_owned(), named: indexmap::IndexMap::new() };
            return Ok(OutputGrade { totals, components });
        }
        Ok(OutputGrade { totals: aggregate.totals(test.threshold), components })
    }

    async fn add(
        &self,
        aggregate: &mut AssertionAggregate,
        assertion: &SingleAssertion,
        result: &AssertionResult,
        named: Map<String, Value>,
        graded: GradedOutput<'_>,
    ) -> Result<(), String> {
        let metric = self.metric(assertion.metric.as_deref(), graded).await?;
        aggregate.add(result, metric.as_deref(), assertion.weight);
        for (name, score) in named.iter().filter(|(name, _)| Some(name.as_str()) != metric.as_deref()) {
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

    /// Decides one assertion; also returns the named scores that its script gave.
    async fn single(
        &self,
        assertion: &SingleAssertion,
        judge: Option<&ProviderSpec>,
        test: &TestSpec,
        graded: GradedOutput<'_>,
    ) -> Result<(AssertionResult, Map<String, Value>), String> {
        let named_type = |why: String| format!("{}: {why}", assertion.type_name);
        let output = match &assertion.transform {
            Some(source) => Cow::Owned(self.transform(source, graded.output, graded).await.map_err(named_type)?),
            None => Cow::Borrowed(graded.output),
        };
        let context = || self.context(assertion, test, graded);
        let mut answer = None;
        let mut value = Cow::Borrowed(&assertion.value);
        if let Some((source, function)) = &assertion.script {
            let call = FunctionCall {
                name: function.clone(),
                method: None,
                constructor: vec![],
                arguments: vec![output.clone().into_owned(), context()],
            };
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
        if let Some(judge) = judge {
            let result = self.judged(judge, assertion, (*value).as_ref(), &output, graded).await.map_err(named_type)?;
            return Ok((result, Map::new()));
        }
        let parsed = match &assertion.parsed {
            Some(parsed) => Cow::Borrowed(parsed),
            None => Cow::Owned(CaseAssertion::from_promptfoo(&assertion.type_name, (*value).as_ref(), assertion.threshold)?),
        };
        let text = output.as_str().map_or_else(|| Cow::Owned(output.to_string()), Cow::Borrowed);
        if answer.is_none() {
            answer = self.engine_answer(&parsed, &output, &text, context).await.map_err(named_type)?;
        }
        let steps: Option<Vec<TrajectoryStep>> = (self.mode == AssertionMode::Strict)
            .then(|| tool_calls(&output).into_iter().map(|(name, args)| TrajectoryStep::tool_call(&name, args)).collect());
        let response = Value::Object(graded.answer.response.clone());
        let input = AssertionInput {
            text: &text,
            mode: self.mode,
            output: Some(&output),
            response: Some(&response),
            tools: graded.provider_config.get("tools"),
            spans: None,
            steps: steps.as_deref(),
            script: answer.as_ref(),
            latency_ms: Some(graded.latency_ms),
            cost_usd: graded.answer.cost,
        };
        let result = decide(&parsed, &input).map_err(|why| named_type(why.to_string()))?;
        let named = match answer {
            Some(ScriptAnswer::Grade(grade)) => grade.rest.get("namedScores").and_then(Value::as_object).cloned().unwrap_or_default(),
            Some(_) | None => Map::new(),
        };
        Ok((result, named))
    }

    /// Asks the judge for its verdict on an output.
    async fn judged(
        &self,
        judge: &ProviderSpec,
        assertion: &SingleAssertion,
        rubric: Option<&Value>,
        output: &Value,
        graded: GradedOutput<'_>,
    ) -> Result<AssertionResult, String> {
        let rubric = rubric.and_then(Value::as_str).ok_or("there is no rubric")?;
        let text = output.as_str().map_or_else(|| output.to_string(), str::to_owned);
        let answer = self.caller.call(judge, &rubric_prompt(rubric, &text, self.mode), graded.vars).await;
        match answer.error {
            Some(why) => Err(format!("the judge {}: {why}", judge.id)),
            None => rubric_verdict(&answer.output, assertion.threshold, assertion.type_name.starts_with("not-"), self.mode),
        }
    }

    /// Runs the JavaScript of an assertion, or a pattern that only JavaScript reads.
    async fn engine_answer(
        &self,
        parsed: &CaseAssertion,
        output: &Value,
        text: &str,
        context: impl Fn() -> Value,
    ) -> Result<Option<ScriptAnswer>, String> {
        let request = match &parsed.value {
            AssertionValue::Source(source) => {
                ScriptRequest::Body { source: function_body(source), output: output.clone(), context: context() }
            }
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
        let body = if source.trim_end().contains('\n') || source.trim_start().starts_with("return ") {
            source.to_owned()
        } else {
            format!("const r = ({source}); return typeof r === 'function' ? r(output, context) : r;")
        };
        let reply = self.run(ScriptRequest::Body { source: body, output: output.clone(), context }).await?;
        script_value(reply).map_err(|why| format!("the transform {why}"))
    }

    async fn rendered(&self, value: Option<&Value>, graded: GradedOutput<'_>) -> Result<Option<Value>, String> {
        let render = |texts: Vec<String>| render_all(self.pool, texts, graded.vars, self.template_env);
        Ok(match value {
            Some(Value::String(text)) => render(vec![text.clone()]).await?.pop().map(Value::String),
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

    fn context(&self, assertion: &SingleAssertion, test: &TestSpec, graded: GradedOutput<'_>) -> Value {
        let mut response = Value::Object(graded.answer.response.clone());
        response["output"] = graded.output.clone();
        let mut context = json!({
            "prompt": graded.prompt,
            "vars": graded.vars,
            "test": test.json,
            "provider": { "id": graded.provider_id, "config": graded.provider_config },
            "providerResponse": response,
        });
        for (key, value) in [
            ("logProbs", graded.answer.response.get("logProbs")),
            ("metadata", graded.answer.response.get("metadata")),
            ("config", assertion.config.as_ref()),
        ] {
            if let Some(value) = value {
                context[key] = value.clone();
            }
        }
        context
    }
}

fn is_script_type(type_name: &str) -> bool {
    type_name.strip_prefix("not-").unwrap_or(type_name) == "javascript"
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

fn component(result: &AssertionResult, assertion: &Value) -> Value {
    let reason = if result.pass { "Assertion passed" } else { &result.reason };
    json!({ "pass": result.pass, "score": result.score, "reason": reason, "assertion": assertion })
}
