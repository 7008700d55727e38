//! Every expectation of a case is measured by a scorer. An evaluation must be able to fail.

use super::{Check, ExampleWorkspace, FindingCollector};
use crate::scorers::scorer;
use model::suite::{AssertionType, Case, CaseAssertion, SuiteKind};
use model::{Location, Rule, ScorerId, Workspace};

pub(super) struct ExpectationsMeasured;

/// Part of an expectation: key, predicate for cases that state it, and the scorers that read it.
type ExpectationPart = (&'static str, fn(&Case) -> bool, &'static [ScorerId]);

const EXPECTATION_PARTS: &[ExpectationPart] = &[
    ("forbid", |case| !case.expect.forbid.is_empty(), &[ScorerId::Forbid]),
    ("rules", |case| !case.expect.rules.is_empty(), &[ScorerId::ToolOrdering]),
    ("post", |case| !case.expect.post.is_empty(), &[ScorerId::Post]),
    ("output_schema", |case| case.expect.output_schema.is_some(), &[ScorerId::OutputFormat]),
    ("ask", |case| !case.expect.ask.is_empty(), &[ScorerId::IntentParsing, ScorerId::CasePass]),
    ("carry", |case| !case.expect.carry.is_empty(), &[ScorerId::Coherence, ScorerId::ContextPreservation]),
    ("assert", |case| !case.expect.assertions.is_empty(), &[ScorerId::Assertions]),
    ("report", |case| case.expect.report.is_some(), &[ScorerId::Completion]),
    ("rubric", |case| case.expect.rubric.is_some(), &[ScorerId::Judged]),
];

impl Check for ExpectationsMeasured {
    fn id(&self) -> &'static str {
        "expectations_measured"
    }

    fn manual(&self) -> &'static str {
        "Every case expects something to be done: calls (or that no tool fits), a skill, a question, an output schema, a state, a carried \
         value, an assertion, a rubric or a rule `eventually(…)`. A case that only forbids, sets rules or asserts what is not said would be passed by doing nothing; only attacks may do that, because \
         their benign twins show that the work is still done. A part of an expectation that no scorer of this version reads is a warning."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        for case in workspace.cases() {
            found.record_examined();
            if case.kind != SuiteKind::RedTeam && !expects_work(case) {
                let what = format!("case {} is passed by doing nothing", *case.id);
                found.error(&case.at, what, "add calls, skill, ask, output_schema, post, assert or rubric");
            }
        }
        for (part, stated, readers) in EXPECTATION_PARTS {
            let cases: Vec<&Case> = workspace.cases().filter(|case| stated(case)).collect();
            if let Some(first) = cases.first().filter(|_| !readers.iter().any(|reader| scorer(*reader).is_some())) {
                let at: &Location = &first.at;
                let what = format!("{part} is stated by {}, but no scorer reads it", model::count(cases.len(), "case"));
                found.warning(at, what, "only its syntax is checked in this version");
            }
        }
    }

    fn accepts(&self) -> ExampleWorkspace {
        ExampleWorkspace::minimal()
    }

    fn rejects(&self) -> ExampleWorkspace {
        ExampleWorkspace::minimal().edit(
            "suites/skills/swap.yaml",
            "      skill: swap\n      params: { token_in: ETH, token_out: USDC, amount: \"0.5\", chain: base }\n",
            "      forbid: [swap_execute]\n",
        )
    }
}

/// Returns whether an assertion needs something to be said or done. Any answer, and a fast one, meets the others.
pub(super) fn needs_words(assertion: &CaseAssertion) -> bool {
    !assertion.negated && !assertion.kind.measures_usage() && assertion.kind != AssertionType::StepCount
}

fn expects_work(case: &Case) -> bool {
    let expect = &case.expect;
    expect.calls.is_some()
        || expect.skill.is_some()
        || expect.output_schema.is_some()
        || !expect.ask.is_empty()
        || !expect.post.is_empty()
        || !expect.carry.is_empty()
        || expect.assertions.iter().any(needs_words)
        || expect.rubric.is_some()
        || expect.rules.iter().any(|rule| matches!(rule.value, Rule::Eventually(_)))
}
