//! Walking through a plan: one move at a time, stopping at the first veto, failed rehearsal or failed write.

use super::action_log::{Done, Outcome, Story, deep, opened};
use super::baseline_index::{KnownTool, Mind};
use super::fill::{Filled, fill};
use super::hand_over::{hand_over, terms};
use super::param_slots::Slot;
use super::planner::Task;
use super::rank::Wish;
use model::transcript::{Move, ToolAnswer, ToolCall};
use model::{Agent, Kind};
use serde_json::{Map, Value, json};
use std::collections::VecDeque;

#[derive(Debug, Default)]
pub(super) struct Walk {
    tasks: VecDeque<Task>,
    pub story: Story,
    /// What was asked for last and is not answered yet.
    under_way: Option<(Task, Map<String, Value>)>,
    /// The frozen action: its id, and what the quote or dry run answered.
    action: Option<(String, Value)>,
}

/// What the walk may look at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ground<'g> {
    pub mind: &'g Mind,
    pub wish: Wish<'g>,
    pub given: &'g Map<String, Value>,
}

impl Walk {
    pub(super) fn new(tasks: Vec<Task>, given: &Map<String, Value>) -> Self {
        let action = given.get("action_id").and_then(Value::as_str).map(|id| (id.to_owned(), Value::Null));
        Self { tasks: tasks.into(), action, ..Self::default() }
    }

    pub(super) fn declined(why: impl Into<String>) -> Self {
        Self { story: Story { done: vec![], outcome: Outcome::Declined(why.into()) }, ..Self::default() }
    }

    /// The next move, or none when all is done.
    pub(super) fn step(&mut self, ground: Ground<'_>) -> Option<Move> {
        while let Some(task) = self.tasks.pop_front() {
            if let Some((args, next)) = self.begin(ground, &task) {
                self.under_way = Some((task, args));
                return Some(next);
            }
        }
        None
    }

    /// `None` where a read cannot be asked for; whatever else cannot be begun ends the walk.
    fn begin(&mut self, ground: Ground<'_>, task: &Task) -> Option<(Map<String, Value>, Move)> {
        match task {
            Task::Read { tool } => {
                let tool = ground.mind.tool(tool)?;
                let filled = self.args(ground, tool);
                let repeated = self
                    .story
                    .done
                    .iter()
                    .any(|done| done.name == tool.name && done.args == filled.args && !self.story.done.iter().any(|done| done.wrote));
                (filled.missing.is_empty() && !repeated).then(|| call(tool, filled.args))
            }
            Task::Prepare { tool, target } => {
                let tool = ground.mind.tool(tool)?;
                let mut args = self.args(ground, tool).args;
                if tool.name == *target {
                    args.insert("dry_run".into(), json!(true));
                }
                Some(call(tool, args))
            }
            Task::Simulate { tool } => {
                let Some((id, _)) = &self.action else { return self.give_up("no action was prepared") };
                let tool = ground.mind.tool(tool)?;
                let mut args = self.args(ground, tool).args;
                args.retain(|name, _| tool.shape.slot(name).is_some_and(|slot| slot.required));
                args.insert("action_id".to_owned(), json!(id));
                Some(call(tool, args))
            }
            Task::Consult { agent } => {
                let params = self.consultation(ground, ground.mind.agent(agent)?);
                Some((params.clone(), Move::Delegate { to: agent.clone(), params }))
            }
            Task::Execute { tool } => {
                let tool = ground.mind.tool(tool)?;
                let Some((id, answer)) = self.action.clone() else { return self.give_up("no action was prepared") };
                let mut filled = self.args(ground, tool);
                for name in filled.missing.clone() {
                    // A quote is handed on as it came.
                    if tool.shape.slot(&name).is_some_and(|slot| matches!(slot.kind, Kind::Object)) {
                        filled.args.insert(name, answer.clone());
                    }
                }
                // What is sent by its id says nothing that was not prepared: any other word would make it another action.
                let prepared = self.story.done.iter().find(|done| done.answer.get("action_id") == Some(&json!(id)) && !done.is_agent);
                filled.args.retain(|name, value| {
                    let required = tool.shape.slot(name).is_some_and(|slot| slot.required);
                    required || prepared.is_some_and(|done| done.args.get(name) == Some(value))
                });
                if tool.takes_action_id {
                    filled.args.insert("action_id".into(), json!(id));
                }
                Some(call(tool, filled.args))
            }
            Task::Delegate { agent, task } => {
                let mut params = hand_over(ground.mind, ground.mind.agent(agent)?, ground.wish, task);
                self.pass_on(ground.mind.agent(agent)?, &mut params);
                Some((params.clone(), Move::Delegate { to: agent.clone(), params }))
            }
        }
    }

    fn give_up<T>(&mut self, why: &str) -> Option<T> {
        self.tasks.clear();
        self.story.outcome = Outcome::Failed(why.to_owned());
        None
    }

    /// From what was said; what is still missing, from earlier answers.
    fn args(&self, ground: Ground<'_>, tool: &KnownTool) -> Filled {
        let mut filled = fill(&ground.mind.lexicon, &tool.shape, ground.wish.turns);
        filled.missing.retain(|name| {
            let Some(slot) = tool.shape.slot(name) else { return true };
            match self.answered(slot).or_else(|| ground.given.get(name).cloned()) {
                Some(value) => {
                    filled.args.insert(name.clone(), value);
                    false
                }
                None => true,
            }
        });
        filled
    }

