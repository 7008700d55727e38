//! Queue, leases, budget and limits of vendors on a real server.

use super::*;
use crate::postgres::PgTarget;
use crate::tests::{TestPlace, begin, database_of, example, outline, row};
use crate::{CallKey, Store, StoreError, StoreLocation};
use model::ContentHash;
use std::sync::mpsc::channel;
use std::time::Duration;
use testkit::PostgresServer;

const PROGRAM: &str = "1.0.0";

struct QueueFixture {
    place: TestPlace,
    store: Store,
    client: QueueClient,
    run: i64,
    planned: u64,
}

impl QueueFixture {
    fn new(planned: u64, cap: Option<u64>) -> Self {
        let place = TestPlace::postgres();
        let store = place.open();
        let run = begin(&store, "a run", &outline("a", planned));
        let client = QueueClient::open(&target(&place)).unwrap();
        let fixture = Self { place, store, client, run, planned };
        fixture.publish(cap);
        fixture.enqueue(&[]);
        fixture
    }

    fn publish(&self, cap: Option<u64>) {
        let run = self.run;
        let files = [("gates.yaml", "gates: []"), ("tools/a.yaml", "tool: a"), ("tools/b.yaml", "tool: a")];
        self.on(move |queue| queue.publish(&QueuedRun { run, program: PROGRAM, files: &files, cap }));
    }

    fn enqueue(&self, again: &[u64]) {
        let (run, shape) = (self.run, PlanShape { planned: self.planned, trials: self.planned, subjects: 1 });
        let again = again.to_vec();
        self.on(move |queue| queue.enqueue(run, shape, &again));
    }

    fn on<T: Send + 'static>(&self, work: impl FnOnce(&mut QueueConnection) -> Result<T, StoreError> + Send + 'static) -> T {
        self.client.call_blocking(work).unwrap()
    }

    fn register(&self, lease: Duration) -> WorkerLease {
        let new =
            NewWorker { run: self.run, name: "test".into(), program: PROGRAM.into(), subjects: vec![0], unable: String::new(), lease };
        self.on(move |queue| queue.register(&new))
    }

    fn worker(&self, lease: Duration) -> QueueWriter {
        QueueWriter::start(&target(&self.place), self.register(lease)).unwrap()
    }

    fn reclaim(&self) -> usize {
        let run = self.run;
        self.on(move |queue| queue.reclaim(run))
    }

    fn progress(&self) -> QueueProgress {
        let run = self.run;
        self.on(move |queue| queue.progress(run)).unwrap()
    }

    fn budget(&self) -> SharedBudget {
        let run = self.run;
        self.on(move |queue| queue.shared_budget(run))
    }

    fn sql(&self, sql: &str) -> String {
        self.place.sql(sql)
    }
}

fn target(place: &TestPlace) -> PgTarget {
    match &place.location {
        StoreLocation::Postgres(target) => target.clone(),
        StoreLocation::File(_) => unreachable!("the queue is on PostgreSQL"),
    }
}

const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(200);

fn claim(writer: &QueueWriter, most: u64) -> Result<Vec<u64>, StoreError> {
    let (sender, receiver) = channel();
    writer.claim(&[0], most, move |answer| drop(sender.send(answer)));
    receiver.recv().unwrap().map(|answer| answer.jobs.iter().map(|job| job.n).collect())
}

fn finish(writer: &QueueWriter, planned: u64, n: u64) -> Result<FinishAnswer, StoreError> {
    let (sender, receiver) = channel();
    writer.finish(row(writer.lease().run, usize::try_from(n).unwrap(), &example("a", planned)), move |answer| drop(sender.send(answer)));
    receiver.recv().unwrap()
}

fn ticket(run: i64, trial: &str, n: u32, ceiling: u64) -> CallTicket {
    let call = CallKey { run, trial: ContentHash::of_text(trial), role: "subject", n };
    CallTicket { call, ceiling, vendor: "https://vendor key1".into() }
}

fn reserve(writer: &QueueWriter, ticket: CallTicket) -> Result<ReserveAnswer, StoreError> {
    let (sender, receiver) = channel();
    writer.reserve(ticket, move |answer| drop(sender.send(answer)));
    receiver.recv().unwrap()
}

