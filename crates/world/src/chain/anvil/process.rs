//! Anvil child process: found, started on a free loopback port, and killed on drop.

use super::super::{BASE_FEE, BLOCK_GAS, ChainError};
use super::AnvilConfig;
use super::node_client::{display_origin, printable_excerpt};
use launcher::{LaunchRequest, LaunchedProgram, LauncherConnection, ProgramConfinement, ProgramInput, ProgramLaunch, ResourceLimits};
use process_wrap::tokio::ChildWrapper;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Bytes of output shown in an error: the end, which contains the reason.
const MAX_TAIL_BYTES: usize = 2048;
/// Blocks whose state Anvil keeps in memory. Without a limit it writes older ones to the home folder.
const HISTORY_BLOCKS: &str = "64";
const NOT_INSTALLED: &str =
    "anvil is neither in PATH nor in .tools: install it, for example with `npm install -g @foundry-rs/anvil` or with foundryup";
const LISTENING_PREFIX: &str = "Listening on ";

#[derive(Debug)]
pub(super) struct AnvilProcess {
    inner: Box<dyn ChildWrapper>,
    /// Ends the node when it is closed, also by the death of this process.
    _lifeline: LauncherConnection,
    listeners: [JoinHandle<()>; 2],
    pub(super) url: String,
}

// The owner may be dropped at any time, for example on Ctrl-C.
impl Drop for AnvilProcess {
    fn drop(&mut self) {
        for listener in &self.listeners {
            listener.abort();
        }
        let _ = self.inner.start_kill();
    }
}

impl AnvilProcess {
    pub(super) async fn start(config: &AnvilConfig) -> Result<Self, ChainError> {
        let program = config.find()?;
        let failed = |what: String| ChainError::Node(format!("{}: {what}", program.display()));
        let command = std::iter::once(program.display().to_string()).chain(arguments(config)).collect();
        let request =
            LaunchRequest { command, remove: None, limits: ResourceLimits::default(), confinement: ProgramConfinement::Unconfined };
        // In a session of its own: the launcher of the npm package starts the program as a grandchild, so all of it must be killed.
        let launch = ProgramLaunch { request: &request, env: &[], folder: None, input: ProgramInput::Null };
        let started = LaunchedProgram::start(launch).await.map_err(|error| failed(error.to_string()))?;
        let LaunchedProgram { child: inner, stdout, stderr, lifeline, .. } = started;
        let (port_sender, port) = watch::channel(None);
        let port_sender = Arc::new(port_sender);
        let tails = [OutputTail::default(), OutputTail::default()];
        let listeners = [
            tokio::spawn(read_output(stdout, tails[0].clone(), Arc::clone(&port_sender))),
            tokio::spawn(read_output(stderr, tails[1].clone(), port_sender)),
        ];
        let mut process = Self { inner, _lifeline: lifeline, listeners, url: String::new() };
        match process.port(port, config.timeout).await {
            Ok(port) => process.url = format!("http://127.0.0.1:{port}"),
            Err(what) => return Err(failed(format!("{what}; it said: {}", output_excerpt(&tails, config)))),
        }
        Ok(process)
    }

    pub(super) fn id(&self) -> Option<u32> {
        self.inner.id()
    }

    async fn port(&mut self, mut receiver: watch::Receiver<Option<u16>>, limit: Duration) -> Result<u16, ListenError> {
        // An error means that both pipes are closed: the process has exited.
        let port = async { receiver.wait_for(Option::is_some).await.ok().and_then(|port| *port) };
        match tokio::time::timeout(limit, port).await {
            Ok(Some(port)) => Ok(port),
            Ok(None) => Err(ListenError::Ended),
            Err(_) => Err(ListenError::TimedOut(limit)),
        }
    }
}

/// Reason that a started node has no port.
#[derive(Debug, thiserror::Error)]
enum ListenError {
    #[error("it ended before it listened")]
    Ended,
    #[error("it did not listen within {0:?}")]
    TimedOut(Duration),
}

impl AnvilConfig {
    /// Returns the path of the program to start.
    ///
    /// # Errors
    ///
    /// Fails if the program is neither configured nor installed.
    pub fn find(&self) -> Result<PathBuf, ChainError> {
        let package = format!("node_modules/@foundry-rs/{}/bin/anvil{}", package(), std::env::consts::EXE_SUFFIX);
        let installed = self.tools.as_ref().map(|tools| tools.join(package));
        match self.program.clone().or(installed) {
            Some(program) if program.is_file() => Ok(program),
            Some(_) | None => Err(ChainError::Node(NOT_INSTALLED.to_owned())),
        }
    }
}

