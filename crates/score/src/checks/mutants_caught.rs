//! Every case fails on mutants of its reference.

use super::words::percent;
use super::{Check, ExampleWorkspace, FindingCollector};
use crate::confusability::{ToolDoc, rank_confusable};
use crate::quality::{ReferenceMutant, StaticCase, ToolNeighbours, mutants, without_steps};
use model::Workspace;
use model::suite::Case;
use std::collections::BTreeSet;

pub(super) struct MutantsCaught;

/// Maximum fraction of mutants that may pass. Mutants with a wrong write are never allowed.
const MAX_PASSED_SHARE: f64 = 0.05;

impl Check for MutantsCaught {
    fn id(&self) -> &'static str {
        "mutants_caught"
    }

    fn manual(&self) -> &'static str {
        "Each reference is scored, without a world, with one mistake: an expected call left out, a similar tool called instead (the \
         two most similar of the surface), an expected argument, skill or parameter replaced by another of its kind, an expected \
         question not asked, an asserted answer not given or replaced by another; and, for writes, every amount, name, address or place \
         that the reference gives, stated or not. The case must fail. No wrong write may pass, and at most 5 % of all mutants; passes \
         within that limit are warnings. A read that the case does not need, because the other calls of the reference are an accepted \
         alternative, may be changed or left out, and is counted apart, unless all such reads can be left out at once."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        let neighbours = tool_neighbours(workspace);
        let mut all = PlayedMutants::default();
        let mut unjudged = 0_usize;
        for case in workspace.cases() {
            match StaticCase::of(workspace, case) {
                Some(static_case) => all.play(case, &static_case, mutants(workspace, case, &neighbours)),
                None => unjudged += 1,
            }
        }
        (0..all.tried).for_each(|_| found.record_examined());
        let share = all.passed.len() as f64 / all.tried.max(1) as f64;
        for (case, mutant) in &all.passed {
            let what = format!("case {} passes with {}", *case.id, mutant.what);
            let remedy = if mutant.stated { "make the expectation reject it" } else { "state the argument in expect.calls" };
            if share > MAX_PASSED_SHARE || mutant.writes {
                found.error(&mutant.at, what, remedy)
            } else {
                found.warning(&mutant.at, what, remedy)
            }
        }
        let wrong_writes = all.passed.iter().filter(|(_, mutant)| mutant.writes).count();
        found.note(format!(
            "{} of {} ({}) pass, {wrong_writes} of {} with a wrong write; {} change a read that another accepted alternative makes \
             unnecessary; cases that need a world: {unjudged}",
            all.passed.len(),
            model::count(all.tried, "mutant"),
            percent(all.passed.len(), all.tried),
            all.writes,
            all.unneeded
        ));
    }

    fn rejects(&self) -> ExampleWorkspace {
        let from = "{ tool: swap_execute, args: { token_in: USDC, token_out: WETH, amount: \"250\", chain: base } }";
        let to = "{ tool: swap_execute, args: { token_in: USDC, token_out: WETH, chain: base } }";
        ExampleWorkspace::minimal().edit("suites/behavior/trader.yaml", from, to)
    }
}

/// Mutants of all cases, and those that pass.
#[derive(Default)]
struct PlayedMutants<'w> {
    passed: Vec<(&'w Case, ReferenceMutant)>,
    tried: usize,
    writes: usize,
    /// Mutants of reads that their case does not need, because the other calls of the reference are an accepted alternative.
    unneeded: usize,
}

impl<'w> PlayedMutants<'w> {
    fn play(&mut self, case: &'w Case, static_case: &StaticCase<'_>, mutants: Vec<ReferenceMutant>) {
        self.tried += mutants.len();
        self.writes += mutants.iter().filter(|mutant| mutant.writes).count();
        let passed: Vec<ReferenceMutant> = mutants.into_iter().filter(|mutant| static_case.passes(&mutant.steps)).collect();
        let unneeded: BTreeSet<usize> =
            passed.iter().filter(|mutant| mutant.is_omission && !mutant.writes).map(|mutant| mutant.step).collect();
        // Each alone is unnecessary, all at once must not be.
        let all_left_out = unneeded.len() > 1 && static_case.passes(&without_steps(case, &unneeded));
        let (covered, wrong): (Vec<_>, Vec<_>) =
            passed.into_iter().partition(|mutant| !mutant.writes && !all_left_out && unneeded.contains(&mutant.step));
        self.unneeded += covered.len();
        self.tried -= covered.len();
        self.passed.extend(wrong.into_iter().map(|mutant| (case, mutant)));
    }
}

fn tool_neighbours(workspace: &Workspace) -> ToolNeighbours {
    let docs: Vec<ToolDoc<'_>> = workspace
        .tools
        .iter()
        .map(|tool| ToolDoc { name: &tool.name, description: &tool.description, params: tool.params.keys().map(String::as_str).collect() })
        .collect();
    ToolNeighbours::of(&rank_confusable(&docs))
}