fn settle(writer: &QueueWriter, ticket: &CallTicket, cost: u64) {
    let (call, vendor) = (ticket.call.clone(), ticket.vendor.clone());
    writer.write(QueueWrite::Settle { call, vendor, cost, waited_us: Some(7), reply: "{}".into() });
}

/// Waits until everything written so far is committed.
fn flush(writer: &QueueWriter) {
    claim(writer, 0).unwrap();
}

#[test]
fn trials_are_claimed_once_in_plan_order() {
    let fixture = QueueFixture::new(10, None);
    let (first, second) = (fixture.worker(LONG), fixture.worker(LONG));
    assert_eq!(claim(&first, 4).unwrap(), [0, 1, 2, 3]);
    assert_eq!(claim(&second, 20).unwrap(), [4, 5, 6, 7, 8, 9]);
    assert_eq!(claim(&first, 4).unwrap(), Vec::<u64>::new());
    assert_eq!(finish(&second, 10, 4).unwrap(), FinishAnswer::Stored);
    assert_eq!(finish(&first, 10, 0).unwrap(), FinishAnswer::Stored);
    let progress = fixture.progress();
    assert_eq!((progress.first_open, progress.finished, progress.live_workers), (Some(1), 2, 2));
    assert_eq!(fixture.store.runs().unwrap()[0].finished, 2);
    drop(first);
    assert_eq!(claim(&second, 20).unwrap(), [1, 2, 3], "a worker that leaves returns its trials");
}

#[test]
fn worker_without_a_lease_commits_nothing() {
    let fixture = QueueFixture::new(4, Some(1_000));
    // No thread renews this lease, as if its process had been stopped.
    let stopped = fixture.register(SHORT);
    let held = fixture.register(LONG);
    let (run, worker) = (fixture.run, stopped.worker);
    fixture.sql(&format!("UPDATE jobs SET worker = {worker}, attempt = 1 WHERE run = {run} AND n < 2"));
    std::thread::sleep(2 * SHORT);
    assert_eq!((fixture.reclaim(), fixture.reclaim()), (1, 0));
    let late = QueueWriter::start(&target(&fixture.place), stopped).unwrap();
    assert!(matches!(finish(&late, 4, 0), Err(StoreError::LeaseLost)));
    assert!(matches!(reserve(&late, ticket(run, "t", 0, 10)), Err(StoreError::LeaseLost)));
    assert!(matches!(late.failure(), Some(StoreError::LeaseLost)));
    assert_eq!(fixture.sql("SELECT count(*) FROM trials"), "0");
    assert_eq!(fixture.sql("SELECT count(*) FROM calls"), "0");
    let other = QueueWriter::start(&target(&fixture.place), held).unwrap();
    assert_eq!(claim(&other, 10).unwrap(), [0, 1, 2, 3]);
    assert_eq!(finish(&other, 4, 0).unwrap(), FinishAnswer::Stored);
    assert_eq!(fixture.sql("SELECT max(attempt) FROM jobs"), "2");
}

#[test]
fn lost_worker_pays_its_calls_in_flight_at_their_ceiling() {
    let fixture = QueueFixture::new(4, Some(1_000));
    let run = fixture.run;
    let lost = fixture.worker(LONG);
    assert_eq!(claim(&lost, 2).unwrap(), [0, 1]);
    let (paid, open) = (ticket(run, "t0", 0, 100), ticket(run, "t1", 0, 200));
    for ticket in [&paid, &open] {
        assert!(matches!(reserve(&lost, ticket.clone()), Ok(ReserveAnswer::Reserved { .. })));
    }
    settle(&lost, &paid, 30);
    flush(&lost);
    assert_eq!((fixture.budget().spent, fixture.budget().reserved), (30, 200));
    fixture.sql(&format!("UPDATE workers SET expires = clock_timestamp() - interval '1 s' WHERE worker = {}", lost.lease().worker));
    assert_eq!(fixture.reclaim(), 1);
    assert_eq!((fixture.budget().spent, fixture.budget().reserved), (230, 0));
    // The reply arrives too late: its call was charged already.
    settle(&lost, &open, 50);
    assert!(claim(&lost, 1).is_err());
    let next = fixture.worker(LONG);
    assert_eq!(claim(&next, 9).unwrap(), [0, 1, 2, 3]);
    assert!(matches!(reserve(&next, open), Ok(ReserveAnswer::Reserved { .. })), "the call may be repeated");
    let counts = fixture.store.call_counts(run).unwrap();
    assert_eq!((counts.settled, counts.reserved, counts.attempts), (1, 1, 3));
    assert_eq!(fixture.store.telemetry(run).unwrap(), [("asked_again".to_owned(), 1)]);
    assert_eq!(fixture.store.total_spending(run).unwrap(), 430);
    let (sender, receiver) = channel();
    next.find_settled(paid.call, move |found| drop(sender.send(found)));
    assert_eq!(receiver.recv().unwrap().unwrap(), Some((30, "{}".to_owned())), "a settled reply is not asked for again");
}

