//! Looking up many names at once.
//!
//! Of thousands of services each query reads another, so that nearly all it reads is far away, and one thing leads to the
//! next: name, service, pool, members. One query after the other waits for each of them; many that take the same step
//! together wait only once, because the processor fetches for all of them at the same time. The functions here take one
//! such step each, and read for nothing but to have in the cache what [`evaluate`](crate::chain::evaluate) reads later.

use crate::chain::CompiledStep;
use crate::model::FilterName;
use crate::snapshot::{CompiledService, CompiledZone, Snapshot};
use std::net::IpAddr;

impl Snapshot {
    /// Hash of a name in lower-case uncompressed wire form, for [`service_at`](Self::service_at).
    #[must_use]
    pub fn hash_of(&self, qname: &[u8]) -> u64 {
        self.names.hash(qname)
    }

    /// The step before [`service_at`](Self::service_at). The result means nothing, but has to be used.
    #[must_use]
    #[inline]
    pub fn approach(&self, hash: u64) -> u64 {
        self.names.approach(hash) as u64
    }

    /// The service that answers a name, by the name itself or by a wildcard, with its zone: as [`find`](Self::find) finds it.
    #[must_use]
    #[inline]
    pub fn service_at(&self, qname: &[u8], hash: u64) -> Option<(&CompiledService, &CompiledZone)> {
        self.names.service(&self.pools, qname, hash)
    }
}

impl Snapshot {
    /// The step before a service looks for the country of a client, if it will. The result means nothing, but has to be used.
    #[must_use]
    #[inline]
    pub fn approach_client(&self, service: &CompiledService, client: IpAddr) -> u64 {
        if service.begins_with_country() {
            self.settings.geo.approach_country(client)
        } else {
            0
        }
    }
}

impl CompiledService {
    /// Whether a query reads the client's country, unless an earlier step decides.
    fn begins_with_country(&self) -> bool {
        let country = |step: &CompiledStep| matches!(step, CompiledStep::Builtin(FilterName::GeoIp));
        self.steps.iter().take(2).any(country)
    }
}

impl Snapshot {
    /// The step after [`service_at`](Self::service_at). The result means nothing, but has to be used.
    #[must_use]
    #[inline]
    pub fn approach_pool(&self, service: &CompiledService) -> u64 {
        let pool = self.route(service).map_or(0, |service| service.pool.approach());
        pool ^ service.steps.len() as u64
    }

    /// The step after [`approach_pool`](Self::approach_pool). The result means nothing, but has to be used.
    #[must_use]
    #[inline]
    pub fn approach_members(&self, service: &CompiledService) -> u64 {
        let first = u64::from(matches!(service.steps.first(), Some(step) if step.is_builtin()));
        let members = self
            .route(service)
            .map_or(0, |service| service.pool.approach_members());
        members ^ service.slot.approach() ^ first
    }
}
