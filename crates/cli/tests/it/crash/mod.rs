//! The program killed at any moment: finished trials are kept, settled calls are not repeated, the budget is not exceeded.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the test starts, watches and kills the program, and fails by panicking"
)]

pub(crate) mod fixture;
mod outage;
mod schedule_workspace;
mod schedules;
#[cfg(target_os = "linux")]
mod sockets;

use fixture::{COST_NANOS, CrashFixture};
use serde_json::Value;

const TRIALS: u64 = 250;
const CASES: u64 = 2;
const KILLS: u64 = 20;

/// Moments to kill at, spread by a fixed rule so that failures can be reproduced.
fn kill_points(kills: u64, calls: u64) -> Vec<u64> {
    (1..=kills).map(|n| (n * calls / (kills + 1)).saturating_sub(n * 7919 % (calls / kills / 2).max(1))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn run_killed_twenty_times_yields_the_same_record() {
    let stage = CrashFixture::new().await;
    let trials = TRIALS.to_string();
    let args = ["--subject", "local", "--suite", "tool_selection", "--trials", &trials, "--concurrency", "16", "--no-cache"];
    let calm = stage.run_to_end(&[&["run", "--store", "calm.sqlite"], &args[..]].concat()).await;
    let planned = CASES * TRIALS;
    assert_eq!(calm["trials"]["finished"], planned, "{calm:#}");
    assert_eq!(stage.request_count(), planned);
    let mut killed = 0;
    for moment in kill_points(KILLS, planned) {
        let command = if killed == 0 { [&["run"], &args[..]].concat() } else { vec!["run", "--resume"] };
        killed += u64::from(stage.kill_at(&command, planned + moment).await);
    }
    assert_eq!(killed, KILLS, "the run was over before it could be killed");
    let resumed = stage.run_to_end(&["run", "--resume"]).await;
    for key in ["record", "trials", "verdicts", "passed"] {
        let strip = |document: &Value| {
            let named = document[key].to_string().replace(document["run"].as_str().unwrap(), "RUN");
            named.replace("--store calm.sqlite ", "").replace(" --store calm.sqlite", "")
        };
        assert_eq!(strip(&resumed), strip(&calm), "{key}");
    }
    let store = stage.store();
    let run = store.runs().unwrap().remove(0);
    let calls = store.call_counts(run.run).unwrap();
    assert_eq!((run.finished, calls.settled, calls.reserved), (planned, planned, 0), "every trial and call exactly once");
    let again = store.telemetry(run.run).unwrap().into_iter().find(|(what, _)| what == "asked_again").map_or(0, |(_, n)| n);
    assert_eq!(calls.attempts, planned + again, "only calls in flight at a kill are repeated");
    // A reserved call may not have been sent when the process died; no call is sent more often than it was reserved.
    assert!(stage.request_count() - planned <= calls.attempts, "{} asked, {} reserved", stage.request_count() - planned, calls.attempts);
    assert!(again <= KILLS * 16, "{again}");
}

#[tokio::test(flavor = "multi_thread")]
async fn budget_holds_across_kills() {
    let stage = CrashFixture::new().await;
    // Enough for some of the trials: calls in flight at a kill count at their ceiling, which is more than their cost.
    let args =
        ["--subject", "priced", "--suite", "tool_selection", "--trials", "120", "--concurrency", "2", "--no-cache", "--budget", "2.40"];
    for (n, moment) in [10, 20, 30, 40].into_iter().enumerate() {
        let command = if n == 0 { [&["run"], &args[..]].concat() } else { vec!["run", "--resume"] };
        assert!(stage.kill_at(&command, moment).await, "the run was over before it could be killed");
    }
    let ended = stage.run_to_end(&["run", "--resume"]).await;
    assert_ne!(ended["exit"], 0, "{ended:#}");
    let unfunded = ended["unfunded"].as_u64().unwrap();
    assert!(unfunded > 0 && ended["trials"]["finished"].as_u64().unwrap() > 40, "{ended:#}");
    let spent = ended["spent_usd"].as_f64().unwrap();
    assert!(spent <= 2.4, "{spent}");
    let billed = stage.request_count() * COST_NANOS;
    assert!(billed <= 2_400_000_000, "{billed}");
    // A larger budget funds the remaining trials; money already spent stays spent.
    let before = stage.request_count();
    let more = stage.run_to_end(&["run", "--resume", "--budget", "100"]).await;
    assert_eq!((&more["unfunded"], &more["trials"]["finished"]), (&0.into(), &240.into()), "{more:#}");
    assert_eq!(stage.request_count() - before, unfunded);
}

#[tokio::test(flavor = "multi_thread")]
async fn interrupted_run_keeps_ended_trials() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        stop_and_resume(signal).await;
    }
}

async fn stop_and_resume(signal: &str) {
    let stage = CrashFixture::new().await;
    let args = ["run", "--subject", "local", "--suite", "tool_selection", "--trials", "100", "--concurrency", "8"];
    let ran = stage.signal_at(signal, &args, 40).await;
    assert_eq!(ran.code, Some(3), "{}\n{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("--resume"), "{}", ran.stderr);
    let document: Value = serde_json::from_str(&ran.stdout).unwrap();
    let finished = document["trials"]["finished"].as_u64().unwrap();
    assert!(finished > 0 && finished < 200, "{document:#}");
    let ended = stage.run_to_end(&["run", "--resume"]).await;
    assert_eq!(ended["trials"]["finished"], 200, "{ended:#}");
}
