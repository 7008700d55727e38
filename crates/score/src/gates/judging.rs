//! Judging a run while its trials end, in any order: what is held follows cases and gates, not trials.

use super::judge::{Claim, Demands, Judged, Measured, Scope, judge_slice};
use super::pool::{Entry, Pool};
use super::slices::{self, OneSlice};
use crate::scorers::{Scorer, scorer_named};
use model::suite::Case;
use model::{Gate, ScorerName, Workspace};
use std::collections::HashMap;
use std::sync::Arc;

/// Readings pooled as they come.
#[derive(Debug)]
pub struct Judging<'w> {
    workspace: &'w Workspace,
    claim: Claim,
    places: Vec<Place<'w>>,
    cases: HashMap<String, Arc<Counts>>,
    /// In the order they are to be shown, with one pool for each place once a trial of theirs came.
    subjects: Vec<(String, Vec<Pool>)>,
}

/// A slice of a gate.
struct Place<'w> {
    gate: &'w Gate,
    slice: OneSlice,
    scorer: Option<&'static dyn Scorer>,
    most_cases: Option<usize>,
}

impl std::fmt::Debug for Place<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.gate.id.value, self.slice.label())
    }
}

/// Where the readings of a case count.
#[derive(Debug)]
struct Counts {
    number: usize,
    /// Places that the case is meant to exercise.
    concerned: Vec<usize>,
    /// By scorer.
    places: Vec<(ScorerName, Vec<usize>)>,
}

/// Below this a set of contents is not worth counting the cases of its slice.
const FEW: usize = 64;

impl<'w> Judging<'w> {
    pub fn new(workspace: &'w Workspace, scope: Scope, demands: Demands) -> Self {
        let places = workspace.gates.iter().flat_map(|gate| {
            let scorer = scorer_named(&gate.scorer);
            slices::of(gate, workspace).into_iter().map(move |slice| Place { gate, slice, scorer, most_cases: None })
        });
        Self { workspace, claim: Claim { scope, demands }, places: places.collect(), cases: HashMap::new(), subjects: vec![] }
    }

    /// Subjects are shown in this order, not in that of their first trial to end.
    pub fn in_order(mut self, subjects: &[&str]) -> Self {
        self.subjects = subjects.iter().map(|subject| ((*subject).to_owned(), vec![])).collect();
        self
    }

    pub fn add(&mut self, trial: &Measured<'_>) {
        let counts = self.counts(trial.case);
        let at = self.subject(trial.subject);
        let Self { workspace, places, subjects, .. } = self;
        let pools = &mut subjects[at].1;
        for place in &counts.concerned {
            pools[*place].touched = true;
            pools[*place].aborted += usize::from(trial.aborted);
        }
        for score in trial.scores {
            let Some((_, counted)) = counts.places.iter().find(|(scorer, _)| *scorer == score.scorer) else { continue };
            for place in counted {
                let pool = &mut pools[*place];
                pool.touched |= score.reading.is_exercised();
                let most_cases = if pool.distinct() < FEW { FEW } else { places[*place].most_cases(workspace) };
                let Measured { trial, case, content, .. } = *trial;
                pool.add(Entry { trial, case: &case.id.value, number: counts.number, content, most_cases }, score);
            }
        }
    }

    pub fn finish(self) -> Judged {
        let Self { workspace, claim, places, mut subjects, .. } = self;
        subjects.retain(|(_, pools)| !pools.is_empty());
        if subjects.is_empty() {
            subjects.push((String::new(), pools(&places)));
        }
        let mut judged = Judged { judgements: vec![], out_of_scope: vec![] };
        for gate in &workspace.gates {
            let before = judged.judgements.len();
            let own: Vec<usize> = (0..places.len()).filter(|at| std::ptr::eq(places[*at].gate, gate)).collect();
            for (subject, pools) in &subjects {
                for at in own.iter().filter(|at| in_scope(gate, &pools[**at], claim.scope)) {
                    judged.judgements.push(judge_slice(gate, subject, &places[*at].slice, &pools[*at], claim));
                }
                if own.is_empty() && matches!(claim.scope, Scope::Tier(tier) if gate.tiers.contains(&tier)) {
                    // A gate of the tier that applies to nothing has shown nothing.
                    let nothing = OneSlice { axis: gate.slice.each, value: Some("none".into()) };
                    judged.judgements.push(judge_slice(gate, subject, &nothing, &Pool::new(gate), claim));
                }
            }
            if judged.judgements.len() == before {
                judged.out_of_scope.push(gate.id.value.clone());
            }
        }
        judged
    }

    fn subject(&mut self, name: &str) -> usize {
        let at = self.subjects.iter().position(|(subject, _)| subject == name).unwrap_or_else(|| {
            self.subjects.push((name.to_owned(), vec![]));
            self.subjects.len() - 1
        });
        if self.subjects[at].1.is_empty() {
            self.subjects[at].1 = pools(&self.places);
        }
        at
    }

    fn counts(&mut self, case: &Case) -> Arc<Counts> {
        if let Some(counts) = self.cases.get(case.id.as_str()) {
            return counts.clone();
        }
        let mut counts = Counts { number: self.cases.len(), concerned: vec![], places: vec![] };
        for (at, place) in self.places.iter().enumerate().filter(|(_, place)| place.holds(self.workspace, case)) {
            if place.scorer.is_some_and(|scorer| scorer.concerns(self.workspace, case)) {
                counts.concerned.push(at);
            }
            match counts.places.iter_mut().find(|(scorer, _)| *scorer == *place.gate.scorer) {
                Some((_, places)) => places.push(at),
                None => counts.places.push((place.gate.scorer.value.clone(), vec![at])),
            }
        }
        let counts = Arc::new(counts);
        self.cases.insert(case.id.value.clone(), counts.clone());
        counts
    }
}

impl Place<'_> {
    fn holds(&self, workspace: &Workspace, case: &Case) -> bool {
        slices::holds(self.gate, &self.slice, workspace, case)
    }

    fn most_cases(&mut self, workspace: &Workspace) -> usize {
        if let Some(most) = self.most_cases {
            return most;
        }
        let most = workspace.cases().filter(|case| self.holds(workspace, case)).count();
        self.most_cases = Some(most);
        most
    }
}

fn pools(places: &[Place<'_>]) -> Vec<Pool> {
    places.iter().map(|place| Pool::new(place.gate)).collect()
}

fn in_scope(gate: &Gate, pool: &Pool, scope: Scope) -> bool {
    match scope {
        Scope::Tier(tier) => gate.tiers.contains(&tier),
        // A gate on what nobody measures concerns no case a person chose.
        Scope::Selection => scorer_named(&gate.scorer).is_some() && pool.touched,
    }
}
