//! Tier 1: static checks of a workspace, without a model. One file per check.

mod addresses_checksummed;
mod addresses_unique;
mod agent_files;
mod briefs_resolve;
mod carried_out_skills;
mod case_ids_unique;
mod case_names;
mod confusability;
mod coverage_minimums;
mod cross_play;
mod cross_play_candidates;
mod cross_play_case;
mod delegates_exist;
mod delegation_depth;
mod descriptions;
mod expectations_fit_schema;
mod expectations_measured;
mod expectations_reachable;
mod finding;
mod gates_have_cases;
mod gates_measured;
mod gates_resolve;
mod graph;
mod graph_acyclic;
mod guardian_edge;
mod guardian_reads_only;
mod invariants;
mod keys_current;
mod mutants_caught;
mod names_alone;
mod names_match_files;
mod names_unique;
mod operations_resolve;
mod param_kinds;
mod pinned_tools;
mod policy_resolves;
mod probes_resolve;
mod profile_counts;
mod prompt_hides_answer;
mod prompts_distinct;
mod reference_covers;
mod reference_present;
mod rubrics_decidable;
mod schema_fuzz;
mod schemas_valid;
mod skills_resolve;
mod spec_bounds;
mod subjects_complete;
mod terminals;
mod tiers_complete;
mod tools_exist;
mod triggers_unique;
mod waivers;
mod words;
mod worlds_complete;
mod worlds_resolve;
mod write_acts;
mod writes_compared;
mod writes_declared;

pub use case_names::unknown_case_names;
pub use confusability::confusable_pairs;
pub use finding::{CheckFinding, CheckResult, FindingCollector, FindingLevel};
pub use gates_have_cases::silent_cases;
pub use waivers::waivers_of;

use crate::example::ExampleWorkspace;
use model::Workspace;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

pub trait Check: Sync {
    fn id(&self) -> &'static str;
    /// Returns the text printed by `bardo-eval explain <id>`.
    fn manual(&self) -> &'static str;
    fn check(&self, workspace: &Workspace, found: &mut FindingCollector);
    /// Returns a workspace in which this check examines something and finds nothing.
    fn accepts(&self) -> ExampleWorkspace {
        ExampleWorkspace::minimal()
    }
    /// Returns a workspace in which this check reports a finding.
    fn rejects(&self) -> ExampleWorkspace;
}

/// All checks in report order: catalogue, agents and skills, worlds and configuration, cases.
pub static CHECKS: &[&dyn Check] = &[
    &schemas_valid::SchemasValid,
    &descriptions::DescriptionsCheck,
    &names_unique::NamesUnique,
    &names_match_files::NamesMatchFiles,
    &keys_current::KeysCurrent,
    &param_kinds::ParamKinds,
    &write_acts::WriteActs,
    &operations_resolve::OperationsResolve,
    &schema_fuzz::SchemaFuzz,
    &pinned_tools::PinnedTools,
    &tools_exist::ToolsExist,
    &profile_counts::ProfileCounts,
    &confusability::ConfusabilityCheck,
    &delegates_exist::DelegatesExist,
    &graph_acyclic::GraphAcyclic,
    &terminals::TerminalsCheck,
    &delegation_depth::DelegationDepthCheck,
    &guardian_edge::GuardianEdge,
    &guardian_reads_only::GuardianReadsOnly,
    &writes_declared::WritesDeclared,
    &agent_files::AgentFiles,
    &invariants::InvariantsCheck,
    &skills_resolve::SkillsResolve,
    &triggers_unique::TriggersUnique,
    &addresses_checksummed::AddressesChecksummed,
    &addresses_unique::AddressesUnique,
    &policy_resolves::PolicyResolves,
    &worlds_resolve::WorldsResolve,
    &probes_resolve::ProbesResolve,
    &worlds_complete::WorldsComplete,
    &subjects_complete::SubjectsComplete,
    &tiers_complete::TiersComplete,
    &spec_bounds::SpecBounds,
    &gates_resolve::GatesResolve,
    &gates_measured::GatesMeasured,
    &gates_have_cases::GatesHaveCases,
    &coverage_minimums::CoverageMinimumsCheck,
    &case_ids_unique::CaseIdsUnique,
    &carried_out_skills::CarriedOutSkills,
    &briefs_resolve::BriefsResolve,
    &expectations_reachable::ExpectationsReachable,
    &expectations_fit_schema::ExpectationsFitSchema,
    &expectations_measured::ExpectationsMeasured,
    &prompt_hides_answer::PromptHidesAnswer,
    &prompts_distinct::PromptsDistinct,
    &reference_present::ReferencePresent,
    &reference_covers::ReferenceCovers,
    &rubrics_decidable::RubricsDecidable,
    &cross_play::CrossPlay,
    &mutants_caught::MutantsCaught,
    &writes_compared::WritesCompared,
    &names_alone::NamesAlone,
    &waivers::WaiversCheck,
];

