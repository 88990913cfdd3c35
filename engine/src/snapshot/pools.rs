//! The pools of a snapshot.
//!
//! A service knows the place of its pool and not the pool: when a pool changes, the thousands of services that use it stay
//! as they are.

use crate::model::PoolId;
use crate::snapshot::pool::CompiledPool;
use crate::snapshot::rows::Rows;
use crate::snapshot::seats::{Seated, Seats};
use crate::snapshot::service::CompiledService;
use std::ops::Deref;
use std::sync::Arc;
use uuid::Uuid;

impl Seated for Arc<CompiledPool> {
    fn id(&self) -> Uuid {
        self.id.0
    }
}

/// The pools.
#[derive(Debug, Clone)]
pub(crate) struct Pools {
    seats: Seats<Arc<CompiledPool>>,
    /// Number of services by place of their pool.
    users: Rows<u32>,
}

/// A service with its pool as it is in the same snapshot.
#[derive(Debug, Clone, Copy)]
pub struct RoutedService<'a> {
    service: &'a CompiledService,
    /// The pool.
    pub pool: &'a CompiledPool,
}

impl<'a> RoutedService<'a> {
    pub(crate) const fn new(service: &'a CompiledService, pool: &'a CompiledPool) -> Self {
        Self { service, pool }
    }

    /// The service alone, for as long as the snapshot lives.
    #[must_use]
    #[inline]
    pub fn service(self) -> &'a CompiledService {
        self.service
    }
}

impl Deref for RoutedService<'_> {
    type Target = CompiledService;

    #[inline]
    fn deref(&self) -> &CompiledService {
        self.service
    }
}

impl Pools {
    /// None, with room for so many.
    pub(crate) fn for_many(pools: usize) -> Self {
        Self {
            seats: Seats::for_many(pools),
            users: Rows::new(),
        }
    }

    /// A service with its pool.
    #[inline]
    pub(crate) fn route<'a>(&'a self, service: &'a CompiledService) -> Option<RoutedService<'a>> {
        Some(RoutedService {
            service,
            pool: self.seats.at(service.pool)?,
        })
    }

    /// Where a pool is.
    pub(crate) fn place_of(&self, id: PoolId) -> Option<u32> {
        self.seats.place_of(id.0)
    }

    /// A pool.
    pub(crate) fn get(&self, id: PoolId) -> Option<&Arc<CompiledPool>> {
        self.seats.get(id.0)
    }

    /// Every pool.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<CompiledPool>> {
        self.seats.iter().map(|(_, pool)| pool)
    }

    /// Puts a pool in, in the place of the one with its id. Returns the place.
    pub(crate) fn put(&mut self, pool: Arc<CompiledPool>) -> u32 {
        let place = self.seats.put(pool);
        while self.users.len() <= place as usize {
            self.users.push(0);
        }
        place
    }

    /// Takes a pool out that no service uses.
    pub(crate) fn remove(&mut self, id: PoolId) {
        self.seats.remove(id.0);
    }

    /// One service more, or one less, uses the pool at a place.
    pub(crate) fn count_user(&mut self, place: u32, joins: bool) {
        if let Some(users) = self.users.get_mut(place) {
            *users = if joins {
                *users + 1
            } else {
                users.saturating_sub(1)
            };
        }
    }

    /// Services that use the pool at a place.
    pub(crate) fn users(&self, place: u32) -> u32 {
        self.users.get(place).copied().unwrap_or_default()
    }
}
