//! `sticky`: keeps one member, pinned to the client's subnet by weighted rendezvous hashing.
//!
//! Each member gets a number `u` in (0, 1) from the hash of subnet and member address, and the score `-w / ln u`; the
//! highest wins. The winner is a pure function of subnet and candidates: adding or removing a member moves only the
//! clients that win or lose that member, and shares follow the weights.
//!
//! The comparison is done on integers: with `l = -log2 u` (a fixed-point number, always above 0) the highest `w / l`
//! wins, which is the same member. With equal weights that is the largest hash, and no logarithm is needed.

use crate::chain::sink::Sink;
use crate::chain::{Reason, Report, Run, Scratch};
use crate::hash;
use crate::snapshot::CompiledMember;
use crate::trace::{Detail, StepAction};

/// Fraction bits of the logarithm.
const FRACTION: u32 = 48;
/// Bits of the mantissa that index the table; between two entries the logarithm is taken as a straight line.
const INDEX: u32 = 8;
/// `log2(1 + i/256)` for i in 0..=256.
static LOG2: [u64; (1 << INDEX) + 1] = log2_table();

/// `log2` of a number in [1, 2) with 62 fraction bits, bit by bit: squaring doubles the logarithm.
const fn log2_bits(mut mantissa: u64) -> u64 {
    let mut result = 0;
    let mut bit = FRACTION;
    while bit > 0 {
        bit -= 1;
        let square = (mantissa as u128 * mantissa as u128) >> 62;
        if square >= 1 << 63 {
            result |= 1 << bit;
            mantissa = (square >> 1) as u64;
        } else {
            mantissa = square as u64;
        }
    }
    result
}

#[expect(
    clippy::indexing_slicing,
    reason = "evaluated at compile time, where a wrong index is a build error"
)]
const fn log2_table() -> [u64; (1 << INDEX) + 1] {
    let mut table = [0; (1 << INDEX) + 1];
    let mut i = 0;
    while i < 1 << INDEX {
        table[i] = log2_bits((1 << 62) + ((i as u64) << (62 - INDEX)));
        i += 1;
    }
    table[1 << INDEX] = 1 << FRACTION;
    table
}

/// `-log2(u)` with 48 fraction bits, where `u = (hash + ½) / 2⁶⁴`; from 1 to about 2⁵⁴.
fn minus_log2(hash: u64) -> u64 {
    // 2·hash + 1 has 65 bits; its lowest bit decides nothing but the logarithm of hash 0.
    let zeros = hash.leading_zeros();
    let mantissa = if zeros >= 63 { 1 << 63 } else { hash << zeros };
    let exponent = u64::from(zeros) + 1;
    let index = (mantissa >> (63 - INDEX)) as usize & ((1 << INDEX) - 1);
    let (Some(low), Some(high)) = (LOG2.get(index), LOG2.get(index + 1)) else {
        return 1;
    };
    let between = (mantissa << (1 + INDEX)) >> 32;
    let log = low + ((u128::from(high - low) * u128::from(between)) >> 32) as u64;
    ((exponent << FRACTION) - log).max(1)
}

/// A member in the race.
struct Runner<'a> {
    member: &'a CompiledMember,
    position: usize,
    hash: u64,
    /// `-log2 u` and the weight it is divided by.
    log: u64,
    weight: u64,
}

impl Runner<'_> {
    /// Whether this one beats another: the smaller `log / weight`, compared crosswise; ties by address.
    fn beats(&self, other: &Self) -> bool {
        let mine = u128::from(self.log) * u128::from(other.weight);
        let theirs = u128::from(other.log) * u128::from(self.weight);
        (mine, other.hash, self.member.ip) < (theirs, self.hash, other.member.ip)
    }
}

pub(super) fn run<S: Sink>(run: &mut Run<'_>, scratch: &mut Scratch, sink: &mut S) -> Report {
    if scratch.set.len() <= 1 {
        return Report::skipped(Reason::NothingToChoose);
    }
    let network = run.client.sticky_network();
    sink.detail(|| Detail {
        name: "subnet".to_owned(),
        value: network.to_string(),
    });
    let subnet = hash::subnet(network);
    let pool = run.pool;

    let mut first_weight = None;
    let (mut equal, mut all_zero) = (true, true);
    for candidate in &scratch.set {
        let Some(member) = candidate.member(pool) else {
            continue;
        };
        let weight = member.stored.weight;
        equal &= *first_weight.get_or_insert(weight) == weight;
        all_zero &= weight == 0;
    }
    let mut best: Option<Runner<'_>> = None;
    for (position, candidate) in scratch.set.iter().enumerate() {
        let Some(member) = candidate.member(pool) else {
            continue;
        };
        // All 0 is even; one 0 among others never wins.
        let weight = if equal || all_zero {
            1
        } else {
            u64::from(member.stored.weight)
        };
        if weight == 0 {
            continue;
        }
        let hash = hash::mix(subnet ^ member.digest);
        let log = if equal { u64::MAX - hash } else { minus_log2(hash) };
        let runner = Runner {
            member,
            position,
            hash,
            log,
            weight,
        };
        sink.detail(|| Detail {
            name: format!("score {}", member.stored.endpoint),
            value: format!(
                "{:.3}",
                weight as f64 / (minus_log2(hash) as f64 / (1_u64 << FRACTION) as f64)
            ),
        });
        if best.as_ref().is_none_or(|best| runner.beats(best)) {
            best = Some(runner);
        }
    }
    if let Some(position) = best.map(|best| best.position)
        && let Some(winner) = scratch.set.get(position).copied()
    {
        scratch.set.clear();
        scratch.set.push(winner);
    }
    Report::new(StepAction::Narrowed, Reason::Pinned)
}
