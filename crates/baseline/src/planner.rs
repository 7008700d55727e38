//! Plans a request as a sequence of steps from the agent's workflow.

use crate::baseline_index::{BaselineIndex, KnownTool};
use crate::mentions::ParsedMessage;
use crate::plan_task::PlanTask;
use crate::questions::ask_for_missing;
use crate::rank::{RankedTool, UserRequest, is_question, rank_tools};
use crate::specialists;
use crate::words::stems;
use model::view::View;
use model::{Agent, OpClass, ParamKind, StepAction, WorkflowStep};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

#[derive(Debug)]
pub(crate) enum AgentPlan {
    Tasks(Vec<PlanTask>),
    Ask(String),
    /// No tool or specialist fits.
    Nothing,
}

/// Maximum reads for one request.
const MAX_READS: usize = 5;
/// Minimum share of the message that a tool's file must cover.
const MIN_COVERAGE: f64 = 0.1;
/// Minimum share for a write that uses no value of the message.
const MIN_COVERAGE_ALONE: f64 = 0.25;

pub(crate) struct WorkflowPlanner<'r> {
    pub index: &'r BaselineIndex,
    pub agent: &'r Agent,
    pub tools: Vec<&'r KnownTool>,
    pub request: UserRequest<'r>,
    pub delegates: &'r [String],
    pub given: &'r Map<String, Value>,
    /// Set if a question may still be asked.
    pub may_ask: bool,
}

impl<'r> WorkflowPlanner<'r> {
    pub(crate) fn new(
        index: &'r BaselineIndex,
        agent: &'r Agent,
        view: &'r View<'_>,
        request: UserRequest<'r>,
        given: &'r Map<String, Value>,
    ) -> Self {
        Self {
            index,
            agent,
            tools: index.known_tools(&view.context.tools),
            request,
            delegates: &view.context.delegates,
            given,
            may_ask: true,
        }
    }

    pub(crate) fn plan(&self) -> AgentPlan {
        let said = self.request.wanted;
        if self.agent.verifier {
            return AgentPlan::Tasks(self.reads(None));
        }
        let specialists = specialists::delegation_sequence(self.index, self.agent, self.delegates, said);
        if !specialists.is_empty() {
            let observe = self.reads(None).into_iter().take(1);
            return AgentPlan::Tasks(observe.chain(specialists).collect());
        }
        let ranking = self.ranking();
        let writes: Vec<&RankedTool<'_>> = ranking.iter().filter(|one| one.tool.writes).collect();
        let reads: Vec<&RankedTool<'_>> = ranking.iter().filter(|one| !one.tool.writes && one.tool.class != OpClass::Simulate).collect();
        let target = self.target(&writes, &reads, said);
        match target {
            Some(target) if target.tool.writes => {
                let missing: Vec<String> = self.missing_params(target);
                if !missing.is_empty() && self.may_ask {
                    return AgentPlan::Ask(ask_for_missing(&target.tool.shape, &missing));
                }
                if !missing.is_empty() {
                    return AgentPlan::Nothing;
                }
                AgentPlan::Tasks(self.actions(target, &writes, said))
            }
            Some(target) => AgentPlan::Tasks(self.reads(Some(&target.tool.name))),
            None => AgentPlan::Nothing,
        }
    }

