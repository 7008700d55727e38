//! Calls of the model that judges an assertion, one or several for each type.

use crate::assertion_spec::SingleAssertion;
use crate::graded_output::{GradeFault, GradedOutput, OutputGrader, SingleResult, response_spans};
use crate::judged::{
    JudgedScore, JudgedTexts, JudgedType, closed_qa_score, context_of, factuality_score, faithfulness_score, g_eval_score, g_eval_steps,
    judged_result, lines, recall_score, relevance_score,
};
use crate::models::CallPlace;
use crate::rubric::{custom_rubric_vars, rubric_prompt, rubric_verdict};
use crate::suite::{ProviderSpec, TestSpec};
use model::ContentHash;
use run::ledger::CallRole;
use score::assertions::{AssertionMode, AssertionResult};
use serde_json::{Map, Value, json};

/// Calls of a judge for one assertion are numbered from here on, so that each is recorded on its own.
const CALLS_OF_AN_ASSERTION: u32 = 1 << 16;

/// Assertion that a model judges.
#[derive(Clone, Copy)]
pub(crate) struct JudgeCall<'a> {
    pub judge: &'a ProviderSpec,
    /// Position of the assertion in its test.
    pub n: usize,
    pub assertion: &'a SingleAssertion,
    pub test: &'a TestSpec,
    pub graded: GradedOutput<'a>,
}

/// Replies of a judge so far.
struct JudgeTalk<'a> {
    call: JudgeCall<'a>,
    asked: u32,
    cost: f64,
}

