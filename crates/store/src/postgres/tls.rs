//! TLS of a connection to PostgreSQL, by rustls.

use super::fault::{PgFault, PgFaultKind};
use super::target::{PgSettings, TlsMode};
use futures::future::BoxFuture;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

/// Maker of TLS sessions.
#[derive(Clone)]
pub(crate) struct PgTls {
    config: Arc<ClientConfig>,
}

impl PgTls {
    /// Prepares what the settings ask for; nothing for an open connection.
    ///
    /// # Errors
    /// If a root certificate cannot be read.
    pub(crate) fn new(settings: &PgSettings) -> Result<Option<Self>, PgFault> {
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions();
        let builder = builder.map_err(|error| PgFault::new(PgFaultKind::Certificate, error.to_string()))?;
        let config = match settings.tls {
            TlsMode::Disable => return Ok(None),
            TlsMode::Prefer | TlsMode::Require => {
                builder.dangerous().with_custom_certificate_verifier(Arc::new(AnyCertificate { provider })).with_no_client_auth()
            }
            TlsMode::VerifyFull => builder.with_root_certificates(roots(settings.root_certificate.as_deref())?).with_no_client_auth(),
        };
        Ok(Some(Self { config: Arc::new(config) }))
    }
}

/// Returns the authorities of a file, or those of the system.
fn roots(file: Option<&Path>) -> Result<RootCertStore, PgFault> {
    let mut roots = RootCertStore::empty();
    match file {
        None => drop(roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs)),
        Some(path) => {
            let unreadable = |why: &dyn std::fmt::Display| {
                PgFault::new(PgFaultKind::Certificate, format!("{} is not a certificate: {why}", path.display()))
            };
            for certificate in CertificateDer::pem_file_iter(path).map_err(|error| unreadable(&error))? {
                roots.add(certificate.map_err(|error| unreadable(&error))?).map_err(|error| unreadable(&error))?;
            }
        }
    }
    if roots.is_empty() {
        return Err(PgFault::new(PgFaultKind::Certificate, "no certificate of an authority was found to check that of the server"));
    }
    Ok(roots)
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> MakeTlsConnect<S> for PgTls {
    type Stream = PgTlsStream<S>;
    type TlsConnect = PgTlsSession;
    type Error = io::Error;

    fn make_tls_connect(&mut self, domain: &str) -> io::Result<PgTlsSession> {
        let name = ServerName::try_from(domain.to_owned()).map_err(io::Error::other)?;
        Ok(PgTlsSession { connector: TlsConnector::from(self.config.clone()), name })
    }
}

/// Session to be opened with one server.
pub(crate) struct PgTlsSession {
    connector: TlsConnector,
    name: ServerName<'static>,
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> TlsConnect<S> for PgTlsSession {
    type Stream = PgTlsStream<S>;
    type Error = io::Error;
    type Future = BoxFuture<'static, io::Result<PgTlsStream<S>>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move { Ok(PgTlsStream(self.connector.connect(self.name, stream).await?)) })
    }
}

/// Encrypted stream.
pub(crate) struct PgTlsStream<S>(tokio_rustls::client::TlsStream<S>);

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for PgTlsStream<S> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for PgTlsStream<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for PgTlsStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

/// Accepts any certificate, as `sslmode=require` does everywhere. Signatures of the handshake are still checked.
#[derive(Debug)]
struct AnyCertificate {
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
