//! Workers that must not play a run, and runs that no worker can play.

use super::fixture::{ScaleFixture, end};
use std::time::Duration;

const ECHO: [&str; 6] = ["--subject", "echo", "--suite", "tool_selection", "--trials", "2"];

#[tokio::test(flavor = "multi_thread")]
async fn worker_of_another_version_or_workspace_is_refused() {
    let scale = ScaleFixture::new().await;
    let watcher = scale.watch(&ECHO);
    scale.wait_for_jobs(4).await;
    scale.sql("UPDATE queues SET program = '0.0.1'");
    let older = scale.output(&["work", "--once"]).await;
    assert_eq!(older.code, Some(2), "{}", older.all());
    assert!(older.all().contains("planned by version 0.0.1") && older.all().contains("install the version"), "{}", older.all());
    scale.sql(&format!("UPDATE queues SET program = '{}'", env!("CARGO_PKG_VERSION")));
    let other = scale.output(&["work", "--once", "--embedded"]).await;
    assert_eq!(other.code, Some(2), "{}", other.all());
    assert!(other.all().contains("cannot be played here"), "{}", other.all());
    assert_eq!(scale.sql("SELECT count(*) FROM trials"), "0", "nothing was played");
    scale.sql("UPDATE contents SET body = body || ' ' WHERE hash = (SELECT min(hash) FROM contents)");
    let forged = scale.output(&["work", "--once"]).await;
    assert_eq!(forged.code, Some(3), "{}", forged.all());
    assert!(forged.all().contains("does not have its hash"), "{}", forged.all());
    scale.sql("UPDATE contents SET body = left(body, -1) WHERE hash = (SELECT min(hash) FROM contents)");
    let fitting = scale.output(&["work", "--once"]).await;
    assert_eq!(fitting.code, Some(0), "{}", fitting.all());
    let watched = end(watcher).await;
    assert!(watched.stdout.contains("\"finished\": 4"), "{}", watched.all());
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_need_a_shared_store() {
    let scale = ScaleFixture::new().await;
    for command in [&["work", "--once", "--store", "x.sqlite"][..], &["run", "--workers", "0", "--store", "x.sqlite"]] {
        let refused = scale.stage.output(command).await;
        assert_eq!(refused.code, Some(2), "{}", refused.all());
        assert!(refused.all().contains("postgres://"), "{}", refused.all());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn run_that_no_worker_can_play_ends_incomplete() {
    let scale = ScaleFixture::new().await;
    let keyed = "subject: keyed\nprovider: anthropic\nmodel: m\nkey_env: SOME_API_KEY\nabout: A model with a key.\n\
        price: { input_per_mtok: 0, output_per_mtok: 0, as_of: \"2026-11-15\" }\n";
    std::fs::write(scale.stage.path("evals/subjects/keyed.yaml"), keyed).unwrap();
    let args = ["--subject", "echo", "--subject", "keyed", "--subject", "process:no-such-agent", "--no-preflight"];
    let args = [&args, &["--suite", "tool_selection", "--worker-wait", "2"][..]].concat();
    let watcher = scale.watch(&args);
    let worker = scale.work(&[]);
    let ended = end(watcher).await;
    assert_eq!(ended.code, Some(3), "{}", ended.all());
    for part in ["no worker could play 4 trials", "keyed", "SOME_API_KEY", "no-such-agent", "--resume"] {
        assert!(ended.stderr.contains(part), "{part}: {}", ended.stderr);
    }
    assert!(!ended.stderr.contains("echo:"), "{}", ended.stderr);
    assert_eq!(scale.sql("SELECT string_agg(DISTINCT subject, ' ') FROM trials"), "echo", "the other subject was played");
    drop(worker);
    // Without any worker the run says so too.
    let alone = scale.output(&[&["run", "--workers", "0", "--worker-wait", "1"], &ECHO[..]].concat()).await;
    assert_eq!(alone.code, Some(3), "{}", alone.all());
    assert!(alone.stderr.contains("no worker is connected"), "{}", alone.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn read_only_server_refuses_workers_and_loses_nothing() {
    let scale = ScaleFixture::new().await;
    let watcher = scale.watch(&["--subject", "local", "--suite", "tool_selection", "--trials", "60", "--no-cache", "--worker-wait", "60"]);
    let worker = scale.work(&["--concurrency", "2"]);
    scale.wait_for_requests(20).await;
    // As after a failover to a replica that was not promoted.
    scale.server.psql("postgres", "ALTER SYSTEM SET default_transaction_read_only = on");
    scale.server.psql("postgres", "SELECT pg_reload_conf()");
    let failed = end(worker).await;
    assert_eq!(failed.code, Some(3), "{}", failed.all());
    assert!(failed.stderr.contains("read-only transaction") && failed.stderr.contains("primary"), "{}", failed.stderr);
    let watched = end(watcher).await;
    assert_eq!(watched.code, Some(3), "{}", watched.all());
    scale.server.psql("postgres", "ALTER SYSTEM RESET default_transaction_read_only");
    scale.server.psql("postgres", "SELECT pg_reload_conf()");
    tokio::time::sleep(Duration::from_millis(300)).await;
    let _worker = scale.work(&[]);
    let resumed = end(scale.resume(&[])).await;
    assert!(resumed.stdout.contains("\"finished\": 120"), "{}", resumed.all());
    assert_eq!(
        scale.sql("SELECT count(*) FILTER (WHERE state = 'settled') || ' ' || count(*) FILTER (WHERE state = 'reserved') FROM calls"),
        "120 0"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn full_disk_stops_the_run_and_loses_nothing() {
    let scale = ScaleFixture::new().await;
    let watcher = scale.watch(&["--subject", "local", "--suite", "tool_selection", "--trials", "60", "--no-cache", "--worker-wait", "2"]);
    scale.wait_for_jobs(120).await;
    // The error of a server whose disk is full, from the fiftieth trial on.
    scale.sql(
        "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF NEW.n = 50 THEN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END IF; RETURN NEW; END $$;
         CREATE TRIGGER full_disk BEFORE INSERT ON trials FOR EACH ROW EXECUTE FUNCTION full_disk()",
    );
    let failed = scale.output(&["work", "--lease", "3", "--concurrency", "2"]).await;
    assert_eq!(failed.code, Some(3), "{}", failed.all());
    assert!(failed.stderr.contains("No space left") && failed.stderr.contains("make room"), "{}", failed.stderr);
    let stopped = end(watcher).await;
    assert_eq!(stopped.code, Some(3), "{}", stopped.all());
    let stored: u64 = scale.sql("SELECT count(*) FROM trials").parse().unwrap();
    assert!(stored < 120, "{stored}");
    scale.sql("DROP TRIGGER full_disk ON trials");
    let _worker = scale.work(&[]);
    let resumed = end(scale.resume(&[])).await;
    assert!(resumed.stdout.contains("\"finished\": 120"), "{}", resumed.all());
    assert_eq!(scale.sql("SELECT count(*) FROM calls WHERE state <> 'settled'"), "0");
    // Replies of trials that could not be stored were paid and are used again.
    let again: u64 = scale.sql("SELECT coalesce(max(n), 0) FROM telemetry WHERE what = 'asked_again'").parse().unwrap();
    let asked = scale.stage.request_count();
    assert!((120..=120 + again).contains(&asked), "only calls in flight are repeated: {asked} asked, {again} again");
}
