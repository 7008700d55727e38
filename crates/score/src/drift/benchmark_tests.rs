//! Simulated streams: how often and how fast a change is found, and how often none is found where nothing changed. The figures are in
//! docs/guide/production.md.

use super::{LevelMonitor, MixMonitor, RateMonitor};
use model::SeededRng;

const SEEDS: u64 = 300;
const CHANGE: u64 = 2_000;
const LENGTH: u64 = 4_000;
const QUIET: u64 = 100_000;

/// Detections of one kind of change.
struct Detection {
    found: usize,
    early: usize,
    median: Option<u64>,
}

/// Plays one stream per seed with a change in the middle. `step` returns whether there is an alarm.
fn detect(mut stream: impl FnMut(u64) -> Box<dyn FnMut(u64, bool) -> bool>) -> Detection {
    let (mut delays, mut early) = (vec![], 0);
    for seed in 0..SEEDS {
        let mut step = stream(seed);
        early += usize::from((0..CHANGE).filter(|at| step(*at, false)).count() > 0);
        delays.extend((CHANGE..LENGTH).find(|at| step(*at, true)).map(|at| at - CHANGE));
    }
    delays.sort_unstable();
    Detection { found: delays.len(), early, median: delays.get(delays.len() / 2).copied() }
}

/// Counts alarms in quiet streams of [`QUIET`] samples.
fn false_alarms(seeds: u64, mut stream: impl FnMut(u64) -> Box<dyn FnMut(u64, bool) -> bool>) -> usize {
    (0..seeds)
        .map(|seed| {
            let mut step = stream(seed + 1_000);
            (0..QUIET).filter(|at| step(*at, false)).count()
        })
        .sum()
}

fn unit(rng: &mut SeededRng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// Returns a standard normal value.
fn normal(rng: &mut SeededRng) -> f64 {
    let (u, v) = (unit(rng).max(1e-12), unit(rng));
    (-2.0 * u.ln()).sqrt() * (2.0 * std::f64::consts::PI * v).cos()
}

fn rates(before: f64, after: f64) -> impl FnMut(u64) -> Box<dyn FnMut(u64, bool) -> bool> {
    move |seed| {
        let (mut rng, mut monitor) = (SeededRng::new(seed), RateMonitor::default());
        Box::new(move |at, changed| monitor.add(at, unit(&mut rng) < if changed { after } else { before }).is_some())
    }
}

/// Latencies are log-normal with a deviation of 0.5.
fn latencies(factor: f64) -> impl FnMut(u64) -> Box<dyn FnMut(u64, bool) -> bool> {
    move |seed| {
        let (mut rng, mut monitor) = (SeededRng::new(seed), LevelMonitor::default());
        Box::new(move |at, changed| {
            let value = 800.0 * (0.5 * normal(&mut rng)).exp() * if changed { factor } else { 1.0 };
            monitor.add(at, value).is_some()
        })
    }
}

/// Twelve tools with decreasing shares; the change moves a fifth of the calls to a tool that was rare.
fn tools(moved: f64) -> impl FnMut(u64) -> Box<dyn FnMut(u64, bool) -> bool> {
    move |seed| {
        let (mut rng, mut monitor) = (SeededRng::new(seed), MixMonitor::default());
        Box::new(move |at, changed| {
            let calls = 1 + rng.below(5);
            let mut call = || {
                if changed && unit(&mut rng) < moved {
                    return "tool 11".to_owned();
                }
                format!("tool {}", (12.0 * unit(&mut rng).powi(2)) as u64)
            };
            let kinds: Vec<String> = (0..calls).map(|_| call()).collect();
            monitor.add(at, &kinds).is_some()
        })
    }
}

#[expect(clippy::print_stdout, reason = "the table is copied into the guide")]
fn row(name: &str, found: &Detection) {
    let share = 100.0 * found.found as f64 / SEEDS as f64;
    let median = found.median.map_or_else(|| "–".to_owned(), |median| median.to_string());
    println!("| {name} | {share:.1} % | {median} | {} of {SEEDS} |", found.early);
}

#[test]
fn changes_are_found_and_quiet_streams_raise_no_alarm() {
    let drop = detect(rates(0.92, 0.80));
    row("pass rate 0.92 → 0.80", &drop);
    assert!(drop.found * 100 >= 99 * 300 && drop.median <= Some(400));
    let slow = detect(rates(0.92, 0.87));
    row("pass rate 0.92 → 0.87", &slow);
    let steep = detect(rates(0.92, 0.60));
    row("pass rate 0.92 → 0.60", &steep);
    assert_eq!(steep.found, 300);
    let rare = detect(rates(0.999, 0.97));
    row("pass rate 0.999 → 0.97", &rare);
    let latency = detect(latencies(1.5));
    row("latency × 1.5", &latency);
    assert!(latency.found * 100 >= 99 * 300 && latency.median <= Some(400));
    let mix = detect(tools(0.2));
    row("mix of tools, 20 % moved", &mix);
    assert!(mix.found * 100 >= 99 * 300);
    assert!(drop.early + latency.early + mix.early <= 3);
}

#[test]
fn quiet_streams_raise_at_most_one_alarm_in_100_000_samples() {
    const STREAMS: u64 = 10;
    for (name, alarms) in [
        ("pass rate 0.92", false_alarms(STREAMS, rates(0.92, 0.92))),
        ("pass rate 0.999", false_alarms(STREAMS, rates(0.999, 0.999))),
        ("pass rate 0.5", false_alarms(STREAMS, rates(0.5, 0.5))),
        ("latency", false_alarms(STREAMS, latencies(1.0))),
        ("mix of tools", false_alarms(STREAMS, tools(0.0))),
    ] {
        #[expect(clippy::print_stdout, reason = "the table is copied into the guide")]
        {
            println!("| {name} | {alarms} in {} |", STREAMS * QUIET);
        }
        assert!(alarms as u64 <= STREAMS, "{name}: {alarms} false alarms in {STREAMS} × {QUIET} samples");
    }
}
