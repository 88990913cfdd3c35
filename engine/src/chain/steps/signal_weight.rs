//! `signal-weight`: prefers members in zones with a lower signal (carbon, cost), blended with health; keeps all.

use crate::chain::scratch::Key;
use crate::chain::sink::Sink;
use crate::chain::{Reason, Report, Run, Scratch};
use crate::trace::{Detail, StepAction};

pub(super) fn run<S: Sink>(run: &mut Run<'_>, scratch: &mut Scratch, sink: &mut S) -> Report {
    if scratch.set.len() <= 1 {
        return Report::skipped(Reason::NothingToChoose);
    }
    let weight = run.settings.signal_weight;
    if weight == 0.0 {
        return Report::skipped(Reason::SignalsOff);
    }
    let pool = run.pool;
    let (mut min, mut max) = (f64::INFINITY, f64::NEG_INFINITY);
    for value in scratch
        .set
        .iter()
        .filter_map(|candidate| candidate.member(pool)?.signal)
    {
        min = min.min(value);
        max = max.max(value);
    }
    if min > max {
        return Report::skipped(Reason::NoSignal);
    }
    let span = max - min;
    if span == 0.0 {
        return Report::skipped(Reason::SignalsEqual);
    }
    sink.detail(|| Detail {
        name: "weight".to_owned(),
        value: weight.to_string(),
    });
    scratch.keys.clear();
    let mut changed = false;
    let mut last = f64::INFINITY;
    for (position, candidate) in (0_u16..).zip(&scratch.set) {
        let score = f64::from(candidate.score);
        let member = candidate.member(pool);
        let value = match member.and_then(|member| member.signal) {
            Some(signal) => score * (1.0 - weight) + (max - signal) / span * weight,
            None => score,
        };
        changed |= value > last;
        last = value;
        scratch.keys.push(Key { value, position });
        if let Some(member) = member {
            sink.detail(|| Detail {
                name: format!("zone {}", member.stored.signal_zone()),
                value: member
                    .signal
                    .map_or_else(|| "no value".to_owned(), |signal| signal.to_string()),
            });
            sink.detail(|| Detail {
                name: format!("score {}", member.stored.endpoint),
                value: format!("{value:.3}"),
            });
        }
    }
    let mut steered = false;
    if changed {
        let first = scratch.set.first().copied();
        scratch.sort_by_keys();
        steered = scratch.set.first().copied() != first;
        run.steered |= steered;
    }
    Report::new(StepAction::Reordered, Reason::BySignal { steered, changed })
}
