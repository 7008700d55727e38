//! One run on many processes through PostgreSQL: killed workers and watchers, restarts of the server, cut connections, refusals.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the test starts, watches and kills the program, and fails by panicking"
)]

mod chaos;
mod disasters;
mod fixture;
mod refusals;

use crate::crash::fixture::COST_NANOS;
use fixture::ScaleFixture;
use serde_json::Value;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::time::Duration;

/// Parts of a report that do not depend on where the run is stored.
fn result_of(document: &Value) -> Vec<String> {
    let key = |key: &str| {
        let text = document[key].to_string();
        let start = text.find(" --store ");
        // Commands in the report name the store.
        start.map_or(text.clone(), |_| text.split(" --store ").next().unwrap_or_default().to_owned())
    };
    ["record", "trials", "passed"].map(key).to_vec()
}

#[tokio::test(flavor = "multi_thread")]
async fn record_does_not_depend_on_the_number_of_workers() {
    let scale = ScaleFixture::new().await;
    for flags in [&["--subject", "local", "--trials", "20"][..], &["--subject", "echo", "--trials", "30", "--max-fail", "3"]] {
        let args = [&["--suite", "tool_selection", "--no-cache"], flags].concat();
        let alone = scale.stage.run_to_end(&[&["run", "--store", "alone.sqlite"], &args[..]].concat()).await;
        for workers in [1, 3] {
            let watcher = scale.watch(&args);
            let workers: Vec<_> = (0..workers).map(|_| scale.work(&[])).collect();
            let watched = fixture::end(watcher).await;
            let document: Value = serde_json::from_str(&watched.stdout).unwrap_or_else(|error| panic!("{error}: {}", watched.all()));
            assert_eq!(result_of(&document), result_of(&alone), "{flags:?}");
            for worker in workers {
                fixture::terminate(&worker).await;
                let ended = fixture::end(worker).await;
                assert_eq!(ended.code, Some(0), "{}", ended.all());
            }
        }
    }
    assert_eq!(scale.sql("SELECT count(*) FROM jobs"), "0");
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_share_one_budget() {
    let scale = ScaleFixture::new().await;
    let args = ["--subject", "priced", "--suite", "tool_selection", "--trials", "60", "--no-cache", "--budget", "0.80"];
    let watcher = scale.watch(&args);
    let _workers: Vec<_> = (0..3).map(|_| scale.work(&["--concurrency", "3"])).collect();
    let watched = fixture::end(watcher).await;
    assert_ne!(watched.code, Some(0), "{}", watched.all());
    let document: Value = serde_json::from_str(&watched.stdout).unwrap();
    let unfunded = document["unfunded"].as_u64().unwrap();
    assert!(unfunded > 0 && document["trials"]["finished"].as_u64().unwrap() > 10, "{document:#}");
    let billed = scale.stage.request_count() * COST_NANOS;
    assert!(billed <= 800_000_000, "{billed}");
    assert!(document["spent_usd"].as_f64().unwrap() <= 0.8, "{document:#}");
    assert_eq!(scale.sql("SELECT spent <= cap AND reserved = 0 FROM budgets"), "t");
    assert!(watched.stderr.contains("not funded") && watched.stderr.contains("--resume"), "{}", watched.stderr);
    // More money pays for the rest, and nothing is paid again.
    let before = scale.stage.request_count();
    let resumed = scale.resume(&["--budget", "50"]);
    let resumed = fixture::end(resumed).await;
    let document: Value = serde_json::from_str(&resumed.stdout).unwrap_or_else(|error| panic!("{error}: {}", resumed.all()));
    assert_eq!((&document["unfunded"], &document["trials"]["finished"]), (&0.into(), &120.into()), "{document:#}");
    assert_eq!(scale.stage.request_count() - before, unfunded);
}

#[tokio::test(flavor = "multi_thread")]
async fn worker_that_is_asked_to_stop_finishes_its_trials() {
    let scale = ScaleFixture::new().await;
    let watcher = scale.watch(&["--subject", "local", "--suite", "tool_selection", "--trials", "100", "--no-cache"]);
    let (first, second) = (scale.work(&["--concurrency", "4"]), scale.work(&["--concurrency", "4"]));
    scale.wait_for_requests(40).await;
    fixture::terminate(&first).await;
    let ended = fixture::end(first).await;
    assert_eq!(ended.code, Some(0), "{}", ended.all());
    let watched = fixture::end(watcher).await;
    let document: Value = serde_json::from_str(&watched.stdout).unwrap_or_else(|error| panic!("{error}: {}", watched.all()));
    assert_eq!(document["trials"]["finished"], 200, "{document:#}");
    assert_eq!(scale.stage.request_count(), 200, "no call was dropped or repeated");
    assert_eq!(scale.sql("SELECT count(*) FROM calls WHERE state <> 'settled'"), "0");
    assert_eq!(scale.sql("SELECT count(*) FROM workers WHERE state = 'left'"), "1");
    drop(second);
}

#[tokio::test(flavor = "multi_thread")]
async fn interrupted_watcher_pauses_the_run() {
    let scale = ScaleFixture::new().await;
    let watcher = scale.watch(&["--subject", "local", "--suite", "tool_selection", "--trials", "150", "--no-cache"]);
    let _worker = scale.work(&["--concurrency", "4"]);
    scale.wait_for_requests(30).await;
    fixture::terminate(&watcher).await;
    let stopped = fixture::end(watcher).await;
    assert_eq!(stopped.code, Some(3), "{}", stopped.all());
    assert!(stopped.stderr.contains("--resume"), "{}", stopped.stderr);
    // Workers look every half second whether the run is still open.
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    let calm = scale.stage.request_count();
    tokio::time::sleep(Duration::from_millis(700)).await;
    assert_eq!(scale.stage.request_count(), calm, "a paused run costs nothing");
    // The run goes on without workers, in one process.
    let ended = scale.stage.run_to_end(&["run", "--resume", "--store", scale.url()]).await;
    assert_eq!(ended["trials"]["finished"], 300, "{ended:#}");
}

/// Waits for a condition; fails after 60 seconds.
async fn wait_until(is_so: impl Fn() -> bool) {
    for _ in 0..600 {
        if is_so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("it did not come true within 60 seconds");
}

#[tokio::test(flavor = "multi_thread")]
async fn copies_of_the_workspace_of_killed_workers_are_removed() {
    let scale = ScaleFixture::new().await;
    let temporary = scale.stage.path("temporary");
    std::fs::create_dir(&temporary).unwrap();
    let copies = || -> BTreeSet<OsString> { std::fs::read_dir(&temporary).unwrap().map(|entry| entry.unwrap().file_name()).collect() };
    let worker = || scale.command(&["work", "--lease", "3", "--concurrency", "2"]).env("TMPDIR", &temporary).spawn().unwrap();
    let watcher = scale.watch(&["--subject", "local", "--suite", "tool_selection", "--trials", "120", "--no-cache"]);
    // On a busy machine one worker alone may play many trials before the other has its copy.
    let (mut first, second) = (worker(), worker());
    wait_until(|| copies().len() == 2).await;
    let of_both = copies();
    first.kill().await.unwrap();
    let third = worker();
    wait_until(|| copies().intersection(&of_both).count() == 1).await;
    let watched = fixture::end(watcher).await;
    assert!(watched.stdout.contains("\"finished\": 240"), "{}", watched.all());
    assert_eq!(copies().intersection(&of_both).count(), 1, "the copy of the worker that lives stays");
    for worker in [second, third] {
        fixture::terminate(&worker).await;
        fixture::end(worker).await;
    }
    assert_eq!(copies(), BTreeSet::new());
}
