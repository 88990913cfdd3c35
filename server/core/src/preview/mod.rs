//! What a change to a service would do, told by its recent queries: each is answered once more, as the service is and as it
//! would be, by the code that answers on the wire.

mod tally;

use gslb_api_types::{Preview, PreviewTrace};
use gslb_engine::chain::trace;
use gslb_engine::replay::{PastQuery, Replay};
use gslb_engine::snapshot::{RoutedService, Snapshot};
use std::time::{Duration, Instant};
use tally::{Tally, told};

/// How long queries are answered once more, at most: scripts take milliseconds each.
const LIMIT: Duration = Duration::from_millis(700);
/// Moves that are traced.
const TRACES: usize = 3;

/// Answers each query twice: as the stored service in its snapshot, and as the proposed one in its own. The oldest query comes
/// first in `queries`.
#[must_use]
pub fn compare(
    [snapshot, proposed]: [&Snapshot; 2],
    [stored, service]: [RoutedService<'_>; 2],
    queries: &[PastQuery],
) -> Preview {
    let begun = Instant::now();
    let clock = move || u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let (mut before, mut after) = (Replay::new(snapshot, stored), Replay::new(proposed, service));
    let geo = snapshot.geo();
    let mut tally = Tally::default();
    let mut traces = Vec::new();
    // The newest first, should the time not be enough.
    for (number, query) in (0_u64..).zip(queries.iter().rev()) {
        if begun.elapsed() > LIMIT {
            break;
        }
        let context = query.context(&stored.wire, number);
        let answers = [before.ask(&context, clock), after.ask(&context, clock)];
        let country = geo
            .country(query.network)
            .value
            .map(|country| country.to_string());
        let is_new = tally.add(query, country, [&before, &after], &answers);
        if is_new && traces.len() < TRACES {
            let one =
                |snapshot, replay: &Replay<'_>| trace(snapshot, replay.service(), &context, None, clock);
            let pair = PreviewTrace {
                before: one(snapshot, &before),
                after: one(proposed, &after),
            };
            let [was, is] = answers.each_ref().map(told);
            // A trace takes no turn: of a move that hangs on whose turn it is it would tell another story.
            if was.is_none_or(|was| was == pair.before.answers)
                && is.is_none_or(|is| is == pair.after.answers)
            {
                traces.push(pair);
            }
        }
    }
    let mut preview = tally.finish(queries);
    preview.traces = traces;
    notes(&mut preview, [stored, service], queries.len());
    preview
}

fn notes(preview: &mut Preview, [stored, service]: [RoutedService<'_>; 2], kept: usize) {
    let looked_at = preview.queries as usize;
    if looked_at < kept {
        preview.notes.push(format!(
            "the scripts take so long that only the newest {looked_at} of {kept} queries were looked at"
        ));
    }
    let known = |id| stored.pool.members.iter().any(|member| member.stored.id == id);
    let new = service.pool.members.iter();
    let new = new.filter(|member| service.pool.id == stored.pool.id && !known(member.stored.id));
    match new.count() {
        0 => {}
        1 => preview
            .notes
            .push("the new member is taken for healthy".to_owned()),
        more => preview
            .notes
            .push(format!("the {more} new members are taken for healthy")),
    }
    for (which, service) in [("the stored chain", stored), ("this chain", service)] {
        if service.licence_fallback {
            preview.notes.push(format!(
                "the licence in force does not allow {which}: round-robin answers instead"
            ));
        }
    }
}

#[cfg(test)]
mod tests;
