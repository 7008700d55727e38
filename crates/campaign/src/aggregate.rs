//! Aggregates finished trials in plan order (gate pools, counters, record hash) and drops them. Every [`RunSummary`] is built here: for
//! live, resumed, stored and in-memory runs.

use crate::summary::{AbortedTrial, FlakyCase, OutcomeCounts, RepeatedTrials, RunSummary, ScorerFailures, UnreadFailures, UnreadRubrics};
use model::suite::Case;
use model::{
    AbortCause, CaseOutcome, ContentHash, Plan, PlanOutline, Reading, RecordHasher, RunClaim, Score, ScorerId, ScorerName, Trial, Workspace,
};
use score::causes::FailureCauses;
use score::gates::{GateJudge, MeasuredTrial};
use score::outcome::{RubricState, case_outcome, has_readings, is_run_again, rubric_state};
use score::statistics::CaseTrials;
use std::collections::BTreeMap;
use store::EndedTrial;

/// Aborted trials listed in a report.
const MAX_ABORTED_SHOWN: usize = 50;

/// Failed cases listed in a report because no gate reads them.
const MAX_UNREAD_SHOWN: usize = 10;

/// Names of failed cases that are kept.
const MAX_FAILED_SHOWN: usize = 20;

/// Trials of a run in plan order.
#[derive(Debug, Clone, Copy)]
pub(crate) enum TrialList<'t> {
    Outline(&'t PlanOutline),
    Plan(&'t Plan),
    Stored(&'t StoredTrialList<'t>),
}

/// Trials of a stored run. Without an outline, as in an imported run, the stored trials are the plan.
#[derive(Debug)]
pub(crate) struct StoredTrialList<'t> {
    pub outline: Option<&'t PlanOutline>,
    /// In the order of their first trial.
    pub subjects: Vec<String>,
    /// Hash of the workspace the trials were planned from.
    pub workspace: &'t ContentHash,
}

impl<'t> TrialList<'t> {
    fn len(self) -> u64 {
        match self {
            TrialList::Outline(outline) => outline.len(),
            TrialList::Plan(plan) => plan.trials.len() as u64,
            TrialList::Stored(stored) => stored.outline.map_or(0, PlanOutline::len),
        }
    }

    /// Returns the workspace that stored trials were planned from.
    fn workspace_hash(self) -> Option<&'t ContentHash> {
        match self {
            TrialList::Outline(_) => None,
            TrialList::Plan(plan) => Some(&plan.workspace),
            TrialList::Stored(stored) => Some(stored.workspace),
        }
    }

    /// Returns a planned trial; absent if only the trials that ended are known.
    fn trial(self, n: u64) -> Option<Trial> {
        match self {
            TrialList::Outline(outline) => Some(outline.trial(n)),
            TrialList::Plan(plan) => plan.trials.get(usize::try_from(n).unwrap_or(usize::MAX)).cloned(),
            TrialList::Stored(stored) => stored.outline.map(|outline| outline.trial(n)),
        }
    }

    /// Returns the subjects in the order of their first trial.
    fn subjects(self) -> Vec<String> {
        match self {
            TrialList::Outline(outline) => outline.subjects.iter().map(|planned| planned.subject.clone()).collect(),
            TrialList::Plan(plan) => {
                let mut subjects: Vec<String> = vec![];
                for trial in &plan.trials {
                    if !subjects.contains(&trial.subject) {
                        subjects.push(trial.subject.clone());
                    }
                }
                subjects
            }
            TrialList::Stored(stored) => stored.subjects.clone(),
        }
    }
}

pub(crate) struct RunAggregator<'w> {
    trials: TrialList<'w>,
    workspace: &'w Workspace,
    gates: GateJudge<'w>,
    hash: RecordHasher,
    claim: RunClaim,
    counts: OutcomeTotals,
    /// Index of the next trial.
    next: u64,
}

impl<'w> RunAggregator<'w> {
    pub(crate) fn new(workspace: &'w Workspace, trials: TrialList<'w>, claim: RunClaim) -> Self {
        let gates = GateJudge::new(workspace, &claim).with_subject_order(&trials.subjects());
        let hash = RecordHasher::new(&claim, trials.workspace_hash().unwrap_or(&workspace.hash));
        Self { trials, workspace, gates, hash, claim, counts: OutcomeTotals::default(), next: 0 }
    }

