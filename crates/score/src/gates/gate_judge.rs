//! Judges the gates of a run incrementally; trials may end in any order. Memory grows with cases and gates, not with trials.

use super::case_readings::CaseReadings;
use super::pool::{PoolTrial, ReadingPool};
use super::slice_verdict::judge_slice;
use super::slices::{self, SliceKey};
use super::stopping::is_slice_settled;
use super::unit::case_unit;
use crate::scorers::{ScorerHandle, scorer_named};
use model::suite::Case;
use model::{ContentHash, Gate, GateVerdicts, Reading, RunClaim, Score, ScorerId, ScorerName, SliceAxis, Workspace};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Scored trial, input of the gates.
#[derive(Debug, Clone, Copy)]
pub struct MeasuredTrial<'a> {
    pub trial: &'a ContentHash,
    pub subject: &'a str,
    pub case: &'a Case,
    /// Empty for an aborted trial.
    pub scores: &'a [Score],
    pub aborted: bool,
    /// Hash of the events. Equal transcripts count as one piece of evidence. `None` if unknown.
    pub content: Option<&'a ContentHash>,
}

/// Readings of one slice of a gate for one subject.
#[derive(Debug, Clone)]
pub struct SliceReadings<'w> {
    pub gate: &'w Gate,
    pub slice: String,
    pub subject: String,
    /// By unit, which is the case for most scorers.
    pub units: BTreeMap<String, CaseReadings>,
}

/// Judges every gate on these trials, separately for each subject.
pub fn judge_gates(workspace: &Workspace, trials: &[MeasuredTrial<'_>], claim: &RunClaim) -> GateVerdicts {
    let mut gates = GateJudge::new(workspace, claim);
    for trial in trials {
        gates.add(trial);
    }
    gates.finish()
}

/// Pools readings for every slice of every gate.
#[derive(Debug)]
pub struct GateJudge<'w> {
    workspace: &'w Workspace,
    claim: RunClaim,
    places: Vec<GateSlice<'w>>,
    cases: HashMap<String, PlacedCase>,
    /// Most cases of a suite belong to the same slices.
    slice_sets: BTreeSet<Arc<CaseSlices>>,
    /// Numbers of the units in which cases are counted.
    units: HashMap<String, usize>,
    /// In report order. A subject has one pool per gate slice after its first trial.
    subjects: Vec<(String, Vec<ReadingPool>)>,
    /// Planned cases that concern each gate slice. Empty if the run does not stop early.
    planned: Vec<usize>,
}

/// One slice of one gate.
struct GateSlice<'w> {
    gate: &'w Gate,
    slice: SliceKey,
    scorer: Option<ScorerHandle<'w>>,
    most_cases: Option<usize>,
}

impl std::fmt::Debug for GateSlice<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.gate.id.value, self.slice.label())
    }
}

/// Case with its gate slices.
#[derive(Debug, Clone)]
struct PlacedCase {
    slices: Arc<CaseSlices>,
    numbers: UnitNumbers,
}

/// For each scorer of the slices of a case, the number of the case, or of the group of cases that counts as one.
#[derive(Debug, Clone)]
enum UnitNumbers {
    /// The same for all scorers.
    Same(usize),
    Each(Arc<[usize]>),
}

impl UnitNumbers {
    fn new(numbers: &[usize]) -> Self {
        match numbers {
            [first, rest @ ..] if rest.iter().all(|number| number == first) => UnitNumbers::Same(*first),
            _ => UnitNumbers::Each(numbers.into()),
        }
    }

    fn of_scorer(&self, at: usize) -> usize {
        match self {
            UnitNumbers::Same(number) => *number,
            UnitNumbers::Each(numbers) => numbers[at],
        }
    }
}

/// Gate slices that a case belongs to.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct CaseSlices {
    /// Indices of the gate slices that the case should exercise.
    concerned: Vec<usize>,
    scorers: Vec<ScorerPlaces>,
}

/// Gate slices of one scorer.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ScorerPlaces {
    scorer: ScorerName,
    /// Indices of the gate slices.
    places: Vec<usize>,
}

/// Below this number of contents, the cases of a slice are not counted.
const SMALL_POOL: usize = 64;

impl<'w> GateJudge<'w> {
    pub fn new(workspace: &'w Workspace, claim: &RunClaim) -> Self {
        let places = workspace.gates.iter().flat_map(|gate| {
            let scorer = scorer_named(workspace, &gate.scorer);
            slices::slices_of_gate(gate, workspace).into_iter().map(move |slice| GateSlice { gate, slice, scorer, most_cases: None })
        });
        Self {
            workspace,
            claim: *claim,
            places: places.collect(),
            cases: HashMap::new(),
            slice_sets: BTreeSet::new(),
            units: HashMap::new(),
            subjects: vec![],
            planned: vec![],
        }
    }

