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
    wait_with(attempts, &mut || NOTICE.get().into_iter().for_each(|notice| notice()), &mut std::thread::sleep)
}

fn wait_with(attempts: i32, notice: &mut dyn FnMut(), sleep: &mut dyn FnMut(Duration)) -> bool {
    let waited = RETRY_PAUSE * u32::try_from(attempts).unwrap_or_default();
    if waited == NOTICE_AFTER {
        notice();
    }
    sleep(RETRY_PAUSE);
    waited < LONGEST_WAIT
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Waits for a store that another process holds for so long, and returns whether it was still tried then, the time slept and the
    /// moments of notices.
    fn wait_for_holder(held: Duration) -> (bool, Duration, Vec<Duration>) {
        let (mut slept, mut notices) = (Duration::ZERO, vec![]);
        for attempts in 0.. {
            let now = slept;
            if now >= held {
                return (true, slept, notices);
            }
            if !wait_with(attempts, &mut || notices.push(now), &mut |pause| slept += pause) {
                return (false, slept, notices);
            }
        }
        unreachable!("the wait has an end")
    }

    #[test]
    fn store_held_for_longer_than_half_a_minute_is_waited_for() {
        let seconds = Duration::from_secs;
        assert_eq!(wait_for_holder(seconds(1)), (true, seconds(1), vec![]));
        for held in [31, 40, 599] {
            assert_eq!(wait_for_holder(seconds(held)), (true, seconds(held), vec![NOTICE_AFTER]), "one notice in {held} s");
        }
        let (is_tried, waited, notices) = wait_for_holder(seconds(3600));
        assert!(!is_tried && waited >= LONGEST_WAIT && waited < LONGEST_WAIT + seconds(1), "{waited:?}");
        assert_eq!(notices, [NOTICE_AFTER]);
    }
}