/// Returns the npm package with the program for this platform.
fn package() -> String {
    let os = match std::env::consts::OS {
        "macos" => "darwin",
        "windows" => "win32",
        other => other,
    };
    let arch = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("anvil-{os}-{arch}")
}

fn arguments(config: &AnvilConfig) -> Vec<String> {
    let (chain, fee, gas) = (config.chain_id.to_string(), BASE_FEE.to_string(), BLOCK_GAS.to_string());
    let mut args = vec!["--host", "127.0.0.1", "--port", "0", "--chain-id", &chain, "--hardfork", "prague"];
    args.extend([
        "--block-base-fee-per-gas",
        &fee,
        "--gas-limit",
        &gas,
        "--no-mining",
        "--order",
        "fifo",
        "--prune-history",
        HISTORY_BLOCKS,
    ]);
    // No predefined accounts and contracts, and no requests from web pages.
    args.extend(["--accounts", "0", "--disable-default-create2-deployer", "--no-cors", "--color", "never"]);
    let (time, timeout) = (config.unix_s.to_string(), config.timeout.as_millis().to_string());
    match &config.fork {
        Some(url) => args.extend(["--fork-url", url, "--no-storage-caching", "--retries", "1", "--timeout", &timeout]),
        None => args.extend(["--timestamp", &time]),
    }
    args.into_iter().map(str::to_owned).collect()
}

#[derive(Debug, Clone, Default)]
struct OutputTail(Arc<Mutex<Vec<u8>>>);

impl OutputTail {
    fn push(&self, chunk: &[u8]) {
        let mut tail = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tail.extend_from_slice(chunk);
        let excess = tail.len().saturating_sub(MAX_TAIL_BYTES);
        tail.drain(..excess);
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }

    /// Returns the port once its line is complete.
    fn port(&self) -> Option<u16> {
        let text = self.text();
        let (_, rest) = text.split_once(LISTENING_PREFIX)?;
        rest.split_once('\n')?.0.trim().rsplit_once(':')?.1.parse().ok()
    }
}

async fn read_output(mut pipe: impl AsyncRead + Unpin, tail: OutputTail, port_sender: Arc<watch::Sender<Option<u16>>>) {
    let mut chunk = [0; MAX_TAIL_BYTES];
    while let Ok(n @ 1..) = pipe.read(&mut chunk).await {
        tail.push(&chunk[..n]);
        if port_sender.borrow().is_none()
            && let Some(port) = tail.port()
        {
            port_sender.send_replace(Some(port));
        }
    }
}

/// Returns the output to show in an error: stderr, or stdout if that is empty. The path of the fork URL is removed, because it may
/// contain an API key.
fn output_excerpt([stdout, stderr]: &[OutputTail; 2], config: &AnvilConfig) -> String {
    let output = if stderr.text().trim().is_empty() { stdout.text() } else { stderr.text() };
    let output = match &config.fork {
        Some(url) => output.replace(url.trim_end_matches('/'), &display_origin(url)),
        None => output,
    };
    let lines: Vec<String> = output.lines().map(|line| printable_excerpt(line, 300)).filter(|line| !line.is_empty()).collect();
    if lines.is_empty() { "nothing".to_owned() } else { lines.join("; ") }
}

#[cfg(test)]
mod tests {
    use super::{OutputTail, arguments, output_excerpt};
    use crate::chain::AnvilConfig;

    #[test]
    fn port_is_parsed_from_a_complete_line_only() {
        let tail = OutputTail::default();
        tail.push(b"noise\nListening on 127.0.0.1:43");
        assert_eq!(tail.port(), None);
        tail.push(b"519\n");
        assert_eq!(tail.port(), Some(43519));
    }

    #[test]
    fn output_tail_is_bounded() {
        let tail = OutputTail::default();
        (0..100).for_each(|_| tail.push(&[b'x'; 1000]));
        assert_eq!(tail.text().len(), super::MAX_TAIL_BYTES);
    }

    #[test]
    fn fork_url_key_is_not_shown_in_errors() {
        let config = AnvilConfig { fork: Some("https://node.example/v3/key".to_owned()), ..AnvilConfig::new(1, 2) };
        let tails = [OutputTail::default(), OutputTail::default()];
        tails[1].push(b"Error: cannot reach https://node.example/v3/key/");
        assert_eq!(output_excerpt(&tails, &config), "Error: cannot reach https://node.example/");
        assert!(!arguments(&config).contains(&"--timestamp".to_owned()));
    }
}
