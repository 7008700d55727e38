//! Judging gates. Nothing measured is never a pass.

use super::interval::wilson;
use super::slices::{self, OneSlice};
use crate::scorers::scorer;
use model::suite::Case;
use model::{Aggregate, Gate, Hash, Judgement, Metric, Reading, Score, Verdict, Workspace, WorstCase};

/// One trial as far as judging needs it.
#[derive(Debug, Clone, Copy)]
pub struct Measured<'a> {
    pub trial: &'a Hash,
    pub subject: &'a str,
    pub case: &'a Case,
    /// Empty for a trial the harness broke.
    pub scores: &'a [Score],
    pub aborted: bool,
}

/// What a run claims to have measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// A whole tier: every gate of the tier, every slice, with its minimum of cases.
    Tier(u64),
    /// Some cases a person chose: the gates these cases concern, judged on what is there.
    Selection,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    pub judgements: Vec<Judgement>,
    pub out_of_scope: Vec<String>,
}

/// Every subject is judged by itself: the average of a good and a bad agent is nobody.
pub fn judge(workspace: &Workspace, measured: &[Measured<'_>], scope: Scope) -> Judged {
    let mut subjects: Vec<&str> = vec![];
    for trial in measured {
        if !subjects.contains(&trial.subject) {
            subjects.push(trial.subject);
        }
    }
    if subjects.is_empty() {
        subjects.push("");
    }
    let mut judged = Judged { judgements: vec![], out_of_scope: vec![] };
    for gate in &workspace.gates {
        let before = judged.judgements.len();
        for subject in &subjects {
            let own: Vec<Measured<'_>> = measured.iter().copied().filter(|trial| trial.subject == *subject).collect();
            judged.judgements.extend(judge_gate(gate, subject, workspace, &own, scope));
        }
        if judged.judgements.len() == before {
            judged.out_of_scope.push(gate.id.value.clone());
        }
    }
    judged
}

fn judge_gate(gate: &Gate, subject: &str, workspace: &Workspace, measured: &[Measured<'_>], scope: Scope) -> Vec<Judgement> {
    let mut slices = slices::of(gate, workspace);
    slices.retain(|slice| in_scope(gate, slice, workspace, measured, scope));
    if slices.is_empty() && matches!(scope, Scope::Tier(tier) if gate.tiers.contains(&tier)) {
        // A gate of the tier that applies to nothing has shown nothing.
        return vec![judge_slice(gate, subject, &OneSlice { axis: gate.slice.each, value: Some("none".into()) }, workspace, &[], scope)];
    }
    slices.iter().map(|slice| judge_slice(gate, subject, slice, workspace, measured, scope)).collect()
}

fn in_scope(gate: &Gate, slice: &OneSlice, workspace: &Workspace, measured: &[Measured<'_>], scope: Scope) -> bool {
    match scope {
        Scope::Tier(tier) => gate.tiers.contains(&tier),
        Scope::Selection => scorer(&gate.scorer).is_some_and(|scorer| {
            measured.iter().any(|trial| {
                let exercised = || trial.scores.iter().any(|score| score.scorer == *gate.scorer && score.reading.is_exercised());
                slices::holds(gate, slice, workspace, trial.case) && (scorer.concerns(workspace, trial.case) || exercised())
            })
        }),
    }
}

/// The readings of a slice, pooled.
#[derive(Default)]
struct Pool {
    hit: u64,
    of: u64,
    levels: Vec<f64>,
    unscorable: Vec<String>,
    aborted: usize,
    cases: Vec<String>,
    worst: Vec<(f64, WorstCase)>,
}

impl Pool {
    fn add(&mut self, trial: &Measured<'_>, score: &Score) {
        match &score.reading {
            Reading::Tally { of: 0, .. } => return,
            Reading::Tally { hit, of } => {
                self.hit += hit;
                self.of += of;
                if hit < of {
                    self.remember(*hit as f64 / *of as f64, trial, score);
                }
            }
            Reading::Level(level) => {
                self.levels.push(*level);
                self.remember(-level, trial, score);
            }
            Reading::Unscorable { why } => {
                self.unscorable.push(format!("{}: {why}", trial.case.id.value));
                return;
            }
        }
        if !self.cases.contains(&trial.case.id.value) {
            self.cases.push(trial.case.id.value.clone());
        }
    }

    fn remember(&mut self, rank: f64, trial: &Measured<'_>, score: &Score) {
        let because = score.because.iter().map(|because| because.what.as_str()).collect::<Vec<_>>().join("; ");
        let case = trial.case.id.value.clone();
        self.worst.push((rank, WorstCase { case, trial: trial.trial.short().to_owned(), because }));
    }

    fn value(&self, aggregate: Aggregate) -> Option<f64> {
        let rate = (self.of > 0).then(|| self.hit as f64 / self.of as f64);
        match aggregate {
            Aggregate::Rate => rate,
            Aggregate::MissRate => rate.map(|rate| 1.0 - rate),
            Aggregate::Misses => (self.of > 0).then(|| (self.of - self.hit) as f64),
            Aggregate::Max => self.levels.iter().copied().reduce(f64::max),
            Aggregate::Mean => (!self.levels.is_empty()).then(|| self.levels.iter().sum::<f64>() / self.levels.len() as f64),
        }
    }

    fn interval(&self, aggregate: Aggregate) -> Option<(f64, f64)> {
        let (low, high) = wilson(self.hit, self.of)?;
        match aggregate {
            Aggregate::Rate => Some((low, high)),
            Aggregate::MissRate => Some((1.0 - high, 1.0 - low)),
            Aggregate::Misses | Aggregate::Max | Aggregate::Mean => None,
        }
    }

    /// The three worst, worst first, ties by case.
    fn worst(mut self) -> Vec<WorstCase> {
        self.worst.sort_by(|(a, left), (b, right)| a.total_cmp(b).then_with(|| left.case.cmp(&right.case)));
        self.worst.into_iter().take(3).map(|(_, case)| case).collect()
    }
}

fn judge_slice(gate: &Gate, subject: &str, slice: &OneSlice, workspace: &Workspace, measured: &[Measured<'_>], scope: Scope) -> Judgement {
    let mut pool = Pool::default();
    for trial in measured.iter().filter(|trial| slices::holds(gate, slice, workspace, trial.case)) {
        if trial.aborted && scorer(&gate.scorer).is_some_and(|scorer| scorer.concerns(workspace, trial.case)) {
            pool.aborted += 1;
        }
        for score in trial.scores.iter().filter(|score| score.scorer == *gate.scorer) {
            pool.add(trial, score);
        }
    }
    let value = pool.value(gate.aggregate);
    let interval = pool.interval(gate.aggregate);
    let needed = match scope {
        Scope::Tier(_) => gate.min_cases,
        Scope::Selection => 1,
    };
    let (verdict, because) = verdict(gate, &pool, value, needed);
    let metric = Metric {
        scorer: gate.scorer.value.clone(),
        slice: slice.label(),
        value,
        low: interval.map(|(low, _)| low),
        high: interval.map(|(_, high)| high),
        n: pool.of.max(pool.levels.len() as u64),
        cases: pool.cases.len(),
    };
    Judgement {
        gate: gate.id.value.clone(),
        subject: subject.to_owned(),
        spec: gate.spec.text().to_owned(),
        metric,
        bound: gate.bound,
        verdict,
        because,
        worst: pool.worst(),
    }
}

/// A bound that is broken stays broken however little was measured; a bound that holds needs enough evidence.
fn verdict(gate: &Gate, pool: &Pool, value: Option<f64>, needed: usize) -> (Verdict, String) {
    let cases = pool.cases.len();
    match value {
        Some(value) if !gate.bound.holds(value) => (Verdict::Missed, String::new()),
        Some(_) if !pool.unscorable.is_empty() => (Verdict::NoEvidence, format!("unscorable: {}", pool.unscorable.join(", "))),
        Some(_) if pool.aborted > 0 => (Verdict::NoEvidence, format!("trials aborted: {}", pool.aborted)),
        Some(_) if cases >= needed => {
            let short =
                if cases < gate.min_cases { format!("{cases} of the {} cases a tier needs", gate.min_cases) } else { String::new() };
            (Verdict::Met, short)
        }
        Some(_) => (Verdict::NoEvidence, format!("{cases} of {needed} cases")),
        None if scorer(&gate.scorer).is_none() => (Verdict::NoEvidence, format!("{} is not measured by this version", gate.scorer.value)),
        None => (Verdict::NoEvidence, format!("nothing measured, {needed} cases needed")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::Example;

    fn judged(readings: &[(&str, Reading)], scope: Scope) -> Judged {
        let workspace = Example::minimal().load().expect("the minimal workspace");
        let scores: Vec<(Hash, &Case, Vec<Score>)> = readings
            .iter()
            .map(|(case, reading)| {
                let score = Score { scorer: "hit".into(), reading: reading.clone(), because: vec![] };
                (Hash::of_text(case), workspace.case(case).expect("a case"), vec![score])
            })
            .collect();
        let measured: Vec<Measured<'_>> =
            scores.iter().map(|(trial, case, scores)| Measured { trial, subject: "s", case, scores, aborted: false }).collect();
        judge(&workspace, &measured, scope)
    }

    fn hit_rate(judged: &Judged) -> &Judgement {
        judged.judgements.iter().find(|judgement| judgement.gate == "hit_rate").expect("the gate")
    }

    #[test]
    fn an_empty_run_meets_no_gate_of_a_tier() {
        let judged = judged(&[], Scope::Tier(2));
        assert_eq!(judged.judgements.len(), 3);
        assert!(judged.judgements.iter().all(|judgement| judgement.verdict == Verdict::NoEvidence));
        assert!(judged.judgements.iter().all(|judgement| judgement.metric.value.is_none()));
    }

    #[test]
    fn too_few_cases_are_no_evidence_in_a_tier_and_a_note_in_a_selection() {
        let one = [("how_much_usdc", Reading::one(true))];
        assert_eq!(hit_rate(&judged(&one, Scope::Tier(2))).verdict, Verdict::NoEvidence);
        let judged = judged(&one, Scope::Selection);
        assert_eq!(hit_rate(&judged).verdict, Verdict::Met);
        assert_eq!(hit_rate(&judged).because, "1 of the 2 cases a tier needs");
        assert_eq!(judged.out_of_scope, ["safety_pipeline"]);
    }

    #[test]
    fn a_broken_bound_is_missed_however_little_was_measured() {
        let judged = judged(&[("how_much_usdc", Reading::one(false))], Scope::Tier(2));
        assert_eq!(hit_rate(&judged).verdict, Verdict::Missed);
        assert_eq!(hit_rate(&judged).worst[0].case, "how_much_usdc");
    }

    #[test]
    fn repeating_a_case_does_not_add_cases() {
        let twice = [("how_much_usdc", Reading::one(true)), ("how_much_usdc", Reading::one(true))];
        let judged = judged(&twice, Scope::Tier(2));
        assert_eq!((hit_rate(&judged).metric.n, hit_rate(&judged).metric.cases), (2, 1));
        assert_eq!(hit_rate(&judged).verdict, Verdict::NoEvidence);
    }

    #[test]
    fn what_cannot_be_scored_blocks() {
        let readings = [
            ("how_much_usdc", Reading::one(true)),
            ("price_before_trading", Reading::one(true)),
            ("how_much_usdc", Reading::Unscorable { why: "broken".into() }),
        ];
        assert_eq!(hit_rate(&judged(&readings, Scope::Tier(2))).verdict, Verdict::NoEvidence);
        assert_eq!(hit_rate(&judged(&[("how_much_usdc", Reading::not_exercised())], Scope::Selection)).verdict, Verdict::NoEvidence);
    }
}
