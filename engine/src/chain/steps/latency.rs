//! `latency`: picks at random by round-trip time, members in the client's region favoured.
//!
//! With `r = 1/rtt` and `R` the largest `r`, a candidate's score is `r`, plus `regionBonusMultiplier · R` when it is
//! in the client's region: the bonus is in the unit of the round-trip time, so that it weighs the stated number of
//! times the fastest candidate.

use super::round_robin;
use crate::chain::scratch::Key;
use crate::chain::sink::Sink;
use crate::chain::{Candidate, Reason, Report, Run, Scratch};
use crate::geo::Country;
use crate::hash::below;
use crate::snapshot::{CompiledMember, CompiledPool};
use crate::trace::{Detail, StepAction};

/// Where the client is, as far as regions go.
#[derive(Clone, Copy)]
enum ClientRegion {
    Country(Country),
    Fallback,
    /// No candidate has a region, or it does not count.
    Irrelevant,
}

impl ClientRegion {
    #[inline]
    fn of(run: &mut Run<'_>, scratch: &Scratch) -> Self {
        let pool = run.pool;
        let someone = scratch
            .set
            .iter()
            .any(|c| c.member(pool).is_some_and(|m| !m.stored.region.is_unknown()));
        // What cannot change the answer is not looked at, and so does not narrow the answer's scope.
        if !someone || bonus(run) == 0.0 {
            return Self::Irrelevant;
        }
        run.client.country().map_or(Self::Fallback, Self::Country)
    }

    #[inline]
    fn holds(self, member: &CompiledMember) -> bool {
        match self {
            Self::Country(country) => member.country == Some(country),
            Self::Fallback => member.in_fallback_region,
            Self::Irrelevant => false,
        }
    }
}

#[inline]
fn bonus(run: &Run<'_>) -> f64 {
    let bonus = run.settings.latency.region_bonus_multiplier;
    if bonus.is_finite() { bonus.max(0.0) } else { 0.0 }
}

/// Median of the known times, nanoseconds; 0 without any. Reorders `times`.
fn median(times: &mut [u64]) -> u64 {
    let middle = times.len() / 2;
    if times.is_empty() {
        return 0;
    }
    let even = times.len().is_multiple_of(2);
    let (below, upper, _) = times.select_nth_unstable(middle);
    let upper = *upper;
    match below.iter().max() {
        Some(lower) if even => lower / 2 + upper / 2 + (lower % 2 + upper % 2) / 2,
        _ => upper,
    }
}

pub(super) fn run<S: Sink>(run: &mut Run<'_>, scratch: &mut Scratch, sink: &mut S) -> Report {
    let pool = run.pool;
    let region = if scratch.set.len() > 1 {
        ClientRegion::of(run, scratch)
    } else {
        ClientRegion::Irrelevant
    };
    scratch.keys.clear();
    scratch.times.clear();
    let mut fastest = u64::MAX;
    let mut in_region = 0;
    for (position, candidate) in (0_u16..).zip(&scratch.set) {
        let Some(member) = candidate.member(pool) else {
            continue;
        };
        in_region += usize::from(region.holds(member));
        // Times fit an f64 without loss: 2⁵³ ns are a hundred days.
        let rtt = member.slot.routing_rtt_ns();
        if let Some(rtt) = rtt {
            fastest = fastest.min(rtt);
            scratch.times.push(rtt);
        }
        scratch.keys.push(Key {
            value: rtt.unwrap_or(0) as f64,
            position,
        });
    }
    if scratch.times.is_empty() {
        return without_times::<S>(run, scratch, region, in_region);
    }
    let unmeasured = scratch.set.len() - scratch.times.len();
    let median = if unmeasured > 0 {
        median(&mut scratch.times) as f64
    } else {
        0.0
    };
    let fast = fastest as f64 + run.settings.latency.min_rtt_threshold_ms.max(0.0) * 1e6;
    let best = 1.0 / fastest as f64;
    let extra = bonus(run) * best;
    let mut total = 0.0;
    for key in &mut scratch.keys {
        let rtt = if key.value == 0.0 { median } else { key.value };
        let mut score = if rtt <= fast { best } else { 1.0 / rtt };
        let candidate = scratch.set.get(usize::from(key.position));
        if candidate
            .and_then(|c| c.member(pool))
            .is_some_and(|m| region.holds(m))
        {
            score += extra;
        }
        key.value = score;
        total += score;
    }
    for (key, candidate) in scratch.keys.iter().zip(&scratch.set) {
        if let Some(member) = candidate.member(pool) {
            sink.detail(|| Detail {
                name: format!("share {}", member.stored.endpoint),
                value: format!("{:.1} %", 100.0 * key.value / total),
            });
        }
    }
    if run.one_answer() {
        let position = draw(&scratch.keys, total, run.ctx.entropy);
        run.select(scratch, position);
    } else {
        several(run, scratch);
    }
    Report::new(
        StepAction::Selected,
        Reason::ByLatency {
            in_region,
            unmeasured,
        },
    )
}