#[test]
fn budget_refuses_what_it_cannot_cover() {
    let fixture = QueueFixture::new(1, Some(100));
    let (run, worker) = (fixture.run, fixture.worker(LONG));
    let first = ticket(run, "a", 0, 80);
    assert!(matches!(reserve(&worker, first.clone()), Ok(ReserveAnswer::Reserved { .. })));
    assert!(matches!(reserve(&worker, first.clone()), Ok(ReserveAnswer::Reserved { .. })), "a repeated attempt finds its own row");
    assert_eq!(fixture.budget().reserved, 80, "and is charged once");
    assert!(matches!(reserve(&worker, ticket(run, "b", 0, 30)), Ok(ReserveAnswer::Wait(_))), "the first call may release money");
    settle(&worker, &first, 75);
    assert_eq!(reserve(&worker, ticket(run, "b", 0, 30)).unwrap(), ReserveAnswer::TooLittle { left: 25 });
    assert_eq!(fixture.budget().cheapest_refused, Some(30));
    assert!(matches!(reserve(&worker, ticket(run, "c", 0, 25)), Ok(ReserveAnswer::Reserved { .. })));
    worker.write(QueueWrite::ImpossibleBill);
    assert_eq!(reserve(&worker, ticket(run, "d", 0, 0)).unwrap(), ReserveAnswer::Closed);
    // A larger budget pays for more, and what was spent stays spent.
    fixture.publish(Some(500));
    assert_eq!((fixture.budget().spent, fixture.budget().reserved), (75, 25));
}

/// SplitMix64: the same number draws the same schedule on every machine.
struct DrawState(u64);

impl DrawState {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % n
    }
}

const CALLERS: u64 = 64;
const WRITERS: u64 = 8;

/// Reserves, settles, fails and abandons calls as drawn, and returns the money that it was charged for certain.
fn spend(writer: &QueueWriter, seed: u64, steps: u64) {
    let mut draw = DrawState(seed);
    for step in 0..steps {
        let ticket = ticket(writer.lease().run, &format!("trial {seed}"), u32::try_from(step).unwrap(), 1 + draw.below(40));
        let mut patience = 40;
        let answer = loop {
            match reserve(writer, ticket.clone()) {
                Ok(ReserveAnswer::Wait(_)) if patience > 0 => {
                    patience -= 1;
                    std::thread::sleep(Duration::from_millis(1));
                }
                answer => break answer,
            }
        };
        if !matches!(answer, Ok(ReserveAnswer::Reserved { .. })) {
            continue;
        }
        match draw.below(4) {
            0 => writer.write(QueueWrite::Fail { call: ticket.call, cost: 0, why: "status 500".into() }),
            1 => writer.write(QueueWrite::Fail { call: ticket.call, cost: ticket.ceiling, why: "dropped".into() }),
            2 => settle(writer, &ticket, draw.below(ticket.ceiling + 1)),
            // Left open: charged when the lease ends.
            _ => {}
        }
    }
}

