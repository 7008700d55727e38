//! Whoever wants to know when a trial finished, and may stop the run: progress, early stopping, counts.

use model::{Transcript, Trial};

pub trait Watcher {
    fn finished(&mut self, trial: &Trial, transcript: &Transcript) -> Go;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Go {
    On,
    Stop,
}

/// Watches nothing.
#[derive(Debug, Clone, Copy)]
pub struct Silent;

impl Watcher for Silent {
    fn finished(&mut self, _: &Trial, _: &Transcript) -> Go {
        Go::On
    }
}
