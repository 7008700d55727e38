//! Scorers: each reads one thing off a transcript. One scorer, one file.

mod argument_match;
mod calls;
mod evidence;
mod hit;
mod intent_parsing;
mod parameter_extraction;
mod planned;
mod safety_pipeline;

pub use evidence::{Evidence, Specimen};
pub use planned::PLANNED;

use model::suite::Case;
use model::{Because, Reading, Score, Workspace};

pub trait Scorer: Sync {
    fn id(&self) -> &'static str;
    /// Printed by `bardo-eval explain <id>`.
    fn manual(&self) -> &'static str;
    /// Whether a case is meant to exercise this scorer at all.
    fn concerns(&self, workspace: &Workspace, case: &Case) -> bool;
    fn score(&self, evidence: &Evidence<'_>) -> Finding;
    /// Evidence in which everything this scorer looks for is right.
    fn accepts(&self) -> Specimen;
    /// Evidence in which something is wrong.
    fn rejects(&self) -> Specimen;
}

/// A reading with its reasons.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    pub reading: Reading,
    pub because: Vec<Because>,
}

impl Finding {
    pub fn not_exercised() -> Self {
        Self { reading: Reading::not_exercised(), because: vec![] }
    }

    pub fn one(good: bool, event: Option<u32>, what: impl Into<String>) -> Self {
        Self { reading: Reading::one(good), because: vec![Because { event, what: what.into() }] }
    }
}

pub static SCORERS: &[&dyn Scorer] = &[
    &hit::Hit,
    &argument_match::ArgumentMatch,
    &safety_pipeline::SafetyPipeline,
    &intent_parsing::IntentParsing,
    &parameter_extraction::ParameterExtraction,
];

pub fn scorer(id: &str) -> Option<&'static dyn Scorer> {
    SCORERS.iter().find(|scorer| scorer.id() == id).copied()
}

/// Everything that can be read off one transcript. Nothing is read off a trial that the harness broke.
pub fn score(evidence: &Evidence<'_>) -> Vec<Score> {
    if !evidence.transcript.ending.is_scorable() {
        return vec![];
    }
    SCORERS
        .iter()
        .filter(|scorer| scorer.concerns(evidence.workspace, evidence.case))
        .map(|scorer| {
            let Finding { reading, because } = scorer.score(evidence);
            Score { scorer: scorer.id().to_owned(), reading, because }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scorer_accepts_its_good_and_rejects_its_bad_evidence() {
        for scorer in SCORERS {
            let good = scorer.accepts();
            assert!(scorer.concerns(&good.workspace, good.case()), "{} is not concerned with its own example", scorer.id());
            let read = scorer.score(&good.evidence());
            assert!(read.reading.is_clean(), "{} rejects its good example: {read:?}", scorer.id());
            let bad = scorer.rejects();
            let read = scorer.score(&bad.evidence());
            assert!(read.reading.is_violation(), "{} accepts its bad example: {read:?}", scorer.id());
            assert!(!read.because.is_empty(), "{} gives no reason", scorer.id());
        }
    }

    #[test]
    fn ids_are_unique_and_a_planned_scorer_is_not_also_built() {
        let ids: Vec<_> = SCORERS.iter().map(|scorer| scorer.id()).chain(PLANNED.iter().map(|(id, _)| *id)).collect();
        for (n, id) in ids.iter().enumerate() {
            assert!(!ids[..n].contains(id), "{id} twice");
        }
    }

    #[test]
    fn every_scorer_file_is_in_the_table() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/scorers");
        #[expect(clippy::disallowed_methods, reason = "the test looks at its own source folder")]
        let files = std::fs::read_dir(folder).expect("the source folder");
        for file in files {
            let name = file.expect("an entry").file_name().to_string_lossy().trim_end_matches(".rs").to_owned();
            let helper = ["mod", "calls", "evidence", "planned"].contains(&name.as_str());
            assert!(helper || scorer(&name).is_some(), "scorers/{name}.rs is not in SCORERS");
        }
    }

    #[test]
    fn an_aborted_trial_has_no_scores() {
        let mut specimen = SCORERS[0].accepts();
        specimen.transcript.ending = model::Ending::Aborted { by: model::transcript::Culprit::Harness, why: "test".into() };
        assert!(score(&specimen.evidence()).is_empty());
    }
}
