//! Every gate has enough cases. Spec 6.1.

use super::{Check, ExampleWorkspace, FindingCollector};
use crate::gates::{cases_per_slice, members_of_slices, reads_attacks_only};
use crate::scorers::scorer_named;
use model::suite::Case;
use model::{ExternalScorer, ScorerId, Workspace};
use std::collections::BTreeSet;

pub(super) struct GatesHaveCases;

impl Check for GatesHaveCases {
    fn id(&self) -> &'static str {
        "gates_have_cases"
    }

    fn manual(&self) -> &'static str {
        "For every slice of every gate the suites have at least min_cases cases that concern its scorer. Fewer is a warning: a run of the \
         tier will have no evidence for that slice. A scorer of the workspace that reads all suites is a warning if some of their cases end \
         after the first call, as those on a profile do: nothing is said there, and a scorer of answers would find no evidence. A scorer \
         of the workspace that no gate reads is a warning too: its readings block nothing. So is a rubric that no gate on judged reads."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        for scorer in &workspace.scorers {
            found.record_examined();
            warn_of_silent_cases(workspace, scorer, found);
            warn_of_unread_scorer(workspace, scorer, found);
        }
        warn_of_unread_rubrics(workspace, found);
        for gate in &workspace.gates {
            found.record_examined();
            // gates_measured reports scorers that do not exist.
            let Some(scorer) = scorer_named(workspace, &gate.scorer) else { continue };
            // Attacked cases are made from probes when a run selects them; probes_resolve checks those.
            if reads_attacks_only(&gate.scorer) && !workspace.probes.is_empty() {
                continue;
            }
            let short: Vec<String> = cases_per_slice(gate, workspace, scorer)
                .into_iter()
                .filter(|(_, cases)| *cases < gate.min_cases)
                .map(|(slice, cases)| format!("{slice} {cases}"))
                .collect();
            if let Some(first) = short.first() {
                let more = if short.len() > 1 { format!(" and {}", model::count(short.len() - 1, "more slice")) } else { String::new() };
                let what = format!("gate {} needs {}, has: {first}{more}", gate.id.value, model::count(gate.min_cases, "case"));
                found.warning(&gate.at, what, "write more cases before relying on the tier");
            }
        }
    }

    fn rejects(&self) -> ExampleWorkspace {
        ExampleWorkspace::minimal().edit("gates.yaml", "min_cases: 2", "min_cases: 20")
    }
}

/// Warns of a scorer without `applies` that reads cases in which nothing is said. With `applies` the author has chosen its cases.
fn warn_of_silent_cases(workspace: &Workspace, scorer: &ExternalScorer, found: &mut FindingCollector) {
    if !scorer.suites.is_empty() || !scorer.tags.is_empty() {
        return;
    }
    let silent: Vec<&str> = silent_cases(workspace, scorer).collect();
    if let Some(first) = silent.first() {
        let cases = model::count_of(silent.len(), "case that ends after its first call", "cases that end after their first call");
        let what = format!("scorer {} reads {cases}, such as {first}; nothing is said there", scorer.id.value);
        let remedy = "if it reads answers, add applies: { suites: [behavior] }; if it reads calls, list its suites in applies";
        found.warning(&scorer.at, what, remedy);
    }
}

/// Warns of a scorer whose readings block nothing.
fn warn_of_unread_scorer(workspace: &Workspace, scorer: &ExternalScorer, found: &mut FindingCollector) {
    if !workspace.gates.iter().any(|gate| gate.scorer.as_str() == scorer.id.as_str()) {
        let what = format!("no gate reads scorer {}, so its readings block nothing", scorer.id.value);
        found.warning(&scorer.at, what, format!("add a gate with scorer: {}", scorer.id.value));
    }
}