    /// Makes [`Self::is_decided`] know the cases of the plan.
    pub(crate) fn with_planned_cases<'c>(mut self, cases: impl Iterator<Item = &'c Case>) -> Self {
        self.gates = self.gates.with_planned_cases(cases);
        self
    }

    /// Returns whether the trials so far end a case and decide every gate.
    pub(crate) fn is_decided(&self) -> bool {
        match self.trials {
            TrialList::Outline(outline) => {
                let per_case = outline.trials * outline.subjects.len() as u64;
                self.next > 0 && self.next.is_multiple_of(per_case) && self.gates.is_decided()
            }
            TrialList::Plan(_) | TrialList::Stored(_) => false,
        }
    }

    /// Tells the gates if this was the last trial of a case by its subject.
    fn end_case(&mut self, ended: &EndedTrial) {
        if let TrialList::Outline(outline) = self.trials
            && self.next.is_multiple_of(outline.trials)
            && let Some(case) = self.workspace.case(&ended.trial.case)
        {
            self.gates.end_case(&ended.trial.subject, case);
        }
    }

    /// Returns the index of the next trial.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Adds a trial. Trials may be skipped, but must come in plan order.
    pub(crate) fn add(&mut self, ended: &EndedTrial) -> CaseOutcome {
        self.skip_until(ended.n);
        self.next = ended.n + 1;
        let EndedTrial { trial, content_hash: content, ending, scores, scores_hash, .. } = ended;
        self.hash.add_trial_digest(trial, content, scores_hash);
        let outcome = case_outcome(ending, scores);
        self.counts.add(ended, outcome);
        if let Some(case) = self.workspace.case(&trial.case) {
            let (aborted, content) = (outcome.is_aborted(), Some(content));
            let is_read = self.gates.add(&MeasuredTrial { trial: &trial.id, subject: &trial.subject, case, scores, aborted, content });
            if outcome == CaseOutcome::Failed && !is_read {
                self.counts.add_unread_failure(&trial.case, scores);
            }
            let is_open = outcome == CaseOutcome::Unjudged && rubric_state(scores) == RubricState::NotJudged;
            if is_open && !self.gates.reads(case, ScorerId::Judged) {
                self.counts.add_unread_rubric(&trial.case);
            }
        }
        self.end_case(ended);
        outcome
    }

    pub(crate) fn finish(mut self) -> RunSummary {
        self.skip_until(self.trials.len());
        self.counts.close_case();
        let verdicts = self.gates.finish();
        let record = self.hash.finish(&verdicts.judgements, &verdicts.out_of_scope);
        let counts = self.counts;
        RunSummary {
            claim: self.claim,
            subjects: self.trials.subjects(),
            outcomes: counts.outcomes,
            unscored: counts.unscored,
            rubrics_not_judged: counts.rubrics_not_judged,
            rubrics_without_verdict: counts.rubrics_without_verdict,
            failed_scorers: counts.failed_scorers,
            failed_cases: counts.failed_cases,
            aborted_trials: counts.aborted_trials,
            failures_without_gate: counts.failures_without_gate,
            unjudged_without_gate: counts.unjudged_without_gate,
            causes: counts.causes,
            flaky: counts.flaky,
            repeats: counts.repeats.iter().filter_map(|(subject, cases)| RepeatedTrials::of(subject, cases)).collect(),
            verdicts,
            record,
            stop: None,
        }
    }

    fn skip_until(&mut self, n: u64) {
        while self.next < n {
            if let Some(trial) = self.trials.trial(self.next) {
                self.hash.add_unrun_trial(&trial);
                self.counts.outcomes.add(CaseOutcome::Aborted { by: AbortCause::Interrupted });
            }
            self.next += 1;
        }
    }
}

/// Counters of a run whose trials are added in plan order.
#[derive(Debug, Default)]
struct OutcomeTotals {
    outcomes: OutcomeCounts,
    unscored: u64,
    rubrics_not_judged: u64,
    rubrics_without_verdict: u64,
    failed_scorers: BTreeMap<ScorerName, ScorerFailures>,
    failed_cases: Vec<String>,
    aborted_trials: Vec<AbortedTrial>,
    failures_without_gate: UnreadFailures,
    unjudged_without_gate: UnreadRubrics,
    causes: FailureCauses,
    flaky: Vec<FlakyCase>,
    /// Trials by case that passed or failed, by subject.
    repeats: BTreeMap<String, Vec<CaseTrials>>,
    /// Case and subject of the current trials, which are consecutive in the plan.
    current_case: Option<FlakyCase>,
}

