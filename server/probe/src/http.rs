//! The http prober: one connection, one request, judged by status and by a text in the body. Redirects are not
//! followed: a member is judged by its own answer.

use crate::error::{Phase, ProbeError, Progress};
use crate::finder::Finder;
use crate::tcp;
use crate::tls::{self, TlsClients};
use bytes::Bytes;
use gslb_engine::model::HttpCheck;
use http::header::{ACCEPT, CONNECTION, HOST, HeaderName, HeaderValue, USER_AGENT};
use http::{Request, Uri};
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls_pki_types::ServerName;
use std::future::{Future, poll_fn};
use std::net::{IpAddr, SocketAddr};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;

/// Bytes of the body that are searched: one megabyte.
const BODY_LIMIT: usize = 1 << 20;
/// Longest head of a response, bytes.
const HEAD_LIMIT: usize = 64 << 10;

/// Sends the request and judges the response. The round-trip time is that from request to headers.
///
/// Takes as long as the other side lets it: the caller sets the limit.
pub(crate) async fn probe(
    address: SocketAddr,
    check: &HttpCheck,
    clients: &TlsClients,
    progress: &Progress,
) -> Result<Duration, ProbeError> {
    let request = request(address, check)?;
    let stream = tcp::connect(address).await?;
    if !check.tls {
        return exchange(TokioIo::new(stream), request, check, progress).await;
    }
    let connector = clients
        .connector(check.insecure_skip_verify)
        .await
        .map_err(ProbeError::Tls)?;
    let name = server_name(address.ip(), check.host.as_deref())?;
    progress.enter(Phase::Handshake);
    let stream = connector
        .connect(name, stream)
        .await
        .map_err(|error| match tls::text(&error) {
            Some(text) => ProbeError::Tls(text),
            None => ProbeError::Connection {
                phase: Phase::Handshake,
                source: error,
            },
        })?;
    exchange(TokioIo::new(stream), request, check, progress).await
}

/// The name that certificate and SNI are about: the host without its port, else the address.
fn server_name(ip: IpAddr, host: Option<&str>) -> Result<ServerName<'static>, ProbeError> {
    let Some(host) = host else {
        return Ok(ServerName::IpAddress(ip.into()));
    };
    let bare = match host.rsplit_once(':') {
        Some((name, port))
            if port.bytes().all(|b| b.is_ascii_digit()) && (!name.contains(':') || name.ends_with(']')) =>
        {
            name
        }
        _ => host,
    };
    let bare = bare.trim_start_matches('[').trim_end_matches(']');
    ServerName::try_from(bare.to_owned())
        .map_err(|_| ProbeError::Check(format!("`{host}` is no host name that TLS can ask for")))
}

fn request(address: SocketAddr, check: &HttpCheck) -> Result<Request<Empty<Bytes>>, ProbeError> {
    let wrong = |what: &str, error: &dyn std::fmt::Display| ProbeError::Check(format!("{what}: {error}"));
    let uri = Uri::builder()
        .path_and_query(check.path.as_str())
        .build()
        .map_err(|e| wrong("path", &e))?;
    let mut request = Request::new(Empty::new());
    *request.method_mut() = check.method.parse().map_err(|e| wrong("method", &e))?;
    *request.uri_mut() = uri;
    let headers = request.headers_mut();
    for (name, value) in &check.headers {
        let name: HeaderName = name.parse().map_err(|e| wrong("header name", &e))?;
        headers.append(name, value.trim().parse().map_err(|e| wrong("header value", &e))?);
    }
    if !headers.contains_key(HOST) {
        let usual_port = if check.tls { 443 } else { 80 };
        let host = match (&check.host, address.ip()) {
            (Some(host), _) => host.clone(),
            (None, IpAddr::V6(ip)) if address.port() == usual_port => format!("[{ip}]"),
            (None, IpAddr::V4(ip)) if address.port() == usual_port => ip.to_string(),
            (None, _) => address.to_string(),
        };
        headers.insert(HOST, host.parse().map_err(|e| wrong("host", &e))?);
    }
    for (name, value) in [
        (USER_AGENT, "gslbd-probe"),
        (ACCEPT, "*/*"),
        (CONNECTION, "close"),
    ] {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    Ok(request)
}

async fn exchange<S>(
    stream: TokioIo<S>,
    request: Request<Empty<Bytes>>,
    check: &HttpCheck,
    progress: &Progress,
) -> Result<Duration, ProbeError>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    progress.enter(Phase::Request);
    let handshake = http1::Builder::new()
        .max_buf_size(HEAD_LIMIT)
        .handshake(stream)
        .await;
    let (mut sender, connection) = handshake.map_err(|e| response_error(Phase::Request, &e))?;
    let mut connection = Driver {
        connection: pin!(connection),
        done: false,
    };
    let start = Instant::now();
    let response = connection
        .drive(sender.send_request(request))
        .await
        .map_err(|e| response_error(Phase::Request, &e))?;
    let rtt = start.elapsed();
    let status = response.status().as_u16();
    if !check.expected_status.is_empty()
        && !check
            .expected_status
            .iter()
            .any(|range| (range.from..=range.to).contains(&status))
    {
        return Err(ProbeError::Status {
            got: status,
            expected: check.expected_status.clone(),
        });
    }
    if let Some(text) = &check.contains {
        progress.enter(Phase::Body);
        search(&mut connection, response.into_body(), text).await?;
    }
    Ok(rtt)
}

