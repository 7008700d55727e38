//! Signals that ask the program to stop.

use std::io;

/// Waits for Ctrl-C, SIGTERM or SIGHUP: CI cancels, `timeout` and `docker stop` send SIGTERM, a closed terminal sends SIGHUP.
#[cfg(unix)]
pub(crate) async fn stop_requested() -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut terminate, mut hang_up) = (signal(SignalKind::terminate())?, signal(SignalKind::hangup())?);
    tokio::select! {
        ended = tokio::signal::ctrl_c() => ended,
        _ = terminate.recv() => Ok(()),
        _ = hang_up.recv() => Ok(()),
    }
}

#[cfg(not(unix))]
pub(crate) async fn stop_requested() -> io::Result<()> {
    tokio::signal::ctrl_c().await
}

/// Exit code after a second request to stop.
const FORCED_EXIT: i32 = 130;

/// Ends the program at the next request to stop: the first may wait for a store that another process holds.
#[expect(clippy::disallowed_methods, reason = "nothing is left to be tidied up: committed trials are kept, and the launcher ends agents")]
pub(crate) async fn exit_on_next_request() {
    if stop_requested().await.is_ok() {
        std::process::exit(FORCED_EXIT);
    }
}
