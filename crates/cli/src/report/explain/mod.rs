//! The manual of a check, scorer, metric or gate, with examples.

mod json;
mod text;

use crate::args::Format;
use crate::io::Io;
use model::{Gate, Score, ScorerId};
use score::checks::Check;
use score::scorers::{Finding, Scorer, Specimen};

/// A thing that `explain` knows.
pub(crate) enum Topic<'w> {
    Check(&'static dyn Check),
    Scorer(&'static dyn Scorer),
    PlannedMetric { id: ScorerId, manual: &'static str },
    Gate(&'w Gate),
}

/// Explains everything of one name: a check and a scorer may share it.
pub(crate) fn explain(io: &Io, topics: &[Topic<'_>]) -> String {
    match io.format {
        Format::Json => json::render(io, topics),
        Format::Text | Format::Junit | Format::Markdown | Format::Github | Format::Sarif => text::render(io, topics),
    }
}

/// A hand-written transcript, and what a scorer reads off it.
struct ScoredExample {
    specimen: Specimen,
    scores: Vec<Score>,
}

impl ScoredExample {
    fn accepted(scorer: &dyn Scorer) -> Self {
        Self::of(scorer, scorer.accepts())
    }

    fn rejected(scorer: &dyn Scorer) -> Self {
        Self::of(scorer, scorer.rejects())
    }

    fn of(scorer: &dyn Scorer, specimen: Specimen) -> Self {
        let Finding { reading, because } = scorer.score(&specimen.evidence());
        Self { scores: vec![Score { scorer: scorer.id().into(), reading, because }], specimen }
    }
}
