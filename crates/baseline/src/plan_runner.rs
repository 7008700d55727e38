//! Runs a plan one move at a time. Stops at the first veto, failed simulation or failed write.

use crate::action_log::{ActionLog, LoggedAction, RequestOutcome, find_values, parse_embedded_json};
use crate::baseline_index::{BaselineIndex, KnownTool};
use crate::fill::{FilledParams, fill};
use crate::hand_over::{action_terms, hand_over};
use crate::param_slots::ParamSlot;
use crate::plan_task::PlanTask;
use crate::rank::UserRequest;
use model::transcript::{Move, ToolAnswer, ToolCall};
use model::{Agent, ParamKind};
use serde_json::{Map, Value, json};
use std::collections::VecDeque;

#[derive(Debug, Default)]
pub(crate) struct PlanRunner {
    tasks: VecDeque<PlanTask>,
    pub log: ActionLog,
    /// Current task and its arguments.
    under_way: Option<(PlanTask, Map<String, Value>)>,
    /// Prepared action: its id, and the answer of the quote or dry run.
    action: Option<(String, Value)>,
}

/// Inputs of the runner.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunnerContext<'g> {
    pub index: &'g BaselineIndex,
    pub request: UserRequest<'g>,
    pub given: &'g Map<String, Value>,
}

impl PlanRunner {
    pub(crate) fn new(tasks: Vec<PlanTask>, given: &Map<String, Value>) -> Self {
        let action = given.get("action_id").and_then(Value::as_str).map(|id| (id.to_owned(), Value::Null));
        Self { tasks: tasks.into(), action, ..Self::default() }
    }

    pub(crate) fn declined(why: impl Into<String>) -> Self {
        Self { log: ActionLog { done: vec![], outcome: RequestOutcome::Declined(why.into()) }, ..Self::default() }
    }

    /// Returns the next move, or `None` when the plan is complete.
    pub(crate) fn step(&mut self, context: RunnerContext<'_>) -> Option<Move> {
        while let Some(task) = self.tasks.pop_front() {
            if let Some((args, next)) = self.begin_task(context, &task) {
                self.under_way = Some((task, args));
                return Some(next);
            }
        }
        None
    }

    /// Starts a task. Returns `None` if a read cannot be filled; another task that cannot start ends the plan.
    fn begin_task(&mut self, context: RunnerContext<'_>, task: &PlanTask) -> Option<(Map<String, Value>, Move)> {
        match task {
            PlanTask::Read { tool } => {
                let tool = context.index.tool(tool)?;
                let filled = self.fill_args(context, tool);
                let repeated = self
                    .log
                    .done
                    .iter()
                    .any(|done| done.name == tool.name && done.args == filled.args && !self.log.done.iter().any(|done| done.wrote));
                (filled.missing.is_empty() && !repeated).then(|| tool_call(tool, filled.args))
            }
            PlanTask::Prepare { tool, target } => {
                let tool = context.index.tool(tool)?;
                let mut args = self.fill_args(context, tool).args;
                if tool.name == *target {
                    args.insert("dry_run".into(), json!(true));
                }
                Some(tool_call(tool, args))
            }
            PlanTask::Simulate { tool } => {
                let Some((id, _)) = &self.action else { return self.give_up("no action was prepared") };
                let tool = context.index.tool(tool)?;
                let mut args = self.fill_args(context, tool).args;
                args.retain(|name, _| tool.shape.slot(name).is_some_and(|slot| slot.required));
                args.insert("action_id".to_owned(), json!(id));
                Some(tool_call(tool, args))
            }
            PlanTask::Consult { agent } => {
                let params = self.consult_params(context, context.index.agent(agent)?);
                Some((params.clone(), Move::Delegate { to: agent.clone(), params }))
            }
            PlanTask::Execute { tool } => {
                let tool = context.index.tool(tool)?;
                let Some((id, answer)) = self.action.clone() else { return self.give_up("no action was prepared") };
                let mut filled = self.fill_args(context, tool);
                for name in filled.missing.clone() {
                    // Pass the quote unchanged.
                    if tool.shape.slot(&name).is_some_and(|slot| matches!(slot.kind, ParamKind::Object)) {
                        filled.args.insert(name, answer.clone());
                    }
                }
                // By `action_id` only prepared arguments are passed; extra ones would create a different action.
                let prepared = self.log.done.iter().find(|done| done.answer.get("action_id") == Some(&json!(id)) && !done.is_agent);
                filled.args.retain(|name, value| {
                    let required = tool.shape.slot(name).is_some_and(|slot| slot.required);
                    required || prepared.is_some_and(|done| done.args.get(name) == Some(value))
                });
                if tool.takes_action_id {
                    filled.args.insert("action_id".into(), json!(id));
                }
                Some(tool_call(tool, filled.args))
            }
            PlanTask::Delegate { agent, task } => {
                let mut params = hand_over(context.index, context.index.agent(agent)?, context.request, task);
                self.pass_on_reports(context.index.agent(agent)?, &mut params);
                Some((params.clone(), Move::Delegate { to: agent.clone(), params }))
            }
        }
    }

