//! Writer thread of a store: applies queued writes and commits them in groups.

use crate::call_row::CallKey;
use crate::{Store, StoreError, TrialRow};
use model::ContentHash;
use std::fmt;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Write to one row of the store.
#[derive(Debug)]
pub enum JournalWrite {
    Trial(Box<TrialRow>),
    Reserve {
        call: CallKey,
        ceiling: u64,
    },
    Settle {
        call: CallKey,
        cost: u64,
        waited_us: Option<u64>,
        reply: String,
    },
    Fail {
        call: CallKey,
        cost: u64,
        why: String,
    },
    CacheReply {
        key: ContentHash,
        at: i64,
        reply: String,
    },
    Count {
        run: i64,
        what: &'static str,
        n: u64,
    },
    /// Writes nothing. Its commit implies that all earlier writes are committed.
    Barrier,
}

/// Called with the result of committing the group.
pub type CommitCallback = Box<dyn FnOnce(Result<(), StoreError>) + Send>;
type ReadCallback = Box<dyn FnOnce(&Store) + Send>;

enum JournalJob {
    Write(JournalWrite, Option<CommitCallback>),
    Read(ReadCallback),
}

/// Most rows in one commit.
const MAX_GROUP_ROWS: usize = 512;
/// Longest wait for the next write of a group. A group that a caller waits for is committed as soon as the queue is empty.
const GROUP_IDLE_TIMEOUT: Duration = Duration::from_millis(20);

/// Handle to the writer thread. Dropping the last clone commits all queued writes. After a failed write nothing more is written, so that
/// the store holds a prefix of what was queued.
#[derive(Clone)]
pub struct Journal {
    inner: Arc<JournalThread>,
}

struct JournalThread {
    sender: Option<Sender<JournalJob>>,
    thread: Option<JoinHandle<()>>,
    failure: Arc<Mutex<Option<String>>>,
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Journal")
    }
}

impl Journal {
    /// Starts the writer thread.
    pub fn new(store: Store) -> std::io::Result<Self> {
        let (sender, jobs) = channel();
        let failed = Arc::new(Mutex::new(None));
        let shared = failed.clone();
        let thread = std::thread::Builder::new().name("journal".into()).spawn(move || run_writer(&store, &jobs, &shared))?;
        Ok(Self { inner: Arc::new(JournalThread { sender: Some(sender), thread: Some(thread), failure: failed }) })
    }

    /// Queues a write without waiting. A failure is reported to the next caller that waits.
    pub fn write(&self, write: JournalWrite) {
        self.send(JournalJob::Write(write, None));
    }

    /// Queues a write and calls back once it is committed or has failed.
    pub fn write_with_callback(&self, write: JournalWrite, callback: CommitCallback) {
        self.send(JournalJob::Write(write, Some(callback)));
    }

    /// Reads from the store once all earlier writes are committed, and passes the result to `callback`.
    pub fn read_with_callback<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Store) -> T + Send + 'static,
        callback: impl FnOnce(T) + Send + 'static,
    ) {
        self.send(JournalJob::Read(Box::new(move |store| callback(read(store)))));
    }

    /// Like [`Journal::read_with_callback`], but blocks until the result is there.
    pub fn read_blocking<T: Send + 'static>(&self, read: impl FnOnce(&Store) -> T + Send + 'static) -> Result<T, StoreError> {
        let (sender, receiver) = channel();
        self.read_with_callback(read, move |result| drop(sender.send(result)));
        receiver.recv().map_err(|_| StoreError::Journal("its thread ended".into()))
    }

    /// Returns the first failure. Nothing was written after it.
    pub fn failure(&self) -> Option<String> {
        self.inner.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn send(&self, job: JournalJob) {
        let unsent = match &self.inner.sender {
            Some(sender) => sender.send(job).err().map(|error| error.0),
            None => Some(job),
        };
        if let Some(JournalJob::Write(_, Some(callback))) = unsent {
            callback(Err(StoreError::Journal("its thread ended".into())));
        }
    }
}

impl Drop for JournalThread {
    fn drop(&mut self) {
        self.sender = None;
        if let Some(thread) = self.thread.take() {
            // After a panic of the writer, waiting callers have seen their callback dropped.
            drop(thread.join());
        }
    }
}

fn run_writer(store: &Store, jobs: &Receiver<JournalJob>, failed: &Mutex<Option<String>>) {
    while let Ok(first) = jobs.recv() {
        let earlier = failed.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut group = JournalGroup::collect(first, jobs);
        let failure = match earlier {
            Some(why) => Some(why),
            None => group.commit(store).err().map(|error| error.to_string()),
        };
        if let Some(why) = &failure {
            failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| why.clone());
        }
        for callback in group.callbacks {
            callback(failure.clone().map_or(Ok(()), |why| Err(StoreError::Journal(why))));
        }
        for read in group.reads {
            read(store);
        }
    }
}

/// Writes that are committed together.
#[derive(Default)]
struct JournalGroup {
    writes: Vec<JournalWrite>,
    callbacks: Vec<CommitCallback>,
    reads: Vec<ReadCallback>,
}

impl JournalGroup {
    /// Takes jobs from the queue until the group is full, the queue is idle or a read comes, which must see all earlier writes.
    fn collect(first: JournalJob, jobs: &Receiver<JournalJob>) -> Self {
        let mut group = Self::default();
        let mut next = Some(first);
        while let Some(job) = next.take() {
            match job {
                JournalJob::Read(read) => group.reads.push(read),
                JournalJob::Write(write, callback) => {
                    group.callbacks.extend(callback);
                    group.writes.push(write);
                }
            }
            if group.writes.len() < MAX_GROUP_ROWS && group.reads.is_empty() {
                next = if group.callbacks.is_empty() { next_job(jobs) } else { jobs.try_recv().ok() };
            }
        }
        group
    }

    /// Applies the writes in one transaction: all of them or none.
    fn commit(&mut self, store: &Store) -> Result<(), StoreError> {
        if self.writes.is_empty() {
            return Ok(());
        }
        store.engine.write(&std::mem::take(&mut self.writes))
    }
}

fn next_job(jobs: &Receiver<JournalJob>) -> Option<JournalJob> {
    // A timeout and a closed channel both end the group.
    jobs.recv_timeout(GROUP_IDLE_TIMEOUT).ok()
}