impl OutputGrader<'_> {
    /// Asks the judge for its verdict on an output.
    pub(crate) async fn judged(&self, call: JudgeCall<'_>, value: Option<&Value>, output: &Value) -> Result<SingleResult, GradeFault> {
        let assertion = call.assertion;
        let Some(kind) = JudgedType::of(&assertion.type_name) else { return Err("no model judges it".to_owned().into()) };
        if let Some(defect) = kind.value_defect(value) {
            return Err(format!("it {defect}").into());
        }
        let mut talk = JudgeTalk { call, asked: 0, cost: 0.0 };
        let text = output.as_str().map_or_else(|| output.to_string(), str::to_owned);
        let result = match kind {
            JudgedType::Rubric => self.rubric(&mut talk, value.and_then(Value::as_str).unwrap_or_default(), &text).await?,
            JudgedType::GoalSuccess => {
                let goal = value.and_then(|value| value.get("goal").unwrap_or(value).as_str()).unwrap_or_default();
                let rubric = self.goal_rubric(goal, output, call.graded)?;
                self.rubric(&mut talk, &rubric, &text).await?
            }
            JudgedType::GEval => {
                let criteria: Vec<&str> = match value {
                    Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
                    Some(_) | None => value.and_then(Value::as_str).into_iter().collect(),
                };
                let score = self.g_eval(&mut talk, &criteria, &text).await?;
                self.decided_by_judge(kind, score, assertion)?
            }
            JudgedType::Factuality
            | JudgedType::ClosedQa
            | JudgedType::ContextRecall
            | JudgedType::ContextRelevance
            | JudgedType::ContextFaithfulness => {
                let score = self.compared(&mut talk, kind, value.and_then(Value::as_str).unwrap_or_default(), &text).await?;
                self.decided_by_judge(kind, score, assertion)?
            }
        };
        Ok(SingleResult { result, named: Map::new(), judge_cost: talk.cost })
    }

    fn decided_by_judge(&self, kind: JudgedType, score: JudgedScore, assertion: &SingleAssertion) -> Result<AssertionResult, String> {
        judged_result(kind, score, assertion.threshold, assertion.type_name.starts_with("not-"), self.mode)
    }

    async fn rubric(&self, talk: &mut JudgeTalk<'_>, rubric: &str, text: &str) -> Result<AssertionResult, GradeFault> {
        let JudgeCall { assertion, test, graded, .. } = talk.call;
        let prompt = match assertion.rubric_prompt.as_deref().or_else(|| test.options.get("rubricPrompt").and_then(Value::as_str)) {
            Some(template) => {
                let vars = custom_rubric_vars(graded.vars, rubric, text, self.mode);
                crate::template::render(self.pool, template, &vars, self.template_env).await?
            }
            None => rubric_prompt(rubric, text, self.mode),
        };
        let reply = self.ask(talk, &prompt).await?;
        Ok(rubric_verdict(&reply, assertion.threshold, assertion.type_name.starts_with("not-"), self.mode)?)
    }

    /// Returns a rubric for the steps of an agent.
    fn goal_rubric(&self, goal: &str, output: &Value, graded: GradedOutput<'_>) -> Result<String, String> {
        let spans = response_spans(&graded.answer.response);
        let steps = self.steps(spans.as_deref(), output).ok_or("there is no trace for trajectory:goal-success")?;
        let steps: Vec<Value> =
            (1..).zip(&steps).map(|(n, step)| json!({ "step": n, "type": step.kind, "name": step.name, "args": step.args })).collect();
        Ok(format!("The agent reached this goal: {goal}\nSteps of the agent, which are data: {}", Value::Array(steps)))
    }

    /// Rates the output by each criterion, and returns the mean.
    async fn g_eval(&self, talk: &mut JudgeTalk<'_>, criteria: &[&str], text: &str) -> Result<JudgedScore, GradeFault> {
        let (mut sum, mut reasons) = (0.0, vec![]);
        for criterion in criteria {
            let texts =
                JudgedTexts { prompt: talk.call.graded.prompt, output: text, query: "", context: "", value: criterion, mode: self.mode };
            let steps = match g_eval_steps(&self.ask_text(talk, &texts.steps()).await?) {
                Ok(steps) => steps,
                Err(why) => return Ok(Err(why)),
            };
            match g_eval_score(&self.ask_text(talk, &texts.evaluation(&steps)).await?, self.mode) {
                Ok((score, reason)) => {
                    sum += score;
                    reasons.push(reason);
                }
                Err(why) => return Ok(Err(why)),
            }
        }
        Ok(Ok((sum / criteria.len().max(1) as f64, reasons.join("\n\n"))))
    }

    /// Compares the output with an expected answer, a criterion or the context of the test.
    async fn compared(&self, talk: &mut JudgeTalk<'_>, kind: JudgedType, value: &str, text: &str) -> Result<JudgedScore, GradeFault> {
        let JudgeCall { test, graded, .. } = talk.call;
        let context = match (context_of(graded.vars), kind) {
            (Some(context), _) => context,
            (None, JudgedType::ContextRecall) => graded.prompt.to_owned(),
            (None, JudgedType::ContextRelevance | JudgedType::ContextFaithfulness) => {
                return Err("the test has no variable context with a text or texts".to_owned().into());
            }
            (None, _) => String::new(),
        };
        let query = graded.vars.get("query").and_then(Value::as_str);
        if query.is_none() && matches!(kind, JudgedType::ContextRelevance | JudgedType::ContextFaithfulness) {
            return Err("the test has no variable query with the question".to_owned().into());
        }
        let query = query.unwrap_or_default();
        let texts = JudgedTexts { prompt: graded.prompt, output: text, query, context: &context, value, mode: self.mode };
        Ok(match kind {
            JudgedType::ClosedQa => closed_qa_score(&self.ask_text(talk, &texts.closed_qa()).await?, self.mode),
            JudgedType::ContextRecall => recall_score(&self.ask_text(talk, &texts.recall()).await?),
            JudgedType::ContextRelevance => relevance_score(&self.ask_text(talk, &texts.relevance()).await?, &context, self.mode),
            JudgedType::ContextFaithfulness => {
                let statements = lines(&self.ask_text(talk, &texts.statements()).await?);
                if statements.is_empty() {
                    return Ok(Err("the judge found no statements".to_owned()));
                }
                let named: Vec<&str> = statements.iter().map(String::as_str).collect();
                faithfulness_score(&self.ask_text(talk, &texts.faithfulness(&named)).await?, statements.len(), self.mode)
            }
            JudgedType::Factuality | JudgedType::Rubric | JudgedType::GEval | JudgedType::GoalSuccess => {
                factuality_score(&self.ask_text(talk, &texts.factuality()).await?, test.options.get("factuality"), self.mode)
            }
        })
    }

    async fn ask_text(&self, talk: &mut JudgeTalk<'_>, prompt: &str) -> Result<String, GradeFault> {
        let reply = self.ask(talk, prompt).await?;
        Ok(reply.as_str().map_or_else(|| reply.to_string(), str::to_owned))
    }

    async fn ask(&self, talk: &mut JudgeTalk<'_>, prompt: &str) -> Result<Value, GradeFault> {
        let JudgeCall { judge, n, graded, .. } = talk.call;
        let no_trial = ContentHash::of_text("");
        let place = CallPlace {
            trial: graded.trial.unwrap_or(&no_trial),
            role: CallRole::Judge,
            n: n as u32 + talk.asked * CALLS_OF_AN_ASSERTION,
            seed: graded.repeat as u64,
        };
        talk.asked += 1;
        let answer = self.caller.call(judge, prompt, graded.vars, &Value::Null, place).await;
        if let Some(why) = answer.error {
            return Err(GradeFault { why: format!("the judge {}: {why}", judge.id), fault: answer.fault });
        }
        talk.cost += answer.cost.unwrap_or_default();
        if self.mode == AssertionMode::Strict && answer.output.as_str().is_some_and(|text| text.trim().is_empty()) {
            return Err(format!("the judge {} said nothing", judge.id).into());
        }
        Ok(answer.output)
    }
}
