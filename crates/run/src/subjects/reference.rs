//! Control subject that plays the reference run of a case. It tests the evaluation itself and receives the case's script.

use super::{Subject, SubjectFault};
use async_trait::async_trait;
use model::suite::{ArgValue, NamedArgs, ReferenceAction, ReferenceStep};
use model::transcript::{Move, ToolAnswer, ToolCall};
use model::view::{Observation, View};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, VecDeque};

#[derive(Debug)]
pub struct ReferenceSubject {
    steps: VecDeque<ReferenceStep>,
    answers: BTreeMap<String, Value>,
    /// Name under which the next answer is stored.
    awaiting: Option<String>,
    /// Merges consecutive calls into one move, for cases in which only the first move counts.
    at_once: bool,
    /// Plays on with a placeholder for an answer that it did not get, and skips steps of agents that do not act.
    carries_on: bool,
}

/// Value in place of an answer that a subject did not get.
const MISSING_ANSWER: &str = "unknown";

impl ReferenceSubject {
    pub fn new(steps: Vec<ReferenceStep>, at_once: bool) -> Self {
        Self { steps: steps.into(), answers: BTreeMap::new(), awaiting: None, at_once, carries_on: false }
    }

    /// Carries on after an error, as a faulty agent does. The reference must not meet one.
    pub(super) fn carrying_on(self) -> Self {
        Self { carries_on: true, ..self }
    }

    /// Returns the call and, if `at_once` is set, the calls that directly follow it.
    fn batch_calls(&mut self, first: ToolCall) -> Result<Vec<ToolCall>, SubjectFault> {
        let mut calls = vec![first];
        while let Some(ReferenceStep { action: ReferenceAction::Call { tool, args }, .. }) = self.steps.front().filter(|_| self.at_once) {
            calls.push(ToolCall { tool: tool.value.clone(), args: Value::Object(self.fill_args(args)?) });
            self.steps.pop_front();
        }
        Ok(calls)
    }

    pub(super) fn keep_answer(&mut self, view: &View<'_>) {
        let Some(name) = self.awaiting.take() else { return };
        // Skip messages that arrived after the answer.
        let answer = view.observations.iter().rev().find(|one| !matches!(one, Observation::Message { .. }));
        if let Some(Observation::Answer { answer: ToolAnswer::Result(value), .. } | Observation::Peer { said: value, .. }) = answer {
            self.answers.insert(name, value.clone());
        }
    }

    fn fill_args(&self, args: &NamedArgs<ArgValue>) -> Result<Map<String, Value>, SubjectFault> {
        args.iter()
            .map(|(name, value)| {
                let value = match value {
                    ArgValue::Given(value) => value.clone(),
                    ArgValue::From { step, path } => match self.look_up(step, path) {
                        Err(_) if self.carries_on => Value::String(MISSING_ANSWER.to_owned()),
                        found => found?,
                    },
                };
                Ok((name.to_owned(), value))
            })
            .collect()
    }

    /// Looks up a dotted path such as `result.id` or `pools.0.pool` in a stored answer.
    fn look_up(&self, step: &str, path: &str) -> Result<Value, SubjectFault> {
        let missing = || SubjectFault::Crashed(format!("the answer \"{step}\" has no {path}"));
        let answer = self.answers.get(step).ok_or_else(|| SubjectFault::Crashed(format!("no answer was kept as \"{step}\"")))?;
        answer.pointer(&format!("/{}", path.replace('.', "/"))).cloned().ok_or_else(missing)
    }
}

#[async_trait]
impl Subject for ReferenceSubject {
    async fn next(&mut self, view: &View<'_>) -> Result<Move, SubjectFault> {
        self.keep_answer(view);
        let acts = |step: &ReferenceStep| step.agent.as_ref().is_none_or(|agent| agent.value == view.context.agent);
        while self.carries_on && self.steps.front().is_some_and(|step| !acts(step)) {
            self.steps.pop_front();
        }
        let Some(step) = self.steps.pop_front() else { return Ok(Move::Stop) };
        if let Some(agent) = step.agent.as_ref().filter(|agent| agent.value != view.context.agent) {
            return Err(SubjectFault::Crashed(format!("{}: the step is for {}, but {} acts", agent.at, agent.value, view.context.agent)));
        }
        self.awaiting = step.name;
        Ok(match step.action {
            ReferenceAction::Call { tool, args } => {
                let first = ToolCall { tool: tool.value, args: Value::Object(self.fill_args(&args)?) };
                Move::Call(self.batch_calls(first)?)
            }
            ReferenceAction::Delegate { to, params } => Move::Delegate { to: to.value, params: self.fill_args(&params)? },
            ReferenceAction::Activate { skill, params } => Move::Activate { skill: skill.value, params: self.fill_args(&params)? },
            ReferenceAction::Ask(text) => Move::Ask(text),
            ReferenceAction::Say(text) => Move::Say(text),
            ReferenceAction::Report(text) => Move::Report(text),
        })
    }
}
