//! Nodes that hang, die, lie or talk without end: a clear error in time, bounded memory, and no process left behind.

use crate::chain::{CHAIN, START, anvil, config, program};
use bardo_eval_world::chain::{Anvil, AnvilConfig, Chain, ChainError};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;

const LIMIT: Duration = Duration::from_secs(1);
/// The limit, and room for a slow machine.
const SOON: Duration = Duration::from_secs(8);

/// Answers every request with the same bytes, as far as they are taken; counts connections and bytes.
#[derive(Debug, Clone, Default)]
struct Counts {
    connections: Arc<AtomicUsize>,
    bytes: Arc<AtomicUsize>,
}

enum Reply {
    Never,
    /// Reads, and closes.
    Nothing,
    Text(String),
    /// A head that promises more than comes.
    Half(String),
    /// 100 MB.
    Flood,
}

async fn serve(reply: Reply) -> (String, Counts) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://127.0.0.1:{}", listener.local_addr().unwrap().port());
    let (counts, reply) = (Counts::default(), Arc::new(reply));
    let counted = counts.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            counted.connections.fetch_add(1, Ordering::Relaxed);
            tokio::spawn(answer(stream, reply.clone(), counted.clone()));
        }
    });
    (url, counts)
}

async fn answer(mut stream: TcpStream, reply: Arc<Reply>, counts: Counts) {
    let mut request = [0; 4096];
    let _ = stream.read(&mut request).await;
    match &*reply {
        Reply::Never => std::future::pending().await,
        Reply::Nothing => {}
        Reply::Text(body) => {
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
            let _ = stream.write_all(format!("{head}{body}").as_bytes()).await;
        }
        Reply::Half(text) => drop(stream.write_all(text.as_bytes()).await),
        Reply::Flood => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100000000\r\n\r\n").await;
            let chunk = [b' '; 65_536];
            while counts.bytes.load(Ordering::Relaxed) < 100_000_000 && stream.write_all(&chunk).await.is_ok() {
                counts.bytes.fetch_add(chunk.len(), Ordering::Relaxed);
            }
        }
    }
}

/// What is said of such a node, and never too late.
#[expect(clippy::disallowed_methods, reason = "a test measures real time")]
async fn complaint(url: &str) -> String {
    let begun = Instant::now();
    let error = Anvil::connect(url, CHAIN, LIMIT).await.expect_err("a node like that is not taken");
    assert!(begun.elapsed() < SOON, "{error} after {:?}", begun.elapsed());
    let ChainError::Node(said) = &error else { panic!("{error}") };
    assert!(said.starts_with("eth_chainId at http://127.0.0.1:"), "which method, which node? {said}");
    assert!(said.len() < 1000, "{} characters", said.len());
    said.clone()
}

async fn complaint_about(reply: Reply) -> String {
    complaint(&serve(reply).await.0).await
}

#[tokio::test]
async fn a_node_that_hangs() {
    assert!(complaint_about(Reply::Never).await.contains("no answer within 1s"));
}

#[tokio::test]
async fn a_node_that_is_not_there() {
    let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    assert!(complaint(&format!("http://127.0.0.1:{port}")).await.contains("refused"));
}

#[tokio::test]
async fn a_node_that_dies_before_and_while_it_answers() {
    complaint_about(Reply::Nothing).await;
    complaint_about(Reply::Half("HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{\"jsonrpc\"".to_owned())).await;
    complaint_about(Reply::Half("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffff\r\n{\"json".to_owned())).await;
}

