//! Behaviour of a store on PostgreSQL towards its server: refusals, restarts, versions, encryption.

use super::{TestPlace, all_pass, begin, call, database_of, example, outline, row, wait};
use crate::postgres::{PgEnvironment, PgFaultKind, PgTarget};
use crate::*;
use model::UserError;
use std::sync::OnceLock;
use testkit::PostgresServer;

fn open(url: &str, environment: PgEnvironment) -> Result<Store, StoreError> {
    Store::open(StoreLocation::new(url, || environment), all_pass)
}

fn kind(result: Result<Store, StoreError>) -> PgFaultKind {
    match result {
        Err(StoreError::Postgres(fault)) => {
            assert!(!UserError::from(StoreError::Postgres(fault.clone())).remedy.is_empty(), "{fault}");
            fault.kind
        }
        other => panic!("{other:?}"),
    }
}

fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Server on TCP with TLS and passwords, shared by the tests of it.
fn tcp_server() -> (&'static PostgresServer, u16) {
    static SERVER: OnceLock<(PostgresServer, u16)> = OnceLock::new();
    let (server, port) = SERVER.get_or_init(|| {
        let port = free_port();
        let server = PostgresServer::start(Some(port));
        server.psql("postgres", "CREATE ROLE ann LOGIN PASSWORD 'sesame'");
        server.psql("postgres", "CREATE DATABASE runs OWNER ann");
        (server, port)
    });
    (server, *port)
}

#[test]
fn refusals_say_what_to_do() {
    let (_, port) = tcp_server();
    let password = |word: &str| PgEnvironment { password: Some(word.into()), ..PgEnvironment::default() };
    let url = |database: &str| format!("postgres://ann@127.0.0.1:{port}/{database}");
    assert_eq!(kind(open(&url("runs"), password("wrong"))), PgFaultKind::Authentication);
    assert_eq!(kind(open(&url("runs"), PgEnvironment::default())), PgFaultKind::Authentication);
    assert_eq!(kind(open(&url("nowhere"), password("sesame"))), PgFaultKind::NoDatabase);
    assert_eq!(kind(open(&format!("postgres://ann:sesame@127.0.0.1:{port}/runs"), password("sesame"))), PgFaultKind::PasswordInUrl);
    assert_eq!(kind(open(&format!("postgres://ann@127.0.0.1:{}/runs", free_port()), password("sesame"))), PgFaultKind::Unreachable);
    assert_eq!(kind(open("postgres://ann@/runs?host=/nonexistent", password("sesame"))), PgFaultKind::Unreachable);
    open(&url("runs"), password("sesame")).unwrap();
    let password_file = Some(format!("127.0.0.1:{port}:runs:ann:sesame\n"));
    open(&url("runs"), PgEnvironment { password_file, ..PgEnvironment::default() }).unwrap();
}

#[test]
fn certificates_are_checked_unless_the_url_says_otherwise() {
    let (server, port) = tcp_server();
    let environment = || PgEnvironment { password: Some("sesame".into()), ..PgEnvironment::default() };
    let connect = |host: &str, rest: &str| open(&format!("postgres://ann@{host}:{port}/runs?{rest}"), environment());
    let root = format!("sslmode=verify-full&sslrootcert={}", server.root_certificate().display());
    connect("localhost", &root).unwrap();
    assert_eq!(kind(connect("127.0.0.1", &root)), PgFaultKind::Certificate, "the certificate is of another name");
    assert_eq!(kind(connect("localhost", "sslmode=verify-full")), PgFaultKind::Certificate, "no authority of the system signed it");
    assert_eq!(kind(connect("localhost", "sslmode=verify-full&sslrootcert=/nonexistent")), PgFaultKind::Certificate);
    for mode in ["require", "prefer"] {
        let store = connect("127.0.0.1", &format!("sslmode={mode}")).unwrap();
        let rows = store.postgres().unwrap().query("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()", vec![]).unwrap();
        assert!(rows[0].get::<_, bool>(0), "{mode} encrypts");
    }
    // A server without TLS.
    let plain = PostgresServer::shared().url("postgres");
    assert!(open(&format!("{plain}&sslmode=prefer"), PgEnvironment::default()).is_ok());
}

