//! Manual of a check, scorer or gate, with examples, and the facts of a tool.

mod json;
mod text;
mod tool_facts;

use crate::args::ReportFormat;
use crate::io::CliOutput;
use faults::Fault;
use model::{ExternalScorer, Gate, OracleId, Score, Tool, Workspace};
use score::checks::Check;
use score::scorers::{EvidenceFixture, Scorer, ScorerFinding};

/// Topic of `explain`.
pub(crate) enum ExplainTopic<'w> {
    Check(&'static dyn Check),
    Scorer(&'static dyn Scorer),
    Oracle(OracleId),
    /// Mistake that a selftest puts into the reference.
    Fault(&'static Fault),
    /// Scorer of the workspace.
    ExternalScorer(&'w Workspace, &'w ExternalScorer),
    Gate(&'w Workspace, &'w Gate),
    Tool(&'w Workspace, &'w Tool),
}

/// Use of the examples of checks and scorers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExplainExamples {
    Shown,
    LeftOut,
}

/// Explains all topics of one name; a check and a scorer may share it.
pub(crate) fn explain(io: &CliOutput, topics: &[ExplainTopic<'_>], examples: ExplainExamples) -> String {
    match io.format {
        ReportFormat::Json => json::render(io, topics, examples),
        ReportFormat::Text | ReportFormat::Junit | ReportFormat::Markdown | ReportFormat::Github | ReportFormat::Sarif => {
            text::render(io, topics, examples)
        }
    }
}

/// Example transcript of a scorer, with the resulting score.
struct ScoredExample {
    specimen: EvidenceFixture,
    scores: Vec<Score>,
}

impl ScoredExample {
    fn accepted(scorer: &dyn Scorer) -> Self {
        Self::of(scorer, scorer.accepts())
    }

    fn rejected(scorer: &dyn Scorer) -> Self {
        Self::of(scorer, scorer.rejects())
    }

    fn of(scorer: &dyn Scorer, specimen: EvidenceFixture) -> Self {
        let ScorerFinding { reading, because } = scorer.score(&specimen.evidence());
        Self { scores: vec![Score::new(scorer.id(), reading, because)], specimen }
    }
}
