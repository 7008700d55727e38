//! Selects the specialists for a request: readers first, then writers.

use crate::baseline_index::{BaselineIndex, KnownTool};
use crate::mentions::ParsedMessage;
use crate::plan_task::PlanTask;
use crate::rank::{UserRequest, rank_tools};
use lexical::TermQuery;
use model::Agent;

const MIN_COVERAGE: f64 = 0.2;
/// Minimum score of an agent for one sentence, relative to the best agent's score for the whole request.
const MIN_SENTENCE_SHARE: f64 = 0.6;
const MAX_DELEGATIONS: usize = 4;

struct AgentFit<'m> {
    agent: &'m str,
    writes: bool,
    score: f64,
    covered: f64,
}

/// Returns the delegations for a request, readers before writers. Empty if the agent itself fits best.
pub(crate) fn delegation_sequence(index: &BaselineIndex, agent: &Agent, delegates: &[String], said: &ParsedMessage) -> Vec<PlanTask> {
    let names: Vec<&str> =
        delegates.iter().map(String::as_str).filter(|name| index.agent(name).is_some_and(|agent| !agent.verifier)).collect();
    if names.is_empty() {
        return vec![];
    }
    let fits = |said: &ParsedMessage| rank_agents(index, &names, said);
    let whole = fits(said);
    let own = self::rank_agents(index, &[agent.name.as_str()], said).first().map_or(0.0, |own| own.score);
    let Some(best) = whole.first().filter(|best| best.covered >= MIN_COVERAGE && best.score > own) else { return vec![] };
    let mut chosen: Vec<(bool, &str, String)> = vec![];
    let sentences = said.words.last().map_or(0, |word| word.sentence + 1);
    for sentence in (0..sentences).filter(|_| sentences > 1) {
        let alone = said.sentence(sentence);
        let fits = fits(&alone);
        if let Some(fit) = fits.first().filter(|fit| fit.covered >= 0.3 && fit.score >= MIN_SENTENCE_SHARE * best.score)
            && !chosen.iter().any(|(_, name, _)| *name == fit.agent)
            && fit.agent != best.agent
            && !fit.writes
        {
            chosen.push((false, fit.agent, alone.text));
        }
    }
    chosen.push((best.writes, best.agent, said.text.clone()));
    chosen.sort_by_key(|(writes, _, _)| *writes);
    let skip = chosen.len().saturating_sub(MAX_DELEGATIONS);
    chosen.into_iter().skip(skip).map(|(_, agent, task)| PlanTask::Delegate { agent: agent.to_owned(), task }).collect()
}

/// Maximum number of agents whose tools are ranked.
const MAX_TRIED_AGENTS: usize = 8;

/// Ranks agents, best first, by their files and their best tool.
fn rank_agents<'m>(index: &'m BaselineIndex, names: &[&str], said: &ParsedMessage) -> Vec<AgentFit<'m>> {
    let query = TermQuery::from_tokens(&said.words);
    let mass = index.agent_index.total_weight(&query);
    let found = index.agent_index.search(&query);
    let mut near: Vec<(usize, &Agent)> =
        index.agents.iter().enumerate().filter(|(_, agent)| names.contains(&agent.name.as_str())).collect();
    near.sort_by(|a, b| found[b.0].score.total_cmp(&found[a.0].score));
    near.truncate(MAX_TRIED_AGENTS);
    let mut fits: Vec<AgentFit<'m>> = near
        .into_iter()
        .map(|(at, agent)| {
            let tools: Vec<&KnownTool> = agent.tools.iter().filter_map(|name| index.tool(name)).collect();
            let tool = rank_tools(index, &tools, UserRequest { wanted: said, turns: &[said] }).first().map_or(0.0, |best| best.score);
            let score = found[at].score / mass.max(1.0) + 0.6 * tool;
            AgentFit { agent: &agent.name, writes: *agent.writes, score, covered: found[at].covered }
        })
        .collect();
    fits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.agent.cmp(b.agent)));
    fits
}