    pub(crate) fn ranking(&self) -> Vec<RankedTool<'r>> {
        rank_tools(self.index, &self.tools, self.request)
    }

    /// Returns the missing parameters of a write that no earlier step provides. Objects are left out; the runner passes the quote for them.
    fn missing_params(&self, target: &RankedTool<'_>) -> Vec<String> {
        let is_object = |name: &String| target.tool.shape.slot(name).is_some_and(|slot| matches!(slot.kind, ParamKind::Object));
        let missing = target.filled.missing.iter().filter(|name| !is_object(name) && !self.given.contains_key(*name));
        missing.filter(|name| !self.is_answered_by_a_read(target.tool, name)).cloned().collect()
    }

    /// Reports whether an earlier read of the workflow provides a missing id or choice.
    fn is_answered_by_a_read(&self, target: &KnownTool, name: &str) -> bool {
        let Some(slot) = target.shape.slot(name).filter(|slot| matches!(slot.kind, ParamKind::Enum | ParamKind::Id(_))) else {
            return false;
        };
        let calls = |step: &'r WorkflowStep| match &step.action {
            StepAction::Call(names) => names.iter().filter_map(|name| self.index.tool(name)).collect(),
            StepAction::Delegate(_) | StepAction::Ask(_) | StepAction::Say(_) => vec![],
        };
        let before =
            self.agent.workflow.iter().map(calls).take_while(|tools: &Vec<&KnownTool>| !tools.iter().any(|tool| tool.name == target.name));
        before.flatten().filter(|tool| !tool.writes && self.tools.iter().any(|known| known.name == tool.name)).any(|tool| {
            let speaks = !slot.name_stems.is_empty() && slot.name_stems.iter().all(|stem| tool.stems.contains(stem));
            speaks && self.best_fillable(&[tool]).is_some()
        })
    }

    fn target<'a>(&self, writes: &[&'a RankedTool<'r>], reads: &[&'a RankedTool<'r>], said: &ParsedMessage) -> Option<&'a RankedTool<'r>> {
        let write = writes.first().copied().filter(|write| {
            let least = if write.filled.assigned > 0 { MIN_COVERAGE } else { MIN_COVERAGE_ALONE };
            *self.agent.writes && write.covered >= least
        });
        // A quote for the chosen write is a step towards it, not a separate request.
        let read = reads
            .iter()
            .copied()
            .find(|read| is_question(said) || write.is_none_or(|write| !read.tool.prepares.contains(&write.tool.name)));
        let lead = if is_question(said) { -0.1 } else { 0.35 };
        match (write, read) {
            (Some(write), Some(read)) => Some(if write.score + lead >= read.score { write } else { read }),
            (write, read) => write.or(read),
        }
        .filter(|best| best.covered >= MIN_COVERAGE)
    }

    /// Returns the best read of each workflow step, and the target.
    fn reads(&self, target: Option<&str>) -> Vec<PlanTask> {
        let mut tasks: Vec<PlanTask> = vec![];
        let mut met = target.is_none();
        for step in &self.agent.workflow {
            tasks.extend(self.unconditional_consult(step));
            let StepAction::Call(names) = &step.action else { continue };
            let tools: Vec<&KnownTool> = names.iter().filter_map(|name| self.index.tool(name)).filter(|tool| !tool.writes).collect();
            let has_target = target.is_some_and(|target| tools.iter().any(|tool| tool.name == target));
            if tools.is_empty() || (!has_target && !self.applies(step)) {
                continue;
            }
            if tools.iter().any(|tool| tool.class == OpClass::Simulate) {
                let simulates = tools.iter().find(|tool| tool.class == OpClass::Simulate && self.given.contains_key("action_id"));
                tasks.extend(simulates.map(|tool| PlanTask::Simulate { tool: tool.name.clone() }));
                continue;
            }
            let chosen = if has_target { target.map(str::to_owned) } else { self.best_fillable(&tools) };
            met |= has_target;
            tasks.extend(chosen.map(|tool| PlanTask::Read { tool }).filter(|task| !tasks.contains(task)));
        }
        if let (false, Some(target)) = (met, target) {
            tasks.push(PlanTask::Read { tool: target.to_owned() });
        }
        // Drop the last reads first, but keep the target.
        while tasks.len() > MAX_READS {
            let last = tasks.iter().rposition(|task| !matches!(task, PlanTask::Read { tool } if Some(tool.as_str()) == target));
            tasks.remove(last.unwrap_or(0));
        }
        tasks
    }

    /// Returns the delegation of a step without a condition. Verifiers that decide on actions are left out.
    fn unconditional_consult(&self, step: &WorkflowStep) -> Option<PlanTask> {
        let StepAction::Delegate(to) = &step.action else { return None };
        let free = step.when.is_none() && !self.answers_with_decision(to) && self.delegates.contains(to);
        free.then(|| PlanTask::Delegate { agent: to.value.clone(), task: self.request.wanted.text.clone() })
    }

    fn best_fillable(&self, tools: &[&'r KnownTool]) -> Option<String> {
        let ranking = rank_tools(self.index, tools, self.request);
        ranking.into_iter().find(|one| one.filled.missing.is_empty()).map(|one| one.tool.name.clone())
    }

    /// Reports whether a step applies: it has no condition, or the messages contain at least half of the condition's term weight.
    fn applies(&self, step: &WorkflowStep) -> bool {
        let Some(when) = &step.when else { return true };
        let said: BTreeSet<&str> =
            self.request.turns.iter().flat_map(|said| &said.words).filter(|word| !word.negated).map(|word| word.stem.as_str()).collect();
        let stems = stems(when);
        let whole: f64 = stems.iter().map(|stem| self.index.tool_index.idf(stem)).sum();
        let shared: f64 = stems.iter().filter(|stem| said.contains(stem.as_str())).map(|stem| self.index.tool_index.idf(stem)).sum();
        whole > 0.0 && shared / whole >= 0.5
    }

    /// Returns the steps for all target writes, in workflow order.
    fn actions(&self, target: &RankedTool<'_>, writes: &[&RankedTool<'_>], said: &ParsedMessage) -> Vec<PlanTask> {
        let mut tasks = vec![];
        let targets = self.targets(target, writes, said);
        for (n, target) in targets.iter().enumerate() {
            tasks.extend(self.action(target, n == 0, n + 1 == targets.len()));
        }
        tasks
    }

    /// Returns the target write and writes that single sentences ask for. Approvals come first.
    fn targets(&self, target: &RankedTool<'_>, writes: &[&RankedTool<'_>], said: &ParsedMessage) -> Vec<String> {
        let mut targets = vec![target.tool.name.clone()];
        let tools: Vec<&KnownTool> = writes.iter().map(|write| write.tool).collect();
        let sentences = said.words.last().map_or(0, |word| word.sentence + 1);
        for sentence in (0..sentences).filter(|_| sentences > 1) {
            let alone = said.sentence(sentence);
            let ranking = rank_tools(self.index, &tools, UserRequest { wanted: &alone, turns: self.request.turns });
            let (Some(best), Some(main)) = (ranking.first(), ranking.iter().find(|one| one.tool.name == target.tool.name)) else {
                continue;
            };
            let clear = best.score - main.score > 0.35 && best.covered >= 0.3 && !is_question(&alone) && best.filled.missing.is_empty();
            if clear && !targets.contains(&best.tool.name) {
                targets.push(best.tool.name.clone());
            }
        }
        targets.sort_by_key(|name| self.index.tool(name).is_none_or(|tool| tool.class != OpClass::Approve));
        targets.truncate(3);
        targets
    }

    fn action(&self, target: &str, first: bool, last: bool) -> Vec<PlanTask> {
        let mut tasks: Vec<PlanTask> = vec![];
        let mut prepared = false;
        let mut executed = false;
        for step in &self.agent.workflow {
            match &step.action {
                StepAction::Call(names) => {
                    let tools: Vec<&KnownTool> = names.iter().filter_map(|name| self.index.tool(name)).collect();
                    let quotes = tools.iter().find(|tool| tool.prepares.iter().any(|name| name == target));
                    if let Some(simulate) = simulation_tool(&tools) {
                        tasks.extend((!executed).then(|| PlanTask::Simulate { tool: simulate.name.clone() }));
                    } else if let Some(quote) = quotes.filter(|_| !prepared) {
                        let quote = self.best_quote(&tools, target).unwrap_or_else(|| quote.name.clone());
                        tasks.push(PlanTask::Prepare { tool: quote, target: target.to_owned() });
                        prepared = true;
                    } else if tools.iter().any(|tool| tool.name == target) {
                        // The tool occurs twice: as a dry run before the approval and as the real call after it.
                        let judged = tasks.iter().any(|task| matches!(task, PlanTask::Consult { .. } | PlanTask::Simulate { .. }));
                        if !prepared && !judged {
                            tasks.push(PlanTask::Prepare { tool: target.to_owned(), target: target.to_owned() });
                            prepared = true;
                        } else if judged && !executed {
                            tasks.push(PlanTask::Execute { tool: target.to_owned() });
                            executed = true;
                        }
                    } else if tools.iter().all(|tool| !tool.writes) && self.applies(step) && if executed { last } else { first } {
                        let best =
                            self.best_fillable(&tools.iter().copied().filter(|tool| tool.class != OpClass::Quote).collect::<Vec<_>>());
                        tasks.extend(best.map(|tool| PlanTask::Read { tool }).filter(|task| executed || !tasks.contains(task)));
                    }
                }
                StepAction::Delegate(agent) => {
                    let verifier = self.index.agent(agent).is_some_and(|agent| agent.verifier);
                    if verifier && !executed && self.answers_with_decision(agent) {
                        tasks.push(PlanTask::Consult { agent: agent.value.clone() });
                    } else if verifier && first && !executed && self.applies(step) {
                        // Verifiers without a decision (of partners or venues) get the request instead of an action.
                        tasks.push(PlanTask::Delegate { agent: agent.value.clone(), task: self.request.wanted.text.clone() });
                    }
                }
                StepAction::Ask(_) | StepAction::Say(_) => {}
            }
        }
        self.add_missing_steps(tasks, target, prepared, executed)
    }

    /// Adds the prepared action, the simulation and the approval that a workflow left out.
    fn add_missing_steps(&self, mut tasks: Vec<PlanTask>, target: &str, prepared: bool, executed: bool) -> Vec<PlanTask> {
        if !executed {
            tasks.push(PlanTask::Execute { tool: target.to_owned() });
        }
        let judged = |tasks: &[PlanTask]| {
            tasks
                .iter()
                .position(|task| matches!(task, PlanTask::Consult { .. } | PlanTask::Simulate { .. } | PlanTask::Execute { .. }))
                .unwrap_or(0)
        };
        let takes_dry_run = self.index.tool(target).is_some_and(|tool| tool.takes_dry_run);
        if !prepared && takes_dry_run {
            let quote = self.tools.iter().find(|tool| tool.prepares.iter().any(|name| name == target));
            let tool = quote.map_or(target, |quote| quote.name.as_str()).to_owned();
            tasks.insert(judged(&tasks), PlanTask::Prepare { tool, target: target.to_owned() });
        }
        let execute = |tasks: &[PlanTask]| tasks.iter().position(|task| matches!(task, PlanTask::Execute { .. })).unwrap_or(tasks.len());
        if !tasks.iter().any(|task| matches!(task, PlanTask::Simulate { .. }))
            && let Some(tool) = self.tools.iter().find(|tool| tool.class == OpClass::Simulate)
        {
            let before = tasks.iter().rposition(|task| matches!(task, PlanTask::Consult { .. })).unwrap_or_else(|| execute(&tasks));
            tasks.insert(before, PlanTask::Simulate { tool: tool.name.clone() });
        }
        let guarded = tasks.iter().any(|task| matches!(task, PlanTask::Consult { agent } if self.needs_action(agent)));
        if let (false, Some(guard)) = (guarded, self.delegates.iter().find(|name| self.needs_action(name))) {
            let at = execute(&tasks);
            tasks.insert(at, PlanTask::Consult { agent: guard.clone() });
        }
        tasks
    }

    /// Reports whether an agent answers with a decision.
    fn answers_with_decision(&self, name: &str) -> bool {
        let decision = |agent: &Agent| {
            agent
                .output
                .as_ref()
                .and_then(|output| self.index.outputs.get(output.as_str()))
                .is_some_and(|shape| shape.fields.iter().any(|field| field.name == "decision"))
        };
        self.index.agent(name).is_some_and(|agent| agent.verifier && decision(agent))
    }

    /// Reports whether an agent is a verifier that needs the `action_id`.
    fn needs_action(&self, name: &str) -> bool {
        self.index.agent(name).is_some_and(|agent| agent.verifier && agent.needs.iter().any(|need| need == "action_id"))
    }

    /// Returns the quote tool that shares most parameters with the write, so that both get the same arguments.
    fn best_quote(&self, tools: &[&'r KnownTool], target: &str) -> Option<String> {
        let write = self.index.tool(target)?;
        let quotes: Vec<&KnownTool> = tools.iter().copied().filter(|tool| tool.prepares.iter().any(|name| name == target)).collect();
        let alike = |quote: &KnownTool| {
            let shared = quote.shape.slots.iter().filter_map(|slot| Some((slot, write.shape.slot(&slot.name)?)));
            shared.map(|(own, other)| if own.kind == other.kind { 1 } else { -1 }).sum::<i32>()
        };
        let fillable: Vec<RankedTool<'_>> =
            rank_tools(self.index, &quotes, self.request).into_iter().filter(|one| one.filled.missing.is_empty()).collect();
        let most = fillable.iter().map(|one| alike(one.tool)).max()?;
        fillable.into_iter().find(|one| alike(one.tool) == most).map(|one| one.tool.name.clone())
    }
}

/// Returns the simulation tool of a step, preferably one without required parameters.
fn simulation_tool<'t>(tools: &[&'t KnownTool]) -> Option<&'t KnownTool> {
    let simulations = || tools.iter().copied().filter(|tool| tool.class == OpClass::Simulate);
    simulations().find(|tool| !tool.shape.slots.iter().any(|slot| slot.required)).or_else(|| simulations().next())
}
