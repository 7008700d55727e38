//! Workers and watchers killed at random moments, the server restarted and connections cut: every trial ends exactly once.

#![expect(clippy::print_stdout, reason = "the log shows what was done to the run")]

use super::fixture::{ScaleFixture, end};
use super::result_of;
use serde_json::Value;
use std::time::Duration;
use tokio::process::Child;
use tokio::time::sleep;

/// Size of a usual test run. `scripts/check-scale` sets others.
const TRIALS: u64 = 300;
const KILLS: u64 = 6;
const WORKERS: u64 = 4;
const CONCURRENCY: u64 = 4;
const TRIALS_VARIABLE: &str = "BARDO_EVAL_SCALE_TRIALS";
const KILLS_VARIABLE: &str = "BARDO_EVAL_SCALE_KILLS";
const WORKERS_VARIABLE: &str = "BARDO_EVAL_SCALE_WORKERS";
const RESTARTS: u64 = 2;
const CUTS: u64 = 3;

fn size(variable: &str, usual: u64) -> u64 {
    std::env::var(variable).ok().map_or(usual, |text| text.parse().unwrap())
}

/// SplitMix64: the same number draws the same moments on every machine.
struct DrawState(u64);

impl DrawState {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % n
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Disturbance {
    KillWorker,
    KillWatcher,
    RestartServer,
    CutConnections,
}

/// Draws what happens after how many requests, in this order.
fn schedule(kills: u64, requests: u64, draw: &mut DrawState) -> Vec<(u64, Disturbance)> {
    let kill = |n: u64| if n % 5 == 3 { Disturbance::KillWatcher } else { Disturbance::KillWorker };
    let all =
        (0..kills).map(kill).chain((0..RESTARTS).map(|_| Disturbance::RestartServer)).chain((0..CUTS).map(|_| Disturbance::CutConnections));
    let mut all: Vec<_> = all.map(|what| (requests / 50 + draw.below(requests * 8 / 10), what)).collect();
    all.sort_by_key(|(moment, _)| *moment);
    all
}

struct Fleet<'s> {
    scale: &'s ScaleFixture,
    watcher: Child,
    workers: Vec<Child>,
}

impl Fleet<'_> {
    fn worker(scale: &ScaleFixture) -> Child {
        scale.work(&["--concurrency", &CONCURRENCY.to_string()])
    }

    async fn disturb(&mut self, what: Disturbance, draw: &mut DrawState) {
        match what {
            Disturbance::KillWorker => {
                let at = usize::try_from(draw.below(self.workers.len() as u64)).unwrap();
                self.workers[at].kill().await.unwrap();
                self.workers[at] = Self::worker(self.scale);
            }
            Disturbance::KillWatcher => {
                self.watcher.kill().await.unwrap();
                self.resume_watch().await;
            }
            Disturbance::RestartServer => self.scale.server.restart(),
            Disturbance::CutConnections => self.scale.cut_connections(),
        }
    }

    /// Starts another watcher. The server may need a moment to notice that the first one is gone.
    async fn resume_watch(&mut self) {
        for _ in 0..50 {
            sleep(Duration::from_millis(200)).await;
            let mut next = self.scale.resume(&[]);
            sleep(Duration::from_millis(700)).await;
            if next.try_wait().unwrap().is_none() {
                self.watcher = next;
                return;
            }
        }
        panic!("no watcher could resume the run");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_trial_ends_once_after_any_kill() {
    let (trials, kills, workers) = (size(TRIALS_VARIABLE, TRIALS), size(KILLS_VARIABLE, KILLS), size(WORKERS_VARIABLE, WORKERS));
    let scale = ScaleFixture::new().await;
    let per_case = (trials / 2).to_string();
    let args = ["--subject", "priced", "--suite", "tool_selection", "--trials", &per_case, "--no-cache", "--budget", "100000"];
    let calm = scale.stage.run_to_end(&[&["run", "--store", "calm.sqlite", "--concurrency", "16"], &args[..]].concat()).await;
    assert_eq!(calm["trials"]["finished"], trials, "{calm:#}");
    let before = scale.stage.request_count();
    let watcher = scale.watch(&args);
    let mut fleet = Fleet { scale: &scale, watcher, workers: (0..workers).map(|_| Fleet::worker(&scale)).collect() };
    scale.wait_for_requests(before + 1).await;
    scale.sql("ALTER TABLE budgets ADD CONSTRAINT within_cap CHECK (spent + reserved <= cap)");
    let mut draw = DrawState(kills);
    for (moment, what) in schedule(kills, trials, &mut draw) {
        scale.wait_for_requests(before + moment).await;
        sleep(Duration::from_micros(draw.below(9_000))).await;
        println!("{} requests: {what:?}", scale.stage.request_count() - before);
        fleet.disturb(what, &mut draw).await;
    }
    let watched = end(fleet.watcher).await;
    let document: Value = serde_json::from_str(&watched.stdout).unwrap_or_else(|error| panic!("{error}: {}", watched.all()));
    assert_eq!(result_of(&document), result_of(&calm), "{}", watched.stderr);
    // Every trial and every call exactly once.
    assert_eq!(scale.sql("SELECT count(*) || ' ' || count(DISTINCT n) FROM trials"), format!("{trials} {trials}"));
    assert_eq!(scale.sql("SELECT count(*) FROM jobs"), "0");
    let settled = "SELECT count(*) FILTER (WHERE state = 'settled') || ' ' || count(*) FILTER (WHERE state = 'reserved') FROM calls";
    assert_eq!(scale.sql(settled), format!("{trials} 0"));
    // Only calls in flight at a kill were repeated, and nothing was sent without a reservation.
    let number = |sql: &str| scale.sql(sql).parse::<u64>().unwrap_or_default();
    let attempts = number("SELECT sum(attempts) FROM calls");
    let again = number("SELECT n FROM telemetry WHERE what = 'asked_again'");
    let failed = number("SELECT n FROM telemetry WHERE what = 'failed_calls'");
    assert_eq!(attempts, trials + again + failed, "{again} in flight at a kill, {failed} failed");
    assert_eq!(failed, 0);
    assert!(again <= kills * CONCURRENCY + (RESTARTS + CUTS) * workers * CONCURRENCY, "{again}");
    let asked = scale.stage.request_count() - before;
    assert!(asked >= trials && asked <= attempts, "{asked} asked, {attempts} reserved");
    // The budget says what the journal says.
    let sums = "SELECT (spent = (SELECT sum(lost + cost) FROM calls)) || ' ' || (reserved = 0) FROM budgets";
    assert_eq!(scale.sql(sums), "true true");
    let lost = number("SELECT count(*) FROM workers WHERE state = 'lost'");
    println!("{trials} trials, {workers} workers, {kills} kills: {asked} calls sent, {again} of them again, {lost} leases lost");
}
