//! Writer thread of a worker: commits its writes in groups, renews its lease, and answers callers after the commit.

use super::calls::{CallTicket, ReserveAnswer};
use super::claims::ClaimAnswer;
use super::finish::FinishAnswer;
use super::group::{GroupAnswers, QueueWrite, WriteGroup};
use super::lease::WorkerLease;
use super::session::QueueConnection;
use crate::postgres::fault::PgFault;
use crate::postgres::target::PgTarget;
use crate::{CallKey, StoreError, TrialRow};
use model::ContentHash;
use std::fmt;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// Receives the answer to a request after its commit.
type AnswerCallback<T> = Box<dyn FnOnce(Result<T, StoreError>) + Send>;

enum WriterJob {
    Write(QueueWrite),
    Reserve(CallTicket, AnswerCallback<ReserveAnswer>),
    Finish(Box<TrialRow>, AnswerCallback<FinishAnswer>),
    Claim(Vec<u64>, u64, AnswerCallback<ClaimAnswer>),
    FindSettled(CallKey, AnswerCallback<Option<(u64, String)>>),
    FindCached(ContentHash, i64, AnswerCallback<Option<String>>),
    Read(Box<dyn FnOnce(&mut QueueConnection) + Send>),
}

/// Most requests in one commit.
const MAX_GROUP_ROWS: usize = 512;
/// Renewals within the length of a lease.
const RENEWALS: u32 = 4;

/// Handle to the writer thread of a worker. Dropping the last clone commits what is queued and ends the lease.
#[derive(Clone)]
pub struct QueueWriter {
    inner: Arc<WriterThread>,
}

struct WriterThread {
    sender: Option<Sender<WriterJob>>,
    thread: Option<JoinHandle<()>>,
    lease: WorkerLease,
    failure: Arc<Mutex<Option<WriterFailure>>>,
}

/// Reason why a writer writes nothing any more.
#[derive(Debug, Clone, PartialEq, Eq)]
enum WriterFailure {
    LeaseLost,
    Server(PgFault),
    Other(String),
}

impl WriterFailure {
    fn to_error(&self) -> StoreError {
        match self {
            WriterFailure::LeaseLost => StoreError::LeaseLost,
            WriterFailure::Server(fault) => StoreError::Postgres(fault.clone()),
            WriterFailure::Other(why) => StoreError::Journal(why.clone()),
        }
    }
}

impl fmt::Debug for QueueWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueueWriter").field("lease", &self.inner.lease).finish_non_exhaustive()
    }
}

impl QueueWriter {
    /// Starts the writer thread of a registered worker.
    ///
    /// # Errors
    /// If the store cannot be reached.
    pub fn start(target: &PgTarget, lease: WorkerLease) -> Result<Self, StoreError> {
        let (sender, jobs) = channel();
        let failure = Arc::new(Mutex::new(None));
        let (connected, answer) = channel();
        let (target, shared) = (target.clone(), failure.clone());
        // The connection has a runtime of its own, which cannot be started inside of another one.
        let work = move || match QueueConnection::open(&target) {
            Ok(connection) => {
                drop(connected.send(Ok(())));
                WriterLoop { connection, lease, failure: shared }.run(&jobs);
            }
            Err(error) => drop(connected.send(Err(error))),
        };
        let not_started = |why: String| StoreError::Journal(format!("the queue cannot be started: {why}"));
        let thread = std::thread::Builder::new().name("queue".into()).spawn(work).map_err(|error| not_started(error.to_string()))?;
        answer.recv().map_err(|error| not_started(error.to_string()))??;
        Ok(Self { inner: Arc::new(WriterThread { sender: Some(sender), thread: Some(thread), lease, failure }) })
    }

    pub fn lease(&self) -> &WorkerLease {
        &self.inner.lease
    }

    /// Returns the first failure. Nothing was committed after it.
    pub fn failure(&self) -> Option<StoreError> {
        self.inner.failure.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(WriterFailure::to_error)
    }

    /// Queues a write without waiting for its commit.
    pub fn write(&self, write: QueueWrite) {
        self.send(WriterJob::Write(write));
    }

    /// Reserves a call, and calls back once the reservation is committed.
    pub fn reserve(&self, ticket: CallTicket, callback: impl FnOnce(Result<ReserveAnswer, StoreError>) + Send + 'static) {
        self.send(WriterJob::Reserve(ticket, Box::new(callback)));
    }

    /// Stores a finished trial, and calls back once it is committed.
    pub fn finish(&self, row: TrialRow, callback: impl FnOnce(Result<FinishAnswer, StoreError>) + Send + 'static) {
        self.send(WriterJob::Finish(Box::new(row), Box::new(callback)));
    }

    /// Claims trials of these subjects.
    pub fn claim(&self, subjects: &[u64], most: u64, callback: impl FnOnce(Result<ClaimAnswer, StoreError>) + Send + 'static) {
        self.send(WriterJob::Claim(subjects.to_vec(), most, Box::new(callback)));
    }

    /// Looks for the settled reply of a call, after all earlier writes.
    pub fn find_settled(&self, call: CallKey, callback: impl FnOnce(Result<Option<(u64, String)>, StoreError>) + Send + 'static) {
        self.send(WriterJob::FindSettled(call, Box::new(callback)));
    }

    /// Looks for a cached reply that is younger than this, by the clock of the database.
    pub fn find_cached(&self, key: ContentHash, ttl_s: i64, callback: impl FnOnce(Result<Option<String>, StoreError>) + Send + 'static) {
        self.send(WriterJob::FindCached(key, ttl_s, Box::new(callback)));
    }

