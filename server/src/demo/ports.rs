//! Ports of the demo: the usual ones if they are free.

use super::scene;
use anyhow::Context;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, UdpSocket};
use std::path::Path;

/// Attempts to find a port that is free on every responder's address.
const ATTEMPTS: usize = 50;

fn is_free(address: SocketAddr) -> io::Result<()> {
    TcpListener::bind(address)
        .and_then(|_| UdpSocket::bind(address))
        .map(|_| ())
}

/// `port` if nothing has it on `ip`, else 0, which takes a free one; says so.
#[must_use]
pub fn or_free(what: &str, ip: IpAddr, port: u16) -> u16 {
    if port == 0 {
        return 0;
    }
    match is_free(SocketAddr::new(ip, port)) {
        Ok(()) => port,
        Err(error) => {
            tracing::warn!(%error, "port {port} for {what} is taken: taking a free one");
            0
        }
    }
}

/// The port of the responders: the one remembered in `file`, else one that is free on all their addresses.
///
/// # Errors
/// No port can be found, or the file not be written.
pub fn for_backends(file: &Path) -> anyhow::Result<u16> {
    if let Ok(text) = std::fs::read_to_string(file) {
        return text
            .trim()
            .parse()
            .with_context(|| format!("{} holds no port", file.display()));
    }
    let (_, first) = scene::backends().next().context("the demo has no responders")?;
    for _ in 0..ATTEMPTS {
        let probe = TcpListener::bind(SocketAddr::new(first, 0)).context("binding a loopback address")?;
        let port = probe.local_addr()?.port();
        drop(probe);
        let free = |(_, ip): (String, IpAddr)| TcpListener::bind(SocketAddr::new(ip, port)).is_ok();
        if scene::backends().all(free) {
            std::fs::write(file, format!("{port}\n"))
                .with_context(|| format!("writing {}", file.display()))?;
            return Ok(port);
        }
    }
    anyhow::bail!("no port is free on all of the demo's loopback addresses")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    #[test]
    fn a_taken_port_gives_a_free_one() {
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = taken.local_addr().unwrap().port();
        assert_eq!(or_free("DNS", Ipv4Addr::LOCALHOST.into(), port), 0);
        drop(taken);
    }

    #[test]
    fn the_port_of_a_kept_folder_stays() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("port");
        let port = for_backends(&file).unwrap();
        assert_eq!(for_backends(&file).unwrap(), port);
    }
}
