//! Connections of our servers: bounded in number, in the size of a head, and in the time that a client may take to send or to read.

use axum::Router;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_io_timeout::TimeoutStream;
use tokio_rustls::TlsAcceptor;

/// Largest head of a request.
const MAX_HEAD_BYTES: usize = 32 << 10;
const MAX_STREAMS: u32 = 64;
const PING_EVERY: Duration = Duration::from_secs(20);

/// Bounds of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ConnectionLimits {
    pub connections: usize,
    /// Time for the head of a request, for the pause before it, and for a client to take a part of the answer.
    pub stall: Duration,
    /// Only HTTP/1, so that no version has to be told from the first bytes.
    pub is_http1: bool,
}

/// Accepts connections until the task is dropped, which closes them all. Further clients wait until one ends.
pub(crate) async fn accept(listener: TcpListener, router: Router, tls: Option<TlsAcceptor>, limits: ConnectionLimits) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            Some(_) = connections.join_next() => {}
            accepted = listener.accept(), if connections.len() < limits.connections => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(serve(stream, router.clone(), tls.clone(), limits));
                }
                // Probably out of file descriptors: wait before the next attempt.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            },
        }
    }
}

async fn serve(stream: TcpStream, router: Router, tls: Option<TlsAcceptor>, limits: ConnectionLimits) {
    // Answers are small; waiting to fill a packet only delays them.
    drop(stream.set_nodelay(true));
    // Versions are told apart before the time of a head begins, so a client that sends nothing would be kept for ever.
    if !matches!(tokio::time::timeout(limits.stall, stream.peek(&mut [0])).await, Ok(Ok(1))) {
        return;
    }
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(limits.stall));
    let stream = Box::pin(stream);
    match tls {
        None => serve_http(stream, router, limits).await,
        Some(acceptor) => {
            if let Ok(Ok(stream)) = tokio::time::timeout(limits.stall, acceptor.accept(stream)).await {
                serve_http(stream, router, limits).await;
            }
        }
    }
}

async fn serve_http(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, router: Router, limits: ConnectionLimits) {
    let mut http = auto::Builder::new(TokioExecutor::new());
    http.http1().timer(TokioTimer::new()).header_read_timeout(limits.stall).max_buf_size(MAX_HEAD_BYTES);
    http.http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(MAX_STREAMS)
        .max_header_list_size(u32::try_from(MAX_HEAD_BYTES).unwrap_or(u32::MAX))
        .keep_alive_interval(PING_EVERY)
        .keep_alive_timeout(limits.stall);
    let http = if limits.is_http1 { http.http1_only() } else { http };
    // An error of one client affects only its own connection.
    drop(http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router)).await);
}