    /// Uses the connection of the writer, after all earlier writes.
    pub fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&mut QueueConnection) -> T + Send + 'static,
        callback: impl FnOnce(T) + Send + 'static,
    ) {
        self.send(WriterJob::Read(Box::new(move |connection| callback(read(connection)))));
    }

    fn send(&self, job: WriterJob) {
        // Callbacks of a thread that has ended are dropped, which their receivers notice.
        if let Some(sender) = &self.inner.sender {
            drop(sender.send(job));
        }
    }
}

impl Drop for WriterThread {
    fn drop(&mut self) {
        self.sender = None;
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

struct WriterLoop {
    connection: QueueConnection,
    lease: WorkerLease,
    failure: Arc<Mutex<Option<WriterFailure>>>,
}

impl WriterLoop {
    fn run(&mut self, jobs: &Receiver<WriterJob>) {
        let beat = self.lease.length / RENEWALS;
        loop {
            match jobs.recv_timeout(beat) {
                Ok(first) => self.serve(first, jobs),
                Err(RecvTimeoutError::Timeout) => {
                    drop(self.commit(&WriteGroup::default()));
                    self.reclaim();
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        if self.failed().is_none() {
            // A worker that cannot say goodbye loses its lease when it ends.
            drop(self.connection.leave(&self.lease));
        }
    }

    fn failed(&self) -> Option<WriterFailure> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Commits everything that is queued, up to a limit, and then reads.
    fn serve(&mut self, first: WriterJob, jobs: &Receiver<WriterJob>) {
        let (mut group, mut callbacks, mut reads) = (WriteGroup::default(), GroupCallbacks::default(), vec![]);
        let mut next = Some(first);
        while let Some(job) = next.take() {
            match job {
                WriterJob::Write(write) => group.writes.push(write),
                WriterJob::Reserve(ticket, callback) => {
                    group.tickets.push(ticket);
                    callbacks.tickets.push(callback);
                }
                WriterJob::Finish(row, callback) => {
                    group.finished.push(*row);
                    callbacks.finished.push(callback);
                }
                WriterJob::Claim(subjects, most, callback) => {
                    group.claims.push((subjects, most));
                    callbacks.claims.push(callback);
                }
                WriterJob::FindSettled(call, callback) => {
                    group.lookups.push(call);
                    callbacks.lookups.push(callback);
                }
                WriterJob::FindCached(key, ttl_s, callback) => {
                    group.cache_lookups.push((key, ttl_s));
                    callbacks.cache_lookups.push(callback);
                }
                WriterJob::Read(read) => reads.push(read),
            }
            if group.len() < MAX_GROUP_ROWS && reads.is_empty() {
                next = jobs.try_recv().ok();
            }
        }
        if group.len() > 0 {
            let answers = self.commit(&group);
            let asks = group.claims.iter().any(|(_, most)| *most > 0);
            let is_idle = asks && answers.as_ref().is_ok_and(|answers| answers.claims.iter().all(|claim| claim.jobs.is_empty()));
            callbacks.answer(answers);
            if is_idle {
                self.reclaim();
            }
        }
        for read in reads {
            read(&mut self.connection);
        }
    }

    /// Takes back the leases of lost workers, so that their trials are played also while the run has no watcher.
    fn reclaim(&mut self) {
        if self.failed().is_none() {
            // A failure shows with the next write of this worker.
            drop(self.connection.reclaim(self.lease.run));
        }
    }

    fn commit(&mut self, group: &WriteGroup) -> Result<GroupAnswers, WriterFailure> {
        if let Some(failure) = self.failed() {
            return Err(failure);
        }
        let lease = self.lease;
        self.connection.transaction(|sql| group.apply(sql, &lease)).map_err(|error| {
            let failure = if let StoreError::LeaseLost = error {
                WriterFailure::LeaseLost
            } else if let StoreError::Postgres(fault) = error {
                WriterFailure::Server(fault)
            } else {
                WriterFailure::Other(error.to_string())
            };
            self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure).clone()
        })
    }
}

/// Callers that wait for a group.
#[derive(Default)]
struct GroupCallbacks {
    tickets: Vec<AnswerCallback<ReserveAnswer>>,
    finished: Vec<AnswerCallback<FinishAnswer>>,
    claims: Vec<AnswerCallback<ClaimAnswer>>,
    lookups: Vec<AnswerCallback<Option<(u64, String)>>>,
    cache_lookups: Vec<AnswerCallback<Option<String>>>,
}

/// Answers callers in their order.
fn answer_all<T>(callbacks: Vec<AnswerCallback<T>>, answers: Vec<T>) {
    callbacks.into_iter().zip(answers).for_each(|(callback, answer)| callback(Ok(answer)));
}

fn refuse_all<T>(callbacks: Vec<AnswerCallback<T>>, failure: &WriterFailure) {
    callbacks.into_iter().for_each(|callback| callback(Err(failure.to_error())));
}

impl GroupCallbacks {
    fn answer(self, answers: Result<GroupAnswers, WriterFailure>) {
        match answers {
            Ok(answers) => {
                answer_all(self.tickets, answers.tickets);
                answer_all(self.finished, answers.finished);
                answer_all(self.claims, answers.claims);
                answer_all(self.lookups, answers.lookups);
                answer_all(self.cache_lookups, answers.cache_lookups);
            }
            Err(failure) => {
                refuse_all(self.tickets, &failure);
                refuse_all(self.finished, &failure);
                refuse_all(self.claims, &failure);
                refuse_all(self.lookups, &failure);
                refuse_all(self.cache_lookups, &failure);
            }
        }
    }
}