impl OutcomeTotals {
    fn add(&mut self, ended: &EndedTrial, outcome: CaseOutcome) {
        let EndedTrial { trial: Trial { case, subject, .. }, ending, scores, .. } = ended;
        self.outcomes.add(outcome);
        match outcome {
            CaseOutcome::Passed | CaseOutcome::Failed | CaseOutcome::Unjudged => {
                self.causes.add(case, scores, ending);
                self.add_failed_scorers(scores);
                self.unscored += u64::from(!has_readings(scores));
                match rubric_state(scores) {
                    RubricState::Absent | RubricState::Judged => {}
                    RubricState::NotJudged => self.rubrics_not_judged += 1,
                    RubricState::NoVerdict => self.rubrics_without_verdict += 1,
                }
            }
            CaseOutcome::Aborted { by } => {
                if by.is_run_again() && !is_run_again(ending, scores) {
                    self.outcomes.add_harmful_abort();
                }
                if self.aborted_trials.len() < MAX_ABORTED_SHOWN {
                    let (case, subject, ending) = (case.clone(), subject.clone(), ending.clone());
                    self.aborted_trials.push(AbortedTrial { case, subject, ending });
                }
            }
        }
        if self.current_case.as_ref().is_none_or(|now| now.case != *case || now.subject != *subject) {
            self.close_case();
        }
        let now = self.current_case.get_or_insert_with(|| FlakyCase { case: case.clone(), subject: subject.clone(), passed: 0, of: 0 });
        match outcome {
            CaseOutcome::Passed => (now.passed, now.of) = (now.passed + 1, now.of + 1),
            CaseOutcome::Failed => {
                now.of += 1;
                if self.failed_cases.len() < MAX_FAILED_SHOWN && self.failed_cases.last() != Some(case) {
                    self.failed_cases.push(case.clone());
                }
            }
            CaseOutcome::Unjudged | CaseOutcome::Aborted { .. } => {}
        }
    }

    fn add_failed_scorers(&mut self, scores: &[Score]) {
        for score in scores.iter().filter(|score| score.scorer.known().is_none()) {
            let Reading::Unscorable { why } = &score.reading else { continue };
            match self.failed_scorers.get_mut(&score.scorer) {
                Some(failures) => failures.trials += 1,
                None => drop(self.failed_scorers.insert(score.scorer.clone(), ScorerFailures { trials: 1, why: why.clone() })),
            }
        }
    }

    fn add_unread_failure(&mut self, case: &str, scores: &[Score]) {
        let UnreadFailures { trials, cases, scorers } = &mut self.failures_without_gate;
        let missed = |id: ScorerId| scores.iter().any(|score| score.scorer == id && score.reading.is_violation());
        scorers.insert(if missed(ScorerId::Judged) && !missed(ScorerId::CasePass) { ScorerId::Judged } else { ScorerId::CasePass });
        *trials += 1;
        name_unread_case(cases, case);
    }

    fn add_unread_rubric(&mut self, case: &str) {
        self.unjudged_without_gate.trials += 1;
        name_unread_case(&mut self.unjudged_without_gate.cases, case);
    }

    fn close_case(&mut self) {
        let Some(now) = self.current_case.take() else { return };
        let trials = CaseTrials { passed: now.passed, trials: now.of };
        match self.repeats.get_mut(&now.subject) {
            Some(cases) => cases.push(trials),
            None => drop(self.repeats.insert(now.subject.clone(), vec![trials])),
        }
        self.flaky.extend(Some(now).filter(|now| now.passed > 0 && now.passed < now.of));
    }
}