    fn give_up<T>(&mut self, why: &str) -> Option<T> {
        self.tasks.clear();
        self.log.outcome = RequestOutcome::Failed(why.to_owned());
        None
    }

    /// Fills arguments from the messages; missing ones from earlier answers.
    fn fill_args(&self, context: RunnerContext<'_>, tool: &KnownTool) -> FilledParams {
        let mut filled = fill(&context.index.lexicon, &tool.shape, context.request.turns);
        filled.missing.retain(|name| {
            let Some(slot) = tool.shape.slot(name) else { return true };
            match self.value_from_answers(slot).or_else(|| context.given.get(name).cloned()) {
                Some(value) => {
                    filled.args.insert(name.clone(), value);
                    false
                }
                None => true,
            }
        });
        filled
    }

    /// Returns a value of an earlier answer under the name of the parameter or of its role.
    fn value_from_answers(&self, slot: &ParamSlot) -> Option<Value> {
        let role = match &slot.kind {
            ParamKind::Address(role) => role.word(),
            ParamKind::Id(kind) => kind.word(),
            ParamKind::Enum => slot.name.as_str(),
            _ => return None,
        };
        let names = [slot.name.clone(), role.to_owned(), format!("{role}_address"), format!("{role}_id")];
        let fits = |value: &&Value| match &slot.kind {
            ParamKind::Address(_) => value.as_str().is_some_and(|text| model::AddressText::parse(text).is_some()),
            _ => (value.is_string() || value.is_number()) && slot.allows_value(value),
        };
        let answers = self.log.done.iter().filter(|done| done.ok).map(|done| &done.answer);
        answers.flat_map(|answer| names.iter().flat_map(move |name| find_values(answer, name))).find(fits).cloned()
    }

    /// Returns the parameters for a verifier: the action and the user's terms for it.
    fn consult_params(&self, context: RunnerContext<'_>, agent: &Agent) -> Map<String, Value> {
        let target = self.tasks.iter().find_map(|task| if let PlanTask::Execute { tool } = task { context.index.tool(tool) } else { None });
        let terms = target
            .map(|tool| {
                action_terms(
                    &context.index.lexicon,
                    &tool.shape,
                    &fill(&context.index.lexicon, &tool.shape, context.request.turns),
                    context.request.turns,
                )
            })
            .unwrap_or_default();
        let mut params = Map::new();
        if let Some((id, _)) = &self.action {
            params.insert("action_id".into(), json!(id));
        }
        for need in agent.needs.iter().filter(|need| *need != "action_id") {
            if let Some(value) = terms.value_for_need(need) {
                params.insert(need.clone(), value);
            }
        }
        params
    }

    /// Adds values from earlier reports that the next specialist needs.
    fn pass_on_reports(&self, agent: &Agent, params: &mut Map<String, Value>) {
        for need in &agent.needs {
            if params.contains_key(need) {
                continue;
            }
            let known = self
                .log
                .done
                .iter()
                .rev()
                .filter(|done| done.ok)
                .flat_map(|done| find_values(&done.answer, need))
                .find(|value| value.is_string());
            if let Some(value) = known {
                params.insert(need.clone(), value.clone());
            }
        }
    }

