//! Selftest: every gate can fail, each scorer that is stubbed as always good is named, and `fault:ID@K` subjects commit K faults.

use bardo_eval_campaign::{
    FaultState, NoopWatcher, PreparedRun, RunParts, RunPlan, RunSpec, Selftest, SelftestMode, SelftestProblem, execute_in_memory,
    play_selftest,
};
use faults::{FAULTS, Fault, FaultChoice};
use model::{Case, ScorerId, SubjectFile, SuiteKind, Workspace};
use run::external::HostEnvironment;
use run::{Clock, SubjectDeps, SubjectPool};
use score::example::ExampleWorkspace;
use std::collections::BTreeSet;
use std::sync::Arc;

fn faults() -> impl Iterator<Item = &'static Fault> {
    FAULTS.iter().flat_map(|family| *family)
}

/// One test plays the trials and judges them in several ways, because playing takes most of the time.
#[tokio::test(flavor = "multi_thread")]
async fn every_gate_can_fail_and_every_stubbed_scorer_is_named() {
    let workspace = testkit::reference_workspace();
    let scorers: BTreeSet<ScorerId> = workspace.gates.iter().filter_map(|gate| gate.scorer.known()).collect();
    let mut played = play_selftest(workspace, SelftestMode::Full, Clock::system(), HostEnvironment::default(), 4).await;
    let report = Selftest::default().judge(&played);
    let problems: Vec<String> = report.problems.iter().map(ToString::to_string).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(report.gates.iter().all(|row| !row.tripped_by.is_empty()));
    assert!(report.faults.iter().all(|row| row.cases > 0), "a fault is possible nowhere");
    assert!(!report.faults.iter().any(|row| row.state == FaultState::NotCaught));
    assert_eq!(report.doses.len(), report.gates.len(), "a gate has no dose at which it turns");
    let mut blind = vec![];
    for scorer in scorers {
        let report = Selftest::judge_with_stub(&mut played, scorer);
        let named = |problem: &SelftestProblem| match problem {
            SelftestProblem::CannotFail { gate, .. } => report.gates.iter().any(|row| row.gate == *gate && row.scorer == scorer.word()),
            SelftestProblem::NotCaught { scorer: name, .. } => *name == scorer.word(),
            _ => false,
        };
        if !report.problems.iter().any(named) {
            blind.push(scorer);
        }
    }
    assert!(blind.is_empty(), "stubbed as always good and not named: {blind:?}");
    assert!(Selftest::default().judge(&played).problems.is_empty(), "a stub leaves nothing behind");
}

#[tokio::test(flavor = "multi_thread")]
async fn selftest_names_a_gate_that_cannot_fail() {
    let workspace = ExampleWorkspace::minimal().load().expect("a workspace");
    let gate = workspace.gates[0].id.value.clone();
    let mut lax = Workspace::clone(&workspace);
    lax.gates[0].bound = model::GateBound::AtLeast(0.0);
    let problems = |workspace: Workspace| async {
        let played = play_selftest(Arc::new(workspace), SelftestMode::Full, Clock::system(), HostEnvironment::default(), 2).await;
        Selftest::default().judge(&played).problems.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let said = problems(lax).await;
    assert!(said.iter().any(|line| line.starts_with(&format!("gate {gate} cannot fail in tier "))), "{said:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_subject_commits_exactly_its_dose() {
    let workspace = testkit::reference_workspace();
    let cases: Vec<&Case> = workspace.cases().filter(|case| case.kind == SuiteKind::Behavior).take(80).collect();
    for (written, expected) in [("skips_guardian@0", 0), ("skips_guardian@2", 2)] {
        let choice = FaultChoice::parse(written).expect("a fault");
        let faulty = choice.faulty_cases(&workspace, cases.iter().copied());
        assert_eq!(faulty.len(), expected);
        let subject = SubjectFile::with_fault(written);
        let subjects = [&subject];
        let pool = SubjectPool::build(&workspace, &subjects, &SubjectDeps::offline(Clock::system())).expect("a scripted subject");
        let plan = RunPlan::from_cases(RunSpec::new(&[]), &workspace, &cases, &subjects);
        let prepared = PreparedRun::new(plan, RunParts::new(pool, Clock::system()));
        let record = execute_in_memory(&prepared, &mut NoopWatcher).await.expect("a record");
        let unsafe_cases: BTreeSet<String> = record
            .scores
            .iter()
            .filter(|trial| trial.scores.iter().any(|score| score.scorer == ScorerId::SafetyPipeline && score.reading.is_violation()))
            .filter_map(|trial| record.plan.trials.iter().find(|planned| planned.id == trial.trial).map(|planned| planned.case.clone()))
            .collect();
        assert_eq!(unsafe_cases, faulty);
    }
}

#[test]
fn faults_change_only_cases_in_which_they_are_possible() {
    let workspace = testkit::reference_workspace();
    let cases: Vec<&Case> = workspace.cases().collect();
    for fault in faults().filter(|fault| fault.cases(&workspace, cases.iter().copied()).len() > 1) {
        let order = fault.cases(&workspace, cases.iter().copied());
        let reversed = fault.cases(&workspace, cases.iter().rev().copied());
        let ids = |cases: &[&Case]| cases.iter().map(|case| case.id.value.clone()).collect::<Vec<_>>();
        assert_eq!(ids(&order), ids(&reversed), "{}: the order depends on the cases' order", fault.id);
    }
}
