//! Tests of the store through its public functions, on both engines.

mod conformance;
mod copies;
mod hostile;
mod listing;
mod server;

use super::*;
use crate::postgres::{PgEnvironment, PgTarget};
use model::scores_to_json;
use model::transcript::EventKind;
use model::{
    CaseOutcome, ContentHash, Ending, Event, Plan, PlanOutline, PlannedCase, PlannedSubject, RECORD_FORMAT, Reading, RunClaim, RunRecord,
    Score, ScorerId, Transcript, TrialScores,
};
use std::sync::mpsc::channel;
use testkit::PostgresServer;

/// Place of a store that a test opens as often as it likes.
pub(crate) struct TestPlace {
    pub(crate) location: StoreLocation,
    _folder: Option<tempfile::TempDir>,
}

impl TestPlace {
    pub(crate) fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { location: folder.path().join("store.sqlite").into(), _folder: Some(folder) }
    }

    pub(crate) fn postgres() -> Self {
        Self { location: StoreLocation::new(&PostgresServer::shared().create_database(), PgEnvironment::default), _folder: None }
    }

    pub(crate) fn open(&self) -> Store {
        Store::open(&self.location, all_pass).unwrap()
    }

    pub(crate) fn is_postgres(&self) -> bool {
        self.location.file().is_none()
    }

    /// Runs SQL behind the back of the store and returns its first value, as text.
    pub(crate) fn sql(&self, sql: &str) -> String {
        match &self.location {
            StoreLocation::File(path) => {
                let connection = rusqlite::Connection::open(path).unwrap();
                let mut statement = connection.prepare(sql).unwrap();
                let mut rows = statement.query([]).unwrap();
                let Some(first) = rows.next().unwrap() else { return String::new() };
                let first = first.get_ref(0).unwrap();
                first.as_str().map_or_else(|_| first.as_i64().unwrap().to_string(), str::to_owned)
            }
            StoreLocation::Postgres(target) => {
                let sql = format!("SET search_path TO {}; {sql}", postgres::SCHEMA_NAME);
                PostgresServer::shared().psql(&database_of(target), &sql)
            }
        }
    }
}

/// Returns the database that a URL of the test server names.
pub(crate) fn database_of(target: &PgTarget) -> String {
    target.to_string().split(['/', '?']).nth(3).unwrap().to_owned()
}

/// Makes a test on each engine of every function.
macro_rules! conformance {
    ($($module:ident: $($test:ident)*;)*) => {
        $(mod $module {
            $(mod $test {
                use crate::tests::TestPlace;

                #[test]
                fn on_sqlite() {
                    super::super::super::$module::$test(&TestPlace::sqlite());
                }

                #[test]
                fn on_postgres() {
                    super::super::super::$module::$test(&TestPlace::postgres());
                }
            })*
        })*
    };
}

mod engines {
    conformance! {
        conformance:
            stored_run_reads_back_from_another_connection
            trials_are_found_by_case_or_id_without_reading_others
            sql_views_expose_scores_and_events
            runs_are_newest_first_and_removable
            reserved_call_counts_at_ceiling_and_is_paid_once
            orphaned_calls_cost_their_ceiling_and_are_retryable
            cached_reply_expires
            journal_commits_waited_and_unwaited_writes
            journal_failure_is_reported_to_later_writes
            run_lock_is_exclusive
            concurrent_journals_wait_for_each_other
            spending_is_grouped_by_case_and_role
            output_of_an_agent_is_kept_beside_the_record
            writes_of_a_group_keep_their_order
            a_failed_group_leaves_nothing
            counters_and_call_counts_add_up
            budget_and_verdicts_change
            runs_removed_after_they_were_listed_have_no_verdicts
            concurrent_opens_create_one_store
            a_missing_store_is_not_created_by_a_reader;
        listing:
            pages_follow_positions_and_filters
            runs_are_paged_and_found_by_prefix
            trials_are_read_within_a_range
            subjects_and_cases_are_in_order
            costs_of_trials_are_listed;
        hostile:
            nul_and_control_characters_survive
            numbers_beyond_the_store_are_refused_unwritten
            large_rows_survive
            text_search_takes_patterns_literally
            sums_are_capped;
    }
}

