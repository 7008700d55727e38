//! The one writer of a run: a thread that takes writes and commits them in groups.

use crate::calls::CallKey;
use crate::{Store, StoreError, TrialRow};
use model::Hash;
use std::fmt;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// A write. Each is one row, and writing it twice changes nothing.
#[derive(Debug)]
pub enum Write {
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
    Keep {
        key: Hash,
        at: i64,
        reply: String,
    },
    Count {
        run: i64,
        what: &'static str,
        n: u64,
    },
    /// Nothing; once it is committed, all before it is.
    Mark,
}

/// Told once the group is committed, or why it was not.
pub type Told = Box<dyn FnOnce(Result<(), StoreError>) + Send>;
type Look = Box<dyn FnOnce(&Store) + Send>;

enum Job {
    Write(Write, Option<Told>),
    Look(Look),
}

/// A group is committed at once when a caller waits for it, otherwise when it is this large or this old.
const GROUP: usize = 512;
const LINGER: Duration = Duration::from_millis(20);

/// Writes for a store from any thread. What was sent is committed when the last copy is dropped.
#[derive(Clone)]
pub struct Journal {
    inner: Arc<Inner>,
}

struct Inner {
    sender: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
    failed: Arc<Mutex<Option<String>>>,
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
        let thread = std::thread::Builder::new().name("journal".into()).spawn(move || work(&store, &jobs, &notes))?;
        Ok(Self { inner: Arc::new(Inner { sender: Some(sender), thread: Some(thread), failed }) })
    }

    /// Writes without waiting. A failure is reported to the next caller that waits.
    pub fn write(&self, write: Write) {
        self.send(Job::Write(write, None));
    }

    pub fn write_then(&self, write: Write, told: Told) {
        self.send(Job::Write(write, Some(told)));
    }

    /// Looks at the store after everything sent before was committed.
    pub fn look<T: Send + 'static>(&self, look: impl FnOnce(&Store) -> T + Send + 'static, told: impl FnOnce(T) + Send + 'static) {
        self.send(Job::Look(Box::new(move |store| told(look(store)))));
    }

    /// The same, for callers that may block.
    pub fn look_now<T: Send + 'static>(&self, look: impl FnOnce(&Store) -> T + Send + 'static) -> Result<T, StoreError> {
        let (answer, answered) = channel();
        self.look(look, move |found| drop(answer.send(found)));
        answered.recv().map_err(|_| StoreError::Journal("its thread ended".into()))
    }

    /// Returns the failure of a write that no caller waited for.
    pub fn failed(&self) -> Option<String> {
        self.inner.failed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn send(&self, job: Job) {
        let unsent = match &self.inner.sender {
            Some(sender) => sender.send(job).err().map(|error| error.0),
            None => Some(job),
        };
        if let Some(Job::Write(_, Some(told))) = unsent {
            told(Err(StoreError::Journal("its thread ended".into())));
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.sender = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the writer was reported to the caller that waited for it.
            drop(thread.join());
        }
    }
}

fn work(store: &Store, jobs: &Receiver<Job>, failed: &Mutex<Option<String>>) {
    while let Ok(first) = jobs.recv() {
        let mut looks = vec![];
        let mut told = vec![];
        let result = group(store, first, jobs, &mut told, &mut looks);
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
fn group(store: &Store, first: Job, jobs: &Receiver<Job>, told: &mut Vec<Told>, looks: &mut Vec<Look>) -> Result<(), StoreError> {
    let mut next = Some(first);
    let mut transaction = None;
    let mut result = Ok(());
    let mut rows = 0;
    while let Some(job) = next.take() {
        match job {
            Job::Look(look) => looks.push(look),
            Job::Write(write, waits) => {
                told.extend(waits);
                if transaction.is_none() && result.is_ok() {
                    match store.transaction() {
                        Ok(open) => transaction = Some(open),
                        Err(error) => result = Err(error),
                    }
                }
                if result.is_ok() {
                    result = carry_out(store, &write);
                }
                rows += 1;
            }
        }
        if rows < GROUP && looks.is_empty() {
            next = if told.is_empty() { in_a_while(jobs) } else { jobs.try_recv().ok() };
        }
    }
    match (result, transaction) {
        (Ok(()), Some(transaction)) => Ok(transaction.commit()?),
        // Dropped, it is rolled back.
        (result, _) => result,
    }
}

fn in_a_while(jobs: &Receiver<Job>) -> Option<Job> {
    // None came, or none will ever come: either way the group is complete.
    jobs.recv_timeout(LINGER).ok()
}

fn carry_out(store: &Store, write: &Write) -> Result<(), StoreError> {
    match write {
        Write::Trial(row) => store.add_trial(row),
        Write::Reserve { call, ceiling } => store.reserve(call, *ceiling),
        Write::Settle { call, cost, waited_us, reply } => store.settle(call, *cost, *waited_us, reply),
        Write::Fail { call, cost, why } => store.fail(call, *cost, why),
        Write::Keep { key, at, reply } => store.keep(key, *at, reply),
        Write::Count { run, what, n } => store.count(*run, what, *n),
        Write::Mark => Ok(()),
    }
}
