//! Agent with a workflow: plans the request, runs the plan, reports.

use crate::action_log::{ActionLog, RequestOutcome};
use crate::agent_state::AgentState;
use crate::baseline_index::BaselineIndex;
use crate::fill::FilledParams;
use crate::hand_over;
use crate::mentions::ParsedMessage;
use crate::plan_runner::{PlanRunner, RunnerContext};
use crate::planner::{AgentPlan, WorkflowPlanner};
use crate::rank::UserRequest;
use crate::report::{ReportInput, report};
use lexical::TermQuery;
use model::transcript::Move;
use model::view::View;
use model::{Agent, Policy};
use serde_json::Value;

/// Minimum number of terms that make a message a new request.
const MIN_REQUEST_WORDS: usize = 3;

pub(crate) fn next(state: &mut AgentState, index: &BaselineIndex, view: &View<'_>, agent: &Agent) -> Move {
    if state.runner.is_none() {
        let newest = state.turns.len().saturating_sub(1);
        // Answers to questions and corrections rarely repeat the request.
        let says_enough = state.turns.last().is_some_and(|said| TermQuery::from_tokens(&said.words).len() >= MIN_REQUEST_WORDS);
        if state.wanted.is_none() || (state.asked == 0 && says_enough) {
            state.wanted = Some(newest);
        }
        match first_step(state, index, view, agent) {
            FirstStep::Run(runner) => state.runner = Some(*runner),
            FirstStep::Ask(question) => {
                state.asked += 1;
                return Move::Ask(question);
            }
        }
    }
    let turns: Vec<&ParsedMessage> = state.turns.iter().collect();
    let (Some(runner), Some(wanted)) = (&mut state.runner, state.wanted.and_then(|at| turns.get(at))) else { return Move::Stop };
    let request = UserRequest { wanted, turns: &turns };
    if let Some(next) = runner.step(RunnerContext { index, request, given: &state.given }) {
        return next;
    }
    let mut log = std::mem::take(&mut runner.log);
    if agent.verifier {
        log.outcome = verifier_outcome(index, agent, state, &log);
    }
    let said = final_answer(index, agent, state, &log);
    state.runner = None;
    state.asked = 0;
    Move::Say(said)
}

/// First step of a request: run a plan, or ask the user for missing parameters.
enum FirstStep {
    Run(Box<PlanRunner>),
    Ask(String),
}

fn first_step(state: &AgentState, index: &BaselineIndex, view: &View<'_>, agent: &Agent) -> FirstStep {
    let turns: Vec<&ParsedMessage> = state.turns.iter().collect();
    let Some(wanted) = state.wanted.and_then(|at| turns.get(at)) else { return FirstStep::Run(Box::default()) };
    let mut planner = WorkflowPlanner::new(index, agent, view, UserRequest { wanted, turns: &turns }, &state.given);
    planner.may_ask = state.asked == 0;
    match planner.plan() {
        AgentPlan::Tasks(tasks) => FirstStep::Run(Box::new(PlanRunner::new(tasks, &state.given))),
        AgentPlan::Ask(question) => FirstStep::Ask(question),
        AgentPlan::Nothing => FirstStep::Run(Box::new(PlanRunner::declined("Nothing was done: this is not something I can do from here."))),
    }
}

fn final_answer(index: &BaselineIndex, agent: &Agent, state: &AgentState, log: &ActionLog) -> String {
    let chains = relevant_chains(index, state, log);
    let named = log.done.iter().rev().find(|done| done.wrote).or_else(|| log.done.iter().rev().find(|done| !done.is_agent));
    let operation = named.and_then(|done| index.tool(&done.name)).map(|tool| tool.operation.clone()).unwrap_or_default();
    let request = state.turns.last().map(|said| said.text.clone()).unwrap_or_default();
    let about = ReportInput { log, chains: &chains, operation: &operation, request: &request, given: &state.given };
    match agent.output.as_ref().and_then(|output| index.outputs.get(output.as_str())) {
        Some(shape) => report(shape, &about),
        None => log.summary(),
    }
}

/// Returns the chains of the calls, newest first, then the chains in the messages.
fn relevant_chains(index: &BaselineIndex, state: &AgentState, log: &ActionLog) -> Vec<u64> {
    let mut chains: Vec<u64> = vec![];
    for done in log.done.iter().rev().filter(|done| !done.is_agent) {
        let Some(tool) = index.tool(&done.name) else { continue };
        let turns: Vec<&ParsedMessage> = state.turns.iter().collect();
        let filled = FilledParams { args: done.args.clone(), ..Default::default() };
        chains.extend(hand_over::action_terms(&index.lexicon, &tool.shape, &filled, &turns).chains);
        chains.extend(done.answer.get("chain_id").and_then(Value::as_u64));
    }
    chains.extend(state.turns.iter().flat_map(ParsedMessage::chains));
    chains
}

/// Returns the decision of a verifier: approves if all checks succeeded and the policy limits hold, otherwise vetoes.
fn verifier_outcome(index: &BaselineIndex, agent: &Agent, state: &AgentState, log: &ActionLog) -> RequestOutcome {
    let needs_action = agent.needs.iter().any(|need| need == "action_id");
    if needs_action && !state.given.contains_key("action_id") {
        return RequestOutcome::Vetoed("no action was handed over".to_owned());
    }
    if let Some(failed) = log.done.iter().find(|done| !done.ok) {
        return RequestOutcome::Vetoed(format!("{} did not succeed: {}", failed.name, failed.answer.get("error").unwrap_or(&Value::Null)));
    }
    if let Some(policy) = &index.policy
        && let Some(reason) = policy_objection(policy, state)
    {
        return RequestOutcome::Vetoed(reason);
    }
    if log.done.is_empty() { RequestOutcome::Vetoed("nothing could be checked".to_owned()) } else { RequestOutcome::Done }
}

/// Returns the limit of the policy that a request breaks.
fn policy_objection(policy: &Policy, state: &AgentState) -> Option<String> {
    let slippage = state.given.get("slippage_bps").and_then(Value::as_u64);
    if slippage.is_some_and(|bps| bps > policy.slippage_bps.max) {
        return Some("the slippage is over the policy's maximum".to_owned());
    }
    let unapproved = state
        .turns
        .iter()
        .flat_map(ParsedMessage::tokens)
        .find(|token| !policy.approved_assets.iter().any(|asset| asset.eq_ignore_ascii_case(token)));
    unapproved.map(|token| format!("{token} is not an approved asset"))
}
