//! A line on standard error while a run goes on, on a terminal only: done, passing, spent, time left.

use crate::io::Io;
use ::run::Purse;
use campaign::{Done, Go, Watcher};
use model::Money;
use std::io::IsTerminal;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(super) struct Progress<'i> {
    io: &'i Io,
    of: u64,
    /// Done before this process began.
    before: u64,
    done: u64,
    passing: u64,
    judged: u64,
    since: Instant,
    shown: Option<Instant>,
    terminal: bool,
    purse: Arc<Purse>,
}

impl<'i> Progress<'i> {
    #[expect(clippy::disallowed_methods, reason = "progress is for people, who live in real time")]
    pub(super) fn new(io: &'i Io, of: u64, before: u64, purse: Arc<Purse>) -> Self {
        let terminal = std::io::stderr().is_terminal();
        Self { io, of, before, done: 0, passing: 0, judged: 0, since: Instant::now(), shown: None, terminal, purse }
    }

    pub(super) fn clear(&self) {
        if self.shown.is_some() {
            self.io.say(&format!("{} of {} trials done", self.before + self.done, self.of));
        }
    }

    fn line(&self) -> String {
        let left = self.of.saturating_sub(self.before + self.done);
        let pace = self.since.elapsed().as_secs_f64() / self.done.max(1) as f64;
        let eta = Duration::from_secs((pace * left as f64).round() as u64);
        let passing = if self.judged == 0 { String::new() } else { format!(", {} of {} passing", self.passing, self.judged) };
        let spent = self.purse.spent();
        let spent = if spent == Money::ZERO { String::new() } else { format!(", {spent} USD spent") };
        format!("{} of {} trials{passing}{spent}, {} left", self.before + self.done, self.of, humantime::format_duration(eta))
    }
}

impl Watcher for Progress<'_> {
    fn ended(&mut self, done: &Done<'_>) {
        self.done += 1;
        self.judged += u64::from(done.passed.is_some());
        self.passing += u64::from(done.passed == Some(true));
        if !self.terminal || self.shown.unwrap_or(self.since).elapsed() < Duration::from_secs(1) {
            return;
        }
        #[expect(clippy::disallowed_methods, reason = "progress is for people, who live in real time")]
        let now = Instant::now();
        self.shown = Some(now);
        self.io.say(&self.line());
    }

    fn finished(&mut self, _: &Done<'_>) -> Go {
        Go::On
    }
}
