//! Certificates, and clients of the encrypted transports.

use super::{PATIENCE, Server};
use gslb_dns::{Certificate, Encrypted};
use gslb_engine::model::Tier;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned, SupportedProtocolVersion};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;

/// A certificate for `localhost` in two files.
pub struct Pair {
    folder: TempDir,
    pub der: CertificateDer<'static>,
}

impl Pair {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let der = write(&folder);
        Self { folder, der }
    }

    /// Writes another one to the same files.
    pub fn renew(&mut self) {
        self.der = write(&self.folder);
    }

    pub fn files(&self) -> [PathBuf; 2] {
        ["cert.pem", "key.pem"].map(|name| self.folder.path().join(name))
    }

    pub fn read(&self) -> Certificate {
        let [cert, key] = self.files();
        Certificate::read(&cert, &key).unwrap()
    }

    /// What a client trusts: this certificate alone.
    pub fn client(&self, protocol: &[u8]) -> ClientConfig {
        self.client_of(protocol, rustls::DEFAULT_VERSIONS)
    }

    /// The same with these versions of TLS.
    pub fn client_of(&self, protocol: &[u8], versions: &[&'static SupportedProtocolVersion]) -> ClientConfig {
        let mut roots = RootCertStore::empty();
        roots.add(self.der.clone()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(versions)
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![protocol.to_vec()];
        config
    }
}

fn write(folder: &TempDir) -> CertificateDer<'static> {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    std::fs::write(folder.path().join("cert.pem"), made.cert.pem()).unwrap();
    std::fs::write(folder.path().join("key.pem"), made.signing_key.serialize_pem()).unwrap();
    made.cert.der().clone()
}

/// A server that speaks TLS and QUIC too.
pub fn server(certificate: &Certificate) -> Server {
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    Server::with(Tier::Enterprise, |settings| {
        settings.encrypted = Some(Encrypted {
            certificate: certificate.clone(),
            tls: vec![any],
            quic: vec![any],
        });
    })
}

pub type TlsStream = StreamOwned<ClientConnection, TcpStream>;

/// A connection over TLS; the handshake happens with the first octets.
pub fn connect(server: &Server, client: ClientConfig) -> TlsStream {
    let stream = TcpStream::connect(server.tls_address()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    StreamOwned::new(ClientConnection::new(Arc::new(client), name).unwrap(), stream)
}