/// Warns of rubrics that no gate on `judged` reads.
fn warn_of_unread_rubrics(workspace: &Workspace, found: &mut FindingCollector) {
    let cases: Vec<&Case> = workspace.cases().filter(|case| case.expect.rubric.is_some()).collect();
    let gates = workspace.gates.iter().filter(|gate| gate.scorer.value == ScorerId::Judged);
    let read: BTreeSet<usize> = gates
        .filter_map(|gate| Some(members_of_slices(gate, workspace, scorer_named(workspace, &gate.scorer)?, &cases)))
        .flatten()
        .flat_map(|(_, members)| members)
        .collect();
    let unread: Vec<&&Case> = cases.iter().enumerate().filter(|(n, _)| !read.contains(n)).map(|(_, case)| case).collect();
    if let Some(first) = unread.first() {
        let more = if unread.len() > 1 { format!(" and {}", model::count(unread.len() - 1, "more case")) } else { String::new() };
        let blocks = if unread.len() > 1 { "block" } else { "blocks" };
        let rubrics = if unread.len() > 1 { "rubrics" } else { "rubric" };
        let what = format!("no gate reads judged, so the {rubrics} of {}{more} {blocks} nothing", first.id.value);
        found.warning(&first.at, what, "add a gate with scorer: judged, and name a judge with --judge or in the tier");
    }
}

/// Returns the cases that a scorer of the workspace reads and that end after their first call.
pub fn silent_cases<'w>(workspace: &'w Workspace, scorer: &ExternalScorer) -> impl Iterator<Item = &'w str> {
    let read = workspace.cases().filter(|case| scorer.applies_to(case) && case.ends_at_first_call());
    read.map(|case| case.id.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scorer_of_answers_on_cases_without_answers_is_a_warning() {
        let warnings = |applies: &str| {
            let scorers = format!("scorers: [{{ id: politeness, about: x, command: [y]{applies} }}]\n");
            let workspace = ExampleWorkspace::minimal().with("scorers.yaml", &scorers).load().expect("a workspace");
            let mut found = FindingCollector::of("gates_have_cases", 1);
            GatesHaveCases.check(&workspace, &mut found);
            found.finish().findings.iter().filter(|finding| finding.what.contains("scorer politeness reads")).count()
        };
        assert_eq!(warnings(""), 1);
        assert_eq!(warnings(", applies: { suites: [behavior] }"), 0, "agents answer");
        assert_eq!(warnings(", applies: { suites: [tool_selection] }"), 0, "chosen by the author");
    }

    #[test]
    fn rubric_that_no_gate_reads_is_a_warning() {
        let rubric = "      skill: swap\n      rubric: The answer names the risk of a worse price.\n";
        let gate = "gates:\n  - { id: rubrics, spec: ours, scorer: judged, slice: pooled, tiers: [2], min_cases: 1, aggregate: rate, at_least: 0.8, why: x }\n";
        let unread = |workspace: ExampleWorkspace| {
            let mut found = FindingCollector::of("gates_have_cases", 1);
            GatesHaveCases.check(&workspace.load().expect("a workspace"), &mut found);
            let names = |what: &str| what == "no gate reads judged, so the rubric of convert_half_an_ether blocks nothing";
            found.finish().findings.iter().any(|finding| names(&finding.what))
        };
        let workspace = || ExampleWorkspace::minimal().edit("suites/skills/swap.yaml", "      skill: swap\n", rubric);
        assert!(unread(workspace()));
        assert!(!unread(workspace().edit("gates.yaml", "gates:\n", gate)));
        assert!(!unread(ExampleWorkspace::minimal()), "without a rubric");
    }

    #[test]
    fn scorer_that_no_gate_reads_is_a_warning() {
        let scorers = "scorers: [{ id: politeness, about: x, command: [y] }]\n";
        let unread = |workspace: ExampleWorkspace| {
            let mut found = FindingCollector::of("gates_have_cases", 1);
            GatesHaveCases.check(&workspace.load().expect("a workspace"), &mut found);
            found.finish().findings.iter().any(|finding| finding.what.contains("no gate reads scorer politeness"))
        };
        let workspace = || ExampleWorkspace::minimal().with("scorers.yaml", scorers);
        assert!(unread(workspace()));
        assert!(!unread(workspace().edit("gates.yaml", "scorer: hit", "scorer: politeness")));
    }
}
