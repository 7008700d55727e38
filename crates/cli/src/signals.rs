//! Signals that ask the program to stop.

use std::io;

/// Returns a future that ends at Ctrl-C, SIGTERM or SIGHUP: CI cancels, `timeout` and `docker stop` send SIGTERM, a closed terminal sends
/// SIGHUP. From this call on, not from the first poll, a signal no longer ends the process: a service calls it before it says that it is ready.
#[cfg(unix)]
pub(crate) fn stop_requested() -> impl Future<Output = io::Result<()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let received = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()].map(signal);
    async move {
        let [interrupt, terminate, hang_up] = received;
        let (mut interrupt, mut terminate, mut hang_up) = (interrupt?, terminate?, hang_up?);
        tokio::select! {
            _ = interrupt.recv() => Ok(()),
            _ = terminate.recv() => Ok(()),
            _ = hang_up.recv() => Ok(()),
        }
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
