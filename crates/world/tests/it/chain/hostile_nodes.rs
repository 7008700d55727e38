//! Nodes that hang, exit, send invalid data or never stop sending: requires a timely error, bounded memory and no leftover process.

use crate::chain::{CHAIN, START, anvil, config, program};
use bardo_eval_world::chain::{Anvil, AnvilConfig, ChainBackend, ChainError};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;

const LIMIT: Duration = Duration::from_secs(1);
/// Time limit with slack for slow machines.
const SOON: Duration = Duration::from_secs(8);

/// Server that sends the same bytes to every request and counts connections and bytes.
#[derive(Debug, Clone, Default)]
struct ConnectionCounts {
    connections: Arc<AtomicUsize>,
    bytes: Arc<AtomicUsize>,
}

enum HostileReply {
    Never,
    /// Reads the request and closes the connection.
    Nothing,
    Text(String),
    /// Sends a head whose body is incomplete.
    Half(String),
    /// Sends 100 MB.
    Flood,
}

async fn serve(reply: HostileReply) -> (String, ConnectionCounts) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://127.0.0.1:{}", listener.local_addr().unwrap().port());
    let (counts, reply) = (ConnectionCounts::default(), Arc::new(reply));
    let counted = counts.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            counted.connections.fetch_add(1, Ordering::Relaxed);
            tokio::spawn(answer(stream, reply.clone(), counted.clone()));
        }
    });
    (url, counts)
}

async fn answer(mut stream: TcpStream, reply: Arc<HostileReply>, counts: ConnectionCounts) {
    let mut request = [0; 4096];
    let _ = stream.read(&mut request).await;
    match &*reply {
        HostileReply::Never => std::future::pending().await,
        HostileReply::Nothing => {}
        HostileReply::Text(body) => {
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
            let _ = stream.write_all(format!("{head}{body}").as_bytes()).await;
        }
        HostileReply::Half(text) => drop(stream.write_all(text.as_bytes()).await),
        HostileReply::Flood => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100000000\r\n\r\n").await;
            let chunk = [b' '; 65_536];
            while counts.bytes.load(Ordering::Relaxed) < 100_000_000 && stream.write_all(&chunk).await.is_ok() {
                counts.bytes.fetch_add(chunk.len(), Ordering::Relaxed);
            }
        }
    }
}

/// Returns the connection error, which must arrive in time.
#[expect(clippy::disallowed_methods, reason = "a test measures real time")]
async fn connect_error(url: &str) -> String {
    let begun = Instant::now();
    let error = Anvil::connect(url, CHAIN, LIMIT).await.expect_err("a hostile node was accepted");
    assert!(begun.elapsed() < SOON, "{error} after {:?}", begun.elapsed());
    let ChainError::Node(message) = &error else { panic!("{error}") };
    assert!(message.starts_with("eth_chainId at http://127.0.0.1:"), "method and node are missing: {message}");
    assert!(message.len() < 1000, "{} characters", message.len());
    message.clone()
}

async fn connect_error_for(reply: HostileReply) -> String {
    connect_error(&serve(reply).await.0).await
}

#[tokio::test]
async fn node_that_hangs_times_out() {
    assert!(connect_error_for(HostileReply::Never).await.contains("no answer within 1s"));
}

#[tokio::test]
async fn missing_node_is_an_error() {
    let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    assert!(connect_error(&format!("http://127.0.0.1:{port}")).await.contains("refused"));
}

#[tokio::test]
async fn node_that_closes_the_connection_is_an_error() {
    connect_error_for(HostileReply::Nothing).await;
    connect_error_for(HostileReply::Half("HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{\"jsonrpc\"".to_owned())).await;
    connect_error_for(HostileReply::Half("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffff\r\n{\"json".to_owned())).await;
}

