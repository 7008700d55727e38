//! Plays the reference run of a case. It tests the evaluation, not an agent, and is the only subject that is given a script.

use super::{Subject, SubjectFault};
use async_trait::async_trait;
use indexmap::IndexMap;
use model::seat::{Heard, View};
use model::suite::{ArgValue, RefDoes, RefStep};
use model::transcript::{Move, ToolAnswer, ToolCall};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, VecDeque};

#[derive(Debug)]
pub struct Reference {
    steps: VecDeque<RefStep>,
    answers: BTreeMap<String, Value>,
    /// The name under which the next answer is kept.
    awaiting: Option<String>,
    /// Calls that stand together are made at once: where only the first move counts, there is no second.
    at_once: bool,
}

impl Reference {
    pub fn new(steps: Vec<RefStep>, at_once: bool) -> Self {
        Self { steps: steps.into(), answers: BTreeMap::new(), awaiting: None, at_once }
    }

    /// The calls that directly follow, when they are to be made together with this one.
    fn joined(&mut self, first: ToolCall) -> Result<Vec<ToolCall>, SubjectFault> {
        let mut calls = vec![first];
        while let Some(RefStep { does: RefDoes::Call { tool, args }, .. }) = self.steps.front().filter(|_| self.at_once) {
            calls.push(ToolCall { tool: tool.value.clone(), args: Value::Object(self.fill(args)?) });
            self.steps.pop_front();
        }
        Ok(calls)
    }

    pub(super) fn keep_answer(&mut self, view: &View<'_>) {
        let Some(name) = self.awaiting.take() else { return };
        // A message may have come in between.
        let answer = view.heard.iter().rev().find(|heard| !matches!(heard, Heard::Message { .. }));
        if let Some(Heard::Answer { answer: ToolAnswer::Result(value), .. } | Heard::Peer { said: value, .. }) = answer {
            self.answers.insert(name, value.clone());
        }
    }

    fn fill(&self, args: &IndexMap<String, ArgValue>) -> Result<Map<String, Value>, SubjectFault> {
        args.iter()
            .map(|(name, value)| {
                let value = match value {
                    ArgValue::Given(value) => value.clone(),
                    ArgValue::From { step, path } => self.look_up(step, path)?,
                };
                Ok((name.clone(), value))
            })
            .collect()
    }

    /// `path` is dotted: `result.id` or `pools.0.pool`.
    fn look_up(&self, step: &str, path: &str) -> Result<Value, SubjectFault> {
        let missing = || SubjectFault::Crashed(format!("the answer \"{step}\" has no {path}"));
        let answer = self.answers.get(step).ok_or_else(|| SubjectFault::Crashed(format!("no answer was kept as \"{step}\"")))?;
        answer.pointer(&format!("/{}", path.replace('.', "/"))).cloned().ok_or_else(missing)
    }
}

#[async_trait]
impl Subject for Reference {
    async fn next(&mut self, view: &View<'_>) -> Result<Move, SubjectFault> {
        self.keep_answer(view);
        let Some(step) = self.steps.pop_front() else { return Ok(Move::Stop) };
        if let Some(agent) = step.agent.as_ref().filter(|agent| agent.value != view.seat.agent) {
            return Err(SubjectFault::Crashed(format!("{}: the step is for {}, but {} acts", agent.at, agent.value, view.seat.agent)));
        }
        self.awaiting = step.name;
        Ok(match step.does {
            RefDoes::Call { tool, args } => {
                let first = ToolCall { tool: tool.value, args: Value::Object(self.fill(&args)?) };
                Move::Call(self.joined(first)?)
            }
            RefDoes::Delegate { to, params } => Move::Delegate { to: to.value, params: self.fill(&params)? },
            RefDoes::Activate { skill, params } => Move::Activate { skill: skill.value, params: self.fill(&params)? },
            RefDoes::Ask(text) => Move::Ask(text),
            RefDoes::Say(text) => Move::Say(text),
            RefDoes::Report(text) => Move::Report(text),
        })
    }
}