#[tokio::test]
async fn a_node_that_talks_nonsense() {
    assert!(complaint_about(Reply::Text("<html>\u{1b}[2Jhello</html>".to_owned())).await.contains("it answered <html>\\u{1b}[2Jhello"));
    assert!(complaint_about(Reply::Text(String::new())).await.contains("it answered nothing"));
    assert!(complaint_about(Reply::Text("[".repeat(100_000))).await.contains("it answered [["));
    assert!(complaint_about(Reply::Text("[]".to_owned())).await.contains("another question"));
    assert!(complaint_about(Reply::Text(r#"{"jsonrpc":"2.0","id":1}"#.to_owned())).await.contains("neither result nor error"));
    assert!(
        complaint_about(Reply::Text(r#"{"jsonrpc":"2.0","id":1,"result":{"a":[]}}"#.to_owned())).await.contains("not what was asked for")
    );
    complaint_about(Reply::Half("\u{0}\u{1}\u{2}nonsense\r\n\r\n".to_owned())).await;
}

#[tokio::test]
async fn a_node_that_answers_somebody_else() {
    assert!(
        complaint_about(Reply::Text(r#"{"jsonrpc":"2.0","id":7,"result":"0x2105"}"#.to_owned())).await.contains("another question: id 7")
    );
}

#[tokio::test]
async fn a_node_that_complains_at_length() {
    let body = format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-32000,"message":"{}"}}}}"#, "x".repeat(5_000_000));
    let said = complaint_about(Reply::Text(body)).await;
    assert!(said.contains("the node says xxx") && said.contains("…") && said.contains("-32000"), "{said}");
}

#[tokio::test]
async fn a_node_that_sends_us_elsewhere() {
    let (elsewhere, counts) = serve(Reply::Text(r#"{"jsonrpc":"2.0","id":1,"result":"0x2105"}"#.to_owned())).await;
    for status in [301, 302, 307, 308] {
        let head = format!("HTTP/1.1 {status} There\r\nlocation: {elsewhere}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        assert!(complaint_about(Reply::Half(head)).await.contains(&format!("HTTP status {status}")));
    }
    assert_eq!(counts.connections.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_node_that_answers_100_mb() {
    let (url, counts) = serve(Reply::Flood).await;
    assert!(complaint(&url).await.contains("longer than 8 MiB"));
    tokio::time::sleep(Duration::from_millis(200)).await;
    let taken = counts.bytes.load(Ordering::Relaxed);
    assert!(taken < 32_000_000, "{taken} bytes were taken");
}

/// One that has ended and that nobody has asked about yet is not alive: who asks is up to the first process of a container.
#[expect(clippy::disallowed_methods, reason = "a test looks at real processes")]
fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|stat| stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z')))
}

#[expect(clippy::disallowed_methods, reason = "a test measures real time")]
async fn gone(pid: u32) {
    let begun = Instant::now();
    while is_alive(pid) {
        assert!(begun.elapsed() < SOON, "process {pid} is still there");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

fn signal(name: &str, pid: u32) {
    assert!(Command::new("kill").args([name, &pid.to_string()]).status().unwrap().success());
}

#[tokio::test]
async fn an_anvil_ends_with_its_chain() {
    let node = anvil(&config()).await;
    let pid = node.pid().unwrap();
    assert!(is_alive(pid));
    drop(node);
    gone(pid).await;
}

/// What is said once the node is silent. A signal takes a moment to arrive, and until then it answers.
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
async fn an_anvil_that_hangs_is_given_up_and_ended() {
    let mut node = anvil(&AnvilConfig { time: Duration::from_secs(3), ..config() }).await;
    let pid = node.pid().unwrap();
    signal("-STOP", pid);
    let error = failure(&mut node).await;
    assert!(
        matches!(&error, ChainError::Node(said) if said.contains("eth_getBlockByNumber") && said.contains("no answer within 3s")),
        "{error}"
    );
    drop(node);
    gone(pid).await;
}

#[tokio::test]
async fn an_anvil_that_is_killed_is_missed_at_once() {
    let mut node = anvil(&config()).await;
    let pid = node.pid().unwrap();
    signal("-KILL", pid);
    let error = failure(&mut node).await;
    assert!(matches!(error, ChainError::Node(_)), "{error}");
    drop(node);
    gone(pid).await;
}

#[tokio::test]
async fn an_anvil_whose_start_is_abandoned_is_ended() {
    let (folder, pid) = (tempfile::tempdir().unwrap(), "pid");
    let program = program(folder.path(), &format!("echo $$ > {}/{pid}; sleep 1000 & wait", folder.path().display()));
    let config = AnvilConfig { program: Some(program), ..AnvilConfig::new(CHAIN, START) };
    let started = tokio::time::timeout(LIMIT, Anvil::start(&config)).await;
    assert!(started.is_err());
    gone(noted(&folder.path().join(pid))).await;
}

#[expect(clippy::disallowed_methods, reason = "what the script noted")]
fn noted(path: &Path) -> u32 {
    std::fs::read_to_string(path).unwrap().trim().parse().unwrap()
}

#[expect(clippy::disallowed_methods, reason = "a test measures real time")]
async fn start_of(text: &str) -> (String, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let program = program(folder.path(), &text.replace("FOLDER", folder.path().to_str().unwrap()));
    let begun = Instant::now();
    let error = Anvil::start(&AnvilConfig { program: Some(program), time: LIMIT, ..AnvilConfig::new(CHAIN, START) }).await.unwrap_err();
    assert!(begun.elapsed() < SOON);
    (error.to_string(), folder)
}

#[tokio::test]
async fn a_program_that_never_listens_is_ended_with_its_children() {
    let (said, folder) = start_of("echo $$ > FOLDER/parent; sleep 1000 & echo $! > FOLDER/child; echo thinking; wait").await;
    assert!(said.contains("did not listen within 1s; it said: thinking"), "{said}");
    gone(noted(&folder.path().join("parent"))).await;
    gone(noted(&folder.path().join("child"))).await;
}

#[tokio::test]
async fn a_program_that_ends_is_quoted() {
    let (said, _) = start_of("echo 'no such hardfork' >&2; exit 3").await;
    assert!(said.contains("ended before it listened; it said: no such hardfork"), "{said}");
}

#[tokio::test]
async fn a_program_that_talks_without_end_is_quoted_in_part() {
    let (said, _) = start_of("exec yes something").await;
    assert!(said.contains("something") && said.len() < 6000, "{} characters", said.len());
}

#[tokio::test]
async fn a_program_that_claims_a_port_of_nobody() {
    let (said, _) = start_of("echo 'Listening on 127.0.0.1:1'; sleep 1000").await;
    assert!(said.contains("eth_chainId at http://127.0.0.1:1: ") && said.contains("refused"), "{said}");
}

#[tokio::test]
async fn a_missing_program_names_the_script_that_installs_it() {
    let config = AnvilConfig { tools: Some(PathBuf::from("/nowhere")), ..AnvilConfig::new(CHAIN, START) };
    assert!(Anvil::start(&config).await.unwrap_err().to_string().contains("scripts/install-test-tools"));
    assert!(Anvil::start(&AnvilConfig::new(CHAIN, START)).await.unwrap_err().to_string().contains("scripts/install-test-tools"));
}

#[tokio::test]
async fn a_fork_of_nobody_says_why_without_the_key() {
    let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let fork = Some(format!("http://127.0.0.1:{port}/v3/secret"));
    let error = Anvil::start(&AnvilConfig { fork, ..config() }).await.unwrap_err().to_string();
    assert!(error.contains("it said") && !error.contains("secret"), "{error}");
}
