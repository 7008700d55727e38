//! Listeners of the collector.

use super::ClockMs;
use super::access::{Access, AccessError};
use super::http::router;
use super::limits::CollectorLimits;
use super::metrics::CollectorMetrics;
use super::redaction::Redactor;
use super::sink::SpanSink;
use super::state::{CollectorClock, CollectorState};
use crate::connections::{ConnectionLimits, accept};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use store::production::ProductionStore;
use store::{StoreError, StoreLocation};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

/// Everything that a collector needs.
pub struct CollectorSettings {
    /// Addresses to listen on. Each serves HTTP/1, HTTP/2 and gRPC.
    pub listen: Vec<SocketAddr>,
    pub traces: StoreLocation,
    pub access: Access,
    pub tls: Option<TlsFiles>,
    pub limits: CollectorLimits,
    pub redactor: Redactor,
    pub metrics: CollectorMetrics,
    pub clock: ClockMs,
}

impl std::fmt::Debug for CollectorSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CollectorSettings").field("listen", &self.listen).field("traces", &self.traces).finish_non_exhaustive()
    }
}

/// Certificate chain and private key, as PEM.
pub struct TlsFiles {
    pub certificates: Vec<u8>,
    pub key: Vec<u8>,
}

impl std::fmt::Debug for TlsFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TlsFiles")
    }
}

/// Collector that cannot start.
#[derive(Debug, thiserror::Error)]
pub enum CollectorError {
    #[error(transparent)]
    Access(#[from] AccessError),
    #[error("cannot listen on {at}: {why}")]
    Listen { at: SocketAddr, why: std::io::Error },
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the certificate or its key cannot be used: {0}")]
    Tls(String),
    #[error("the writer cannot be started: {0}")]
    Writer(std::io::Error),
}

/// Running collector. Dropping it closes all connections; acknowledged spans are durable.
#[derive(Debug)]
pub struct Collector {
    addresses: Vec<SocketAddr>,
    tasks: JoinSet<()>,
}

impl Collector {
    /// Opens the store and the ports.
    ///
    /// # Errors
    ///
    /// Fails before it listens anywhere if an address is not permitted, the store cannot be used or a port is taken.
    pub async fn start(settings: CollectorSettings) -> Result<Self, CollectorError> {
        let CollectorSettings { listen, traces, access, tls, limits, redactor, metrics, clock } = settings;
        for at in &listen {
            access.check(*at)?;
        }
        let acceptor = tls.map(|files| tls_acceptor(&files)).transpose()?;
        let sink = SpanSink::start(ProductionStore::open(&traces)?, clock.clone(), limits).map_err(CollectorError::Writer)?;
        let state = Arc::new(CollectorState {
            sink,
            access,
            limits,
            redactor,
            metrics,
            clock: CollectorClock(clock),
            store: Mutex::new(ProductionStore::open(&traces)?),
            pending: Arc::new(Semaphore::new(limits.pending_bytes / 1024)),
        });
        let bounds = ConnectionLimits { connections: limits.connections, stall: limits.request_timeout, is_http1: false };
        let (mut addresses, mut tasks) = (vec![], JoinSet::new());
        let mut listeners = vec![];
        for at in listen {
            let listener = TcpListener::bind(at).await.map_err(|why| CollectorError::Listen { at, why })?;
            addresses.push(listener.local_addr().map_err(|why| CollectorError::Listen { at, why })?);
            listeners.push(listener);
        }
        for listener in listeners {
            tasks.spawn(accept(listener, router(state.clone()), acceptor.clone(), bounds));
        }
        Ok(Self { addresses, tasks })
    }

    /// Returns the addresses that are open, in the order of the settings.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Waits until a listener ends, which it does only on a bug.
    pub async fn wait(&mut self) {
        self.tasks.join_next().await;
    }
}

fn tls_acceptor(files: &TlsFiles) -> Result<TlsAcceptor, CollectorError> {
    let wrong = |error: &dyn std::fmt::Display| CollectorError::Tls(error.to_string());
    let chain: Vec<CertificateDer<'static>> =
        CertificateDer::pem_slice_iter(&files.certificates).collect::<Result<_, _>>().map_err(|error| wrong(&error))?;
    let key = PrivateKeyDer::from_pem_slice(&files.key).map_err(|error| wrong(&error))?;
    let mut config = rustls::ServerConfig::builder().with_no_client_auth().with_single_cert(chain, key).map_err(|error| wrong(&error))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