#[test]
fn a_newer_store_is_refused_unchanged() {
    let place = TestPlace::postgres();
    begin(&place.open(), "first", &outline("a", 1));
    place.sql("UPDATE schema_version SET version = 99");
    assert!(matches!(Store::open(&place.location, all_pass), Err(StoreError::NewerVersion { found: 99, .. })));
    assert!(matches!(Store::open_existing(&place.location, all_pass), Err(StoreError::NewerVersion { found: 99, .. })));
    assert_eq!((place.sql("SELECT version FROM schema_version"), place.sql("SELECT count(*) FROM runs")), ("99".into(), "1".into()));
}

#[test]
fn a_store_of_the_version_before_is_converted() {
    let place = TestPlace::postgres();
    begin(&place.open(), "first", &outline("a", 1));
    let (runs, listed) = (place.open().runs().unwrap(), place.open().listed_runs().unwrap());
    place.sql("ALTER TABLE runs DROP COLUMN plan_without_cases");
    place.sql("UPDATE schema_version SET version = 2");
    assert_eq!((place.open().runs().unwrap(), place.open().listed_runs().unwrap()), (runs, listed));
    assert_eq!(place.sql("SELECT version FROM schema_version"), "3");
}

/// Stands for a replica: both refuse with the same code.
#[test]
fn a_read_only_server_can_be_read_and_refuses_a_run_before_it_starts() {
    let place = TestPlace::postgres();
    begin(&place.open(), "first", &outline("a", 1));
    let StoreLocation::Postgres(target) = &place.location else { unreachable!() };
    let database = database_of(target);
    PostgresServer::shared().psql("postgres", &format!("ALTER DATABASE {database} SET default_transaction_read_only = on"));
    let store = place.open();
    assert_eq!(store.runs().unwrap().len(), 1);
    let workspace = model::ContentHash::of_text("a");
    let claim = model::RunClaim::default();
    let new = NewRun { id: "x", started: "", workspace: &workspace, claim: &claim, settings: "{}", plan: None, planned: 1, budget: None };
    match store.begin_run(&new) {
        Err(StoreError::Postgres(fault)) => assert_eq!(fault.kind, PgFaultKind::ReadOnly),
        other => panic!("{other:?}"),
    }
    let empty = PostgresServer::shared().create_database();
    let name = database_of(&PgTarget::new(&empty, PgEnvironment::default()));
    PostgresServer::shared().psql("postgres", &format!("ALTER DATABASE {name} SET default_transaction_read_only = on"));
    assert_eq!(kind(open(&empty, PgEnvironment::default())), PgFaultKind::ReadOnly);
}

/// The server forgets the statement that numbers a transaction, so that it fails after its begin.
#[test]
fn a_transaction_that_fails_at_its_begin_leaves_the_connection_usable() {
    let store = TestPlace::postgres().open();
    let connection = store.postgres().unwrap();
    let transact =
        || connection.transact(|mut transaction| Box::pin(async move { transaction.query("SELECT 1", &[]).await.map(|rows| rows.len()) }));
    assert_eq!(transact().unwrap(), 1);
    connection
        .run(|session| {
            Box::pin(
                async move { Ok(session.client().await?.batch_execute("DEALLOCATE ALL").await.map_err(crate::postgres::PgFault::from)?) },
            )
        })
        .unwrap();
    assert!(transact().is_err());
    assert_eq!(connection.query("SELECT 2", vec![]).unwrap().len(), 1, "the transaction was rolled back");
}

