//! `shed-load`: leaves members out as their load rises: none up to the low watermark, all from the high one on, and
//! between the two with a chance that grows evenly. A member without watermarks, or without a load that still counts, is
//! kept.

use crate::chain::sink::Sink;
use crate::chain::{Candidate, Reason, Report, Run, Scratch};
use crate::hash::mix;
use crate::trace::{Detail, StepAction};

/// Keeps the draws of this step apart from those of others for the same query.
const SALT: u64 = 0x7368_6564_6c6f_6164;

pub(super) fn run<S: Sink>(run: &Run<'_>, scratch: &mut Scratch, sink: &mut S) -> Report {
    if scratch.set.len() <= 1 {
        return Report::skipped(Reason::NothingToChoose);
    }
    let pool = run.pool;
    // Load and chance of being left out.
    let load_of = |candidate: Candidate| {
        let marks = pool.facts(candidate.index)?.watermarks?;
        let load = candidate.member(pool)?.slot.load(run.ctx.now)?;
        Some((load, marks.chance(load)))
    };
    if scratch.set.iter().all(|candidate| load_of(*candidate).is_none()) {
        return Report::skipped(Reason::NoLoad);
    }
    for candidate in &scratch.set {
        sink.detail(|| Detail {
            name: format!(
                "load {}",
                candidate
                    .member(pool)
                    .map(|m| m.stored.endpoint.to_string())
                    .unwrap_or_default()
            ),
            value: load_of(*candidate).map_or_else(
                || "unknown".to_owned(),
                |(load, chance)| format!("{load}, left out in {:.0} %", 100.0 * chance),
            ),
        });
    }
    let before = scratch.set.len();
    let kept = scratch.narrow(|candidate| {
        load_of(candidate).is_none_or(|(_, chance)| {
            // 53 bits make every step of a double below 1.
            let draw = mix(run.ctx.entropy ^ mix(SALT ^ u64::from(candidate.index))) >> 11;
            draw as f64 / (1_u64 << 53) as f64 >= chance
        })
    });
    match kept {
        0 => Report::new(StepAction::Passthrough, Reason::AllShed),
        kept => Report::new(
            StepAction::Narrowed,
            Reason::Shed {
                removed: before - kept,
            },
        ),
    }
}
