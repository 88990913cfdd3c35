//! https checks, with certificates made here.

use crate::stub::{Reply, Stub, answer, http_with, probe_with, read_head};
use gslb_engine::model::HealthCheck;
use gslb_probe::ProberSettings;
use rcgen::{CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use rustls::RootCertStore;
use rustls_pki_types::PrivateKeyDer;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

/// A certificate authority.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    fn settings(&self) -> ProberSettings {
        let mut roots = RootCertStore::empty();
        roots.add(self.0.der().clone()).unwrap();
        ProberSettings {
            roots: Some(Arc::new(roots)),
            ..ProberSettings::default()
        }
    }

    /// A backend with a certificate for `name`.
    async fn backend(&self, name: &str, change: impl FnOnce(&mut CertificateParams)) -> Backend {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
            )
            .unwrap();
        Backend::start(TlsAcceptor::from(Arc::new(config))).await
    }
}

/// An https backend that answers 200, and notes the names it was asked for.
struct Backend {
    address: SocketAddr,
    names: Arc<Mutex<Vec<Option<String>>>>,
    _tasks: JoinSet<()>,
}

impl Backend {
    async fn start(acceptor: TlsAcceptor) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let names = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&names);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                // A client that refuses the certificate ends the handshake.
                let Ok(mut stream) = acceptor.accept(stream).await else {
                    continue;
                };
                seen.lock()
                    .unwrap()
                    .push(stream.get_ref().1.server_name().map(str::to_owned));
                if read_head(&mut stream).await.is_some() {
                    answer(&mut stream, Reply::body("all is well")).await;
                }
            }
        });
        Self {
            address,
            names,
            _tasks: tasks,
        }
    }
}

fn https(host: Option<&str>) -> HealthCheck {
    http_with(1_000, |c| {
        c.tls = true;
        c.host = host.map(str::to_owned);
        c.contains = Some("well".to_owned());
    })
}

async fn failure(settings: ProberSettings, address: SocketAddr, check: HealthCheck) -> String {
    probe_with(settings, address, check)
        .await
        .last_error
        .unwrap_or_default()
}

#[tokio::test]
async fn a_trusted_certificate_for_the_name_is_up() {
    let authority = Authority::new("ours");
    let backend = authority.backend("www.example", |_| ()).await;
    assert_eq!(
        failure(authority.settings(), backend.address, https(Some("www.example"))).await,
        ""
    );
    assert_eq!(*backend.names.lock().unwrap(), [Some("www.example".to_owned())]);
}

#[tokio::test]
async fn without_a_host_the_certificate_is_for_the_address() {
    let authority = Authority::new("ours");
    let backend = authority.backend("127.0.0.1", |_| ()).await;
    assert_eq!(
        failure(authority.settings(), backend.address, https(None)).await,
        ""
    );
    assert_eq!(
        *backend.names.lock().unwrap(),
        [None],
        "an address is no server name"
    );
}

#[tokio::test]
async fn wrong_certificates_are_named() {
    let authority = Authority::new("ours");
    let backend = authority.backend("www.example", |_| ()).await;
    let other = failure(
        authority.settings(),
        backend.address,
        https(Some("other.example")),
    )
    .await;
    assert!(
        other.starts_with("TLS: the certificate is for another name ("),
        "{other}"
    );
    assert_eq!(
        failure(
            Authority::new("another").settings(),
            backend.address,
            https(Some("www.example"))
        )
        .await,
        "TLS: the certificate's issuer is not trusted"
    );
    let expired = authority
        .backend("www.example", |p| p.not_after = date_time_ymd(2020, 1, 1))
        .await;
    assert_eq!(
        failure(authority.settings(), expired.address, https(Some("www.example"))).await,
        "TLS: the certificate has expired"
    );
}

#[tokio::test]
async fn a_check_may_accept_any_certificate() {
    let authority = Authority::new("ours");
    let backend = authority
        .backend("www.example", |p| p.not_after = date_time_ymd(2020, 1, 1))
        .await;
    let mut check = https(Some("other.example"));
    if let gslb_engine::model::CheckKind::Http(http) = &mut check.kind {
        http.insecure_skip_verify = true;
    }
    assert_eq!(
        failure(Authority::new("another").settings(), backend.address, check).await,
        ""
    );
}

#[tokio::test]
async fn a_backend_without_tls_is_down() {
    let settings = Authority::new("another").settings();
    let stub = Stub::start(Reply::Hang).await;
    let check = HealthCheck {
        timeout_ms: 150,
        ..https(None)
    };
    assert_eq!(
        failure(settings.clone(), stub.address, check).await,
        "timeout after 150 ms during the TLS handshake"
    );
    let greeter = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = greeter.local_addr().unwrap();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let (mut stream, _) = greeter.accept().await.unwrap();
        answer(&mut stream, Reply::text("HTTP/1.1 400 Bad Request\r\n\r\n")).await;
        let _ = read_head(&mut stream).await;
    });
    assert_eq!(
        failure(settings, address, https(None)).await,
        "TLS: the other side does not speak TLS"
    );
}

#[tokio::test]
async fn without_any_root_the_reason_is_said() {
    let settings = ProberSettings {
        roots: Some(Arc::new(RootCertStore::empty())),
        ..ProberSettings::default()
    };
    let backend = Authority::new("another").backend("www.example", |_| ()).await;
    let error = failure(settings, backend.address, https(Some("www.example"))).await;
    assert_eq!(
        error,
        "TLS: this machine has no trusted root certificates (install ca-certificates)"
    );
}