/// A trigger answers as a server without room does.
#[test]
fn a_full_disk_stops_the_journal_and_nothing_follows() {
    let place = TestPlace::postgres();
    let store = place.open();
    let record = example("a", 5);
    let run = begin(&store, "first", &outline("a", 5));
    place.sql(
        "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF NEW.n = 2 THEN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END IF; RETURN NEW; END $$;
         CREATE TRIGGER full_disk BEFORE INSERT ON trials FOR EACH ROW EXECUTE FUNCTION full_disk()",
    );
    let journal = Journal::new(store).unwrap();
    for n in 0..2 {
        journal.write(JournalWrite::Trial(Box::new(row(run, n, &record))));
    }
    wait(&journal, JournalWrite::Barrier).unwrap();
    journal.write(JournalWrite::Trial(Box::new(row(run, 2, &record))));
    let error = wait(&journal, JournalWrite::Reserve { call: call(run, 0), ceiling: 9 }).unwrap_err().to_string();
    assert!(error.contains("No space left"), "{error}");
    assert!(wait(&journal, JournalWrite::Trial(Box::new(row(run, 3, &record)))).is_err());
    drop(journal);
    let stored = place.open().run(run).unwrap().unwrap();
    assert_eq!((stored.finished, stored.spent), (2, 0));
}

#[test]
fn a_run_goes_on_after_the_server_was_killed() {
    let server = PostgresServer::start(None);
    let location = StoreLocation::new(&server.create_database(), PgEnvironment::default);
    let store = Store::open(&location, all_pass).unwrap();
    let count = 60;
    let record = example("a", count);
    let run = begin(&store, "first", &outline("a", count));
    let lock = store.lock_run("first").unwrap();
    let journal = Journal::new(store).unwrap();
    for n in 0..count {
        let key = call(run, u32::try_from(n).unwrap());
        wait(&journal, JournalWrite::Reserve { call: key.clone(), ceiling: 9 }).unwrap();
        journal.write(JournalWrite::Settle { call: key, cost: 1, waited_us: None, reply: "{}".into() });
        journal.write(JournalWrite::Count { run, what: "retries", n: 1 });
        journal.write(JournalWrite::Trial(Box::new(row(run, usize::try_from(n).unwrap(), &record))));
        match n {
            15 | 40 => server.restart(),
            25 => drop(server.psql("postgres", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname LIKE 'test%'")),
            _ => {}
        }
    }
    wait(&journal, JournalWrite::Barrier).unwrap();
    let other = Store::open(&location, all_pass).unwrap();
    assert!(matches!(other.lock_run("first"), Err(StoreError::InUse { .. })), "the lock was taken again");
    let stored = other.run(run).unwrap().unwrap();
    let counts = other.call_counts(run).unwrap();
    assert_eq!((stored.finished, counts.settled, counts.attempts, stored.spent), (count, count, count, count));
    assert_eq!(other.telemetry(run).unwrap(), [("retries".to_owned(), count)], "no group was applied twice");
    drop((journal, lock));
    other.lock_run("first").unwrap();
}

/// The connection is cut at random moments, some of them between a commit and its answer.
#[test]
fn a_commit_without_an_answer_is_not_repeated() {
    let server = PostgresServer::start(None);
    let url = server.create_database();
    let database = database_of(&PgTarget::new(&url, PgEnvironment::default()));
    let location = StoreLocation::new(&url, PgEnvironment::default);
    let store = Store::open(&location, all_pass).unwrap();
    let run = begin(&store, "first", &outline("a", 1));
    for round in 1..=12 {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(std::time::Duration::from_micros(200 * round));
                server.psql("postgres", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'bardo-eval'")
            });
            // psql needs a few milliseconds to start.
            for _ in 0..40 {
                store.add_telemetry(run, "retries", 1).unwrap();
            }
        });
        let counted = server.psql(&database, "SELECT n FROM bardo_eval.telemetry");
        assert_eq!(counted, (40 * round).to_string());
    }
}

/// The callers of a store run inside runtimes of their own.
#[test]
fn a_store_works_inside_a_runtime() {
    let place = TestPlace::postgres();
    for runtime in
        [tokio::runtime::Builder::new_current_thread().build().unwrap(), tokio::runtime::Builder::new_multi_thread().build().unwrap()]
    {
        runtime.block_on(async {
            let store = place.open();
            assert!(store.runs().unwrap().is_empty());
            drop(store);
        });
    }
}

#[test]
fn a_server_without_utf8_is_refused() {
    let server = PostgresServer::shared();
    server.psql("postgres", "CREATE DATABASE ascii ENCODING 'SQL_ASCII' TEMPLATE template0");
    assert_eq!(kind(open(&server.url("ascii"), PgEnvironment::default())), PgFaultKind::Unsuitable);
}
