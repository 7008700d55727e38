//! Traces in a PostgreSQL database.

use super::KEEP_ALL;
use super::collecting::{CollectProcess, reported_trace};
use crate::harness::TestFolder;
use serde_json::Value;
use testkit::PostgresServer;

#[test]
fn traces_on_postgres_are_collected_watched_and_drafted() {
    let folder = TestFolder::with_reference();
    folder.write("evals/production.yaml", KEEP_ALL);
    let server = PostgresServer::start(None);
    let url = server.create_database();
    let none = folder.run(&["watch", "--once", "--traces", &url]);
    none.assert_exit(2).assert_stderr("there are no traces in postgres://");
    // Two collectors share the database; one is killed, and the server crashes once.
    let mut first = CollectProcess::start(&folder, &["--traces", &url]);
    let second = CollectProcess::start_with(&folder, &[], &[("BARDO_EVAL_TRACES", &url)]);
    for n in 0..4 {
        let trace = reported_trace(n);
        assert_eq!(first.post(&trace), (200, "{}".to_owned()));
        assert_eq!(second.post(&trace), (200, "{}".to_owned()), "a repetition at another collector");
    }
    first.kill();
    server.restart();
    for n in 4..6 {
        assert_eq!(second.post(&reported_trace(n)).0, 200);
    }
    second.wait_for_kept(6);
    drop(second);
    let watched = folder.run(&["watch", "--once", "--format", "json", "--traces", &url]);
    let report: Value = serde_json::from_str(&watched.stdout).unwrap();
    assert_eq!((&report["traces"]["kept"], watched.code), (&6.into(), Some(3)), "{report:#}");
    let trace = format!("{:032x}", 1);
    let drafted = folder.run(&["case", "new", "--trace", &trace, "--id", "incident_1", "-o", "incident_1.yaml", "--traces", &url]);
    drafted.assert_exit(0);
    assert!(folder.read("incident_1.yaml").contains("uniswap_get_quote"));
    let tables = server.psql("test_0", "SELECT count(*) FROM pg_inherits WHERE inhparent = 'bardo_eval_production.spans'::regclass");
    assert!(matches!(tables.as_str(), "1" | "2"), "the month, and the next one if it began meanwhile: {tables}");
}
