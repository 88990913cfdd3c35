//! The certificate of the encrypted transports, which can be read again while they run.

use arc_swap::ArcSwap;
use rustls::ServerConfig;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::{self, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// A file cannot be read, or is no PEM.
    #[error("{path}: {reason}", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// Certificate and key do not belong together, or are of a kind that nobody takes.
    #[error("{cert} and {key}: {reason}", cert = cert.display(), key = key.display())]
    Pair {
        /// The certificate's file.
        cert: PathBuf,
        /// The key's file.
        key: PathBuf,
        /// Why.
        reason: rustls::Error,
    },
}

/// A certificate chain with its key, from two PEM files.
#[derive(Clone)]
pub struct Certificate(Arc<Files>);

struct Files {
    cert: PathBuf,
    key: PathBuf,
    current: ArcSwap<CertifiedKey>,
}

impl Certificate {
    /// Reads both files.
    ///
    /// # Errors
    /// Names the file that cannot be used, and why.
    pub fn read(cert: &Path, key: &Path) -> Result<Self, CertificateError> {
        let current = ArcSwap::from_pointee(read(cert, key)?);
        Ok(Self(Arc::new(Files {
            cert: cert.to_owned(),
            key: key.to_owned(),
            current,
        })))
    }

    /// Reads the files again. Connections that are open keep what they have.
    ///
    /// # Errors
    /// As for [`Self::read`]; what was there stays in use.
    pub fn reload(&self) -> Result<(), CertificateError> {
        let Files { cert, key, current } = &*self.0;
        current.store(Arc::new(read(cert, key)?));
        Ok(())
    }

    /// What a server shows its clients, with the protocols (ALPN) that it speaks.
    #[must_use]
    pub fn server(&self, protocols: &[&[u8]]) -> Arc<ServerConfig> {
        let builder = ServerConfig::builder_with_provider(provider());
        // The provider has suites for both versions of the protocol.
        let builder = match builder.with_safe_default_protocol_versions() {
            Ok(builder) => builder,
            Err(error) => unreachable!("{error}"),
        };
        let mut config = builder
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(self.clone()));
        config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        Arc::new(config)
    }
}

impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Certificate").field(&self.0.cert).finish()
    }
}

impl ResolvesServerCert for Certificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.current.load_full())
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

fn read(cert: &Path, key: &Path) -> Result<CertifiedKey, CertificateError> {
    let wrong = |path: &Path, error: pem::Error| CertificateError::File {
        path: path.to_owned(),
        reason: match error {
            pem::Error::Io(error) => error.to_string(),
            pem::Error::NoItemsFound => "there is no private key in it".to_owned(),
            other => other.to_string(),
        },
    };
    let chain = CertificateDer::pem_file_iter(cert)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| wrong(cert, error))?;
    if chain.is_empty() {
        return Err(CertificateError::File {
            path: cert.to_owned(),
            reason: "there is no certificate in it".to_owned(),
        });
    }
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| wrong(key, error))?;
    CertifiedKey::from_der(chain, private, &provider()).map_err(|reason| CertificateError::Pair {
        cert: cert.to_owned(),
        key: key.to_owned(),
        reason,
    })
}
