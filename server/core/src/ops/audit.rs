//! The audit trail, the health history, and lists in general.

use super::{Ops, require};
use crate::error::OpError;
use crate::store::{Aggregate, AuditFilter, Listing, Row};
use gslb_api_types::{AuditEntry, Event, ListQuery, Page};
use gslb_engine::model::{Actor, ErrorCode, Permission, PoolId};

impl Ops {
    /// One page of the tenant's audit trail, newest first.
    ///
    /// # Errors
    /// [`OpError::Forbidden`]; [`OpError::Invalid`] for a bad cursor.
    pub async fn list_audit(&self, actor: &Actor, filter: &AuditFilter) -> Result<Page<AuditEntry>, OpError> {
        require(actor, Permission::AuditRead)?;
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

    /// One page of a kind of objects; the permission is the caller's business.
    pub(super) async fn page<T: Aggregate>(
        &self,
        actor: &Actor,
        listing: &Listing,
        query: &ListQuery,
    ) -> Result<Page<Row<T>>, OpError> {
        if !listing.can_sort(query.sort.as_deref()) {
            return Err(OpError::invalid(
                "sort",
                ErrorCode::Unknown,
                format!(
                    "sort by {}, with `-` in front for descending",
                    listing.names().join(" or ")
                ),
            ));
        }
        if query.limit == Some(0) {
            return Err(OpError::invalid(
                "limit",
                ErrorCode::OutOfRange,
                "0 is not between 1 and 500",
            ));
        }
        Ok(self.parts.store.list(actor.tenant_id, listing, query).await?)
    }
}
