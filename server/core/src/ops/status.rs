//! What the signal table does at the moment.

use super::{Ops, require};
use crate::error::OpError;
use gslb_api_types::{ListQuery, Page, SignalView, SignalZone, SignalsAt, SignalsView};
use gslb_engine::decision::Outcome;
use gslb_engine::model::{Actor, FilterName, FilterStep, Permission, Routing};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

fn uses_signals(routing: &Routing) -> bool {
    match routing {
        Routing::Algorithm(name) => *name == FilterName::SignalWeight,
        Routing::Chain(steps) => steps.contains(&FilterStep::Builtin(FilterName::SignalWeight)),
    }
}

impl Ops {
    /// One page of the signal tables there have been, newest first.
    ///
    /// # Errors
    /// [`OpError::Forbidden`]; [`OpError::Invalid`] for a bad cursor.
    pub async fn signal_history(&self, actor: &Actor, query: &ListQuery) -> Result<Page<SignalsAt>, OpError> {
        require(actor, Permission::SignalsRead)?;
        Ok(self.parts.store.signal_tables(query).await?)
    }

    /// The signal table: values with their origin, members of the tenant in each zone, services that use it.
    ///
    /// # Errors
    /// [`OpError::Forbidden`].
    pub fn signals(&self, actor: &Actor) -> Result<SignalsView, OpError> {
        require(actor, Permission::SignalsRead)?;
        let settings = self.settings();
        let snapshot = self.parts.snapshot.load_full();
        let mut zones: BTreeMap<String, SignalZone> = BTreeMap::new();
        for (zone, value) in &settings.signals.r#static.0 {
            let view = SignalZone {
                zone: zone.clone(),
                value: Some(*value),
                origin: settings.zone_origin(zone).to_string(),
                members: 0,
            };
            zones.insert(zone.clone(), view);
        }
        for pool in snapshot.pools().filter(|p| p.tenant_id == actor.tenant_id) {
            for member in &pool.members {
                let zone = member.stored.signal_zone().as_str();
                let view = zones.entry(zone.to_owned()).or_insert_with(|| SignalZone {
                    zone: zone.to_owned(),
                    value: None,
                    origin: String::new(),
                    members: 0,
                });
                view.members += 1;
            }
        }
        let mut services: Vec<_> = snapshot
            .services()
            .filter(|s| s.tenant_id == actor.tenant_id && uses_signals(&s.routing))
            .map(|s| SignalView {
                service: s.name.to_string(),
                service_id: s.id,
                queries: Outcome::ALL.iter().map(|outcome| s.slot.queries(*outcome)).sum(),
                steered: s.slot.signal_steered.load(Ordering::Relaxed),
            })
            .collect();
        services.sort_by(|a, b| a.service.cmp(&b.service));
        Ok(SignalsView {
            weight: settings.signals.weight.0,
            zones: zones.into_values().collect(),
            services,
        })
    }
}
