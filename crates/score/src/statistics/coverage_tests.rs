//! Simulated runs with a known rate: how often intervals contain it, and how many cases sequential stopping saves.

#![expect(clippy::print_stdout, reason = "prints the tables of the documentation")]

use super::{AnytimeRate, CaseTally, ClusteredRate, JudgeErrorRates};
use model::SeededRng;

const RUNS: u32 = 10_000;
const NOMINAL: f64 = 0.95;

/// True with this chance.
fn draw(rng: &mut SeededRng, chance: f64) -> bool {
    (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64 <= chance
}

/// Set-up of simulated runs.
#[derive(Debug, Clone, Copy)]
struct ClusterModel {
    cases: usize,
    trials: u32,
    rate: f64,
    /// Chance that a case always has the same result; the correlation of two of its trials.
    alike: f64,
}

impl ClusterModel {
    fn play(self, rng: &mut SeededRng) -> Vec<CaseTally> {
        let of = f64::from(self.trials);
        let case = |rng: &mut SeededRng| {
            if draw(rng, self.alike) {
                return CaseTally { hit: if draw(rng, self.rate) { of } else { 0.0 }, of };
            }
            let hits = (0..self.trials).filter(|_| draw(rng, self.rate)).count();
            CaseTally { hit: hits as f64, of }
        };
        (0..self.cases).map(|_| case(rng)).collect()
    }

    /// Returns the share of intervals that contain the rate, clustered and of all trials pooled, and the mean width of the clustered one.
    fn coverage(self, runs: u32) -> [f64; 3] {
        let mut rng = SeededRng::new(self.cases as u64 * 1000 + u64::from(self.trials));
        let (mut held, mut width) = ([0_u32; 2], 0.0);
        for _ in 0..runs {
            let played = self.play(&mut rng);
            let hits: f64 = played.iter().map(|case| case.hit).sum();
            let rate = ClusteredRate::of(played).unwrap();
            let pooled = super::wilson(hits as u64, rate.n as u64).unwrap();
            let clustered = rate.interval();
            width += clustered.1 - clustered.0;
            for (held, (low, high)) in held.iter_mut().zip([clustered, pooled]) {
                *held += u32::from((low..=high).contains(&self.rate));
            }
        }
        let [clustered, pooled] = held.map(|held| f64::from(held) / f64::from(runs));
        [clustered, pooled, width / f64::from(runs)]
    }
}

#[test]
fn clustered_interval_keeps_its_coverage() {
    for (cases, trials, rate, alike) in [(20, 4, 0.8, 0.5), (20, 8, 0.95, 0.3), (50, 4, 0.42, 0.5)] {
        let [clustered, pooled, _] = ClusterModel { cases, trials, rate, alike }.coverage(RUNS);
        assert!(clustered >= NOMINAL - 0.01, "{cases} × {trials} at {rate}: {clustered}");
        assert!(pooled < NOMINAL - 0.05, "pooled trials would do as well: {pooled}");
    }
}

/// Prints the table of docs/benchmarks.md: `cargo test -p bardo-eval-score --release clustered_coverage_table -- --ignored --nocapture`
#[test]
#[ignore = "prints a table; takes minutes without optimisation"]
fn clustered_coverage_table() {
    println!("| cases × trials | true rate | correlation | clustered | pooled | width of clustered |\n|---|---|---|---|---|---|");
    for (cases, trials) in [(20, 2), (20, 4), (20, 8), (50, 4), (100, 4), (200, 8)] {
        for rate in [0.5, 0.8, 0.9, 0.95, 0.98] {
            for alike in [0.0, 0.3, 0.6, 1.0] {
                let [clustered, pooled, width] = ClusterModel { cases, trials, rate, alike }.coverage(RUNS);
                println!("| {cases} × {trials} | {rate} | {alike} | {clustered:.3} | {pooled:.3} | {width:.3} |");
                assert!(clustered >= NOMINAL - 0.01, "{cases} × {trials} at {rate}, {alike}: {clustered}");
            }
        }
    }
}

/// End of a simulated run that asks after every case whether it may stop.
struct SequentialRun {
    cases: u32,
    /// The bound excluded the true rate at some moment.
    is_wrong: bool,
    is_decided: bool,
}

fn run_sequentially(rng: &mut SeededRng, rate: f64, bound: f64, most: u32) -> SequentialRun {
    let mut state = AnytimeRate::default();
    let (mut is_wrong, mut stopped) = (false, None);
    for case in 1..=most {
        state.add(if draw(rng, rate) { 1.0 } else { 0.0 });
        is_wrong |= state.excludes(rate, NOMINAL);
        if stopped.is_none() && state.excludes(bound, NOMINAL) {
            stopped = Some(case);
        }
    }
    SequentialRun { cases: stopped.unwrap_or(most), is_wrong, is_decided: stopped.is_some() }
}

#[test]
fn anytime_bound_holds_with_optional_stopping() {
    for rate in [0.5, 0.8, 0.95] {
        let mut rng = SeededRng::new(7);
        let wrong = (0..RUNS).filter(|_| run_sequentially(&mut rng, rate, 0.85, 100).is_wrong).count();
        let coverage = 1.0 - wrong as f64 / f64::from(RUNS);
        assert!(coverage >= NOMINAL, "{rate}: {coverage}");
    }
}

/// Prints the table of docs/benchmarks.md on cases saved.
#[test]
#[ignore = "prints a table; takes minutes without optimisation"]
fn sequential_stopping_table() {
    const MOST: u32 = 200;
    const BOUND: f64 = 0.85;
    println!("| true rate | runs decided | wrong side | cases used | calls saved | coverage at every moment |\n|---|---|---|---|---|---|");
    for rate in [0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.98, 1.0] {
        let mut rng = SeededRng::new(11);
        let (mut decided, mut wrong_side, mut used, mut wrong) = (0_u32, 0_u32, 0_u64, 0_u32);
        for _ in 0..RUNS {
            let mut own = SeededRng::new(rng.next_u64());
            let run = run_sequentially(&mut own.clone(), rate, BOUND, MOST);
            let hits = (0..run.cases).filter(|_| draw(&mut own, rate)).count();
            let is_above = hits as f64 / f64::from(run.cases) >= BOUND;
            decided += u32::from(run.is_decided);
            wrong_side += u32::from(run.is_decided && is_above != (rate >= BOUND));
            used += u64::from(run.cases);
            wrong += u32::from(run.is_wrong);
        }
        let (runs, used) = (f64::from(RUNS), used as f64 / f64::from(RUNS));
        let saved = 100.0 * (1.0 - used / f64::from(MOST));
        let (decided, wrong_side) = (100.0 * f64::from(decided) / runs, 100.0 * f64::from(wrong_side) / runs);
        let coverage = 1.0 - f64::from(wrong) / runs;
        println!("| {rate} | {decided:.1} % | {wrong_side:.1} % | {used:.0} of {MOST} | {saved:.0} % | {coverage:.3} |");
        assert!(coverage >= NOMINAL, "{rate}: {coverage}");
    }
}

#[test]
fn corrected_rate_keeps_its_coverage() {
    let (cases, examples, rate, sensitivity, specificity) = (100, 60, 0.8, 0.9, 0.85);
    let mut rng = SeededRng::new(3);
    let mut held = 0;
    for _ in 0..RUNS {
        let mut share = |of: u32, chance: f64| f64::from((0..of).map(|_| u32::from(draw(&mut rng, chance))).sum::<u32>()) / f64::from(of);
        let judge = JudgeErrorRates {
            passing: f64::from(examples),
            sensitivity: share(examples, sensitivity),
            failing: f64::from(examples),
            specificity: share(examples, specificity),
        };
        let seen = share(cases, rate * sensitivity + (1.0 - rate) * (1.0 - specificity));
        held += u32::from(judge.correct(seen, f64::from(cases)).is_some_and(|found| (found.low..=found.high).contains(&rate)));
    }
    let coverage = f64::from(held) / f64::from(RUNS);
    assert!(coverage >= NOMINAL - 0.01, "{coverage}");
}
