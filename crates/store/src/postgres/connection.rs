//! Connection of synchronous callers to a server: a thread with a runtime of its own runs the session, so that callers may block inside
//! any runtime or in none.

use super::fault::{PgFault, PgFaultKind};
use super::schema::SCHEMA_NAME;
use super::session::{BatchRows, PgParam, PgSession, PgStatement, PgTransaction, SessionFuture};
use super::target::{PgSettings, PgTarget};
use crate::StoreError;
use std::sync::mpsc::channel;
use std::thread::JoinHandle;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, WeakUnboundedSender, unbounded_channel};
use tokio_postgres::Row;

type SessionTask = Box<dyn for<'s> FnOnce(&'s mut PgSession) -> SessionFuture<'s, ()> + Send>;

/// Connection to a server. Requests of its callers are answered one after the other.
#[derive(Debug)]
pub struct PgConnection {
    tasks: Option<UnboundedSender<SessionTask>>,
    thread: Option<JoinHandle<()>>,
}

/// Sender of work that nothing waits for. It does not keep the connection open.
#[derive(Debug, Clone)]
pub(super) struct TaskSender(WeakUnboundedSender<SessionTask>);

impl TaskSender {
    /// Queues work; without effect if the connection is closed.
    pub(super) fn send(&self, work: impl for<'s> FnOnce(&'s mut PgSession) -> SessionFuture<'s, ()> + Send + 'static) {
        if let Some(tasks) = self.0.upgrade() {
            drop(tasks.send(Box::new(work)));
        }
    }
}

impl PgConnection {
    /// Connects to a database. Neither looks at its tables nor creates any.
    ///
    /// # Errors
    /// If the URL cannot be read, or the server refuses.
    pub fn open(target: &PgTarget) -> Result<Self, StoreError> {
        Self::open_schema(target, SCHEMA_NAME)
    }

    /// Like [`PgConnection::open`], for tables in another schema.
    pub(crate) fn open_schema(target: &PgTarget, schema: &'static str) -> Result<Self, StoreError> {
        let settings = PgSettings { schema, ..target.settings()? };
        let (tasks, queue) = unbounded_channel();
        let (connected, answer) = channel();
        let work = move || {
            let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
                Ok(runtime) => runtime,
                Err(error) => return drop(connected.send(Err(thread_fault(&error)))),
            };
            runtime.block_on(async {
                match PgSession::connect(settings).await {
                    Ok(session) => {
                        drop(connected.send(Ok(())));
                        serve(session, queue).await;
                    }
                    Err(fault) => drop(connected.send(Err(fault))),
                }
            });
        };
        let thread = std::thread::Builder::new().name("postgres".into()).spawn(work).map_err(|error| thread_fault(&error))?;
        answer.recv().map_err(|_| closed())??;
        Ok(Self { tasks: Some(tasks), thread: Some(thread) })
    }

    /// Runs `work` with the session and waits for its result.
    pub fn run<T: Send + 'static>(
        &self,
        work: impl for<'s> FnOnce(&'s mut PgSession) -> SessionFuture<'s, Result<T, StoreError>> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (sender, receiver) = channel();
        let task: SessionTask = Box::new(move |session| {
            Box::pin(async move {
                let result = work(session).await;
                drop(sender.send(result));
            })
        });
        self.tasks.as_ref().and_then(|tasks| tasks.send(task).ok()).ok_or_else(closed)?;
        receiver.recv().map_err(|_| closed())?
    }

    /// Runs a statement that may run twice, as after a lost connection, and returns its rows.
    pub fn query(&self, sql: impl Into<String>, params: Vec<PgParam>) -> Result<Vec<Row>, StoreError> {
        let sql = sql.into();
        self.run(move |session| Box::pin(async move { session.query(&sql, &params).await }))
    }

    /// Runs statements in one transaction and commits it exactly once.
    pub fn commit(&self, batch: Vec<PgStatement>) -> Result<BatchRows, StoreError> {
        self.commit_checked(batch, |_| Ok(()))
    }

    /// Like [`PgConnection::commit`]; `check` sees the rows of the statements before the commit and can refuse them.
    pub fn commit_checked(
        &self,
        batch: Vec<PgStatement>,
        check: impl Fn(&BatchRows) -> Result<(), StoreError> + Send + 'static,
    ) -> Result<BatchRows, StoreError> {
        self.run(move |session| Box::pin(async move { session.commit(&batch, check).await }))
    }

    /// Runs `work` in a transaction and commits it exactly once. `work` may run more than once; of all attempts but the last nothing is
    /// stored.
    pub(crate) fn transact<T: Send + 'static>(
        &self,
        work: impl for<'t> Fn(PgTransaction<'t>) -> SessionFuture<'t, Result<T, StoreError>> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.run(move |session| Box::pin(async move { session.transact(work).await }))
    }

    pub(super) fn sender(&self) -> Result<TaskSender, StoreError> {
        self.tasks.as_ref().map(|tasks| TaskSender(tasks.downgrade())).ok_or_else(closed)
    }
}

impl Drop for PgConnection {
    fn drop(&mut self) {
        self.tasks = None;
        if let Some(thread) = self.thread.take() {
            // After a panic of the thread, waiting callers have seen their channel closed.
            drop(thread.join());
        }
    }
}

/// Runs tasks until the connection is dropped.
async fn serve(mut session: PgSession, mut queue: UnboundedReceiver<SessionTask>) {
    while let Some(task) = queue.recv().await {
        task(&mut session).await;
    }
}

fn closed() -> StoreError {
    PgFault::new(PgFaultKind::Lost, "the thread of the connection ended").into()
}

fn thread_fault(error: &std::io::Error) -> PgFault {
    PgFault::new(PgFaultKind::Unreachable, format!("the connection cannot be started: {error}"))
}
