//! `geo-ip`: keeps the members whose region is the client's country.

use crate::chain::{Reason, Report, Run, Scratch};
use crate::trace::StepAction;

#[inline]
pub(super) fn run(run: &mut Run<'_>, scratch: &mut Scratch) -> Report {
    let before = scratch.set.len();
    if before <= 1 {
        return Report::skipped(Reason::NothingToChoose);
    }
    let Some(country) = run.client.country() else {
        return Report::skipped(Reason::NoCountry {
            database: run.settings.geo.has_country(),
        });
    };
    let pool = run.pool;
    match scratch.narrow(|candidate| pool.hot(candidate.index).country == Some(country)) {
        0 => Report::new(StepAction::Passthrough, Reason::NobodyInCountry(country)),
        kept => Report::new(
            StepAction::Narrowed,
            Reason::InCountry {
                country,
                removed: before - kept,
            },
        ),
    }
}
