//! Why the server did not start.

use crate::stats::Transport;
use std::io;
use std::net::SocketAddr;

/// Why the server did not start. Nothing is left bound then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DnsError {
    /// No address to listen on is configured.
    #[error("no address to listen on")]
    NoAddress,
    /// The server identifier is too long.
    #[error("the server identifier (NSID) has {0} octets; {max} are the limit", max = crate::DnsSettings::MAX_NSID)]
    NsidTooLong(usize),
    /// Another process listens there, perhaps another gslbd.
    #[error("{address} is in use by another process ({transport})", transport = transport.as_str())]
    InUse {
        /// Where.
        address: SocketAddr,
        /// Over what.
        transport: Transport,
        /// The operating system's error.
        #[source]
        source: io::Error,
    },
    /// The address cannot be listened on for another reason: not this host's, no permission.
    #[error("cannot listen on {address} ({transport})", transport = transport.as_str())]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Over what.
        transport: Transport,
        /// The operating system's error.
        #[source]
        source: io::Error,
    },
    /// A thread could not be started.
    #[error("cannot start a DNS thread")]
    Thread(#[source] io::Error),
}

impl DnsError {
    pub(crate) fn listen(address: SocketAddr, transport: Transport, source: io::Error) -> Self {
        if source.kind() == io::ErrorKind::AddrInUse {
            Self::InUse {
                address,
                transport,
                source,
            }
        } else {
            Self::Listen {
                address,
                transport,
                source,
            }
        }
    }

    /// Whether another port may do: this one is taken.
    #[must_use]
    pub const fn is_in_use(&self) -> bool {
        matches!(self, Self::InUse { .. })
    }

    /// The address that the error is about.
    #[must_use]
    pub const fn address(&self) -> Option<SocketAddr> {
        match self {
            Self::InUse { address, .. } | Self::Listen { address, .. } => Some(*address),
            _ => None,
        }
    }
}
