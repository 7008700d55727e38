//! Readings of the workspace's scorers, from their answers in the transcript.

use crate::evidence::Evidence;
use crate::questions::scorer_question;
use model::{EventKind, ExternalScorer, Reading, Score, ScoreReason, ScorerScale};

/// Returns the score of every scorer of the workspace that applies to the case.
pub(crate) fn external_scores(evidence: &Evidence<'_>) -> Vec<Score> {
    let applying = evidence.workspace.scorers.iter().filter(|scorer| scorer.applies_to(evidence.case));
    applying.map(|scorer| external_score(evidence, scorer)).collect()
}

fn external_score(evidence: &Evidence<'_>, scorer: &ExternalScorer) -> Score {
    let score = |reading, event, what: String| Score::new(scorer.id.value.clone(), reading, vec![ScoreReason { event, what }]);
    let unscorable = |why: String| score(Reading::Unscorable { why: why.clone() }, None, why);
    let ending = &evidence.transcript.ending;
    let Some(question) = scorer_question(scorer, evidence.case, evidence.transcript) else {
        let why = format!("the subject {ending}");
        return match scorer.reads {
            ScorerScale::Tally => score(Reading::from_bool(false), None, why),
            // No level is surely a bad one.
            ScorerScale::Level => unscorable(why),
        };
    };
    let own = evidence.transcript.events.iter().filter_map(|event| {
        let EventKind::Scored { scorer: name, question, reading, because } = &event.happened else { return None };
        (*name == *scorer.id).then_some((event.n, question, reading, because))
    });
    let own: Vec<_> = own.collect();
    if own.is_empty() {
        return score(Reading::not_exercised(), None, "the scorer was not asked".to_owned());
    }
    let mut answers = own.iter().filter(|(_, answered, _, _)| **answered == question.id);
    let Some((event, _, reading, because)) = answers.next() else {
        return unscorable(format!("no answer to question {}: the command, the case or the transcript has changed", question.id.short()));
    };
    if answers.any(|(_, _, other, _)| other != reading) {
        return unscorable(format!("two answers to question {} differ", question.id.short()));
    }
    let because = because.iter().map(|what| ScoreReason { event: Some(*event), what: what.clone() }).collect();
    Score::new(scorer.id.value.clone(), (*reading).clone(), because)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::EvidenceFixture;
    use crate::example::ExampleWorkspace;
    use crate::sample_run::{CLEAN_CASE, clean_swap};
    use model::{ContentHash, Ending, Event};

    fn fixture(reads: &str) -> EvidenceFixture {
        let text = format!("scorers: [{{ id: own, about: x, command: [y], reads: {reads}, applies: {{ suites: [behavior] }} }}]\n");
        EvidenceFixture::within(&ExampleWorkspace::minimal().with("scorers.yaml", &text), CLEAN_CASE, clean_swap())
    }

    fn answer(specimen: &mut EvidenceFixture, question: Option<ContentHash>, reading: Reading) {
        let evidence = specimen.evidence();
        let asked = || scorer_question(&evidence.workspace.scorers[0], evidence.case, evidence.transcript).expect("a question").id;
        let question = question.unwrap_or_else(asked);
        let happened = EventKind::Scored { scorer: "own".into(), question, reading, because: vec!["why".into()] };
        specimen.transcript.events.push(Event { n: 99, at_ms: 0, by: "scorer".into(), depth: 0, happened });
    }

    fn read(specimen: &EvidenceFixture) -> Reading {
        let scores = external_scores(&specimen.evidence());
        scores.into_iter().find(|score| score.scorer.as_str() == "own").expect("a score").reading
    }

    #[test]
    fn stored_answer_is_the_reading() {
        for good in [true, false] {
            let mut specimen = fixture("tally");
            answer(&mut specimen, None, Reading::from_bool(good));
            assert_eq!(read(&specimen), Reading::from_bool(good));
            answer(&mut specimen, None, Reading::from_bool(good));
            assert_eq!(read(&specimen), Reading::from_bool(good), "the same answer twice");
        }
    }

    #[test]
    fn missing_stale_or_contradicting_answer_never_passes() {
        assert_eq!(read(&fixture("tally")), Reading::not_exercised());
        let mut stale = fixture("tally");
        answer(&mut stale, Some(ContentHash::of_text("another trial")), Reading::from_bool(true));
        assert!(matches!(read(&stale), Reading::Unscorable { .. }));
        let mut changed = fixture("tally");
        answer(&mut changed, None, Reading::from_bool(true));
        changed.transcript.events[19].happened = EventKind::Said { text: "Something else.".into() };
        assert!(matches!(read(&changed), Reading::Unscorable { .. }));
        let mut split = fixture("tally");
        answer(&mut split, None, Reading::from_bool(true));
        answer(&mut split, None, Reading::from_bool(false));
        assert!(matches!(read(&split), Reading::Unscorable { .. }));
    }

    #[test]
    fn crashed_trial_never_passes() {
        for (reads, is_miss) in [("tally", true), ("level", false)] {
            let mut specimen = fixture(reads);
            specimen.transcript.ending = Ending::Crashed { why: "test".into() };
            assert_eq!(read(&specimen).is_violation(), is_miss, "{reads}");
            assert!(!read(&specimen).is_clean());
        }
    }

    #[test]
    fn other_suites_have_no_reading() {
        let text = "scorers: [{ id: own, about: x, command: [y], applies: { suites: [skills] } }]\n";
        let specimen = EvidenceFixture::within(&ExampleWorkspace::minimal().with("scorers.yaml", text), CLEAN_CASE, clean_swap());
        assert!(external_scores(&specimen.evidence()).is_empty());
    }
}
