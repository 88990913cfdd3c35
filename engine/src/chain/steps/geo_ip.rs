//! `geo-ip`: keeps the members whose region, or one of whose `geo.country`, is the client's country.

use super::geo_area;
use crate::chain::{Area, Reason, Report, Run, Scratch};

#[inline]
pub(super) fn run(run: &mut Run<'_>, scratch: &mut Scratch) -> Report {
    if scratch.set.len() <= 1 {
        return Report::skipped(Reason::NothingToChoose);
    }
    let Some(country) = run.client.country() else {
        return Report::skipped(Reason::NoCountry {
            database: run.settings.geo.has_country(),
        });
    };
    let pool = run.pool;
    geo_area::keep(scratch, Area::Country(country), |candidate| {
        pool.is_in(candidate.index, country)
    })
}