    pub(crate) fn record_tool_answer(&mut self, answer: &ToolAnswer) {
        let Some((task, args)) = self.under_way.take() else { return };
        let (value, error) = match answer {
            ToolAnswer::Result(value) => (value.clone(), None),
            ToolAnswer::Error { code, message } => (json!({ "error": code }), Some(format!("{code}: {message}"))),
        };
        let refused = value.get("success") == Some(&json!(false));
        let ok = error.is_none() && !refused;
        let name = match &task {
            PlanTask::Read { tool } | PlanTask::Prepare { tool, .. } | PlanTask::Simulate { tool } | PlanTask::Execute { tool } => {
                tool.clone()
            }
            PlanTask::Consult { agent } | PlanTask::Delegate { agent, .. } => agent.clone(),
        };
        let why = error.unwrap_or_else(|| format!("{name} did not succeed: {}", value.get("error").unwrap_or(&Value::Null)));
        match &task {
            PlanTask::Prepare { .. } if ok => {
                let id = value.get("action_id").and_then(Value::as_str).map(str::to_owned);
                self.action = id.map(|id| (id, value.clone()));
            }
            PlanTask::Execute { .. } if ok => {
                self.log.outcome = RequestOutcome::Done;
                self.action = None;
            }
            PlanTask::Prepare { .. } | PlanTask::Simulate { .. } | PlanTask::Execute { .. } => {
                if !ok {
                    self.tasks.clear();
                    self.log.outcome = RequestOutcome::Failed(why);
                }
            }
            PlanTask::Read { .. } | PlanTask::Consult { .. } | PlanTask::Delegate { .. } => {}
        }
        let wrote = ok && matches!(task, PlanTask::Execute { .. });
        self.log.done.push(LoggedAction { name, is_agent: false, args, answer: value, ok, wrote });
    }

    pub(crate) fn record_agent_answer(&mut self, said: &Value) {
        let Some((task, args)) = self.under_way.take() else { return };
        let answer = parse_embedded_json(said);
        let word = |name: &str| answer.get(name).and_then(Value::as_str).map(str::to_lowercase);
        let reason = word("reason").or_else(|| word("summary")).unwrap_or_else(|| "no reason was given".to_owned());
        let (name, ok) = match &task {
            PlanTask::Consult { agent } => {
                let approved = word("decision").is_some_and(|decision| decision.starts_with("approve"));
                if !approved {
                    self.tasks.clear();
                    self.log.outcome = RequestOutcome::Vetoed(format!("{agent}: {reason}"));
                }
                (agent.clone(), approved)
            }
            PlanTask::Delegate { agent, .. } => {
                let status = word("status").or_else(|| word("conclusion")).unwrap_or_default();
                let bad = ["veto", "untrust", "fail", "declin", "error"].iter().find(|bad| status.starts_with(**bad));
                match bad {
                    Some(&("veto" | "untrust")) => {
                        self.tasks.clear();
                        self.log.outcome = RequestOutcome::Vetoed(format!("{agent}: {reason}"));
                    }
                    Some(_) => {
                        self.tasks.clear();
                        self.log.outcome = RequestOutcome::Failed(format!("{agent}: {reason}"));
                    }
                    None => self.log.outcome = RequestOutcome::Done,
                }
                (agent.clone(), bad.is_none())
            }
            PlanTask::Read { tool } | PlanTask::Prepare { tool, .. } | PlanTask::Simulate { tool } | PlanTask::Execute { tool } => {
                (tool.clone(), true)
            }
        };
        self.log.done.push(LoggedAction { name, is_agent: true, args, answer, ok, wrote: false });
    }
}

fn tool_call(tool: &KnownTool, args: Map<String, Value>) -> (Map<String, Value>, Move) {
    let call = ToolCall { tool: tool.name.clone(), args: Value::Object(args.clone()) };
    (args, Move::Call(vec![call]))
}
