//! Services in a snapshot.

use crate::chain::CompiledStep;
use crate::environment::Environment;
use crate::hash::mix;
use crate::model::{DomainName, Fallback, FilterName, Routing, Service, ServiceId, TenantId};
use crate::script::Place;
use crate::slots::ServiceSlot;
use crate::snapshot::pool::CompiledPool;
use crate::snapshot::shards::Entry;
use crate::snapshot::zone::CompiledZone;
use std::sync::Arc;

/// A service, tied to its pool and zone. In the order in which queries read it: what they need lies in its first cache
/// lines.
#[derive(Debug, Clone)]
#[repr(C)]
pub struct CompiledService {
    /// The pool.
    pub pool: Arc<CompiledPool>,
    /// What runs.
    pub(crate) steps: Box<[CompiledStep]>,
    /// Counters.
    pub slot: Arc<ServiceSlot>,
    /// TTL of answers, seconds.
    pub ttl: u32,
    /// Answers with up to this many members.
    pub max_answers: u8,
    /// Of members that are host names the addresses are the answer: so configured, or at a zone's own name, where no
    /// CNAME can be.
    pub flatten: bool,
    /// The stored routing needs a higher tier than the licence gives, so that round-robin runs instead.
    pub licence_fallback: bool,
    /// A script is among the steps.
    pub(crate) has_script: bool,
    /// A disabled service's name is absent: it can be traced, and no query finds it.
    pub enabled: bool,
    /// What to answer without a candidate.
    pub fallback: Fallback,
    /// Id.
    pub id: ServiceId,
    /// Owner.
    pub tenant_id: TenantId,
    /// Name.
    pub name: Box<str>,
    /// The DNS name; may be a wildcard.
    pub domain: DomainName,
    /// The DNS name in lower-case wire form.
    pub wire: Arc<[u8]>,
    /// Routing as stored.
    pub routing: Routing,
}

impl CompiledService {
    pub(crate) fn new(
        service: &Service,
        wire: Arc<[u8]>,
        pool: Arc<CompiledPool>,
        env: &Environment,
        slot: Arc<ServiceSlot>,
        at_apex: bool,
    ) -> Self {
        let licence_fallback = env.tier < service.routing.required_tier();
        let steps = if licence_fallback {
            Box::from([CompiledStep::Builtin(FilterName::RoundRobin)])
        } else {
            CompiledStep::compile(&service.routing, &*env.scripts, Place::Service(service.id))
        };
        Self {
            id: service.id,
            tenant_id: service.tenant_id,
            name: service.name.as_str().into(),
            domain: service.domain.clone(),
            has_script: CompiledStep::any_script(&steps),
            wire,
            pool,
            routing: service.routing.clone(),
            ttl: service.ttl,
            enabled: service.enabled,
            fallback: service.fallback.clone(),
            max_answers: service.max_answers.max(1),
            flatten: service.flatten || at_apex,
            licence_fallback,
            steps,
            slot,
        }
    }

    /// The same service with another state of its pool.
    pub(crate) fn with_pool(&self, pool: Arc<CompiledPool>) -> Self {
        Self { pool, ..self.clone() }
    }

    /// Whether its answer is the name of a member: one CNAME, whatever type is asked for.
    #[must_use]
    #[inline]
    pub fn is_alias(&self) -> bool {
        self.pool.by_name && !self.flatten
    }

    /// TTL of the SOA in a "no answer" reply, seconds: short, so that recovery is seen soon.
    #[must_use]
    pub fn negative_ttl(&self, zone: &CompiledZone) -> u32 {
        zone.negative_ttl().min(self.ttl)
    }
}

/// A service by its id.
#[derive(Debug, Clone)]
pub(crate) struct ById(pub(crate) Arc<CompiledService>);

impl ById {
    pub(crate) fn hash_of(id: ServiceId) -> u64 {
        let (high, low) = id.0.as_u64_pair();
        mix(high ^ mix(low))
    }
}

impl Entry for ById {
    fn hash(&self) -> u64 {
        Self::hash_of(self.0.id)
    }
}
