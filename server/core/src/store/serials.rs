//! Serials of zones: they grow with each change of what a transfer of the zone would hold. The reconciler does the same with
//! its copy of the zones (`reconciler/serials.rs`).

use super::StoreError;
use gslb_engine::model::{Pool, PoolId, Transferred, ZoneId};
use sqlx::sqlite::SqliteConnection;
use std::collections::{BTreeSet, HashSet};

/// Raises the serial of a zone. Its revision stays: nobody has edited the zone.
pub(super) async fn bump_zone(tx: &mut SqliteConnection, zone: ZoneId) -> Result<(), StoreError> {
    sqlx::query(
        "UPDATE zones SET document =
             json_set(document, '$.serial', (json_extract(document, '$.serial') + 1) % 4294967296)
         WHERE id = ?",
    )
    .bind(zone.to_string())
    .execute(tx)
    .await
    .map_err(StoreError::query("raise a zone's serial"))?;
    Ok(())
}

/// Raises the serial of the zone of this name, if there is one.
async fn bump_named(tx: &mut SqliteConnection, name: &str) -> Result<bool, StoreError> {
    let done = sqlx::query(
        "UPDATE zones SET document =
             json_set(document, '$.serial', (json_extract(document, '$.serial') + 1) % 4294967296)
         WHERE name = ?",
    )
    .bind(name)
    .execute(tx)
    .await
    .map_err(StoreError::query("raise a zone's serial"))?;
    Ok(done.rows_affected() > 0)
}

/// The name and those above it, but for the root.
fn upwards(name: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(name), |name| Some(name.split_once('.')?.1))
        .take_while(|name| !name.is_empty())
}

/// The closest zone around a name.
pub(crate) fn closest(name: &str, is_zone: impl Fn(&str) -> bool) -> Option<&str> {
    upwards(name).find(|name| is_zone(name))
}

/// Raises the serial of the closest zone around `domain`.
pub(super) async fn bump_around(tx: &mut SqliteConnection, domain: &str) -> Result<(), StoreError> {
    for name in upwards(domain) {
        if bump_named(tx, name).await? {
            break;
        }
    }
    Ok(())
}

/// Raises the serial of the zone that one of this name lies in.
pub(super) async fn bump_above(tx: &mut SqliteConnection, zone: &str) -> Result<(), StoreError> {
    match zone.split_once('.') {
        Some((_, above)) => bump_around(tx, above).await,
        None => Ok(()),
    }
}

/// Raises the serials of all zones with services of a pool, each once.
pub(super) async fn bump_for_pool(tx: &mut SqliteConnection, pool: PoolId) -> Result<(), StoreError> {
    let domains: Vec<String> = sqlx::query_scalar("SELECT domain FROM services WHERE pool_id = ?")
        .bind(pool.to_string())
        .fetch_all(&mut *tx)
        .await
        .map_err(StoreError::query("read the services of a pool"))?;
    if domains.is_empty() {
        return Ok(());
    }
    let zones: Vec<String> = sqlx::query_scalar("SELECT name FROM zones")
        .fetch_all(&mut *tx)
        .await
        .map_err(StoreError::query("read the names of zones"))?;
    let zones: HashSet<&str> = zones.iter().map(String::as_str).collect();
    let around = |domain| closest(domain, |name| zones.contains(name));
    let touched: BTreeSet<&str> = domains.iter().filter_map(|domain| around(domain)).collect();
    for zone in touched {
        bump_named(tx, zone).await?;
    }
    Ok(())
}

/// Name of a stored zone.
pub(super) async fn name_of_zone(
    tx: &mut SqliteConnection,
    zone: ZoneId,
) -> Result<Option<String>, StoreError> {
    sqlx::query_scalar("SELECT name FROM zones WHERE id = ?")
        .bind(zone.to_string())
        .fetch_optional(tx)
        .await
        .map_err(StoreError::query("read a zone's name"))
}

/// What a transfer holds of a stored pool.
pub(super) async fn transferred_of(
    tx: &mut SqliteConnection,
    pool: PoolId,
) -> Result<Option<Transferred>, StoreError> {
    let document: Option<String> = sqlx::query_scalar("SELECT document FROM pools WHERE id = ?")
        .bind(pool.to_string())
        .fetch_optional(tx)
        .await
        .map_err(StoreError::query("read a pool"))?;
    let Some(document) = document else { return Ok(None) };
    let pool: Pool = serde_json::from_str(&document).map_err(|source| StoreError::Document {
        kind: "pool",
        id: pool.to_string(),
        source,
    })?;
    Ok(Some(pool.transferred()))
}
