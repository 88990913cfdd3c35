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

#[cfg(test)]
mod tests {
    use crate::chain::{NoTrace, Scratch, evaluate};
    use crate::environment::{Environment, Signals};
    use crate::model::Tier;
    use crate::query::{Family, QueryContext};
    use crate::testing::{Site, member};
    use std::sync::atomic::Ordering;

    /// Queries counted as steered, of three.
    fn steered(chain: &[&str], weight: f64) -> u64 {
        let members = vec![member("10.0.0.1", "a"), member("10.0.0.2", "b")];
        let site = Site::new()
            .pool("web", 0, members)
            .chain("www.example.com.", "web", chain);
        let env = Environment {
            signals: Signals {
                zones: [("a".into(), 2.0), ("b".into(), 1.0)].into(),
                weight,
            },
            tier: Tier::Pro,
            ..Environment::default()
        };
        let (snapshot, _slots) = site.compile(&env).unwrap();
        let service = snapshot.services().next().unwrap();
        let mut scratch = Scratch::new();
        for entropy in 0..3 {
            let ctx = QueryContext {
                qname: b"",
                family: Family::V4,
                source: [192, 0, 2, 1].into(),
                subnet: None,
                now: 0,
                entropy,
            };
            let decision = evaluate(&snapshot, service, &ctx, &mut scratch, &mut NoTrace);
            service.count(&decision, &scratch);
        }
        service.slot.signal_steered.load(Ordering::Relaxed)
    }

    #[test]
    fn queries_are_counted_whose_first_candidate_changed() {
        assert_eq!(steered(&["signal-weight"], 0.5), 3);
        // The second time the order is that already; it was steered all the same.
        assert_eq!(steered(&["signal-weight", "signal-weight"], 0.5), 3);
        assert_eq!(steered(&["signal-weight"], 0.0), 0);
        assert_eq!(steered(&["failover"], 0.5), 0);
    }
}
