//! DNS on the wire: listeners over UDP and TCP, the wire format, and the answers that the routing engine decides.
//!
//! A message goes `udp` or `tcp` → [`bridge`] → [`wire`] (parse) → [`decide`] → [`encode`]. Everything between the
//! transports is synchronous and needs no lock: the snapshot is immutable and loaded once for a batch. Sockets, the wall
//! clock and entropy are touched here and come to the engine as values.

#![deny(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing
    )
)]

mod alias;
mod bind;
mod bridge;
mod buckets;
mod certificate;
mod cookie;
mod decide;
mod dnssec;
mod encode;
mod error;
mod fast;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod limit;
mod lookup;
mod messages;
mod notify;
#[cfg(feature = "fuzzing")]
pub mod offline;
mod proxy;
mod quic;
mod rate;
mod recent;
mod sections;
mod server;
mod settings;
mod share;
mod slow;
mod stats;
mod system;
mod tcp;
mod transfer;
mod tsig;
mod udp;
mod wire;
mod writer;

pub use certificate::{Certificate, CertificateError};
pub use cookie::CookieSecret;
pub use error::DnsError;
pub use limit::QueryLimit;
pub use messages::{Messages, smallest_ttl};
pub use notify::Notifier;
pub use recent::RecentQueries;
pub use server::DnsServer;
pub use settings::{DnsSettings, Encrypted, RateLimit, TcpLimits};
pub use stats::{DnsCounts, DnsStats, LATENCY_BOUNDS, QTYPES, RCODES, Transport, Unanswered};
pub use system::take_turns_often;
