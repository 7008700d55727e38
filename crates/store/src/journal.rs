//! The one writer of a run: a thread that takes writes and commits them in groups.

use crate::calls::CallKey;
use crate::{Store, StoreError, TrialRow};
use model::ContentHash;
use std::fmt;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// A write. Each is one row, and writing it twice changes nothing.
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
    /// Nothing; once it is committed, all before it is.
    Barrier,
}

/// Told once the group is committed, or why it was not.
pub type CommitCallback = Box<dyn FnOnce(Result<(), StoreError>) + Send>;
type ReadCallback = Box<dyn FnOnce(&Store) + Send>;

enum JournalJob {
    Write(JournalWrite, Option<CommitCallback>),
    Read(ReadCallback),
}

/// A group is committed at once when a caller waits for it, otherwise when it is this large or this old.
const MAX_GROUP_ROWS: usize = 512;
const MAX_GROUP_AGE: Duration = Duration::from_millis(20);

/// Writes for a store from any thread. What was sent is committed when the last copy is dropped.
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
    pub fn new(store: Store) -> std::io::Result<Self> {
        let (sender, jobs) = channel();
        let failed = Arc::new(Mutex::new(None));
        let notes = failed.clone();
        let thread = std::thread::Builder::new().name("journal".into()).spawn(move || run_writer(&store, &jobs, &notes))?;
        Ok(Self { inner: Arc::new(JournalThread { sender: Some(sender), thread: Some(thread), failure: failed }) })
    }

    /// Writes without waiting. A failure is reported to the next caller that waits.
    pub fn write(&self, write: JournalWrite) {
        self.send(JournalJob::Write(write, None));
    }

    pub fn write_with_callback(&self, write: JournalWrite, told: CommitCallback) {
        self.send(JournalJob::Write(write, Some(told)));
    }

    /// Looks at the store after everything sent before was committed.
    pub fn read_with_callback<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Store) -> T + Send + 'static,
        told: impl FnOnce(T) + Send + 'static,
    ) {
        self.send(JournalJob::Read(Box::new(move |store| told(look(store)))));
    }

    /// The same, for callers that may block.
    pub fn read_blocking<T: Send + 'static>(&self, look: impl FnOnce(&Store) -> T + Send + 'static) -> Result<T, StoreError> {
        let (answer, answered) = channel();
        self.read_with_callback(look, move |found| drop(answer.send(found)));
        answered.recv().map_err(|_| StoreError::Journal("its thread ended".into()))
    }

    /// Returns the failure of a write that no caller waited for.
    pub fn failure(&self) -> Option<String> {
        self.inner.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn send(&self, job: JournalJob) {
        let unsent = match &self.inner.sender {
            Some(sender) => sender.send(job).err().map(|error| error.0),
            None => Some(job),
        };
        if let Some(JournalJob::Write(_, Some(told))) = unsent {
            told(Err(StoreError::Journal("its thread ended".into())));
        }
    }
}

impl Drop for JournalThread {
    fn drop(&mut self) {
        self.sender = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the writer was reported to the caller that waited for it.
            drop(thread.join());
        }
    }
}

fn run_writer(store: &Store, jobs: &Receiver<JournalJob>, failed: &Mutex<Option<String>>) {
    while let Ok(first) = jobs.recv() {
        let mut looks = vec![];
        let mut told = vec![];
        let result = commit_group(store, first, jobs, &mut told, &mut looks);
        let earlier = failed.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let why = result.err().map(|error| error.to_string()).or(earlier);
        if let Some(why) = &why {
            failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| why.clone());
        }
        for tell in told {
            tell(why.clone().map_or(Ok(()), |why| Err(StoreError::Journal(why))));
        }
        for look in looks {
            look(store);
        }
    }
}

/// One transaction. Looking waits for its end, so that it sees what was sent before.
fn commit_group(
    store: &Store,
    first: JournalJob,
    jobs: &Receiver<JournalJob>,
    told: &mut Vec<CommitCallback>,
    looks: &mut Vec<ReadCallback>,
) -> Result<(), StoreError> {
    let mut next = Some(first);
    let mut transaction = None;
    let mut result = Ok(());
    let mut rows = 0;
    while let Some(job) = next.take() {
        match job {
            JournalJob::Read(look) => looks.push(look),
            JournalJob::Write(write, waits) => {
                told.extend(waits);
                if transaction.is_none() && result.is_ok() {
                    match store.transaction() {
                        Ok(open) => transaction = Some(open),
                        Err(error) => result = Err(error),
                    }
                }
                if result.is_ok() {
                    result = apply_write(store, &write);
                }
                rows += 1;
            }
        }
        if rows < MAX_GROUP_ROWS && looks.is_empty() {
            next = if told.is_empty() { next_job(jobs) } else { jobs.try_recv().ok() };
        }
    }
    match (result, transaction) {
        (Ok(()), Some(transaction)) => Ok(transaction.commit()?),
        // Dropped, it is rolled back.
        (result, _) => result,
    }
}

fn next_job(jobs: &Receiver<JournalJob>) -> Option<JournalJob> {
    // None came, or none will ever come: either way the group is complete.
    jobs.recv_timeout(MAX_GROUP_AGE).ok()
}

fn apply_write(store: &Store, write: &JournalWrite) -> Result<(), StoreError> {
    match write {
        JournalWrite::Trial(row) => store.add_trial(row),
        JournalWrite::Reserve { call, ceiling } => store.reserve_call(call, *ceiling),
        JournalWrite::Settle { call, cost, waited_us, reply } => store.settle_call(call, *cost, *waited_us, reply),
        JournalWrite::Fail { call, cost, why } => store.fail_call(call, *cost, why),
        JournalWrite::CacheReply { key, at, reply } => store.cache_reply(key, *at, reply),
        JournalWrite::Count { run, what, n } => store.add_telemetry(*run, what, *n),
        JournalWrite::Barrier => Ok(()),
    }
}
