//! The tcp prober: a member that accepts a connection is up. Also the first step of the http prober.

use crate::error::{Phase, ProbeError};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::Instant;

/// Connects.
pub(crate) async fn connect(address: SocketAddr) -> Result<TcpStream, ProbeError> {
    open(address, |_| Ok(())).await
}

/// Connects and hangs up. The round-trip time is that of the connect.
///
/// Hangs up with a reset: otherwise each probe would leave a socket in TIME_WAIT for a minute, 600,000 of them for
/// ten thousand members probed each second.
pub(crate) async fn probe(address: SocketAddr) -> Result<Duration, ProbeError> {
    let start = Instant::now();
    let _stream = open(address, TcpSocket::set_zero_linger).await?;
    Ok(start.elapsed())
}

async fn open(
    address: SocketAddr,
    prepare: impl FnOnce(&TcpSocket) -> std::io::Result<()>,
) -> Result<TcpStream, ProbeError> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4(),
        SocketAddr::V6(_) => TcpSocket::new_v6(),
    }
    .map_err(ProbeError::connection(Phase::Connect))?;
    prepare(&socket).map_err(ProbeError::connection(Phase::Connect))?;
    socket
        .connect(address)
        .await
        .map_err(ProbeError::connection(Phase::Connect))
}
