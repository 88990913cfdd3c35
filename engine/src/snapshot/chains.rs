//! Chains that services share.
//!
//! Of a million services nearly all have one of a few chains. Each chain is there once: what all queries read is in the
//! cache, and a service takes less memory and is made in less time.

use crate::chain::CompiledStep;
use crate::model::{FilterStep, Routing};
use std::collections::HashMap;
use std::sync::Arc;

/// Chains that are kept. Where every service has another one, there is nothing to share.
const MOST: usize = 1024;

/// A routing as it is stored, and its steps.
pub(super) type Chain = (Arc<Routing>, Arc<[CompiledStep]>);

/// The chains, by what is stored.
#[derive(Debug, Clone, Default)]
pub(super) struct Chains(HashMap<Routing, Chain>);

fn has_script(routing: &Routing) -> bool {
    match routing {
        Routing::Algorithm(_) => false,
        Routing::Chain(steps) => steps.iter().any(|step| matches!(step, FilterStep::Script(_))),
    }
}

impl Chains {
    /// The chain of a routing, made by `compile` unless it is there. Scripts belong to their service: those are not shared.
    pub(super) fn of(
        chains: &mut Arc<Self>,
        routing: &Routing,
        compile: impl FnOnce() -> Box<[CompiledStep]>,
    ) -> Chain {
        if let Some(chain) = chains.0.get(routing) {
            return chain.clone();
        }
        let chain = (Arc::new(routing.clone()), compile().into());
        if chains.0.len() < MOST && !has_script(routing) {
            Arc::make_mut(chains).0.insert(routing.clone(), chain.clone());
        }
        chain
    }
}
