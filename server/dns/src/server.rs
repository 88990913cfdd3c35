//! Start and stop.

use crate::bind::{Bound, bind_tcp};
use crate::bridge::Context;
use crate::error::DnsError;
use crate::messages::Messages;
use crate::quic::QuicService;
use crate::settings::DnsSettings;
use crate::slow::SlowLane;
use crate::stats::{DnsStats, Transport};
use crate::tcp::TcpService;
use crate::udp::UdpThread;
use gslb_engine::snapshot::SnapshotCell;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// A running DNS server. Dropping it stops it without waiting; [`shutdown`](Self::shutdown) waits.
#[derive(Debug)]
pub struct DnsServer {
    addresses: Vec<SocketAddr>,
    tls: Vec<SocketAddr>,
    quic: Option<QuicService>,
    quic_addresses: Vec<SocketAddr>,
    udp: Vec<UdpThread>,
    tcp: TcpService,
    slow: Arc<SlowLane>,
}

impl DnsServer {
    /// Binds all addresses and begins to answer from the snapshot in `cell`, whichever is there when a query comes.
    /// Must be called inside a tokio runtime, on which TCP is served.
    ///
    /// # Errors
    /// Says which address could not be listened on and why; nothing is left running then.
    pub fn start(
        settings: DnsSettings,
        cell: Arc<SnapshotCell>,
        stats: Arc<DnsStats>,
    ) -> Result<Self, DnsError> {
        let DnsSettings {
            listen,
            udp_threads,
            nsid,
            tcp,
            encrypted,
            ..
        } = &settings;
        if listen.is_empty() {
            return Err(DnsError::NoAddress);
        }
        if let Some(length) = nsid
            .as_ref()
            .map(Vec::len)
            .filter(|length| *length > DnsSettings::MAX_NSID)
        {
            return Err(DnsError::NsidTooLong(length));
        }
        let threads = match *udp_threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            some => some,
        };
        // Everything is bound before anything is answered: a server that cannot start has said nothing.
        let bound: Vec<Bound> = listen
            .iter()
            .map(|address| Bound::new(*address, threads))
            .collect::<Result<_, _>>()?;
        let mut secure = Vec::new();
        for address in encrypted.iter().flat_map(|e| &e.tls) {
            let bound = bind_tcp(*address).and_then(|listener| Ok((listener.local_addr()?, listener)));
            secure.push(bound.map_err(|e| DnsError::listen(*address, Transport::Tls, e))?);
        }
        let context = Arc::new(Context::new(cell, stats, &settings));
        let slow = SlowLane::start(&context).map_err(DnsError::Thread)?;
        let mut server = Self {
            addresses: Vec::new(),
            tls: Vec::new(),
            quic: None,
            quic_addresses: Vec::new(),
            udp: Vec::new(),
            tcp: TcpService::new(&context, &slow, tcp),
            slow: Arc::clone(&slow),
        };
        for Bound { address, udp, tcp } in bound {
            for (number, socket) in udp.into_iter().enumerate() {
                let name = format!("dns-udp-{}-{number}", server.addresses.len());
                let thread = UdpThread::start(name, socket, Arc::clone(&context), Arc::clone(&slow))
                    .map_err(DnsError::Thread)?;
                server.udp.push(thread);
            }
            server
                .tcp
                .listen(tcp)
                .map_err(|e| DnsError::listen(address, Transport::Tcp, e))?;
            server.addresses.push(address);
        }
        if let Some(encrypted) = encrypted {
            let service = server.tcp.over_tls(encrypted.certificate.server(&[b"dot"]));
            for (address, listener) in secure {
                service
                    .listen(listener)
                    .map_err(|e| DnsError::listen(address, Transport::Tls, e))?;
                server.tls.push(address);
            }
            let quic = QuicService::new(server.messages(Transport::Quic), tcp);
            for address in encrypted.quic.iter().copied() {
                let bound = quic
                    .listen(address, encrypted.certificate.server(&[b"doq"]))
                    .map_err(|e| DnsError::listen(address, Transport::Quic, e))?;
                server.quic_addresses.push(bound);
            }
            server.quic = Some(quic);
        }
        Ok(server)
    }

    /// The addresses listened on, with their real ports, in the order of the settings.
    #[must_use]
    pub fn local_addrs(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// The addresses listened on for DNS over TLS, likewise.
    #[must_use]
    pub fn tls_addrs(&self) -> &[SocketAddr] {
        &self.tls
    }

    /// The addresses listened on for DNS over QUIC, likewise.
    #[must_use]
    pub fn quic_addrs(&self) -> &[SocketAddr] {
        &self.quic_addresses
    }

    /// Answers messages that another server brings over `transport`. It must have ended when this one is shut down.
    #[must_use]
    pub fn messages(&self, transport: Transport) -> Messages {
        self.tcp.messages().over(transport)
    }

    /// Stops: takes nothing new, answers what has arrived, and waits until all is done. TCP connections that need longer
    /// than `grace` are closed.
    pub async fn shutdown(mut self, grace: Duration) {
        self.stop();
        let threads = std::mem::take(&mut self.udp);
        let joined = tokio::task::spawn_blocking(move || threads.into_iter().for_each(UdpThread::join));
        let quic = async {
            if let Some(quic) = &self.quic {
                quic.drain(grace).await;
            }
        };
        tokio::join!(self.tcp.drain(grace), quic);
        let joined = async {
            joined.await?;
            // Nobody is left who could hand anything over.
            let slow = Arc::clone(&self.slow);
            slow.close();
            tokio::task::spawn_blocking(move || slow.join()).await
        };
        if joined.await.is_err() {
            tracing::error!("waiting for the DNS threads failed");
        }
    }

    fn stop(&self) {
        self.tcp.stop();
        if let Some(quic) = &self.quic {
            quic.stop();
        }
        self.udp.iter().for_each(UdpThread::stop);
    }
}

impl Drop for DnsServer {
    fn drop(&mut self) {
        self.stop();
        self.slow.close();
    }
}
