//! What a query brings: the client and the values that the engine does not fetch itself.

use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// Address family asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum Family {
    /// A.
    #[serde(rename = "A")]
    V4,
    /// AAAA.
    #[serde(rename = "AAAA")]
    V6,
}

impl Family {
    /// Whether an address is of this family.
    #[must_use]
    pub fn matches(self, ip: IpAddr) -> bool {
        matches!((self, ip), (Self::V4, IpAddr::V4(_)) | (Self::V6, IpAddr::V6(_)))
    }
}

/// The client subnet of an EDNS Client Subnet option (RFC 7871 §6), checked: no bits set past `source`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClientSubnet {
    /// Network address, zero past `source` bits.
    pub address: IpAddr,
    /// SOURCE PREFIX-LENGTH, at most 32 or 128. 0: the client must not be looked at.
    pub source: u8,
}

/// One query to a service, as the engine sees it.
#[derive(Debug, Clone, Copy)]
pub struct QueryContext<'a> {
    /// The name asked for, lower case, uncompressed wire form.
    pub qname: &'a [u8],
    /// Address family asked for.
    pub family: Family,
    /// Transport source: the resolver.
    pub source: IpAddr,
    /// The usable ECS option, if the query carried one.
    pub subnet: Option<ClientSubnet>,
    /// Unix time, seconds.
    pub now: u64,
    /// Random bits for this query; the same bits give the same decision.
    pub entropy: u64,
}

impl QueryContext<'_> {
    /// The effective client: the ECS subnet when the query carries a usable one (source > 0), else the transport
    /// source.
    #[must_use]
    pub fn client(&self) -> IpAddr {
        match self.subnet {
            Some(subnet) if subnet.source > 0 => subnet.address,
            _ => self.source,
        }
    }
}