#[tokio::test]
async fn node_with_invalid_replies_is_an_error() {
    assert!(
        connect_error_for(HostileReply::Text("<html>\u{1b}[2Jhello</html>".to_owned())).await.contains("it answered <html>\\u{1b}[2Jhello")
    );
    assert!(connect_error_for(HostileReply::Text(String::new())).await.contains("it answered nothing"));
    assert!(connect_error_for(HostileReply::Text("[".repeat(100_000))).await.contains("it answered [["));
    assert!(connect_error_for(HostileReply::Text("[]".to_owned())).await.contains("another id"));
    assert!(connect_error_for(HostileReply::Text(r#"{"jsonrpc":"2.0","id":1}"#.to_owned())).await.contains("neither result nor error"));
    assert!(
        connect_error_for(HostileReply::Text(r#"{"jsonrpc":"2.0","id":1,"result":{"a":[]}}"#.to_owned()))
            .await
            .contains("unexpected reply")
    );
    connect_error_for(HostileReply::Half("\u{0}\u{1}\u{2}nonsense\r\n\r\n".to_owned())).await;
}

#[tokio::test]
async fn node_reply_with_wrong_id_is_an_error() {
    assert!(
        connect_error_for(HostileReply::Text(r#"{"jsonrpc":"2.0","id":7,"result":"0x2105"}"#.to_owned())).await.contains("another id: 7")
    );
}

#[tokio::test]
async fn long_node_error_is_truncated() {
    let body = format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-32000,"message":"{}"}}}}"#, "x".repeat(5_000_000));
    let message = connect_error_for(HostileReply::Text(body)).await;
    assert!(message.contains("the node says xxx") && message.contains("…") && message.contains("-32000"), "{message}");
}

#[tokio::test]
async fn node_redirect_is_not_followed() {
    let (elsewhere, counts) = serve(HostileReply::Text(r#"{"jsonrpc":"2.0","id":1,"result":"0x2105"}"#.to_owned())).await;
    for status in [301, 302, 307, 308] {
        let head = format!("HTTP/1.1 {status} There\r\nlocation: {elsewhere}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        assert!(connect_error_for(HostileReply::Half(head)).await.contains(&format!("HTTP status {status}")));
    }
    assert_eq!(counts.connections.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn node_reply_of_100_mb_is_cut() {
    let (url, counts) = serve(HostileReply::Flood).await;
    assert!(connect_error(&url).await.contains("longer than 8 MiB"));
    tokio::time::sleep(Duration::from_millis(200)).await;
    let taken = counts.bytes.load(Ordering::Relaxed);
    assert!(taken < 32_000_000, "{taken} bytes were read");
}

/// Returns whether a process runs. Zombies count as ended, since only init may reap them.
#[expect(clippy::disallowed_methods, reason = "a test looks at real processes")]
fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|stat| stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z')))
}

#[expect(clippy::disallowed_methods, reason = "a test measures real time")]
async fn wait_until_gone(pid: u32) {
    let begun = Instant::now();
    while is_alive(pid) {
        assert!(begun.elapsed() < SOON, "process {pid} still runs");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

fn signal(name: &str, pid: u32) {
    assert!(Command::new("kill").args([name, &pid.to_string()]).status().unwrap().success());
}

#[tokio::test]
async fn anvil_process_ends_when_chain_is_dropped() {
    let node = anvil(&config()).await;
    let pid = node.pid().unwrap();
    assert!(is_alive(pid));
    drop(node);
    wait_until_gone(pid).await;
}

/// Returns the error once the node stops answering. The signal may take a moment to arrive.
#[expect(clippy::disallowed_methods, reason = "a test measures real time")]
async fn failure(node: &mut Anvil) -> ChainError {
    loop {
        let begun = Instant::now();
        if let Err(error) = node.latest().await {
            assert!(begun.elapsed() < SOON, "{error} after {:?}", begun.elapsed());
            return error;
        }
    }
}

#[tokio::test]
async fn hung_anvil_times_out_and_is_killed() {
    let mut node = anvil(&AnvilConfig { timeout: Duration::from_secs(3), ..config() }).await;
    let pid = node.pid().unwrap();
    signal("-STOP", pid);
    let error = failure(&mut node).await;
    assert!(
        matches!(&error, ChainError::Node(message) if message.contains("eth_getBlockByNumber") && message.contains("no answer within 3s")),
        "{error}"
    );
    drop(node);
    wait_until_gone(pid).await;
}

#[tokio::test]
async fn killed_anvil_is_an_error_at_once() {
    let mut node = anvil(&config()).await;
    let pid = node.pid().unwrap();
    signal("-KILL", pid);
    let error = failure(&mut node).await;
    assert!(matches!(error, ChainError::Node(_)), "{error}");
    drop(node);
    wait_until_gone(pid).await;
}

#[tokio::test]
async fn anvil_is_killed_when_start_is_cancelled() {
    let (folder, pid) = (tempfile::tempdir().unwrap(), "pid");
    let program = program(folder.path(), &format!("echo $$ > {}/{pid}; sleep 1000 & wait", folder.path().display()));
    let config = AnvilConfig { program: Some(program), ..AnvilConfig::new(CHAIN, START) };
    let started = tokio::time::timeout(LIMIT, Anvil::start(&config)).await;
    assert!(started.is_err());
    wait_until_gone(read_pid(&folder.path().join(pid))).await;
}

#[expect(clippy::disallowed_methods, reason = "the script writes its pid to a file")]
fn read_pid(path: &Path) -> u32 {
    std::fs::read_to_string(path).unwrap().trim().parse().unwrap()
}

#[expect(clippy::disallowed_methods, reason = "a test measures real time")]
async fn start_error(text: &str) -> (String, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let program = program(folder.path(), &text.replace("FOLDER", folder.path().to_str().unwrap()));
    let begun = Instant::now();
    let error = Anvil::start(&AnvilConfig { program: Some(program), timeout: LIMIT, ..AnvilConfig::new(CHAIN, START) }).await.unwrap_err();
    assert!(begun.elapsed() < SOON);
    (error.to_string(), folder)
}

#[tokio::test]
async fn program_that_never_listens_is_killed_with_children() {
    let (message, folder) = start_error("echo $$ > FOLDER/parent; sleep 1000 & echo $! > FOLDER/child; echo thinking; wait").await;
    assert!(message.contains("did not listen within 1s; it said: thinking"), "{message}");
    wait_until_gone(read_pid(&folder.path().join("parent"))).await;
    wait_until_gone(read_pid(&folder.path().join("child"))).await;
}

#[tokio::test]
async fn start_error_quotes_program_output() {
    let (message, _) = start_error("echo 'no such hardfork' >&2; exit 3").await;
    assert!(message.contains("ended before it listened; it said: no such hardfork"), "{message}");
}

#[tokio::test]
async fn start_error_quotes_bounded_output() {
    let (message, _) = start_error("exec yes something").await;
    assert!(message.contains("something") && message.len() < 6000, "{} characters", message.len());
}

#[tokio::test]
async fn program_with_wrong_port_is_an_error() {
    let (message, _) = start_error("echo 'Listening on 127.0.0.1:1'; sleep 1000").await;
    assert!(message.contains("eth_chainId at http://127.0.0.1:1: ") && message.contains("refused"), "{message}");
}

#[tokio::test]
async fn missing_anvil_error_says_how_to_install_it() {
    let config = AnvilConfig { tools: Some(PathBuf::from("/nowhere")), ..AnvilConfig::new(CHAIN, START) };
    assert!(Anvil::start(&config).await.unwrap_err().to_string().contains("npm install -g @foundry-rs/anvil"));
    assert!(Anvil::start(&AnvilConfig::new(CHAIN, START)).await.unwrap_err().to_string().contains("npm install -g @foundry-rs/anvil"));
}

#[tokio::test]
async fn unreachable_fork_error_hides_the_key() {
    let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let fork = Some(format!("http://127.0.0.1:{port}/v3/secret"));
    let error = Anvil::start(&AnvilConfig { fork, ..config() }).await.unwrap_err().to_string();
    assert!(error.contains("it said") && !error.contains("secret"), "{error}");
}