fn name_unread_case(cases: &mut Vec<String>, case: &str) {
    if cases.len() < MAX_UNREAD_SHOWN && !cases.iter().any(|shown| shown == case) {
        cases.push(case.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Ending;
    use score::example::ExampleWorkspace;

    fn ended(case: &str, scores: &[(ScorerId, Reading)]) -> EndedTrial {
        let hash = ContentHash::of_text(case);
        let trial = Trial { id: hash.clone(), case: case.to_owned(), subject: "a".to_owned(), seed: 0 };
        let scores = scores.iter().map(|(scorer, reading)| Score::new(*scorer, reading.clone(), vec![])).collect();
        EndedTrial { n: 0, trial, content_hash: hash.clone(), ending: Ending::Finished, scores, scores_hash: hash, wall_us: 0 }
    }

    fn totals(trials: &[(&str, CaseOutcome)]) -> OutcomeTotals {
        let mut totals = OutcomeTotals::default();
        for (case, outcome) in trials {
            let reading = Reading::from_bool(*outcome == CaseOutcome::Passed);
            totals.add(&ended(case, &[(ScorerId::CasePass, reading)]), *outcome);
        }
        totals.close_case();
        totals
    }

    #[test]
    fn case_with_passed_and_failed_trials_is_flaky() {
        use CaseOutcome::{Failed, Passed, Unjudged};
        let found = totals(&[("x", Passed), ("x", Failed), ("x", Passed), ("y", Failed), ("y", Failed), ("z", Passed), ("z", Unjudged)]);
        let flaky: Vec<(&str, u64, u64)> = found.flaky.iter().map(|case| (case.case.as_str(), case.passed, case.of)).collect();
        assert_eq!(flaky, [("x", 2, 3)]);
        let repeats: Vec<(u64, u64)> = found.repeats["a"].iter().map(|case| (case.passed, case.trials)).collect();
        assert_eq!(repeats, [(2, 3), (0, 2), (1, 1)]);
        assert_eq!(found.failed_cases, ["x", "y"]);
        assert_eq!((found.outcomes.passed, found.outcomes.planned()), (3, 7));
    }

    /// A gate on `judged` says itself that it has no evidence; without one, only the count can.
    #[test]
    fn unjudged_rubric_that_no_gate_reads_is_counted() {
        let rubric = "      skill: swap\n      rubric: The answer names the risk of a worse price.\n";
        let example = || ExampleWorkspace::minimal().edit("suites/skills/swap.yaml", "      skill: swap\n", rubric);
        let gate = "gates:\n  - { id: rubrics, spec: ours, scorer: judged, slice: pooled, tiers: [2], min_cases: 1, aggregate: rate, at_least: 0.8, why: x }\n";
        let open_in = |tier: Option<u64>, workspace: ExampleWorkspace, judged: Reading| {
            let workspace = workspace.load().expect("a workspace");
            let trials = StoredTrialList { outline: None, subjects: vec![], workspace: &workspace.hash };
            let mut run = RunAggregator::new(&workspace, TrialList::Stored(&trials), RunClaim { tier, ..RunClaim::default() });
            run.add(&ended("convert_half_an_ether", &[(ScorerId::CasePass, Reading::from_bool(true)), (ScorerId::Judged, judged)]));
            run.finish().unjudged_without_gate
        };
        let open = |workspace: ExampleWorkspace, judged: Reading| open_in(None, workspace, judged);
        let found = open(example(), Reading::not_exercised());
        assert_eq!((found.trials, found.cases), (1, vec!["convert_half_an_ether".to_owned()]));
        assert_eq!(open(example(), Reading::from_bool(true)).trials, 0, "judged");
        let gated = || example().edit("gates.yaml", "gates:\n", gate);
        assert_eq!(open(gated(), Reading::not_exercised()).trials, 0, "a gate reads it");
        assert_eq!(open_in(Some(2), gated(), Reading::not_exercised()).trials, 0, "a gate of the tier reads it");
        assert_eq!(open_in(Some(3), gated(), Reading::not_exercised()).trials, 1, "only a gate of another tier reads it");
    }

    #[test]
    fn failure_that_no_gate_reads_names_the_scorer_to_read() {
        let (hit, miss) = (Reading::from_bool(true), Reading::from_bool(false));
        let scorers = |case_pass: &Reading, judged: &Reading| {
            let mut totals = OutcomeTotals::default();
            let scores = ended("x", &[(ScorerId::CasePass, case_pass.clone()), (ScorerId::Judged, judged.clone())]).scores;
            totals.add_unread_failure("x", &scores);
            totals.failures_without_gate.scorers.into_iter().collect::<Vec<ScorerId>>()
        };
        assert_eq!(scorers(&hit, &miss), [ScorerId::Judged]);
        assert_eq!(scorers(&miss, &miss), [ScorerId::CasePass]);
        assert_eq!(scorers(&miss, &hit), [ScorerId::CasePass]);
        let mut totals = OutcomeTotals::default();
        for n in 0..=MAX_UNREAD_SHOWN {
            for case in [format!("case_{n}"), format!("case_{n}")] {
                totals.add_unread_failure(&case, &[]);
            }
        }
        let UnreadFailures { trials, cases, .. } = totals.failures_without_gate;
        assert_eq!((trials, cases.len()), (2 * (MAX_UNREAD_SHOWN as u64 + 1), MAX_UNREAD_SHOWN));
        assert_eq!(cases.iter().collect::<std::collections::BTreeSet<_>>().len(), cases.len(), "a case is shown once");
    }
}
