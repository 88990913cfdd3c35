//! Services in a snapshot.

use crate::chain::CompiledStep;
use crate::environment::Environment;
use crate::hash;
use crate::model::{DomainName, Fallback, FilterName, Routing, Service, ServiceId, TenantId};
use crate::script::Place;
use crate::slots::ServiceSlot;
use crate::snapshot::chains::Chains;
use crate::snapshot::pools::RoutedService;
use crate::snapshot::shards::Entry;
use crate::snapshot::zone::CompiledZone;
use std::sync::Arc;

/// A service, tied to its pool and zone. In the order in which queries read it: what they need lies in its first cache
/// lines.
#[derive(Debug, Clone)]
#[repr(C)]
pub struct CompiledService {
    /// What runs.
    pub(crate) steps: Arc<[CompiledStep]>,
    /// Counters.
    pub slot: Arc<ServiceSlot>,
    /// Place of the pool.
    pub(crate) pool: u32,
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
    pub routing: Arc<Routing>,
}

impl CompiledService {
    pub(super) fn new(
        service: &Service,
        wire: Arc<[u8]>,
        pool: u32,
        env: &Environment,
        slot: Arc<ServiceSlot>,
        at_apex: bool,
        chains: &mut Arc<Chains>,
    ) -> Self {
        let licence_fallback = env.tier < service.routing.required_tier();
        let (routing, steps) = Chains::of(chains, &service.routing, || {
            if licence_fallback {
                Box::from([CompiledStep::Builtin(FilterName::RoundRobin)])
            } else {
                CompiledStep::compile(&service.routing, &*env.scripts, Place::Service(service.id))
            }
        });
        if steps.iter().any(CompiledStep::takes_turns) {
            slot.prepare_turns();
        }
        Self {
            id: service.id,
            tenant_id: service.tenant_id,
            name: service.name.as_str().into(),
            domain: service.domain.clone(),
            has_script: CompiledStep::any_script(&steps),
            wire,
            pool,
            routing,
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

    /// TTL of the SOA in a "no answer" reply, seconds: short, so that recovery is seen soon.
    #[must_use]
    pub fn negative_ttl(&self, zone: &CompiledZone) -> u32 {
        zone.negative_ttl().min(self.ttl)
    }
}

impl RoutedService<'_> {
    /// Whether its answer is the name of a member: one CNAME, whatever type is asked for.
    #[must_use]
    #[inline]
    pub fn is_alias(&self) -> bool {
        self.pool.by_name && !self.flatten
    }
}

/// A service by its id.
#[derive(Debug, Clone)]
pub(crate) struct ById(pub(crate) Arc<CompiledService>);

impl ById {
    pub(crate) fn hash_of(id: ServiceId) -> u64 {
        hash::id(id.0)
    }
}

impl Entry for ById {
    fn hash(&self) -> u64 {
        Self::hash_of(self.0.id)
    }
}
