//! What a chain may know about the client, looked up when a step first asks and remembered for the others.
//!
//! It also keeps the ECS scope: every step that reads the client says how many bits its result depended on, and the
//! longest wins (RFC 7871 §7.2.1). A step that leaves the set as it was has read the client all the same.

use crate::geo::{AsInfo, Country, Geo, Located, Place, is_private, prefix_apart_from_private};
use crate::hash;
use crate::query::{ClientSubnet, QueryContext};
use std::net::IpAddr;

/// Bits of a client subnet that geo databases are asked about, at most.
const GEO_BITS: Bits = Bits { v4: 24, v6: 48 };
/// Bits of a client that `sticky` pins.
const STICKY_BITS: Bits = Bits { v4: 24, v6: 64 };

/// A prefix length per family.
#[derive(Clone, Copy)]
struct Bits {
    v4: u8,
    v6: u8,
}

impl Bits {
    fn of(self, ip: IpAddr) -> u8 {
        if ip.is_ipv4() { self.v4 } else { self.v6 }
    }
}

/// The client of one query.
pub(crate) struct Client<'a> {
    /// Transport source.
    source: IpAddr,
    /// The ECS option, when it may be looked at.
    subnet: Option<ClientSubnet>,
    geo: &'a dyn Geo,
    country: Option<Option<Country>>,
    asn: Option<Option<AsInfo>>,
    place: Option<Option<Place>>,
    scope: u8,
    blind: bool,
}

impl<'a> Client<'a> {
    #[inline]
    pub(crate) fn new(ctx: &QueryContext<'_>, geo: &'a dyn Geo) -> Self {
        Self {
            source: ctx.source,
            subnet: ctx.subnet.filter(|subnet| subnet.source > 0),
            geo,
            country: None,
            asn: None,
            place: None,
            scope: 0,
            blind: false,
        }
    }

    /// Longest prefix that any step has needed so far; 0 without a usable ECS option.
    #[inline]
    pub(crate) fn scope(&self) -> u8 {
        self.scope
    }

    /// Whether a look-up of a private effective address found nothing.
    #[inline]
    pub(crate) fn is_blind(&self) -> bool {
        self.blind
    }

    /// The effective client.
    #[inline]
    pub(crate) fn effective(&self) -> IpAddr {
        self.subnet.map_or(self.source, |subnet| subnet.address)
    }

    /// Notes that a step depended on this many bits of the effective client.
    #[inline]
    pub(crate) fn depends_on(&mut self, prefix: u8) {
        if let Some(subnet) = self.subnet {
            self.scope = self.scope.max(prefix.min(subnet.source));
        }
    }

    /// The network that `sticky` pins: /24 or /64, or less when the ECS option says less.
    #[inline]
    pub(crate) fn sticky_network(&mut self) -> IpAddr {
        let ip = self.effective();
        let bits = STICKY_BITS.of(ip);
        self.depends_on(bits);
        hash::network(ip, self.subnet.map_or(bits, |subnet| bits.min(subnet.source)))
    }

    /// Country of the effective client.
    #[inline]
    pub(crate) fn country(&mut self) -> Option<Country> {
        if let Some(known) = self.country {
            return known;
        }
        let found = self.locate(Geo::country);
        self.country = Some(found);
        found
    }

    /// Autonomous system of the effective client.
    pub(crate) fn asn(&mut self) -> Option<AsInfo> {
        if let Some(known) = self.asn {
            return known;
        }
        let found = self.locate(Geo::asn).filter(|info| info.number > 0);
        self.asn = Some(found);
        found
    }

    /// Place of the effective client.
    pub(crate) fn place(&mut self) -> Option<Place> {
        if let Some(known) = self.place {
            return known;
        }
        let found = self.locate(Geo::place);
        self.place = Some(found);
        found
    }

    /// Asks a database about the effective client. A private subnet that it does not know gives way to the transport
    /// source, which a public database may know.
    fn locate<T>(&mut self, ask: impl Fn(&(dyn Geo + 'a), IpAddr) -> Located<T>) -> Option<T> {
        let Some(subnet) = self.subnet else {
            let found = ask(self.geo, self.source).value;
            self.blind |= found.is_none() && is_private(self.source);
            return found;
        };
        let bits = GEO_BITS.of(subnet.address);
        let found = ask(self.geo, hash::network(subnet.address, bits));
        self.depends_on(found.prefix.min(bits));
        if found.value.is_none() {
            let instead = ask(self.geo, self.source).value;
            // Private and public clients of this network differ when the transport source is known: the answer holds for
            // one kind alone, however wide the network in the database is.
            if instead.is_some() {
                self.depends_on(prefix_apart_from_private(subnet.address));
            }
            if is_private(subnet.address) {
                self.blind = true;
                return instead;
            }
        }
        found.value
    }
}
