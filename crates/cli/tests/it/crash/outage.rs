//! A vendor out of service, a store held by another process, and a store that cannot be written to.

use super::fixture::{CrashFixture, wait_for_exit};
use rusqlite::Connection;
use serde_json::Value;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::time::timeout;

const ARGS: [&str; 9] = ["run", "--subject", "local", "--suite", "tool_selection", "--trials", "60", "--concurrency", "16"];
const PLANNED: u64 = 120;

/// The notice is due after two seconds of waiting, which begins when the program has started.
const NOTICE_TIMEOUT: Duration = Duration::from_secs(60);

fn document(stdout: &str) -> Value {
    serde_json::from_str(stdout).unwrap_or_else(|error| panic!("{error}: {stdout}"))
}

async fn undisturbed_record(stage: &CrashFixture) -> Value {
    let calm = stage.run_to_end(&[&ARGS[..], &["--no-cache", "--store", "calm.sqlite"]].concat()).await;
    assert_eq!(calm["trials"]["finished"], PLANNED, "{calm:#}");
    calm["record"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn dead_vendor_stops_the_run_and_resume_runs_the_aborted_trials() {
    let stage = CrashFixture::new().await;
    let record = undisturbed_record(&stage).await;
    let before = stage.request_count();
    stage.set_down(true);
    let dead = stage.output(&[&ARGS[..], &["--no-cache"]].concat()).await;
    assert_eq!(dead.code, Some(3), "{}\n{}", dead.stdout, dead.stderr);
    assert!(dead.stderr.contains("10 calls of local in a row failed, the last one with: the vendor is overloaded"), "{}", dead.stderr);
    assert!(dead.stderr.contains("resume with: bardo-eval run --resume"), "{}", dead.stderr);
    let asked = stage.request_count() - before;
    assert!(asked < 5 * PLANNED / 2, "{asked} requests to a dead vendor");
    assert_eq!(document(&dead.stdout)["trials"]["finished"], 0);
    stage.set_down(false);
    let resumed = stage.run_to_end(&["run", "--resume"]).await;
    assert_eq!((&resumed["trials"]["finished"], &resumed["record"]), (&PLANNED.into(), &record), "{resumed:#}");
    let nothing = stage.output(&["run", "--resume"]).await;
    assert!(nothing.code == Some(2) && nothing.all().contains("there is nothing to resume"), "{}", nothing.all());
}

#[tokio::test(flavor = "multi_thread")]
async fn store_held_by_another_process_is_waited_for() {
    let stage = CrashFixture::new().await;
    let record = undisturbed_record(&stage).await;
    // Creates the store.
    stage.run_to_end(&["run", "--subject", "echo", "--case", "how_much_usdc"]).await;
    let path = stage.path(".bardo-eval/store.sqlite");
    let holder = Connection::open(path).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut child = stage.command(&[&ARGS[..], &["--no-cache", "--format", "json"]].concat()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut seen = vec![];
    let notice = async {
        while let Some(line) = lines.next_line().await.unwrap() {
            seen.push(line);
            if seen.last().is_some_and(|line| line.contains("another process writes to the store; waiting for it")) {
                return true;
            }
        }
        false
    };
    let noticed = timeout(NOTICE_TIMEOUT, notice).await.unwrap_or(false);
    holder.execute_batch("COMMIT").unwrap();
    // The program must be able to write its other lines.
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    let ran = wait_for_exit(child).await;
    assert!(noticed, "{seen:#?}");
    let document = document(&ran.stdout);
    assert_eq!((&document["trials"]["finished"], &document["record"]), (&PLANNED.into(), &record), "{document:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_written_after_a_failed_write() {
    let stage = CrashFixture::new().await;
    let record = undisturbed_record(&stage).await;
    stage.run_to_end(&["run", "--subject", "echo", "--case", "how_much_usdc"]).await;
    let connection = Connection::open(stage.path(".bardo-eval/store.sqlite")).unwrap();
    let trigger = "CREATE TRIGGER fail_trials BEFORE INSERT ON trials WHEN (SELECT count(*) FROM trials) >= 20
        BEGIN SELECT RAISE(ABORT, 'the disk is on strike'); END";
    connection.execute_batch(trigger).unwrap();
    let before = stage.request_count();
    let broken = stage.output(&[&ARGS[..], &["--no-cache"]].concat()).await;
    assert_eq!(broken.code, Some(3), "{}\n{}", broken.stdout, broken.stderr);
    assert!(broken.stderr.contains("the disk is on strike"), "{}", broken.stderr);
    assert!(stage.request_count() - before < PLANNED, "the run goes on without a store");
    let (rows, aborted): (u64, u64) = connection
        .query_row("SELECT count(*), coalesce(sum(ending = 'aborted'), 0) FROM trials WHERE run = 2", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .unwrap();
    assert!(rows <= 20 && aborted == 0, "{rows} rows, {aborted} aborted");
    connection.execute_batch("DROP TRIGGER fail_trials").unwrap();
    drop(connection);
    let resumed = stage.run_to_end(&["run", "--resume"]).await;
    assert_eq!((&resumed["trials"]["finished"], &resumed["record"]), (&PLANNED.into(), &record), "{resumed:#}");
}
