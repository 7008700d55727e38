//! The seat of an agent: understand the request, plan, walk, report.

use super::action_log::{Outcome, Story};
use super::agent_state::Frame;
use super::baseline_index::Mind;
use super::hand_over;
use super::mentions::Said;
use super::plan_runner::{Ground, Walk};
use super::planner::{Plan, Request};
use super::rank::Wish;
use super::report::{About, report};
use lexical::TermQuery;
use model::Agent;
use model::seat::View;
use model::transcript::Move;
use serde_json::Value;

/// As many words of a topic make a request of their own.
const REQUEST: usize = 3;

pub(super) fn next(frame: &mut Frame, mind: &Mind, view: &View<'_>, agent: &Agent) -> Move {
    if frame.walk.is_none() {
        let newest = frame.turns.len().saturating_sub(1);
        // An answer to a question, or a figure put right, seldom says again what is wanted.
        let says_enough = frame.turns.last().is_some_and(|said| TermQuery::from_tokens(&said.words).len() >= REQUEST);
        if frame.wanted.is_none() || (frame.asked == 0 && says_enough) {
            frame.wanted = Some(newest);
        }
        match begin(frame, mind, view, agent) {
            Ok(walk) => frame.walk = Some(walk),
            Err(question) => {
                frame.asked += 1;
                return Move::Ask(question);
            }
        }
    }
    let turns: Vec<&Said> = frame.turns.iter().collect();
    let (Some(walk), Some(wanted)) = (&mut frame.walk, frame.wanted.and_then(|at| turns.get(at))) else { return Move::Stop };
    let wish = Wish { wanted, turns: &turns };
    if let Some(next) = walk.step(Ground { mind, wish, given: &frame.given }) {
        return next;
    }
    let mut story = std::mem::take(&mut walk.story);
    if agent.verifier {
        story.outcome = judged(mind, agent, frame, &story);
    }
    let said = told(mind, agent, frame, &story);
    frame.walk = None;
    frame.asked = 0;
    Move::Say(said)
}

fn begin(frame: &Frame, mind: &Mind, view: &View<'_>, agent: &Agent) -> Result<Walk, String> {
    let turns: Vec<&Said> = frame.turns.iter().collect();
    let Some(wanted) = frame.wanted.and_then(|at| turns.get(at)) else { return Ok(Walk::default()) };
    let mut request = Request::new(mind, agent, view, Wish { wanted, turns: &turns }, &frame.given);
    request.may_ask = frame.asked == 0;
    match request.plan() {
        Plan::Tasks(tasks) => Ok(Walk::new(tasks, &frame.given)),
        Plan::Ask(question) => Err(question),
        Plan::Nothing => Ok(Walk::declined("Nothing was done: this is not something I can do from here.")),
    }
}

fn told(mind: &Mind, agent: &Agent, frame: &Frame, story: &Story) -> String {
    let chains = chains(mind, frame, story);
    let named = story.done.iter().rev().find(|done| done.wrote).or_else(|| story.done.iter().rev().find(|done| !done.is_agent));
    let operation = named.and_then(|done| mind.tool(&done.name)).map(|tool| tool.operation.clone()).unwrap_or_default();
    let request = frame.turns.last().map(|said| said.text.clone()).unwrap_or_default();
    let about = About { story, chains: &chains, operation: &operation, request: &request, given: &frame.given };
    match mind.outputs.get(agent.output.as_str()) {
        Some(shape) => report(shape, &about),
        None => story.told(),
    }
}

/// The chains that calls were made on, then those that were spoken of.
fn chains(mind: &Mind, frame: &Frame, story: &Story) -> Vec<u64> {
    let mut chains: Vec<u64> = vec![];
    for done in story.done.iter().rev().filter(|done| !done.is_agent) {
        let Some(tool) = mind.tool(&done.name) else { continue };
        let turns: Vec<&Said> = frame.turns.iter().collect();
        let filled = super::fill::Filled { args: done.args.clone(), ..Default::default() };
        chains.extend(hand_over::terms(&mind.lexicon, &tool.shape, &filled, &turns).chains);
        chains.extend(done.answer.get("chain_id").and_then(Value::as_u64));
    }
    chains.extend(frame.turns.iter().flat_map(Said::chains));
    chains
}

/// A verifier approves what it could run and read, within the policy's figures; anything else is a veto.
fn judged(mind: &Mind, agent: &Agent, frame: &Frame, story: &Story) -> Outcome {
    let needs_action = agent.needs.iter().any(|need| need == "action_id");
    if needs_action && !frame.given.contains_key("action_id") {
        return Outcome::Vetoed("no action was handed over".to_owned());
    }
    if let Some(failed) = story.done.iter().find(|done| !done.ok) {
        return Outcome::Vetoed(format!("{} did not succeed: {}", failed.name, failed.answer.get("error").unwrap_or(&Value::Null)));
    }
    let slippage = frame.given.get("slippage_bps").and_then(Value::as_u64);
    if slippage.is_some_and(|bps| bps > mind.policy.slippage_bps.max) {
        return Outcome::Vetoed("the slippage is over the policy's maximum".to_owned());
    }
    let unapproved = frame
        .turns
        .iter()
        .flat_map(Said::tokens)
        .find(|token| !mind.policy.approved_assets.iter().any(|asset| asset.eq_ignore_ascii_case(token)));
    if let Some(token) = unapproved {
        return Outcome::Vetoed(format!("{token} is not an approved asset"));
    }
    if story.done.is_empty() { Outcome::Vetoed("nothing could be checked".to_owned()) } else { Outcome::Done }
}
