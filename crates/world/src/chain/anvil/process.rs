//! An Anvil of our own: found, started on a free loopback port, listened to, and never left behind.

use super::super::{BASE_FEE, BLOCK_GAS, ChainError};
use super::AnvilConfig;
use super::node_client::{display_origin, printable_excerpt};
use process_wrap::tokio::{ChildWrapper, CommandWrap};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// How much of its output an error shows: the end, where the reason stands.
const MAX_TAIL_BYTES: usize = 2048;
/// Anvil keeps the state of this many blocks, all in memory: without a limit it writes the rest to the home folder.
const HISTORY_BLOCKS: &str = "64";
const LISTENING_PREFIX: &str = "Listening on ";

#[derive(Debug)]
pub(super) struct AnvilProcess {
    inner: Box<dyn ChildWrapper>,
    listeners: [JoinHandle<()>; 2],
    pub(super) url: String,
}

// Whoever holds us may be dropped at any moment, by Ctrl-C for one.
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
        let mut command = Command::new(&program);
        command.args(arguments(config)).env_clear().stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut command = CommandWrap::from(command);
        // The npm package's own launcher starts the program as a grandchild; only the whole group can be ended.
        #[cfg(unix)]
        command.wrap(process_wrap::tokio::ProcessGroup::leader());
        #[cfg(windows)]
        command.wrap(process_wrap::tokio::JobObject);
        let mut inner = command.spawn().map_err(|error| failed(error.to_string()))?;
        let (Some(stdout), Some(stderr)) = (inner.stdout().take(), inner.stderr().take()) else {
            return Err(failed("a pipe is missing".to_owned()));
        };
        let (heard, port) = watch::channel(None);
        let heard = Arc::new(heard);
        let tails = [OutputTail::default(), OutputTail::default()];
        let listeners = [
            tokio::spawn(read_output(stdout, tails[0].clone(), Arc::clone(&heard))),
            tokio::spawn(read_output(stderr, tails[1].clone(), heard)),
        ];
        let mut process = Self { inner, listeners, url: String::new() };
        match process.port(port, config.time).await {
            Ok(port) => process.url = format!("http://127.0.0.1:{port}"),
            Err(what) => return Err(failed(format!("{what}; it said: {}", output_excerpt(&tails, config)))),
        }
        Ok(process)
    }

    pub(super) fn id(&self) -> Option<u32> {
        self.inner.id()
    }

    async fn port(&mut self, mut heard: watch::Receiver<Option<u16>>, limit: Duration) -> Result<u16, ListenError> {
        // An error means that both pipes are closed: it ended.
        let port = async { heard.wait_for(Option::is_some).await.ok().and_then(|port| *port) };
        match tokio::time::timeout(limit, port).await {
            Ok(Some(port)) => Ok(port),
            Ok(None) => Err(ListenError::Ended),
            Err(_) => Err(ListenError::TimedOut(limit)),
        }
    }
}

/// Reason that a started node offers no port.
#[derive(Debug, thiserror::Error)]
enum ListenError {
    #[error("it ended before it listened")]
    Ended,
    #[error("it did not listen within {0:?}")]
    TimedOut(Duration),
}

impl AnvilConfig {
    /// The program that would be started.
    pub fn find(&self) -> Result<PathBuf, ChainError> {
        let package = format!("node_modules/@foundry-rs/{}/bin/anvil{}", package(), std::env::consts::EXE_SUFFIX);
        let installed = self.tools.as_ref().map(|tools| tools.join(package));
        match self.program.clone().or(installed) {
            Some(program) if program.is_file() => Ok(program),
            Some(program) => Err(ChainError::Node(format!("{} is missing: run scripts/install-test-tools", program.display()))),
            None => Err(ChainError::Node("no anvil: name the program, or run scripts/install-test-tools".to_owned())),
        }
    }
}

/// The npm package of the program itself, one per system.
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
    // No accounts and contracts but ours, and nobody's browser.
    args.extend(["--accounts", "0", "--disable-default-create2-deployer", "--no-cors", "--color", "never"]);
    let (time, patience) = (config.unix_s.to_string(), config.time.as_millis().to_string());
    match &config.fork {
        Some(url) => args.extend(["--fork-url", url, "--no-storage-caching", "--retries", "1", "--timeout", &patience]),
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

    /// The port, once the whole line is there.
    fn port(&self) -> Option<u16> {
        let text = self.text();
        let (_, rest) = text.split_once(LISTENING_PREFIX)?;
        rest.split_once('\n')?.0.trim().rsplit_once(':')?.1.parse().ok()
    }
}

async fn read_output(mut pipe: impl AsyncRead + Unpin, tail: OutputTail, heard: Arc<watch::Sender<Option<u16>>>) {
    let mut chunk = [0; MAX_TAIL_BYTES];
    while let Ok(n @ 1..) = pipe.read(&mut chunk).await {
        tail.push(&chunk[..n]);
        if heard.borrow().is_none()
            && let Some(port) = tail.port()
        {
            heard.send_replace(Some(port));
        }
    }
}

/// stderr first: that is where a program says why it ends. A fork's address may hold a key.
fn output_excerpt([stdout, stderr]: &[OutputTail; 2], config: &AnvilConfig) -> String {
    let said = if stderr.text().trim().is_empty() { stdout.text() } else { stderr.text() };
    let said = match &config.fork {
        Some(url) => said.replace(url.trim_end_matches('/'), &display_origin(url)),
        None => said,
    };
    let lines: Vec<String> = said.lines().map(|line| printable_excerpt(line, 300)).filter(|line| !line.is_empty()).collect();
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
