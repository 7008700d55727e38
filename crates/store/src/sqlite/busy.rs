//! Waiting for another process that holds the write lock of a store.

use std::sync::OnceLock;
use std::time::Duration;

/// Pause between two attempts.
const RETRY_PAUSE: Duration = Duration::from_millis(50);
/// Wait after which the user is told.
const NOTICE_AFTER: Duration = Duration::from_secs(2);
/// Longest wait. After it the write fails.
const LONGEST_WAIT: Duration = Duration::from_secs(600);

static NOTICE: OnceLock<fn()> = OnceLock::new();

/// Sets the function that tells the user, once per wait, that another process holds the store. SQLite passes no context to the handler of
/// a busy store, so there is one function for all stores of the process. Later calls are ignored.
pub fn set_busy_notice(notice: fn()) {
    let _already_set = NOTICE.set(notice);
}

/// Handler of a busy store: waits, and returns whether to try again. `attempts` is the number of attempts so far in this wait.
pub(crate) fn wait_for_lock(attempts: i32) -> bool {
    let attempts = u32::try_from(attempts).unwrap_or_default();
    let waited = RETRY_PAUSE * attempts;
    if let Some(notice) = NOTICE.get().filter(|_| waited == NOTICE_AFTER) {
        notice();
    }
    std::thread::sleep(RETRY_PAUSE);
    waited < LONGEST_WAIT
}
