//! Answers lines that are too long with an error. The SDK would drop them, and the client would wait forever.

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Bytes at the start of a line in which the id of its request is looked for.
const HEAD_BYTES: usize = 1024;
const PIPE_BYTES: usize = 64 * 1024;

/// Returns both ends for the SDK, and the task that writes the answers. It ends when the SDK drops its end.
pub(super) fn limit_lines<R, W>(input: R, output: W, limit: usize) -> (DuplexStream, DuplexStream, JoinHandle<()>)
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (to_server, server_input) = tokio::io::duplex(PIPE_BYTES);
    let (server_output, from_server) = tokio::io::duplex(PIPE_BYTES);
    let (refusals, refused) = mpsc::channel(16);
    tokio::spawn(forward_lines(input, to_server, refusals, limit));
    let writing = tokio::spawn(write_answers(from_server, refused, output));
    (server_input, server_output, writing)
}

/// Forwards lines of at most `limit` bytes. The end of input ends the server.
async fn forward_lines<R: AsyncRead + Unpin>(input: R, mut server: DuplexStream, refusals: mpsc::Sender<Vec<u8>>, limit: usize) {
    let mut input = BufReader::new(input);
    let (mut line, mut length) = (Vec::new(), 0_usize);
    loop {
        let Ok(chunk) = input.fill_buf().await else { return };
        if chunk.is_empty() {
            let _ = server.write_all(&line).await;
            return;
        }
        let (used, ends) = chunk.iter().position(|byte| *byte == b'\n').map_or((chunk.len(), false), |at| (at + 1, true));
        length += used;
        if length <= limit {
            line.extend_from_slice(&chunk[..used]);
        } else {
            line.truncate(HEAD_BYTES);
        }
        input.consume(used);
        if !ends {
            continue;
        }
        let passed =
            if length <= limit { server.write_all(&line).await.is_ok() } else { refusals.send(refusal(&line, limit)).await.is_ok() };
        if !passed {
            return;
        }
        line.clear();
        length = 0;
    }
}

async fn write_answers<W: AsyncWrite + Unpin>(server: DuplexStream, mut refused: mpsc::Receiver<Vec<u8>>, mut output: W) {
    let mut answers = BufReader::new(server).split(b'\n');
    let mut refusing = true;
    loop {
        let line = tokio::select! {
            answer = answers.next_segment() => match answer {
                Ok(Some(mut line)) => {
                    line.push(b'\n');
                    line
                }
                Ok(None) | Err(_) => return,
            },
            line = refused.recv(), if refusing => match line {
                Some(line) => line,
                None => {
                    refusing = false;
                    continue;
                }
            },
        };
        if output.write_all(&line).await.is_err() || output.flush().await.is_err() {
            return;
        }
    }
}

fn refusal(head: &[u8], limit: usize) -> Vec<u8> {
    let message = format!("the message is too long: limit {limit} bytes");
    let error = json!({ "jsonrpc": "2.0", "id": request_id(head), "error": { "code": -32600, "message": message } });
    let mut line = error.to_string().into_bytes();
    line.push(b'\n');
    line
}

/// Returns the id in the start of a request, or null.
fn request_id(head: &[u8]) -> Value {
    let text = String::from_utf8_lossy(head);
    let Some((_, rest)) = text.split_once("\"id\"") else { return Value::Null };
    let rest = rest.trim_start().trim_start_matches(':');
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
    match values.next() {
        Some(Ok(id @ (Value::Number(_) | Value::String(_)))) => id,
        Some(_) | None => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncReadExt;

    #[test]
    fn id_is_read_from_the_start_of_a_request() {
        for (head, id) in [
            (r#"{"jsonrpc":"2.0","id":7,"method":"x","params":{"#, json!(7)),
            (r#"{"id" : "seven", "method":"#, json!("seven")),
            (r#"{"method":"x","#, json!(null)),
            (r#"{"id":{"#, json!(null)),
        ] {
            assert_eq!(request_id(head.as_bytes()), id, "{head}");
        }
    }

    #[tokio::test]
    async fn long_lines_are_answered_and_others_pass() {
        let (mut client, far) = tokio::io::duplex(1 << 20);
        let (input, output) = tokio::io::split(far);
        let (mut server_input, server_output, copying) = limit_lines(input, output, 100);
        let long = format!("{{\"id\":1,\"x\":\"{}\"}}\n", "x".repeat(300_000));
        client.write_all(format!("{{\"id\":0}}\n{long}{{\"id\":2}}\n").as_bytes()).await.unwrap();
        let mut passed = vec![0; 18];
        server_input.read_exact(&mut passed).await.unwrap();
        assert_eq!(passed, b"{\"id\":0}\n{\"id\":2}\n");
        let mut answer = vec![0; 22];
        client.read_exact(&mut answer).await.unwrap();
        assert_eq!(answer, b"{\"jsonrpc\":\"2.0\",\"id\":");
        drop((client, server_input, server_output));
        copying.await.unwrap();
    }
}
