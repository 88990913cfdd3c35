//! One look-up: both families at the same time, and what came of each.

use gslb_engine::model::DomainName;
use hickory_resolver::TokioResolver;
use hickory_resolver::config::{NameServerConfig, ResolveHosts, ResolverConfig};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::rr::{RData, RecordType};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// How long a resolver has for an answer.
const TIMEOUT: Duration = Duration::from_secs(2);
/// How long it may be believed that there is nothing, without a SOA that says so, seconds.
const NEGATIVE_TTL: u32 = 30;

/// Whom to ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Upstream {
    /// The resolvers of the system, from `/etc/resolv.conf`.
    System,
    /// These.
    Servers(Vec<SocketAddr>),
}

/// The resolvers of the system are not known.
#[derive(Debug, thiserror::Error)]
#[error("the resolvers in /etc/resolv.conf cannot be read")]
pub struct UpstreamError(#[source] Box<NetError>);

impl Upstream {
    /// Something that asks them, and keeps nothing.
    pub(super) fn resolver(&self) -> Result<TokioResolver, UpstreamError> {
        let error = |error| UpstreamError(Box::new(error));
        let mut builder = match self {
            Self::System => TokioResolver::builder_tokio().map_err(error)?,
            Self::Servers(servers) => {
                let servers = servers.iter().map(|address| {
                    let mut server = NameServerConfig::udp_and_tcp(address.ip());
                    for connection in &mut server.connections {
                        connection.port = address.port();
                    }
                    server
                });
                TokioResolver::builder_with_config(
                    ResolverConfig::from_parts(None, Vec::new(), servers.collect()),
                    TokioRuntimeProvider::default(),
                )
            }
        };
        let options = builder.options_mut();
        options.timeout = TIMEOUT;
        options.attempts = 2;
        // Times to live are counted here.
        options.cache_size = 0;
        options.use_hosts_file = ResolveHosts::Never;
        builder.build().map_err(error)
    }
}

/// What came of one family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// These addresses, perhaps none, for so many seconds.
    Known(Vec<IpAddr>, u32),
    /// No answer, or one that says nothing.
    Failed(String),
}

/// What came of both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) v4: Part,
    pub(super) v6: Part,
}

impl Answer {
    /// Why a part of it failed.
    pub(super) fn failure(&self) -> Option<&str> {
        [&self.v4, &self.v6].into_iter().find_map(|part| match part {
            Part::Known(..) => None,
            Part::Failed(why) => Some(&**why),
        })
    }
}

async fn part(resolver: &TokioResolver, name: &DomainName, rtype: RecordType) -> Part {
    match resolver.lookup(name.as_str(), rtype).await {
        Ok(lookup) => {
            let (mut addresses, mut ttl) = (Vec::new(), u32::MAX);
            for record in lookup.answers() {
                // The aliases on the way count too.
                ttl = ttl.min(record.ttl);
                match &record.data {
                    RData::A(a) => addresses.push(IpAddr::V4(a.0)),
                    RData::AAAA(aaaa) => addresses.push(IpAddr::V6(aaaa.0)),
                    _ => {}
                }
            }
            Part::Known(addresses, ttl)
        }
        Err(NetError::Dns(DnsError::NoRecordsFound(none))) => {
            Part::Known(Vec::new(), none.negative_ttl.unwrap_or(NEGATIVE_TTL))
        }
        Err(error) => Part::Failed(error.to_string()),
    }
}

/// Asks for both families.
pub(super) async fn look_up(resolver: &TokioResolver, name: &DomainName) -> Answer {
    let (v4, v6) = tokio::join!(
        part(resolver, name, RecordType::A),
        part(resolver, name, RecordType::AAAA)
    );
    Answer { v4, v6 }
}