/// Reads the body until the text is found.
async fn search<C: Future>(
    connection: &mut Driver<'_, C>,
    mut body: Incoming,
    text: &str,
) -> Result<(), ProbeError> {
    let missing = |cut| ProbeError::Missing {
        text: text.to_owned(),
        cut,
    };
    let mut finder = Finder::new(text.as_bytes());
    let mut left = BODY_LIMIT;
    while let Some(frame) = connection.drive(body.frame()).await {
        let frame = frame.map_err(|e| response_error(Phase::Body, &e))?;
        let Some(piece) = frame.data_ref() else { continue };
        let take = piece.len().min(left);
        if finder.feed(piece.get(..take).unwrap_or_default()) {
            return Ok(());
        }
        left -= take;
        if left == 0 {
            return Err(missing(true));
        }
    }
    Err(missing(false))
}

/// Runs the connection beside what waits for it, in one task: a probe that is cancelled leaves nothing behind.
struct Driver<'a, C> {
    connection: Pin<&'a mut C>,
    done: bool,
}

impl<C: Future> Driver<'_, C> {
    async fn drive<F: Future>(&mut self, future: F) -> F::Output {
        let mut future = pin!(future);
        poll_fn(|cx| {
            // The connection first: what it reads is what the future waits for. Its own failure reaches the future.
            if !self.done && self.connection.as_mut().poll(cx).is_ready() {
                self.done = true;
            }
            match future.as_mut().poll(cx) {
                Poll::Pending if !self.done => {
                    // The future may just have handed the connection its request.
                    self.done = self.connection.as_mut().poll(cx).is_ready();
                    if self.done {
                        future.as_mut().poll(cx)
                    } else {
                        Poll::Pending
                    }
                }
                polled => polled,
            }
        })
        .await
    }
}

fn response_error(phase: Phase, error: &hyper::Error) -> ProbeError {
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        if let Some(io) = inner.downcast_ref::<std::io::Error>() {
            let copy = match (io.raw_os_error(), tls::text(io)) {
                (Some(code), _) => std::io::Error::from_raw_os_error(code),
                (None, Some(text)) => return ProbeError::Tls(text),
                (None, None) => std::io::Error::new(io.kind(), io.to_string()),
            };
            return ProbeError::Connection { phase, source: copy };
        }
        source = inner.source();
    }
    if error.is_incomplete_message() || error.is_closed() || error.is_canceled() {
        return ProbeError::Connection {
            phase,
            source: std::io::ErrorKind::UnexpectedEof.into(),
        };
    }
    if error.is_parse_too_large() {
        return ProbeError::Response(format!(
            "the head of the response is larger than {} KiB",
            HEAD_LIMIT >> 10
        ));
    }
    ProbeError::Response(format!("no valid HTTP response ({error})"))
}

#[cfg(test)]
mod tests;