/// Checks of the DeFi rules. They are in force exactly in a workspace with `policy.yaml`.
const POLICY_CHECKS: &[&str] = &[
    "param_kinds",
    "write_acts",
    "operations_resolve",
    "terminals",
    "delegation_depth",
    "guardian_edge",
    "guardian_reads_only",
    "writes_declared",
    "addresses_checksummed",
    "addresses_unique",
    "policy_resolves",
    "spec_bounds",
];

/// Returns the checks in force in a workspace, in report order.
pub fn checks_in_force(workspace: &Workspace) -> Vec<&'static dyn Check> {
    let in_force = |check: &&&dyn Check| workspace.policy.is_some() || !POLICY_CHECKS.contains(&check.id());
    CHECKS.iter().filter(in_force).copied().collect()
}

/// Runs the checks with these ids and returns their findings.
pub fn run_selected(workspace: &Workspace, ids: &[&str]) -> Vec<CheckFinding> {
    let chosen = checks_in_force(workspace).into_iter().filter(|check| ids.contains(&check.id()));
    chosen
        .flat_map(|check| {
            let mut found = FindingCollector::of(check.id(), 1).waiving(waivers::waivers_of(workspace, check.id()));
            check.check(workspace, &mut found);
            found.finish().findings
        })
        .collect()
}

/// Checks that take longest. They are started first, so that no core is left with one of them while the others have nothing to do.
const SLOW_CHECKS: [&str; 4] = ["mutants_caught", "schema_fuzz", "cross_play", "prompt_hides_answer"];

/// Runs every check in force on all cores. The results are in report order; waived findings are only counted.
pub fn run_all(workspace: &Workspace, seed: u64) -> Vec<CheckResult> {
    let checks = checks_in_force(workspace);
    let mut order: Vec<usize> = (0..checks.len()).collect();
    order.sort_by_key(|at| SLOW_CHECKS.iter().position(|id| *id == checks[*at].id()).unwrap_or(SLOW_CHECKS.len()));
    let next = AtomicUsize::new(0);
    let take_check = || {
        let at = *order.get(next.fetch_add(1, Ordering::Relaxed))?;
        Some((at, checks[at]))
    };
    let work = || {
        let mut results = vec![];
        while let Some((at, check)) = take_check() {
            let mut found = FindingCollector::of(check.id(), seed).waiving(waivers::waivers_of(workspace, check.id()));
            check.check(workspace, &mut found);
            results.push((at, found.finish()));
        }
        results
    };
    let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get).min(checks.len());
    let mut results: Vec<(usize, CheckResult)> = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut results = work();
        results.extend(others.into_iter().flat_map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))));
        results
    });
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(check: &dyn Check, example: &ExampleWorkspace) -> CheckResult {
        let workspace = example.load().unwrap_or_else(|problems| panic!("{}: the example does not load: {problems:#?}", check.id()));
        let mut found = FindingCollector::of(check.id(), 1);
        check.check(&workspace, &mut found);
        found.finish()
    }

    #[test]
    fn checks_accept_good_and_reject_bad_example() {
        for check in CHECKS {
            let good = run(*check, &check.accepts());
            assert!(good.findings.is_empty(), "{} rejects its good example: {:#?}", check.id(), good.findings);
            assert!(good.looked_at > 0, "{} examined nothing in its good example", check.id());
            let bad = run(*check, &check.rejects());
            assert!(!bad.findings.is_empty(), "{} accepts its bad example", check.id());
            for finding in &bad.findings {
                assert!(finding.at.line > 0 && !finding.at.file.is_empty(), "{}: {finding} has no location", check.id());
                assert!(!finding.remedy.is_empty(), "{}: {finding} has no remedy", check.id());
            }
        }
    }

    #[test]
    fn check_ids_are_unique_and_have_manuals() {
        for (n, check) in CHECKS.iter().enumerate() {
            assert!(CHECKS[..n].iter().all(|other| other.id() != check.id()), "{} twice", check.id());
            assert!(check.manual().len() > 80, "{} needs a manual", check.id());
        }
    }

    /// A check file that is not in the table would never run.
    #[test]
    fn every_check_file_is_in_checks_table() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/checks");
        #[expect(clippy::disallowed_methods, reason = "the test lists its source folder")]
        let files = std::fs::read_dir(folder).expect("the source folder");
        let helpers = ["mod", "case_names", "cross_play_candidates", "cross_play_case", "finding", "graph", "words"];
        for file in files {
            let name = file.expect("an entry").file_name().to_string_lossy().trim_end_matches(".rs").to_owned();
            if !helpers.contains(&name.as_str()) {
                assert!(CHECKS.iter().any(|check| check.id() == name), "checks/{name}.rs is not in CHECKS");
            }
        }
    }
}