#[test]
fn cap_holds_for_64_callers_in_any_schedule() {
    for schedule in 0..4 {
        let mut draw = DrawState(schedule);
        let cap = 500 + draw.below(3_000);
        let fixture = QueueFixture::new(1, Some(cap));
        fixture.sql("ALTER TABLE budgets ADD CONSTRAINT within_cap CHECK (spent + reserved <= cap)");
        let writers: Vec<QueueWriter> = (0..WRITERS).map(|_| fixture.worker(LONG)).collect();
        std::thread::scope(|scope| {
            for caller in 0..CALLERS {
                let writer = writers[usize::try_from(caller % WRITERS).unwrap()].clone();
                scope.spawn(move || spend(&writer, schedule * CALLERS + caller, 12));
            }
            // Some leases end while their callers go on, and some connections are cut.
            for victim in 0..3 {
                std::thread::sleep(Duration::from_millis(20 + draw.below(60)));
                if victim == 1 {
                    cut_connections(&fixture.place);
                } else {
                    let worker = writers[usize::try_from(draw.below(WRITERS)).unwrap()].lease().worker;
                    fixture.sql(&format!("UPDATE workers SET expires = clock_timestamp() - interval '1 s' WHERE worker = {worker}"));
                    fixture.reclaim();
                }
            }
        });
        for writer in &writers {
            assert!(matches!(writer.failure(), None | Some(StoreError::LeaseLost)), "{:?}", writer.failure());
        }
        drop(writers);
        let budget = fixture.budget();
        let sums = "SELECT coalesce(sum(lost + CASE state WHEN 'settled' THEN cost ELSE 0 END), 0) || '/' ||
            count(*) FILTER (WHERE state = 'reserved') FROM calls";
        assert_eq!(fixture.sql(sums), format!("{}/0", budget.spent), "schedule {schedule}: the journal says what the budget says");
        assert!(budget.spent <= cap && budget.reserved == 0, "schedule {schedule}: {budget:?} of {cap}");
        assert!(budget.spent > cap / 2, "schedule {schedule}: the budget was used, {budget:?} of {cap}");
    }
}

fn cut_connections(place: &TestPlace) {
    let database = database_of(&target(place));
    let cut =
        format!("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = '{database}' AND pid <> pg_backend_pid()");
    PostgresServer::shared().psql("postgres", &cut);
}

#[test]
fn every_trial_is_stored_once_while_connections_are_cut() {
    const PLANNED: u64 = 400;
    let fixture = QueueFixture::new(PLANNED, None);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let writer = fixture.worker(LONG);
            scope.spawn(move || {
                loop {
                    let jobs = claim(&writer, 7).unwrap();
                    if jobs.is_empty() {
                        return;
                    }
                    for n in jobs {
                        assert_eq!(finish(&writer, PLANNED, n).unwrap(), FinishAnswer::Stored);
                    }
                }
            });
        }
        for _ in 0..6 {
            std::thread::sleep(Duration::from_millis(30));
            cut_connections(&fixture.place);
        }
    });
    // A claim whose answer was lost is repeated and takes other trials; the first ones return with the lease.
    let rest = fixture.worker(LONG);
    for n in claim(&rest, PLANNED).unwrap() {
        finish(&rest, PLANNED, n).unwrap();
    }
    assert_eq!(fixture.sql("SELECT count(*) || '/' || count(DISTINCT n) FROM trials"), format!("{PLANNED}/{PLANNED}"));
    assert_eq!(fixture.progress().first_open, None);
}

#[test]
fn closed_run_drops_what_workers_still_have() {
    let fixture = QueueFixture::new(6, Some(100));
    let (run, worker) = (fixture.run, fixture.worker(LONG));
    assert_eq!(claim(&worker, 3).unwrap(), [0, 1, 2]);
    assert!(matches!(reserve(&worker, ticket(run, "t", 0, 60)), Ok(ReserveAnswer::Reserved { .. })));
    fixture.on(move |queue| queue.close(run));
    assert!(matches!(finish(&worker, 6, 0), Err(StoreError::LeaseLost)));
    assert_eq!((fixture.budget().spent, fixture.budget().reserved), (60, 0));
    assert_eq!(fixture.sql("SELECT count(*) FROM trials"), "0");
    let new = NewWorker { run, name: "late".into(), program: PROGRAM.into(), subjects: vec![0], unable: String::new(), lease: LONG };
    assert!(matches!(fixture.client.call_blocking(move |queue| queue.register(&new)), Err(StoreError::NotQueued { .. })));
    // A run that is resumed queues what has no row.
    fixture.publish(Some(200));
    fixture.enqueue(&[]);
    assert_eq!(claim(&fixture.worker(LONG), 9).unwrap(), [0, 1, 2, 3, 4, 5]);
}