    /// Reports subjects in this order instead of the order of their first finished trial.
    pub fn with_subject_order(mut self, subjects: &[String]) -> Self {
        self.subjects = subjects.iter().map(|subject| (subject.clone(), vec![])).collect();
        self
    }

    /// Judges only gates that read one of these scorers. All others have no evidence.
    pub fn with_scorers(mut self, scorers: &BTreeSet<ScorerName>) -> Self {
        self.places.retain(|place| scorers.contains(&place.gate.scorer.value));
        self
    }

    /// Names the cases of the plan, so that [`Self::is_decided`] knows what is still to come.
    pub fn with_planned_cases<'c>(mut self, cases: impl Iterator<Item = &'c Case>) -> Self {
        self.planned = vec![0; self.places.len()];
        for case in cases {
            for place in &self.placed_case(case).slices.concerned {
                self.planned[*place] += 1;
            }
        }
        self
    }

    /// Notes that all trials of a case by a subject were added.
    pub fn end_case(&mut self, subject: &str, case: &Case) {
        let (at, slices) = (self.subject_index(subject), self.placed_case(case).slices);
        for place in &slices.concerned {
            self.subjects[at].1[*place].ended_cases += 1;
        }
    }

    /// Returns whether the verdict of every gate slice is settled for every subject: the rest of the plan is unlikely to change it.
    pub fn is_decided(&self) -> bool {
        let is_settled = |pools: &[ReadingPool]| {
            let places = self.places.iter().zip(&self.planned).zip(pools);
            places.filter(|((_, planned), _)| **planned > 0).all(|((place, planned), pool)| {
                !place.gate.judges_tier(self.claim.tier) || is_slice_settled(place.gate, pool, *planned, &self.claim)
            })
        };
        !self.planned.is_empty() && self.subjects.iter().all(|(_, pools)| !pools.is_empty() && is_settled(pools))
    }

    /// Adds a trial. Returns true if a gate of the tier, if the run is of one, reads one of its misses.
    pub fn add(&mut self, trial: &MeasuredTrial<'_>) -> bool {
        let mut reads_miss = false;
        let PlacedCase { slices, numbers } = self.placed_case(trial.case);
        let at = self.subject_index(trial.subject);
        // Attacks are not cases of the workspace's files.
        let seen = self.cases.len();
        let Self { workspace, claim, places, subjects, .. } = self;
        let pools = &mut subjects[at].1;
        for place in &slices.concerned {
            pools[*place].touched |= !places[*place].scorer.is_some_and(ScorerHandle::needs_judge);
            pools[*place].aborted += usize::from(trial.aborted);
        }
        for score in trial.scores {
            let Some(scorer) = slices.scorers.iter().position(|one| one.scorer == score.scorer) else { continue };
            let (counted, number) = (&slices.scorers[scorer].places, numbers.of_scorer(scorer));
            let MeasuredTrial { trial, case, content, .. } = *trial;
            let is_divided = |place: usize| places[place].slice.axis == Some(SliceAxis::Agent) && !score.by_agent.is_empty();
            let mut readings: Vec<(usize, Cow<'_, Score>)> =
                counted.iter().filter(|place| !is_divided(**place)).map(|place| (*place, Cow::Borrowed(score))).collect();
            // The acts of an agent count for that agent, regardless of the agent that the case is about.
            for (agent, reading) in &score.by_agent {
                let own = Score { reading: reading.clone(), by_agent: BTreeMap::new(), ..score.clone() };
                let slices = (0..places.len()).filter(|at| places[*at].is_of_agent(&score.scorer, agent, case));
                readings.extend(slices.map(|place| (place, Cow::Owned(own.clone()))));
            }
            for (place, score) in readings {
                reads_miss |= score.reading.is_violation() && places[place].gate.judges_tier(claim.tier);
                let pool = &mut pools[place];
                pool.touched |= score.reading != Reading::not_exercised();
                let most_cases =
                    if pool.distinct_contents() < SMALL_POOL { SMALL_POOL } else { places[place].most_cases(workspace).max(seen) };
                pool.add(PoolTrial { trial, case: &case.id.value, number, content, most_cases }, &score);
            }
        }
        reads_miss
    }

    /// Returns whether a gate of the tier, if the run is of one, reads a scorer on this case.
    pub fn reads(&mut self, case: &Case, scorer: ScorerId) -> bool {
        let slices = self.placed_case(case).slices;
        let is_judged = |place: &usize| self.places[*place].gate.judges_tier(self.claim.tier);
        slices.scorers.iter().any(|one| one.scorer == scorer && one.places.iter().any(is_judged))
    }

    /// Returns the readings of every slice that was measured, by subject.
    pub fn slice_readings(&self) -> Vec<SliceReadings<'w>> {
        let names: HashMap<usize, &str> = self.units.iter().map(|(name, number)| (*number, name.as_str())).collect();
        let named = |(number, readings): (usize, &CaseReadings)| Some(((*names.get(&number)?).to_owned(), readings.clone()));
        let mut found = vec![];
        for (subject, pools) in &self.subjects {
            for (place, pool) in self.places.iter().zip(pools) {
                let units: BTreeMap<String, CaseReadings> = pool.case_readings().filter_map(named).collect();
                if !units.is_empty() {
                    found.push(SliceReadings { gate: place.gate, slice: place.slice.label(), subject: subject.clone(), units });
                }
            }
        }
        found
    }

    pub fn finish(self) -> GateVerdicts {
        let Self { workspace, claim, places, mut subjects, .. } = self;
        subjects.retain(|(_, pools)| !pools.is_empty());
        if subjects.is_empty() {
            subjects.push((String::new(), empty_pools(&places)));
        }
        let mut judged = GateVerdicts::default();
        for gate in &workspace.gates {
            let before = judged.judgements.len();
            let own: Vec<usize> = (0..places.len()).filter(|at| std::ptr::eq(places[*at].gate, gate)).collect();
            for (subject, pools) in &subjects {
                for at in own.iter().filter(|at| in_scope(workspace, gate, &pools[**at], claim.tier)) {
                    judged.judgements.push(judge_slice(workspace, gate, subject, &places[*at].slice, &pools[*at], &claim));
                }
                if own.is_empty() && claim.tier.is_some_and(|tier| gate.tiers.contains(&tier)) {
                    // A gate of the tier without a slice has no evidence.
                    let nothing = SliceKey { axis: gate.slice.each, value: Some("none".into()) };
                    judged.judgements.push(judge_slice(workspace, gate, subject, &nothing, &ReadingPool::new(gate), &claim));
                }
            }
            if judged.judgements.len() == before {
                judged.out_of_scope.push(gate.id.value.clone());
            }
        }
        judged
    }

    fn subject_index(&mut self, name: &str) -> usize {
        let at = self.subjects.iter().position(|(subject, _)| subject == name).unwrap_or_else(|| {
            self.subjects.push((name.to_owned(), vec![]));
            self.subjects.len() - 1
        });
        if self.subjects[at].1.is_empty() {
            self.subjects[at].1 = empty_pools(&self.places);
        }
        at
    }

    fn placed_case(&mut self, case: &Case) -> PlacedCase {
        if let Some(placed) = self.cases.get(case.id.as_str()) {
            return placed.clone();
        }
        let (mut slices, mut numbers) = (CaseSlices { concerned: vec![], scorers: vec![] }, vec![]);
        for (at, place) in self.places.iter().enumerate().filter(|(_, place)| place.contains(self.workspace, case)) {
            if place.scorer.is_some_and(|scorer| scorer.concerns(self.workspace, case)) {
                slices.concerned.push(at);
            }
            match slices.scorers.iter_mut().find(|one| one.scorer == *place.gate.scorer) {
                Some(one) => one.places.push(at),
                None => {
                    let unit = case_unit(&place.gate.scorer, case);
                    let next = self.units.len();
                    numbers.push(*self.units.entry(unit).or_insert(next));
                    slices.scorers.push(ScorerPlaces { scorer: place.gate.scorer.value.clone(), places: vec![at] });
                }
            }
        }
        let slices = self.slice_sets.get(&slices).cloned().unwrap_or_else(|| {
            let slices = Arc::new(slices);
            self.slice_sets.insert(slices.clone());
            slices
        });
        let placed = PlacedCase { slices, numbers: UnitNumbers::new(&numbers) };
        self.cases.insert(case.id.value.clone(), placed.clone());
        placed
    }
}

impl GateSlice<'_> {
    fn is_of_agent(&self, scorer: &ScorerName, agent: &str, case: &Case) -> bool {
        *self.gate.scorer == *scorer && slices::is_slice_of_agent(self.gate, &self.slice, agent, case)
    }

    fn contains(&self, workspace: &Workspace, case: &Case) -> bool {
        slices::slice_contains(self.gate, &self.slice, workspace, case)
    }

    fn most_cases(&mut self, workspace: &Workspace) -> usize {
        if let Some(most) = self.most_cases {
            return most;
        }
        let most = workspace.cases().filter(|case| self.contains(workspace, case)).count();
        self.most_cases = Some(most);
        most
    }
}

fn empty_pools(places: &[GateSlice<'_>]) -> Vec<ReadingPool> {
    places.iter().map(|place| ReadingPool::new(place.gate)).collect()
}

/// Reports whether a gate is judged. A tier run judges every gate of the tier, other runs the gates their cases concern.
fn in_scope(workspace: &Workspace, gate: &Gate, pool: &ReadingPool, tier: Option<u64>) -> bool {
    match tier {
        Some(tier) => gate.tiers.contains(&tier),
        None => scorer_named(workspace, &gate.scorer).is_some() && pool.touched,
    }
}