/// Position drawn in proportion to the keys' values.
#[inline]
fn draw(keys: &[Key], total: f64, entropy: u64) -> usize {
    // 53 bits make every step of a double below 1.
    let draw = (entropy >> 11) as f64 / (1_u64 << 53) as f64 * total;
    let mut position = 0;
    let mut sum = 0.0;
    for key in keys {
        sum += key.value;
        position += usize::from(sum <= draw);
    }
    // Rounding could put the draw behind the last sum.
    position.min(keys.len().saturating_sub(1))
}

/// Each answer by the scores of those that are left.
#[inline(never)]
fn several(run: &mut Run<'_>, scratch: &mut Scratch) {
    run.select_each(scratch, |scratch, from, bits| {
        let rest = scratch.keys.get(from..)?;
        let position = from + draw(rest, rest.iter().map(|key| key.value).sum(), bits);
        // The scores go along with the candidates.
        if from < scratch.keys.len() && position < scratch.keys.len() {
            scratch.keys.swap(from, position);
        }
        Some(position)
    });
}

/// Nobody has a round-trip time: the region decides alone, else turns do.
fn without_times<S: Sink>(
    run: &mut Run<'_>,
    scratch: &mut Scratch,
    region: ClientRegion,
    in_region: usize,
) -> Report {
    if in_region == 0 {
        round_robin::select::<S>(run, scratch);
        return Report::new(StepAction::Selected, Reason::NoLatency);
    }
    if run.one_answer() {
        let mut skip = below(run.ctx.entropy, in_region as u64);
        let position = nth_in_region(run.pool, &scratch.set, region, &mut skip);
        run.select(scratch, position);
    } else {
        several_in_region(run, scratch, region, in_region);
    }
    Report::new(StepAction::Selected, Reason::RegionOnly(in_region))
}

/// Those in the region first, then the others, each evenly from those that are left.
#[inline(never)]
fn several_in_region(run: &mut Run<'_>, scratch: &mut Scratch, region: ClientRegion, in_region: usize) {
    let pool = run.pool;
    run.select_each(scratch, |scratch, from, bits| {
        let rest = scratch.set.get(from..)?;
        let left = in_region.saturating_sub(from);
        if left == 0 {
            return Some(from + below(bits, rest.len() as u64) as usize);
        }
        let mut skip = below(bits, left as u64);
        Some(from + nth_in_region(pool, rest, region, &mut skip))
    });
}

fn nth_in_region(pool: &CompiledPool, set: &[Candidate], region: ClientRegion, skip: &mut u64) -> usize {
    for (position, candidate) in set.iter().enumerate() {
        if candidate.member(pool).is_some_and(|m| region.holds(m)) {
            if *skip == 0 {
                return position;
            }
            *skip -= 1;
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn the_median_lies_between_the_two_in_the_middle() {
        for (times, wanted) in [
            (&mut [][..], 0),
            (&mut [7], 7),
            (&mut [9, 2, 5], 5),
            (&mut [30, 10], 20),
            (&mut [1, 3, 100, 2], 2),
            (&mut [5, 3], 4),
            (&mut [u64::MAX, u64::MAX], u64::MAX),
        ] {
            assert_eq!(median(times), wanted, "{times:?}");
        }
    }
}