#[test]
fn resumed_run_queues_aborted_trials_and_no_ended_ones() {
    let fixture = QueueFixture::new(5, None);
    let worker = fixture.worker(LONG);
    claim(&worker, 3).unwrap();
    for n in 0..3 {
        finish(&worker, 5, n).unwrap();
    }
    fixture.enqueue(&[1]);
    assert_eq!(claim(&worker, 9).unwrap(), [1, 3, 4]);
    assert_eq!(fixture.progress().first_open, Some(1));
    assert_eq!(finish(&worker, 5, 1).unwrap(), FinishAnswer::Stored, "the row of an aborted trial is replaced");
}

#[test]
fn paused_run_lets_workers_finish_but_not_claim() {
    let fixture = QueueFixture::new(5, None);
    let (run, worker) = (fixture.run, fixture.worker(LONG));
    claim(&worker, 2).unwrap();
    fixture.on(move |queue| queue.pause(run, "a vendor is down"));
    assert_eq!(claim(&worker, 2).unwrap(), Vec::<u64>::new());
    assert_eq!(finish(&worker, 5, 0).unwrap(), FinishAnswer::Stored);
    let progress = fixture.progress();
    assert_eq!((progress.state, progress.note.as_deref()), (QueueState::Paused, Some("a vendor is down")));
    fixture.publish(None);
    assert_eq!(claim(&worker, 2).unwrap(), [2, 3]);
}

#[test]
fn run_that_may_stop_early_limits_claims() {
    let fixture = QueueFixture::new(10, None);
    let run = fixture.run;
    fixture.on(move |queue| queue.set_claim_limit(run, Some(3)));
    let worker = fixture.worker(LONG);
    assert_eq!(claim(&worker, 10).unwrap(), [0, 1, 2]);
    assert!(fixture.on(QueueConnection::open_queues).is_empty());
    fixture.on(move |queue| queue.set_claim_limit(run, Some(4)));
    assert_eq!(claim(&worker, 10).unwrap(), [3]);
}

#[test]
fn worker_of_another_version_is_refused() {
    let fixture = QueueFixture::new(1, None);
    let run = fixture.run;
    let new = NewWorker { run, name: "old".into(), program: "0.9.0".into(), subjects: vec![0], unable: String::new(), lease: LONG };
    let refused = fixture.client.call_blocking(move |queue| queue.register(&new)).unwrap_err();
    assert!(matches!(&refused, StoreError::OtherProgram { planned, this } if planned == PROGRAM && this == "0.9.0"), "{refused}");
    assert!(!refused.remedy().is_empty());
    assert_eq!(fixture.sql("SELECT count(*) FROM workers"), "0");
}

#[test]
fn files_of_a_workspace_travel_by_hash() {
    let fixture = QueueFixture::new(1, None);
    let open = fixture.on(QueueConnection::open_queues).remove(0);
    let index = open.files.clone();
    let files = fixture.on(move |queue| queue.read_files(&index));
    assert_eq!(files.len(), 3);
    assert_eq!((files["gates.yaml"].as_str(), files["tools/b.yaml"].as_str()), ("gates: []", "tool: a"));
    assert_eq!(fixture.sql("SELECT count(*) FROM contents"), "2", "equal files are stored once");
    fixture.sql("UPDATE contents SET body = 'tool: evil' WHERE body = 'tool: a'");
    let index = open.files;
    let changed = fixture.client.call_blocking(move |queue| queue.read_files(&index)).unwrap_err();
    assert!(changed.to_string().contains("does not have its hash"), "{changed}");
}

