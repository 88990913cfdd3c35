//! `geo-continent` and `geo-subdivision`: keep the members whose fact names the place where the client is. A member
//! without the fact is nowhere, and left out when another is there.

use crate::chain::{Area, Candidate, Reason, Report, Run, Scratch};
use crate::geo::Place;
use crate::snapshot::Facts;
use crate::trace::StepAction;

pub(super) fn continent(run: &mut Run<'_>, scratch: &mut Scratch) -> Report {
    let (what, fact) = ("continent", "geo.continent");
    by_place(
        run,
        scratch,
        what,
        fact,
        |place| place.continent,
        |facts| facts.continent,
        Area::Continent,
    )
}

pub(super) fn subdivision(run: &mut Run<'_>, scratch: &mut Scratch) -> Report {
    let (what, fact) = ("subdivision", "geo.subdivision");
    by_place(
        run,
        scratch,
        what,
        fact,
        |place| place.subdivision,
        |facts| facts.subdivision,
        Area::Subdivision,
    )
}

#[inline]
fn by_place<T: Copy + PartialEq>(
    run: &mut Run<'_>,
    scratch: &mut Scratch,
    what: &'static str,
    fact: &'static str,
    of_client: impl Fn(Place) -> Option<T>,
    of_member: impl Fn(&Facts) -> Option<T>,
    area: impl Fn(T) -> Area,
) -> Report {
    if scratch.set.len() <= 1 {
        return Report::skipped(Reason::NothingToChoose);
    }
    let pool = run.pool;
    let place_of = |candidate: Candidate| of_member(pool.facts(candidate.index)?);
    // What cannot change the answer is not looked up, and so does not narrow the answer's scope.
    if scratch.set.iter().all(|candidate| place_of(*candidate).is_none()) {
        return Report::skipped(Reason::NobodyHas(fact));
    }
    let Some(here) = run.client.place().and_then(of_client) else {
        return Report::skipped(Reason::NoPlace {
            what,
            database: run.settings.geo.has_place(),
        });
    };
    keep(scratch, area(here), |candidate| place_of(candidate) == Some(here))
}

/// Keeps the candidates in an area, unless nobody is there.
#[inline]
pub(super) fn keep(scratch: &mut Scratch, area: Area, is_there: impl FnMut(Candidate) -> bool) -> Report {
    let before = scratch.set.len();
    match scratch.narrow(is_there) {
        0 => Report::new(StepAction::Passthrough, Reason::NobodyIn(area)),
        kept => Report::new(
            StepAction::Narrowed,
            Reason::In {
                area,
                removed: before - kept,
            },
        ),
    }
}
