//! What is not stored, as it would be in a snapshot: for the tracer, and for the preview of a change.

use super::pool::CompiledPool;
use super::{CompiledService, Settings, Slots, Snapshot};
use crate::environment::{Environment, Signals};
use crate::model::{Pool, Service};
use crate::slots::ServiceSlot;
use std::sync::Arc;

impl Snapshot {
    /// A service that is not stored as it would be in this snapshot, with counters of its own; [`route`](Self::route) says
    /// which pool it then has. `None` when that is not there.
    #[must_use]
    pub fn proposed(&self, service: &Service) -> Option<CompiledService> {
        Some(self.serving(service, self.pools.place_of(service.pool_id)?))
    }

    /// As [`proposed`](Self::proposed), with another pool than the stored one, or other signals. The snapshot that comes
    /// back is the one to evaluate the service in. Members of `pool` that this snapshot has in the pool of that id keep their
    /// health and round-trip times; others begin healthy. Signals reach members through `pool`, which has to be given with
    /// them.
    #[must_use]
    pub fn proposal(
        &self,
        service: &Service,
        pool: Option<&Pool>,
        signals: Option<&Signals>,
    ) -> Option<(Self, CompiledService)> {
        let mut snapshot = self.clone();
        if let Some(signals) = signals {
            let env = Environment {
                signals: signals.clone(),
                ..self.settings.env.clone()
            };
            snapshot.settings = Arc::new(Settings::new(&env));
        }
        let service = match pool {
            None => snapshot.proposed(service)?,
            Some(pool) => {
                let env = &snapshot.settings.env;
                let compiled = CompiledPool::new(pool, env, &mut self.slots_of(pool));
                let place = snapshot.pools.put(Arc::new(compiled));
                snapshot.serving(service, place)
            }
        };
        Some((snapshot, service))
    }

    /// The live state of a pool's members.
    fn slots_of(&self, pool: &Pool) -> Slots {
        let mut slots = Slots::new();
        for member in self.pool(pool.id).into_iter().flat_map(|pool| &pool.members) {
            slots.adopt(&member.slot);
        }
        slots
    }

    /// A service that uses the pool at a place.
    fn serving(&self, service: &Service, pool: u32) -> CompiledService {
        let wire: Arc<[u8]> = service.domain.to_wire().into();
        let at_apex = self.names.is_apex(&wire);
        let slot = Arc::new(ServiceSlot::new(service.id, 0));
        let (env, mut chains) = (&self.settings.env, Arc::clone(&self.chains));
        CompiledService::new(service, wire, pool, env, slot, at_apex, &mut chains)
    }
}
