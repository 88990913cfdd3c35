//! `asn`: puts members near the client's autonomous system first; keeps all.

use crate::chain::sink::Sink;
use crate::chain::{Reason, Report, Run, Scratch};
use crate::geo::AsInfo;
use crate::trace::{Detail, StepAction};

/// 0: same AS; 1: same organisation; 2: neither.
#[inline]
fn distance(client: AsInfo, member: AsInfo) -> usize {
    if member.number == client.number {
        0
    } else if client.organisation != 0 && member.organisation == client.organisation {
        1
    } else {
        2
    }
}

pub(super) fn run<S: Sink>(run: &mut Run<'_>, scratch: &mut Scratch, sink: &mut S) -> Report {
    if scratch.set.len() <= 1 {
        return Report::skipped(Reason::NothingToChoose);
    }
    let Some(client) = run.client.asn() else {
        return Report::skipped(Reason::NoAsn {
            database: run.settings.geo.has_asn(),
        });
    };
    let pool = run.pool;
    let mut counts = [0_usize; 3];
    let mut changed = false;
    let mut last = 0;
    for candidate in &scratch.set {
        let Some(member) = candidate.member(pool) else {
            continue;
        };
        let class = distance(client, member.asn);
        if let Some(count) = counts.get_mut(class) {
            *count += 1;
        }
        changed |= class < last;
        last = class;
        sink.detail(|| Detail {
            name: format!("asn {}", member.stored.endpoint),
            value: match member.asn.number {
                0 => "unknown".to_owned(),
                number => format!("AS{number}"),
            },
        });
    }
    let [same, organisation, _] = counts;
    if same + organisation == 0 {
        return Report::skipped(Reason::NobodyNear(client.number));
    }
    if changed {
        scratch.spare.clear();
        for class in 0..counts.len() {
            let of_class = scratch.set.iter().filter(|candidate| {
                candidate
                    .member(pool)
                    .is_some_and(|m| distance(client, m.asn) == class)
            });
            scratch.spare.extend(of_class);
        }
        std::mem::swap(&mut scratch.set, &mut scratch.spare);
    }
    Report::new(
        StepAction::Reordered,
        Reason::ByAsn {
            asn: client.number,
            same,
            organisation,
            changed,
        },
    )
}