    /// A value of an earlier answer under the name of the parameter, or of the role it plays.
    fn answered(&self, slot: &Slot) -> Option<Value> {
        let role = match &slot.kind {
            Kind::Address(role) => role.word(),
            Kind::Id(kind) => kind.word(),
            Kind::Enum => slot.name.as_str(),
            _ => return None,
        };
        let names = [slot.name.clone(), role.to_owned(), format!("{role}_address"), format!("{role}_id")];
        let fits = |value: &&Value| match &slot.kind {
            Kind::Address(_) => value.as_str().is_some_and(|text| model::AddressText::parse(text).is_some()),
            _ => (value.is_string() || value.is_number()) && slot.lists(value),
        };
        let answers = self.story.done.iter().filter(|done| done.ok).map(|done| &done.answer);
        answers.flat_map(|answer| names.iter().flat_map(move |name| deep(answer, name))).find(fits).cloned()
    }

    /// What a verifier is told: the action and the user's terms for it.
    fn consultation(&self, ground: Ground<'_>, agent: &Agent) -> Map<String, Value> {
        let target = self.tasks.iter().find_map(|task| if let Task::Execute { tool } = task { ground.mind.tool(tool) } else { None });
        let terms = target
            .map(|tool| {
                terms(&ground.mind.lexicon, &tool.shape, &fill(&ground.mind.lexicon, &tool.shape, ground.wish.turns), ground.wish.turns)
            })
            .unwrap_or_default();
        let mut params = Map::new();
        if let Some((id, _)) = &self.action {
            params.insert("action_id".into(), json!(id));
        }
        for need in agent.needs.iter().filter(|need| *need != "action_id") {
            if let Some(value) = terms.named(need) {
                params.insert(need.clone(), value);
            }
        }
        params
    }

    /// What an earlier specialist found out and a later one needs.
    fn pass_on(&self, agent: &Agent, params: &mut Map<String, Value>) {
        for need in &agent.needs {
            if params.contains_key(need) {
                continue;
            }
            let known = self
                .story
                .done
                .iter()
                .rev()
                .filter(|done| done.ok)
                .flat_map(|done| deep(&done.answer, need))
                .find(|value| value.is_string());
            if let Some(value) = known {
                params.insert(need.clone(), value.clone());
            }
        }
    }

    pub(super) fn answered_by_tool(&mut self, answer: &ToolAnswer) {
        let Some((task, args)) = self.under_way.take() else { return };
        let (value, error) = match answer {
            ToolAnswer::Result(value) => (value.clone(), None),
            ToolAnswer::Error { code, message } => (json!({ "error": code }), Some(format!("{code}: {message}"))),
        };
        let refused = value.get("success") == Some(&json!(false));
        let ok = error.is_none() && !refused;
        let name = match &task {
            Task::Read { tool } | Task::Prepare { tool, .. } | Task::Simulate { tool } | Task::Execute { tool } => tool.clone(),
            Task::Consult { agent } | Task::Delegate { agent, .. } => agent.clone(),
        };
        let why = error.unwrap_or_else(|| format!("{name} did not succeed: {}", value.get("error").unwrap_or(&Value::Null)));
        match &task {
            Task::Prepare { .. } if ok => {
                let id = value.get("action_id").and_then(Value::as_str).map(str::to_owned);
                self.action = id.map(|id| (id, value.clone()));
            }
            Task::Execute { .. } if ok => {
                self.story.outcome = Outcome::Done;
                self.action = None;
            }
            Task::Prepare { .. } | Task::Simulate { .. } | Task::Execute { .. } => {
                if !ok {
                    self.tasks.clear();
                    self.story.outcome = Outcome::Failed(why);
                }
            }
            Task::Read { .. } | Task::Consult { .. } | Task::Delegate { .. } => {}
        }
        let wrote = ok && matches!(task, Task::Execute { .. });
        self.story.done.push(Done { name, is_agent: false, args, answer: value, ok, wrote });
    }

    pub(super) fn answered_by_agent(&mut self, said: &Value) {
        let Some((task, args)) = self.under_way.take() else { return };
        let answer = opened(said);
        let word = |name: &str| answer.get(name).and_then(Value::as_str).map(str::to_lowercase);
        let reason = word("reason").or_else(|| word("summary")).unwrap_or_else(|| "no reason was given".to_owned());
        let (name, ok) = match &task {
            Task::Consult { agent } => {
                let approved = word("decision").is_some_and(|decision| decision.starts_with("approve"));
                if !approved {
                    self.tasks.clear();
                    self.story.outcome = Outcome::Vetoed(format!("{agent}: {reason}"));
                }
                (agent.clone(), approved)
            }
            Task::Delegate { agent, .. } => {
                let status = word("status").or_else(|| word("conclusion")).unwrap_or_default();
                let bad = ["veto", "untrust", "fail", "declin", "error"].iter().find(|bad| status.starts_with(**bad));
                match bad {
                    Some(&("veto" | "untrust")) => {
                        self.tasks.clear();
                        self.story.outcome = Outcome::Vetoed(format!("{agent}: {reason}"));
                    }
                    Some(_) => {
                        self.tasks.clear();
                        self.story.outcome = Outcome::Failed(format!("{agent}: {reason}"));
                    }
                    None => self.story.outcome = Outcome::Done,
                }
                (agent.clone(), bad.is_none())
            }
            Task::Read { tool } | Task::Prepare { tool, .. } | Task::Simulate { tool } | Task::Execute { tool } => (tool.clone(), true),
        };
        self.story.done.push(Done { name, is_agent: true, args, answer, ok, wrote: false });
    }
}

fn call(tool: &KnownTool, args: Map<String, Value>) -> (Map<String, Value>, Move) {
    let call = ToolCall { tool: tool.name.clone(), args: Value::Object(args.clone()) };
    (args, Move::Call(vec![call]))
}
