//! The front desk: which skill is meant, with which parameters, and what must still be asked for.

use super::agent_state::Frame;
use super::baseline_index::{KnownSkill, Mind};
use super::fill::{Filled, fill};
use super::mentions::Said;
use super::questions::ask;
use lexical::TermQuery;
use model::seat::View;
use model::transcript::Move;

const SPEAKS: f64 = 0.15;
const HARMONY: f64 = 0.6;
const PHRASE: f64 = 0.4;
/// How much better another skill must fit before a later turn changes the topic.
const TURN: f64 = 0.25;
/// As many words of a topic make a request of their own.
const REQUEST: usize = 3;

struct Choice {
    skill: usize,
    filled: Filled,
    score: f64,
    covered: f64,
}

pub(super) fn next(frame: &mut Frame, mind: &Mind, view: &View<'_>) -> Move {
    let shown: Vec<usize> =
        (0..mind.skills.len()).filter(|at| view.seat.skills.iter().any(|(name, _)| *name == mind.skills[*at].name)).collect();
    let Some(newest) = frame.turns.last() else { return Move::Stop };
    let ranked = ranked(mind, &shown, newest);
    let current = frame.topic.filter(|topic| !changes(&ranked, *topic, newest));
    let chosen = match current {
        Some(topic) => topic,
        None => {
            // A new topic: what was said about the old one stays said, but asks for nothing.
            frame.topic_since = frame.turns.len() - 1;
            match ranked.first().filter(|best| best.covered >= SPEAKS) {
                Some(best) => best.skill,
                None => return Move::Say("I have no skill for that, so I have done nothing.".to_owned()),
            }
        }
    };
    frame.topic = Some(chosen);
    let skill = &mind.skills[chosen];
    let filled = extract(mind, skill, frame);
    if !filled.missing.is_empty() && frame.asked < 2 {
        frame.asked += 1;
        return Move::Ask(ask(&skill.shape, &filled.missing));
    }
    frame.asked = 0;
    Move::Activate { skill: skill.name.clone(), params: filled.args }
}

fn ranked(mind: &Mind, shown: &[usize], said: &Said) -> Vec<Choice> {
    let query = TermQuery::from_tokens(&said.words);
    let mass = mind.skill_index.mass(&query);
    let found = mind.skill_index.search(&query);
    let phrases = mind.phrase_index.search(&query);
    // The one phrase of a skill that is nearest: people ask for one thing in many ways, but rarely in all of them at once.
    let mut nearest = vec![0.0_f64; mind.skills.len()];
    for (skill, phrase) in mind.phrases.iter().zip(&phrases) {
        nearest[*skill] = nearest[*skill].max(phrase.score / mass.max(1.0));
    }
    let mut choices: Vec<Choice> = shown
        .iter()
        .map(|skill| {
            let filled = fill(&mind.lexicon, &mind.skills[*skill].shape, &[said]);
            let score =
                found[*skill].score / mass.max(1.0) + PHRASE * nearest[*skill] + HARMONY * filled.harmony(&mind.skills[*skill].shape);
            Choice { skill: *skill, filled, score, covered: found[*skill].covered }
        })
        .collect();
    choices.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.skill.cmp(&b.skill)));
    choices
}

/// Whether the newest turn is about something else: it says enough of its own, and another skill fits it clearly better.
fn changes(ranked: &[Choice], topic: usize, said: &Said) -> bool {
    let words = TermQuery::from_tokens(&said.words).count_wanted();
    let (Some(best), Some(current)) = (ranked.first(), ranked.iter().find(|choice| choice.skill == topic)) else { return false };
    best.skill != topic
        && words >= REQUEST
        && best.covered >= 0.3
        && best.score - current.score > TURN
        && best.filled.missing.len() <= current.filled.missing.len() + 1
}

/// From the turns of this topic; what is still missing, from before.
fn extract(mind: &Mind, skill: &KnownSkill, frame: &Frame) -> Filled {
    let own: Vec<&Said> = frame.turns[frame.topic_since..].iter().collect();
    let filled = fill(&mind.lexicon, &skill.shape, &own);
    if filled.missing.is_empty() {
        return filled;
    }
    let all: Vec<&Said> = frame.turns.iter().collect();
    let wider = fill(&mind.lexicon, &skill.shape, &all);
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
    use super::super::baseline_index::{INDEX_PARAMS, phrase_docs, phrases, skill_docs};
    use super::*;
    use lexical::Bm25Index;

    /// Examples of the skill files, each asked of a mind that never saw it: how often the skill is found by the others.
    #[test]
    fn a_held_out_example_finds_its_skill() {
        let workspace = testkit::reference_workspace();
        let mut mind = Mind::new(&workspace);
        let shown: Vec<usize> = (0..mind.skills.len()).collect();
        let (mut hit, mut near, mut of) = (0, 0, 0);
        for (at, skill) in workspace.skills.iter().enumerate() {
            for (n, example) in skill.examples.iter().enumerate() {
                let mut without = workspace.skills.clone();
                without[at].examples.remove(n);
                mind.skill_index = Bm25Index::new(INDEX_PARAMS, &skill_docs(&without));
                mind.phrase_index = Bm25Index::new(INDEX_PARAMS, &phrase_docs(&without));
                mind.phrases = phrases(&without).map(|(skill, _)| skill).collect();
                let said = Said::new(&mind.lexicon, example);
                let order: Vec<usize> = ranked(&mind, &shown, &said).iter().map(|choice| choice.skill).collect();
                of += 1;
                hit += usize::from(order[0] == at);
                near += usize::from(order[..3].contains(&at));
            }
        }
        let report = format!("of {of} held-out examples {hit} found first, {near} among three");
        assert!(hit * 100 >= of * 55, "{report}");
        #[expect(clippy::print_stdout, reason = "the figure is what the test is run for")]
        {
            println!("{report}");
        }
    }
}
