//! The health check of a pool.

use super::{Expected, Ops, patch, require, rules};
use crate::draft::Proposal;
use crate::error::{OpError, Written};
use gslb_api_types::Stored;
use gslb_engine::model::{Actor, HealthCheck, HealthCheckDraft, Permission, PoolDraft, PoolId};

impl Ops {
    /// The health check of a pool, with the pool's revision; `None` when its members are not checked.
    ///
    /// # Errors
    /// [`OpError::Forbidden`], [`OpError::NotFound`].
    pub async fn get_health_check(
        &self,
        actor: &Actor,
        pool: PoolId,
    ) -> Result<Stored<Option<HealthCheck>>, OpError> {
        let stored = self.get_pool(actor, pool).await?;
        Ok(Stored {
            value: stored.value.health_check,
            revision: stored.revision,
            warnings: Vec::new(),
        })
    }

    /// Sets or replaces the health check of a pool.
    ///
    /// # Errors
    /// [`OpError::Invalid`] with every problem, by field of the check; [`OpError::NotFound`], [`OpError::Stale`].
    pub async fn put_health_check(
        &self,
        actor: &Actor,
        pool: PoolId,
        expected: impl Into<Expected>,
        draft: impl Into<Proposal<HealthCheckDraft>>,
    ) -> Result<Written<HealthCheck>, OpError> {
        require(actor, Permission::PoolsWrite)?;
        let draft = draft.into();
        let check = checked(&draft)?;
        let (guard, stored) = self.pool_to_change(actor, pool, expected).await?;
        let whole = PoolDraft {
            health_check: Some(draft.draft),
            ..PoolDraft::from(&stored.value)
        };
        let Written {
            revision, warnings, ..
        } = self.write_pool(guard, actor, stored, (&whole).into()).await?;
        Ok(Written {
            value: check,
            revision,
            warnings,
        })
    }

    /// Changes some fields of the health check of a pool (RFC 7396); a pool without one gets it.
    ///
    /// # Errors
    /// As for [`put_health_check`](Self::put_health_check).
    pub async fn patch_health_check(
        &self,
        actor: &Actor,
        pool: PoolId,
        expected: impl Into<Expected>,
        patch: &serde_json::Value,
    ) -> Result<Written<HealthCheck>, OpError> {
        require(actor, Permission::PoolsWrite)?;
        let (guard, stored) = self.pool_to_change(actor, pool, expected).await?;
        let mut whole = PoolDraft::from(&stored.value);
        let mut draft = patch::apply(&whole.health_check.take().unwrap_or_default(), patch)?;
        rules::follow_type(&mut draft.draft, patch);
        let check = checked(&draft)?;
        whole.health_check = Some(draft.draft);
        let Written {
            revision, warnings, ..
        } = self.write_pool(guard, actor, stored, (&whole).into()).await?;
        Ok(Written {
            value: check,
            revision,
            warnings,
        })
    }

    /// Removes the health check of a pool: its members count as healthy from then on.
    ///
    /// # Errors
    /// [`OpError::Forbidden`], [`OpError::Stale`]; [`OpError::NotFound`] also when there is no check.
    pub async fn delete_health_check(
        &self,
        actor: &Actor,
        pool: PoolId,
        expected: impl Into<Expected>,
    ) -> Result<(), OpError> {
        require(actor, Permission::PoolsWrite)?;
        let (guard, stored) = self.pool_to_change(actor, pool, expected).await?;
        if stored.value.health_check.is_none() {
            return Err(OpError::not_found("health check of pool", pool));
        }
        let draft = PoolDraft {
            health_check: None,
            ..PoolDraft::from(&stored.value)
        };
        self.write_pool(guard, actor, stored, (&draft).into()).await?;
        Ok(())
    }
}

fn checked(draft: &Proposal<HealthCheckDraft>) -> Result<HealthCheck, OpError> {
    let rules = rules::check(&draft.draft);
    draft
        .checked(draft.draft.validate(), rules)
        .map_err(OpError::Invalid)
}
