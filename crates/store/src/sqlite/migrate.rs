//! Conversion of older stores, completely or not at all. No other file knows their tables.

use super::runs::insert_run;
use super::schema::{AGENT_OUTPUT, SCHEMA};
use super::trials::insert_trial;
use crate::{NewRun, StoreError, TrialRow};
use model::{CaseOutcome, Ending, GateVerdicts, RecordHasher, RunRecord, Score, scores_to_json};
use rusqlite::{Connection, params};

/// Derives the outcome of a trial in an older store. Passed in because this crate must not depend on `score`.
pub type OutcomeRule = fn(&Ending, &[Score]) -> CaseOutcome;

/// Converts version 1, which stored each run as one JSON document of format 1.
pub(crate) fn convert_v1(connection: &Connection, outcome: OutcomeRule) -> Result<(), StoreError> {
    connection.execute_batch("ALTER TABLE runs RENAME TO runs_1;")?;
    connection.execute_batch(SCHEMA)?;
    convert_v2(connection)?;
    let mut rows = connection.prepare("SELECT id, at, format, record FROM runs_1 ORDER BY at, rowid")?;
    let mut rows = rows.query([])?;
    while let Some(row) = rows.next()? {
        let (id, at, format, json): (String, String, u32, String) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
        let not_converted = |why: String| StoreError::NotConverted { id: id.clone(), why };
        if format != 1 {
            return Err(not_converted(format!("its format is {format}")));
        }
        let record: RunRecord = serde_json::from_str(&json).map_err(|error| not_converted(error.to_string()))?;
        convert_run(connection, (&id, &at), &record, outcome)?;
    }
    drop(rows);
    connection.execute_batch("DROP TABLE runs_1;")?;
    Ok(())
}

/// Converts version 2, which kept no output of agents.
pub(crate) fn convert_v2(connection: &Connection) -> Result<(), StoreError> {
    Ok(connection.execute_batch(AGENT_OUTPUT)?)
}

fn convert_run(connection: &Connection, (id, at): (&str, &str), record: &RunRecord, outcome: OutcomeRule) -> Result<(), StoreError> {
    let planned = record.plan.trials.len() as u64;
    let (workspace, claim) = (&record.plan.workspace, &record.claim);
    let run = insert_run(connection, &NewRun { id, started: at, workspace, claim, settings: "{}", plan: None, planned, budget: None })?;
    let mut hash = RecordHasher::new(claim, workspace);
    let mut ended = record.transcripts.iter().zip(&record.scores).peekable();
    for (n, trial) in (0..).zip(&record.plan.trials) {
        let Some((transcript, scores)) = ended.next_if(|(transcript, _)| transcript.trial == trial.id) else {
            hash.add_unrun_trial(trial);
            continue;
        };
        let written = transcript.to_serialized();
        let outcome = outcome(&transcript.ending, &scores.scores);
        let scores = scores_to_json(&scores.scores);
        hash.add_trial(trial, &written.content_hash, &scores);
        insert_trial(
            connection,
            &TrialRow { run, n, trial: trial.clone(), outcome, wall_us: 0, transcript: written, scores, output: None },
        )?;
    }
    let verdicts = GateVerdicts { judgements: record.judgements.clone(), out_of_scope: record.out_of_scope.clone() };
    let hash = hash.finish(&verdicts.judgements, &verdicts.out_of_scope);
    let verdicts = serde_json::to_string(&verdicts).map_err(|error| StoreError::unreadable(id, &error))?;
    connection
        .execute("UPDATE runs SET ended = started, record = ?2, verdicts = ?3 WHERE run = ?1", params![run, hash.as_str(), verdicts])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::SqliteEngine;
    use super::*;
    use crate::Store;
    use crate::tests::{all_pass, example};

    fn create_v1_store(path: &std::path::Path, records: &[(&str, u32, String)]) {
        let connection = Connection::open(path).unwrap();
        connection
            .execute_batch(
                "CREATE TABLE runs (id TEXT PRIMARY KEY, at TEXT NOT NULL, format INTEGER NOT NULL, trials INTEGER NOT NULL, record TEXT NOT NULL) STRICT;",
            )
            .unwrap();
        for (id, format, json) in records {
            let row = params![id, "2026-01-01T00:00:00Z", format, 1, json];
            connection.execute("INSERT INTO runs VALUES (?1, ?2, ?3, ?4, ?5)", row).unwrap();
        }
    }

    fn v1_record_json() -> String {
        let mut value = serde_json::to_value(example("a", 2)).unwrap();
        value["format"] = 1.into();
        value.to_string()
    }

    #[test]
    fn v1_store_is_converted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.sqlite");
        create_v1_store(&path, &[("aaaa1111", 1, v1_record_json())]);
        let store = Store::open(&path, all_pass).unwrap();
        let run = store.runs().unwrap().remove(0);
        assert_eq!((run.id.as_str(), run.finished, run.passed), ("aaaa1111", 2, 2));
        let record = store.record(&run).unwrap();
        let mut expected = example("a", 2);
        expected.plan.workspace_version = None;
        assert_eq!(record, expected);
        assert_eq!(run.record, Some(record.hash()));
    }

    #[test]
    fn v2_store_is_converted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.sqlite");
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch(SCHEMA).unwrap();
        connection.pragma_update(None, "user_version", 2).unwrap();
        let plan = crate::tests::outline("a", 3);
        let old = Store { engine: Box::new(SqliteEngine { connection, path: None }) };
        let run = crate::tests::begin(&old, "first", &plan);
        drop(old);
        let store = Store::open(&path, all_pass).unwrap();
        assert_eq!(store.runs().unwrap().len(), 1);
        assert_eq!(store.agent_output(run, 0).unwrap(), None, "older runs have no output of agents");
        store.add_trial(&crate::tests::row(run, 0, &example("a", 3))).unwrap();
    }

    #[test]
    fn unconvertible_v1_store_is_refused_unchanged() {
        for (format, json) in [(1, "{}".to_owned()), (7, v1_record_json())] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("store.sqlite");
            create_v1_store(&path, &[("aaaa1111", 1, v1_record_json()), ("bbbb2222", format, json)]);
            assert!(matches!(Store::open(&path, all_pass), Err(StoreError::NotConverted { id, .. }) if id == "bbbb2222"));
            let connection = Connection::open(&path).unwrap();
            assert_eq!(connection.query_row("SELECT count(record) FROM runs", [], |row| row.get::<_, i64>(0)).unwrap(), 2);
        }
    }
}
