//! HTTP listeners: API with console, and metrics. Plain on loopback, TLS elsewhere.

use super::cap::Cap;
use crate::state::AppState;
use crate::{api, web};
use anyhow::{Context, bail};
use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderName, Method, StatusCode};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum_server::Handle;
use axum_server::tls_rustls::RustlsConfig;
use gslb_core::config::Settings;
use gslb_dns::{Certificate, CertificateError};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::time::Duration;
use tokio::task::JoinHandle;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::request_id::{MakeRequestUuid, PropagateRequestIdLayer, SetRequestIdLayer};
use tower_http::timeout::TimeoutLayer;

/// Requests that are being answered at the stop have this long to end.
const GRACE: Duration = Duration::from_secs(5);

/// A certificate that HTTP shows its clients, read again on reload.
#[derive(Debug, Clone)]
pub struct Tls {
    certificate: Certificate,
    config: RustlsConfig,
}

impl Tls {
    /// For a certificate.
    #[must_use]
    pub fn new(certificate: Certificate) -> Self {
        let config = RustlsConfig::from_config(certificate.server(&[b"h2", b"http/1.1"]));
        Self { certificate, config }
    }

    /// Reads the files again; the old certificate stays in use when that fails. `what` is for.
    pub fn reload(&self, what: &str) {
        match self.certificate.reload() {
            Ok(()) => tracing::info!("the certificate of {what} was read again"),
            Err(error) => tracing::error!(%error, "the old certificate of {what} stays in use"),
        }
    }
}

/// The certificate that settings name: both files, or none. One without the other is refused by the settings.
///
/// # Errors
/// The files cannot be used.
pub fn certificate(
    cert: Option<&PathBuf>,
    key: Option<&PathBuf>,
) -> Result<Option<Certificate>, CertificateError> {
    cert.zip(key)
        .map(|(cert, key)| Certificate::read(cert, key))
        .transpose()
}

/// Binds a TCP port.
///
/// # Errors
/// Names the address that cannot be had.
pub fn bind(what: &str, ip: IpAddr, port: u16) -> anyhow::Result<TcpListener> {
    let address = SocketAddr::new(ip, port);
    let listener =
        TcpListener::bind(address).with_context(|| format!("listening on {address} for {what}"))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Refuses to speak plain HTTP to the network unless told to.
///
/// # Errors
/// Says what to set.
pub fn check_plaintext(settings: &Settings, tls: bool) -> anyhow::Result<()> {
    let api = &settings.api;
    if tls || api.listen_addr.is_loopback() || api.allow_plaintext {
        return Ok(());
    }
    bail!(
        "api.listenAddr is {}: passwords and tokens would cross the network in the clear. Set api.tlsCert and api.tlsKey, \
         or api.allowPlaintext: true when something else speaks TLS in front",
        api.listen_addr
    )
}

/// Keeps a request id that the client chose, if it is one: it goes into logs and back out.
async fn own_request_id(mut request: Request, next: Next) -> Response {
    let letter = |b: &u8| b.is_ascii_alphanumeric() || b"-_.".contains(b);
    let good = |id: &[u8]| (1..=64).contains(&id.len()) && id.iter().all(letter);
    if request
        .headers()
        .get("x-request-id")
        .is_some_and(|id| !good(id.as_bytes()))
    {
        request.headers_mut().remove("x-request-id");
    }
    next.run(request).await
}

/// Carries out what has begun, also when the client has gone away or been given up: a change that is stored is put in
/// force and told, and the answer to an `Idempotency-Key` is there when the request comes again.
async fn to_its_end(request: Request, next: Next) -> Response {
    if matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS) {
        return next.run(request).await;
    }
    match tokio::spawn(next.run(request)).await {
        Ok(response) => response,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime stops.
            Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        },
    }
}

/// The whole API and console.
pub fn application(state: &AppState) -> Router {
    let request_id = HeaderName::from_static("x-request-id");
    let sessions = web::sessions::layer(state.store.clone(), state.secure);
    Router::new()
        .merge(api::router())
        .merge(web::router(state))
        .layer(from_fn_with_state(state.clone(), api::auth::middleware))
        .layer(sessions)
        .layer(from_fn(web::sessions::session_cookie_first))
        .layer(from_fn(web::sessions::token_without_cookies))
        .layer(from_fn_with_state(state.scheme, web::origin::guard))
        .layer(from_fn(to_its_end))
        .layer(from_fn(web::security_headers))
        .layer(TimeoutLayer::with_status_code(
            StatusCode::REQUEST_TIMEOUT,
            ANSWER,
        ))
        .layer(CatchPanicLayer::new())
        .layer(PropagateRequestIdLayer::new(request_id.clone()))
        .layer(SetRequestIdLayer::new(request_id, MakeRequestUuid))
        .layer(from_fn(own_request_id))
        .with_state(state.clone())
}

/// A client that sends its request head slower than this is let go.
const HEAD: Duration = Duration::from_secs(10);
/// A request that is not answered by then, its body included, is given up. Streams are answers that have begun.
const ANSWER: Duration = Duration::from_secs(30);

fn patience(builder: &mut hyper_util::server::conn::auto::Builder<TokioExecutor>) {
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEAD);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(Some(ANSWER));
}

/// Servers that run, and how to stop them.
#[derive(Debug, Default)]
pub struct HttpServers {
    running: Vec<(Handle<SocketAddr>, JoinHandle<()>)>,
}

impl HttpServers {
    /// Serves an application on a bound port.
    ///
    /// # Errors
    /// The port cannot be handed to the runtime.
    pub fn serve(
        &mut self,
        listener: TcpListener,
        tls: Option<&Tls>,
        cap: Cap,
        app: Router,
    ) -> anyhow::Result<()> {
        let handle = Handle::new();
        let service = app.into_make_service_with_connect_info::<SocketAddr>();
        let task = match tls {
            Some(tls) => {
                let mut server = axum_server::from_tcp_rustls(listener, tls.config.clone())?
                    .map(|tls| tls.acceptor(cap))
                    .handle(handle.clone());
                patience(server.http_builder());
                tokio::spawn(async move { ended(server.serve(service).await) })
            }
            None => {
                let mut server = axum_server::from_tcp(listener)?
                    .acceptor(cap)
                    .handle(handle.clone());
                patience(server.http_builder());
                tokio::spawn(async move { ended(server.serve(service).await) })
            }
        };
        self.running.push((handle, task));
        Ok(())
    }

    /// Takes nothing new, and waits for what is being answered.
    pub async fn stop(self) {
        for (handle, _) in &self.running {
            handle.graceful_shutdown(Some(GRACE));
        }
        for (_, task) in self.running {
            if let Err(error) = task.await {
                tracing::error!(%error, "an HTTP server ended badly");
            }
        }
    }
}

fn ended(result: std::io::Result<()>) {
    if let Err(error) = result {
        tracing::error!(%error, "an HTTP server ended");
    }
}