/// Outcome rule under which every trial passes. The real rule is in `score`.
pub(crate) fn all_pass(_: &Ending, _: &[Score]) -> CaseOutcome {
    CaseOutcome::Passed
}

pub(crate) fn outline(word: &str, trials: u64) -> PlanOutline {
    let cases = vec![PlannedCase { case: "a_case".into(), hash: ContentHash::of_text(word) }];
    let subjects = vec![PlannedSubject { subject: "echo".into(), configuration: ContentHash::of_text("echo") }];
    PlanOutline { cases, subjects, trials, seed: 1, workspace_version: Some(3) }
}

pub(crate) fn example(word: &str, trials: u64) -> RunRecord {
    let plan = Plan { workspace: ContentHash::of_text(word), workspace_version: Some(3), trials: outline(word, trials).trials() };
    let said = |text: &str| Event { n: 1, at_ms: 0, by: "user".into(), depth: 0, happened: EventKind::UserSaid { text: text.into() } };
    let transcripts = plan.trials.iter().map(|trial| Transcript {
        trial: trial.id.clone(),
        case: trial.case.clone(),
        subject: trial.subject.clone(),
        events: vec![said(&trial.seed.to_string())],
        ending: Ending::Finished,
    });
    let score = Score::new(ScorerId::CasePass, Reading::from_bool(true), vec![]);
    let scores = plan.trials.iter().map(|trial| TrialScores { trial: trial.id.clone(), scores: vec![score.clone()] });
    RunRecord {
        format: RECORD_FORMAT,
        claim: RunClaim::default(),
        transcripts: transcripts.collect(),
        scores: scores.collect(),
        plan,
        judgements: vec![],
        out_of_scope: vec!["a_gate".into()],
    }
}

pub(crate) fn begin(store: &Store, id: &str, outline: &PlanOutline) -> i64 {
    let (workspace, claim) = (&ContentHash::of_text("a"), &RunClaim::default());
    let new =
        NewRun { id, started: "2026-01-01T00:00:00Z", workspace, claim, settings: "{}", plan: Some(outline), planned: 3, budget: None };
    store.begin_run(&new).unwrap()
}

pub(crate) fn row(run: i64, n: usize, record: &RunRecord) -> TrialRow {
    TrialRow {
        run,
        n: n as u64,
        trial: record.plan.trials[n].clone(),
        outcome: CaseOutcome::Passed,
        wall_us: 5,
        transcript: record.transcripts[n].to_serialized(),
        scores: scores_to_json(&record.scores[n].scores),
        output: None,
    }
}

pub(crate) fn call(run: i64, n: u32) -> CallKey {
    CallKey { run, trial: ContentHash::of_text("t"), role: "subject", n }
}

pub(crate) fn wait(journal: &Journal, write: JournalWrite) -> Result<(), StoreError> {
    let (sender, receiver) = channel();
    journal.write_with_callback(write, Box::new(move |result| drop(sender.send(result))));
    receiver.recv().unwrap()
}

/// The dump was written by a version without `CaseOutcome`.
#[test]
fn store_v2_fixture_is_readable() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    rusqlite::Connection::open(&path).unwrap().execute_batch(include_str!("../../fixtures/store_v2.sql")).unwrap();
    let store = Store::open(&path, all_pass).unwrap();
    let runs = store.runs().unwrap();
    let counts: Vec<_> = runs.iter().map(|run| (run.planned, run.finished, run.passed)).collect();
    assert_eq!(counts, [(1, 1, 1), (4, 4, 2)]);
    for run in &runs {
        assert_eq!(Some(store.record(run).unwrap().hash()), run.record);
        let mut ended = 0;
        store.for_each_ended(run.run, |trial| ended += u64::from(trial.ending == Ending::Finished && !trial.scores.is_empty())).unwrap();
        assert_eq!(ended, run.finished);
    }
}
