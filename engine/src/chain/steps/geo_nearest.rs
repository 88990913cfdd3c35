//! `geo-nearest`: puts the members in order of their great-circle distance from the client; keeps all. Those without a
//! position come last, in the order they had.

use crate::chain::scratch::Key;
use crate::chain::sink::Sink;
use crate::chain::{Candidate, Reason, Report, Run, Scratch};
use crate::trace::{Detail, StepAction};

pub(super) fn run<S: Sink>(run: &mut Run<'_>, scratch: &mut Scratch, sink: &mut S) -> Report {
    if scratch.set.len() <= 1 {
        return Report::skipped(Reason::NothingToChoose);
    }
    let pool = run.pool;
    let point_of = |candidate: &Candidate| pool.facts(candidate.index)?.point;
    if scratch.set.iter().all(|candidate| point_of(candidate).is_none()) {
        return Report::skipped(Reason::NobodyHas("geo.lat and geo.lon"));
    }
    let Some(here) = run.client.place().and_then(|place| place.point) else {
        return Report::skipped(Reason::NoPlace {
            what: "position",
            database: run.settings.geo.has_place(),
        });
    };
    scratch.keys.clear();
    let mut changed = false;
    let mut unplaced = 0;
    let mut last = f64::INFINITY;
    for (position, candidate) in (0_u16..).zip(&scratch.set) {
        let point = point_of(candidate);
        unplaced += usize::from(point.is_none());
        // Keys are sorted highest first. The square of the chord grows with the distance.
        let value = point.map_or(f64::NEG_INFINITY, |there| -here.chord_squared(there));
        changed |= value > last;
        last = value;
        scratch.keys.push(Key { value, position });
        sink.detail(|| Detail {
            name: format!(
                "distance {}",
                candidate
                    .member(pool)
                    .map(|m| m.stored.endpoint.to_string())
                    .unwrap_or_default()
            ),
            value: point.map_or_else(
                || "unknown".to_owned(),
                |there| format!("{:.0} km", here.distance_km(there)),
            ),
        });
    }
    if changed {
        scratch.sort_by_keys();
    }
    Report::new(StepAction::Reordered, Reason::ByDistance { unplaced, changed })
}