#[test]
fn throttled_vendor_is_paused_for_all_workers() {
    let fixture = QueueFixture::new(1, None);
    let run = fixture.run;
    let workers = [fixture.worker(LONG), fixture.worker(LONG)];
    let tickets: Vec<CallTicket> = (0..8).map(|n| ticket(run, "t", n, 1)).collect();
    for (worker, ticket) in workers.iter().cycle().zip(&tickets) {
        assert_eq!(reserve(worker, ticket.clone()).unwrap(), ReserveAnswer::Reserved { halvings: 0 });
    }
    // All eight calls were under way together: their faults halve the limit once.
    for (worker, ticket) in workers.iter().cycle().zip(&tickets) {
        let fault = VendorThrottle { vendor: ticket.vendor.clone(), wait: Some(Duration::from_secs(60)), halvings: 0 };
        worker.write(QueueWrite::Throttle(fault));
        worker.write(QueueWrite::Fail { call: ticket.call.clone(), cost: 0, why: "status 429".into() });
    }
    workers.iter().for_each(flush);
    assert_eq!(fixture.sql("SELECT halvings FROM vendors"), "1");
    let limit: f64 = fixture.sql("SELECT at_once FROM vendors").parse().unwrap();
    assert!((1.0..=4.5).contains(&limit), "{limit}");
    assert!(matches!(reserve(&workers[0], ticket(run, "u", 0, 1)), Ok(ReserveAnswer::Wait(_))), "the vendor asked for a pause");
    assert!(matches!(reserve(&workers[1], ticket(run, "u", 1, 1)), Ok(ReserveAnswer::Wait(_))), "other workers see it too");
    let other = CallTicket { vendor: "https://vendor key2".into(), ..ticket(run, "u", 2, 1) };
    assert!(matches!(reserve(&workers[1], other), Ok(ReserveAnswer::Reserved { .. })), "another key has limits of its own");
    fixture.sql("UPDATE vendors SET paused_until = clock_timestamp()");
    fixture.sql("UPDATE vendors SET at_once = 2 WHERE at_once IS NOT NULL");
    for n in 0..2 {
        assert_eq!(reserve(&workers[1], ticket(run, "v", n, 1)).unwrap(), ReserveAnswer::Reserved { halvings: 1 });
    }
    assert!(matches!(reserve(&workers[0], ticket(run, "v", 2, 1)), Ok(ReserveAnswer::Wait(_))), "two calls are under way");
    settle(&workers[1], &ticket(run, "v", 0, 1), 0);
    flush(&workers[1]);
    assert!(matches!(reserve(&workers[0], ticket(run, "v", 2, 1)), Ok(ReserveAnswer::Reserved { .. })));
    assert_eq!(fixture.sql("SELECT strikes || ' ' || (at_once > 2) FROM vendors"), "0 true", "a success raises the limit");
}

#[test]
fn finished_trial_pays_the_calls_it_dropped() {
    let fixture = QueueFixture::new(2, Some(100));
    let (run, worker) = (fixture.run, fixture.worker(LONG));
    claim(&worker, 1).unwrap();
    let trial = example("a", 2).plan.trials[0].id.clone();
    let call = CallKey { run, trial, role: "subject", n: 0 };
    assert!(matches!(reserve(&worker, CallTicket { call, ceiling: 40, vendor: "v".into() }), Ok(ReserveAnswer::Reserved { .. })));
    finish(&worker, 2, 0).unwrap();
    assert_eq!((fixture.budget().spent, fixture.budget().reserved), (40, 0), "no later call waits for money that is never released");
}

#[test]
fn backlog_names_subjects_without_workers() {
    let fixture = QueueFixture::new(4, None);
    let run = fixture.run;
    fixture.sql(&format!("UPDATE jobs SET subject = 1 WHERE run = {run} AND n >= 2"));
    let _able = fixture.worker(LONG);
    let backlog = fixture.on(move |queue| queue.backlog(run));
    let expected = [(0, 2, 1, 0), (1, 2, 0, 0)];
    let found: Vec<_> = backlog.iter().map(|left| (left.subject, left.trials, left.workers, left.claimed)).collect();
    assert_eq!(found, expected);
}

#[test]
fn removed_run_leaves_no_row_of_its_queue() {
    let fixture = QueueFixture::new(4, Some(5));
    let worker = fixture.worker(LONG);
    claim(&worker, 2).unwrap();
    drop(worker);
    fixture.store.remove_run(fixture.run).unwrap();
    for table in ["queues", "workers", "jobs", "budgets"] {
        assert_eq!(fixture.sql(&format!("SELECT count(*) FROM {table}")), "0", "{table}");
    }
}
