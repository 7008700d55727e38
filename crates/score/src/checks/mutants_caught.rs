//! Every case fails on mutants of its reference.

use super::words::percent;
use super::{Check, ExampleWorkspace, FindingCollector};
use crate::confusability::{ToolDoc, rank_confusable};
use crate::quality::{ReferenceMutant, StaticCase, ToolNeighbours, mutants};
use model::Workspace;
use model::suite::Case;

pub(super) struct MutantsCaught;

/// Maximum fraction of mutants that may pass. Mutants with a wrong write are never allowed.
const MAX_PASSED_SHARE: f64 = 0.05;

impl Check for MutantsCaught {
    fn id(&self) -> &'static str {
        "mutants_caught"
    }

    fn manual(&self) -> &'static str {
        "Each reference is scored, without a world, with one mistake: an expected call left out, a similar tool called instead (the two \
         most similar of the surface), an expected argument, skill or parameter replaced by another of its kind, an expected question not \
         asked, an asserted answer not given or replaced by another; and, for writes, every amount, asset, address or network that the reference gives, stated or not. The case must fail. No \
         wrong write may pass, and at most 5 % of all mutants; passes within that limit are warnings."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        let neighbours = tool_neighbours(workspace);
        let mut passed: Vec<(&Case, ReferenceMutant)> = vec![];
        let (mut tried, mut writes, mut unjudged) = (0_usize, 0_usize, 0_usize);
        for case in workspace.cases() {
            let Some(static_case) = StaticCase::of(workspace, case) else {
                unjudged += 1;
                continue;
            };
            for mutant in mutants(workspace, case, &neighbours) {
                found.record_examined();
                tried += 1;
                writes += usize::from(mutant.writes);
                if static_case.passes(&mutant.steps) {
                    passed.push((case, mutant));
                }
            }
        }
        let share = passed.len() as f64 / tried.max(1) as f64;
        for (case, mutant) in &passed {
            let what = format!("case {} passes with {}", *case.id, mutant.what);
            let remedy = if mutant.stated { "make the expectation reject it" } else { "state the argument in expect.calls" };
            if share > MAX_PASSED_SHARE || mutant.writes {
                found.error(&mutant.at, what, remedy)
            } else {
                found.warning(&mutant.at, what, remedy)
            }
        }
        let wrong_writes = passed.iter().filter(|(_, mutant)| mutant.writes).count();
        found.note(format!(
            "{} of {} ({}) pass, {wrong_writes} of {writes} with a wrong write; cases that need a world: {unjudged}",
            passed.len(),
            model::count(tried, "mutant"),
            percent(passed.len(), tried)
        ));
    }

    fn rejects(&self) -> ExampleWorkspace {
        let from = "{ tool: swap_execute, args: { token_in: USDC, token_out: WETH, amount: \"250\", chain: base } }";
        let to = "{ tool: swap_execute, args: { token_in: USDC, token_out: WETH, chain: base } }";
        ExampleWorkspace::minimal().edit("suites/behavior/trader.yaml", from, to)
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
