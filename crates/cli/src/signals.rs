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
