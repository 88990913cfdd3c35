//! TLS of http probes: the machine's own trusted roots, or none at all where a check says so.

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::crypto::CryptoProvider;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use std::sync::Arc;
use tokio::sync::OnceCell;
use tokio_rustls::TlsConnector;

/// The two TLS clients that checks can ask for. Made when first needed: most pools have no https check, and reading
/// the machine's roots takes tens of milliseconds.
pub(crate) struct TlsClients {
    maker: Maker,
    strict: OnceCell<TlsConnector>,
    lax: OnceCell<TlsConnector>,
}

impl TlsClients {
    /// Trusts `roots`, or the machine's own when `None`.
    pub(crate) fn new(roots: Option<Arc<RootCertStore>>) -> Self {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        Self {
            maker: Maker { provider, roots },
            strict: OnceCell::new(),
            lax: OnceCell::new(),
        }
    }

    /// The client; `insecure` accepts any certificate. The error says why there is none; the next probe tries again.
    pub(crate) async fn connector(&self, insecure: bool) -> Result<&TlsConnector, String> {
        let cell = if insecure { &self.lax } else { &self.strict };
        cell.get_or_try_init(|| async {
            let maker = self.maker.clone();
            // Reads files: not on a thread that other probes wait for.
            tokio::task::spawn_blocking(move || maker.build(insecure))
                .await
                .map_err(|e| e.to_string())?
        })
        .await
    }
}

#[derive(Clone)]
struct Maker {
    provider: Arc<CryptoProvider>,
    roots: Option<Arc<RootCertStore>>,
}

impl Maker {
    fn verifier(&self) -> Result<Arc<dyn ServerCertVerifier>, String> {
        let roots = match &self.roots {
            Some(roots) => Arc::clone(roots),
            None => {
                let mut roots = RootCertStore::empty();
                roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
                Arc::new(roots)
            }
        };
        if roots.is_empty() {
            return Err("this machine has no trusted root certificates (install ca-certificates)".to_owned());
        }
        let verifier = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(&self.provider)).build();
        verifier
            .map(|v| v as Arc<dyn ServerCertVerifier>)
            .map_err(|e| e.to_string())
    }

    fn build(&self, insecure: bool) -> Result<TlsConnector, String> {
        let verifier = match insecure {
            true => Arc::new(AnyCertificate(Arc::clone(&self.provider))),
            false => self.verifier()?,
        };
        let mut config = ClientConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_safe_default_protocol_versions()
            .map_err(|e| e.to_string())?
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        // A resumed session skips the certificate: one that has expired meanwhile would pass.
        config.resumption = Resumption::disabled();
        Ok(TlsConnector::from(Arc::new(config)))
    }
}

/// What went wrong, for people.
pub(crate) fn text(error: &std::io::Error) -> Option<String> {
    let error = error.get_ref()?.downcast_ref::<rustls::Error>()?;
    Some(match error {
        rustls::Error::InvalidCertificate(problem) => match problem {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                "the certificate has expired".into()
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                "the certificate is not valid yet".into()
            }
            CertificateError::UnknownIssuer => "the certificate's issuer is not trusted".into(),
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                format!("the certificate is for another name ({problem})")
            }
            other => format!("the certificate is not valid ({other})"),
        },
        rustls::Error::InvalidMessage(_) => "the other side does not speak TLS".into(),
        rustls::Error::AlertReceived(alert) => format!("refused by the other side ({alert:?})"),
        other => other.to_string(),
    })
}

/// Accepts every certificate: for checks with `insecureSkipVerify`, which ask whether a member answers and not who
/// it is. Signatures of the handshake are still verified.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, cert, dss, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, cert, dss, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
