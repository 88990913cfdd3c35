//! The audit trail, the health history, and lists in general.

use super::{Ops, require};
use crate::error::OpError;
use crate::store::{Aggregate, AuditFilter, Listing, Row};
use gslb_api_types::{AuditEntry, Event, ListQuery, Page};
use gslb_engine::model::{Actor, ErrorCode, Permission, PoolId, ValidationError};

impl Ops {
    /// One page of the tenant's audit trail, newest first; that of all tenants for who may see them.
    ///
    /// # Errors
    /// [`OpError::Forbidden`]; [`OpError::Invalid`] for a bad cursor.
    pub async fn list_audit(&self, actor: &Actor, filter: &AuditFilter) -> Result<Page<AuditEntry>, OpError> {
        require(actor, Permission::AuditRead)?;
        if filter.all_tenants {
            require(actor, Permission::TenantsRead)?;
        }
        let query = ListQuery {
            limit: filter.limit,
            ..ListQuery::default()
        };
        check_list(&Listing::ORDERED, &query)?;
        Ok(self.parts.store.audit(actor.tenant_id, filter).await?)
    }

    /// Health transitions, newest first: of the whole tenant, or of one pool.
    ///
    /// # Errors
    /// [`OpError::Forbidden`].
    pub async fn history(
        &self,
        actor: &Actor,
        pool: Option<PoolId>,
        limit: u32,
    ) -> Result<Vec<Event>, OpError> {
        require(actor, Permission::EventsRead)?;
        Ok(self
            .parts
            .store
            .history(actor.tenant_id, pool, limit.clamp(1, 500))
            .await?)
    }

    /// One page of the health transitions of a pool's members, newest first.
    ///
    /// # Errors
    /// [`OpError::Forbidden`], [`OpError::NotFound`]; [`OpError::Invalid`] for a bad cursor.
    pub async fn list_events(
        &self,
        actor: &Actor,
        pool: PoolId,
        query: &ListQuery,
    ) -> Result<Page<Event>, OpError> {
        require(actor, Permission::EventsRead)?;
        check_list(&Listing::ORDERED, query)?;
        self.stored_pool(actor, pool).await?;
        Ok(self.parts.store.event_page(actor.tenant_id, pool, query).await?)
    }

    /// One page of a kind of objects; the permission is the caller's business.
    pub(super) async fn page<T: Aggregate>(
        &self,
        actor: &Actor,
        listing: &Listing,
        query: &ListQuery,
    ) -> Result<Page<Row<T>>, OpError> {
        self.page_where(actor, listing, None, query).await
    }

    /// As [`page`](Self::page); of the objects with this value in this column.
    pub(super) async fn page_where<T: Aggregate>(
        &self,
        actor: &Actor,
        listing: &Listing,
        only: Option<(&'static str, String)>,
        query: &ListQuery,
    ) -> Result<Page<Row<T>>, OpError> {
        check_list(listing, query)?;
        let store = &self.parts.store;
        Ok(store
            .list_where(Some(actor.tenant_id), listing, only, query)
            .await?)
    }
}

/// Refuses a part of a list that there cannot be; a cursor is looked at where the list is read.
pub(super) fn check_list(listing: &Listing, query: &ListQuery) -> Result<(), OpError> {
    let mut errors = Vec::new();
    if !listing.can_sort(query.sort.as_deref()) {
        let names = listing.names();
        let message = if names.is_empty() {
            "this list has one order and cannot be sorted".to_owned()
        } else {
            format!("sort by {}, with `-` in front for descending", names.join(" or "))
        };
        errors.push(ValidationError::new("sort", ErrorCode::Unknown, message));
    }
    if query.limit == Some(0) {
        errors.push(ValidationError::new(
            "limit",
            ErrorCode::OutOfRange,
            "0 is not between 1 and 500",
        ));
    }
    if errors.is_empty() {
        Ok(())
    } else {
        Err(OpError::Invalid(errors))
    }
}
