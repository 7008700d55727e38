//! Stopping a run from outside, in good order: what has ended is kept, what is under way is dropped.

use tokio::sync::watch;

/// Whoever holds it can stop the run.
#[derive(Debug)]
pub struct Brake(watch::Sender<bool>);

/// Tells the run that it is to stop.
#[derive(Debug, Clone)]
pub struct Halt(watch::Receiver<bool>);

impl Brake {
    pub fn new() -> (Self, Halt) {
        let (sender, receiver) = watch::channel(false);
        (Self(sender), Halt(receiver))
    }

    pub fn pull(&self) {
        self.0.send_replace(true);
    }
}

impl Halt {
    /// A run that nobody stops.
    pub fn never() -> Self {
        Brake::new().1
    }

    pub(crate) async fn called(&mut self) {
        if self.0.wait_for(|pulled| *pulled).await.is_err() {
            // The brake is gone, so it will never be pulled.
            std::future::pending::<()>().await;
        }
    }
}
