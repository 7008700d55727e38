//! Routes messages to skills: picks the skill, fills its parameters and asks for the missing ones.

use crate::agent_state::AgentState;
use crate::baseline_index::{BaselineIndex, KnownSkill};
use crate::fill::{FilledParams, fill};
use crate::mentions::ParsedMessage;
use crate::questions::ask_for_missing;
use lexical::TermQuery;
use model::transcript::Move;
use model::view::View;

const MIN_COVERAGE: f64 = 0.15;
const FIT_WEIGHT: f64 = 0.6;
const PHRASE_WEIGHT: f64 = 0.4;
/// Minimum score lead of another skill for a topic change.
const MIN_TOPIC_LEAD: f64 = 0.25;
/// Minimum number of terms that make a message a new request.
const MIN_REQUEST_WORDS: usize = 3;

struct SkillScore {
    skill: usize,
    filled: FilledParams,
    score: f64,
    covered: f64,
}

pub(crate) fn next(state: &mut AgentState, index: &BaselineIndex, view: &View<'_>) -> Move {
    let shown: Vec<usize> =
        (0..index.skills.len()).filter(|at| view.context.skills.iter().any(|shown| shown.name == index.skills[*at].name)).collect();
    let Some(newest) = state.turns.last() else { return Move::Stop };
    let ranked = rank_skills(index, &shown, newest);
    let current = state.topic.filter(|topic| !topic_changes(&ranked, *topic, newest));
    let chosen = match current {
        Some(topic) => topic,
        None => {
            // New topic: earlier turns stay available for values but no longer determine the skill.
            state.topic_since = state.turns.len() - 1;
            match ranked.first().filter(|best| best.covered >= MIN_COVERAGE) {
                Some(best) => best.skill,
                None => return Move::Say("I have no skill for that, so I have done nothing.".to_owned()),
            }
        }
    };
    state.topic = Some(chosen);
    let skill = &index.skills[chosen];
    let filled = extract_params(index, skill, state);
    if !filled.missing.is_empty() && state.asked < 2 {
        state.asked += 1;
        return Move::Ask(ask_for_missing(&skill.shape, &filled.missing));
    }
    state.asked = 0;
    Move::Activate { skill: skill.name.clone(), params: filled.args }
}

fn rank_skills(index: &BaselineIndex, shown: &[usize], said: &ParsedMessage) -> Vec<SkillScore> {
    let query = TermQuery::from_tokens(&said.words);
    let mass = index.skill_index.total_weight(&query);
    let found = index.skill_index.search(&query);
    let phrases = index.phrase_index.search(&query);
    // Score of the best single phrase of each skill: a message resembles one phrasing, not all of them.
    let mut nearest = vec![0.0_f64; index.skills.len()];
    for (skill, phrase) in index.phrases.iter().zip(&phrases) {
        nearest[*skill] = nearest[*skill].max(phrase.score / mass.max(1.0));
    }
    let mut choices: Vec<SkillScore> = shown
        .iter()
        .map(|skill| {
            let filled = fill(&index.lexicon, &index.skills[*skill].shape, &[said]);
            let score = found[*skill].score / mass.max(1.0)
                + PHRASE_WEIGHT * nearest[*skill]
                + FIT_WEIGHT * filled.fit_score(&index.skills[*skill].shape);
            SkillScore { skill: *skill, filled, score, covered: found[*skill].covered }
        })
        .collect();
    choices.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.skill.cmp(&b.skill)));
    choices
}

/// Reports whether the newest turn changes the topic: it has enough terms, and another skill fits clearly better.
fn topic_changes(ranked: &[SkillScore], topic: usize, said: &ParsedMessage) -> bool {
    let words = TermQuery::from_tokens(&said.words).count_wanted();
    let (Some(best), Some(current)) = (ranked.first(), ranked.iter().find(|choice| choice.skill == topic)) else { return false };
    best.skill != topic
        && words >= MIN_REQUEST_WORDS
        && best.covered >= 0.3
        && best.score - current.score > MIN_TOPIC_LEAD
        && best.filled.missing.len() <= current.filled.missing.len() + 1
}

/// Fills parameters from the turns of this topic, and missing ones from earlier turns.
fn extract_params(index: &BaselineIndex, skill: &KnownSkill, state: &AgentState) -> FilledParams {
    let own: Vec<&ParsedMessage> = state.turns[state.topic_since..].iter().collect();
    let filled = fill(&index.lexicon, &skill.shape, &own);
    if filled.missing.is_empty() {
        return filled;
    }
    let all: Vec<&ParsedMessage> = state.turns.iter().collect();
    let wider = fill(&index.lexicon, &skill.shape, &all);
    let mut merged = filled;
    for name in std::mem::take(&mut merged.missing) {
        match wider.args.get(&name) {
            Some(value) => {
                merged.args.insert(name, value.clone());
            }
            None => merged.missing.push(name),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baseline_index::{INDEX_PARAMS, phrase_docs, phrases, skill_docs};
    use lexical::Bm25Index;

    /// Leave-one-out check: each example is routed with an index that does not contain it.
    #[test]
    fn held_out_examples_are_routed_to_their_skill() {
        let workspace = testkit::reference_workspace();
        let mut index = BaselineIndex::new(&workspace);
        let shown: Vec<usize> = (0..index.skills.len()).collect();
        let (mut hit, mut near, mut of) = (0, 0, 0);
        for (at, skill) in workspace.skills.iter().enumerate() {
            for (n, example) in skill.examples.iter().enumerate() {
                let mut without = workspace.skills.clone();
                without[at].examples.remove(n);
                index.skill_index = Bm25Index::new(INDEX_PARAMS, &skill_docs(&without));
                index.phrase_index = Bm25Index::new(INDEX_PARAMS, &phrase_docs(&without));
                index.phrases = phrases(&without).map(|(skill, _)| skill).collect();
                let said = ParsedMessage::new(&index.lexicon, example);
                let order: Vec<usize> = rank_skills(&index, &shown, &said).iter().map(|choice| choice.skill).collect();
                of += 1;
                hit += usize::from(order[0] == at);
                near += usize::from(order[..3].contains(&at));
            }
        }
        let report = format!("of {of} held-out examples {hit} found first, {near} among three");
        assert!(hit * 100 >= of * 55, "{report}");
        #[expect(clippy::print_stdout, reason = "the test log shows the hit rate")]
        {
            println!("{report}");
        }
    }
}
