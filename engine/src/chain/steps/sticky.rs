//! `sticky`: keeps one member, pinned to the client's subnet by weighted rendezvous hashing.
//!
//! Each member gets a number `u` in (0, 1) from the hash of subnet and member address, and the score `-w / ln u`; the
//! highest wins. The winner is a pure function of subnet and candidates: adding or removing a member moves only the
//! clients that win or lose that member, and shares follow the weights.
//!
//! The comparison is done on integers: with `l = -log2 u` (a fixed-point number, always above 0) the highest `w / l`
//! wins, which is the same member. With equal weights that is the largest hash, and no logarithm is needed.

use crate::chain::sink::Sink;
use crate::chain::{Candidate, Reason, Report, Run, Scratch};
use crate::hash;
use crate::model::Rdata;
use crate::snapshot::CompiledPool;
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

/// `-log2(u)` with 48 fraction bits, where `u = hash / 2⁶⁴` and a hash of 0 counts as 1; from 185 to 2⁵⁴.
#[inline]
fn minus_log2(hash: u64) -> u64 {
    let hash = hash.max(1);
    let zeros = hash.leading_zeros();
    let mantissa = hash << zeros;
    let exponent = u64::from(zeros) + 1;
    let index = (mantissa >> (63 - INDEX)) as usize & ((1 << INDEX) - 1);
    let (Some(low), Some(high)) = (LOG2.get(index), LOG2.get(index + 1)) else {
        return 1;
    };
    let between = (mantissa << (1 + INDEX)) >> 32;
    let log = low + ((u128::from(high - low) * u128::from(between)) >> 32) as u64;
    ((exponent << FRACTION) - log).max(1)
}

/// How far a candidate has come in the race: the smallest `log / weight` wins, compared crosswise.
#[derive(Clone, Copy)]
struct Place {
    position: usize,
    log: u64,
    weight: u64,
}

impl Place {
    /// Behind everybody.
    const LAST: Self = Self {
        position: 0,
        log: 1,
        weight: 0,
    };

    #[inline]
    fn products(self, other: Self) -> (u128, u128) {
        (
            u128::from(self.log) * u128::from(other.weight),
            u128::from(other.log) * u128::from(self.weight),
        )
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
    let first_weight = scratch.set.first().map_or(0, |c| pool.hot(c.index).weight);
    let equal = scratch.set.iter().fold(true, |equal, c| {
        equal & (pool.hot(c.index).weight == first_weight)
    });
    for candidate in &scratch.set {
        sink.detail(|| {
            let hot = pool.hot(candidate.index);
            let log = minus_log2(hash::mix(subnet ^ hot.digest)) as f64 / (1_u64 << FRACTION) as f64;
            let weight = if equal { 1.0 } else { f64::from(hot.weight) };
            let address = candidate
                .member(pool)
                .map(|m| m.stored.endpoint.to_string())
                .unwrap_or_default();
            Detail {
                name: format!("score {address}"),
                value: format!("{:.3}", weight / log),
            }
        });
    }
    let position = if equal {
        by_hash(pool, &scratch.set, subnet)
    } else {
        by_weight(pool, &scratch.set, subnet)
    };
    if let Some(winner) = scratch.set.get(position).copied() {
        scratch.set.clear();
        scratch.set.push(winner);
    }
    Report::new(StepAction::Narrowed, Reason::Pinned)
}

/// Equal weights, all 0 too: the largest hash wins.
#[inline]
fn by_hash(pool: &CompiledPool, set: &[Candidate], subnet: u64) -> usize {
    let (mut best, mut winner) = (0, 0);
    let mut tie = false;
    for (position, candidate) in set.iter().enumerate() {
        let hash = hash::mix(subnet ^ pool.hot(candidate.index).digest);
        tie |= hash == best;
        // Two selections instead of a branch that nothing could predict.
        winner = if hash > best { position } else { winner };
        best = best.max(hash);
    }
    if !tie {
        return winner;
    }
    lowest_address(pool, set, |c| {
        hash::mix(subnet ^ pool.hot(c.index).digest) == best
    })
}

/// Different weights; a weight of 0 never wins.
fn by_weight(pool: &CompiledPool, set: &[Candidate], subnet: u64) -> usize {
    let place = |position: usize, candidate: Candidate| {
        let hot = pool.hot(candidate.index);
        Place {
            position,
            log: minus_log2(hash::mix(subnet ^ hot.digest)),
            weight: hot.weight.into(),
        }
    };
    let mut best = Place::LAST;
    let mut tie = false;
    for (position, candidate) in set.iter().enumerate() {
        let place = place(position, *candidate);
        let (mine, theirs) = place.products(best);
        tie |= mine == theirs && place.weight > 0;
        best = if mine < theirs { place } else { best };
    }
    if !tie {
        return best.position;
    }
    lowest_address(pool, set, |candidate| {
        let (mine, theirs) = place(0, candidate).products(best);
        mine == theirs && pool.hot(candidate.index).weight > 0
    })
}

/// Among equals the lowest address wins, whatever the order of members.
fn lowest_address(pool: &CompiledPool, set: &[Candidate], equal: impl Fn(Candidate) -> bool) -> usize {
    let equals = set.iter().enumerate().filter(|(_, candidate)| equal(**candidate));
    let lowest = equals.min_by_key(|(_, candidate)| {
        let member = candidate.member(pool);
        member.map(|member| (member.ip, member.host.as_ref().map(Rdata::as_wire)))
    });
    lowest.map_or(0, |(position, _)| position)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::{NoTrace, Scratch, evaluate};
    use crate::environment::Environment;
    use crate::model::{MemberDraft, Tier};
    use crate::query::{Family, QueryContext};
    use crate::snapshot::Found;
    use crate::testing::{Site, entropy, member, wire};

    fn as_f64(log: u64) -> f64 {
        log as f64 / (1_u64 << FRACTION) as f64
    }

    #[test]
    fn the_logarithm_is_close_and_falls_as_the_hash_rises() {
        for n in 0..20_000 {
            let hash = entropy(n) >> (n % 50);
            let wanted = 64.0 - (hash.max(1) as f64).log2();
            let got = as_f64(minus_log2(hash));
            assert!((got - wanted).abs() < 4e-6, "{hash}: {got} {wanted}");
            assert!(minus_log2(hash) >= minus_log2(hash.saturating_add(1)), "{hash}");
            assert!(
                minus_log2(hash) >= minus_log2(hash.saturating_add(hash >> 9)),
                "{hash}"
            );
        }
        assert_eq!(minus_log2(u64::MAX), 185);
        assert_eq!(minus_log2(0), 64 << FRACTION);
        assert_eq!(minus_log2(1 << 63), 1 << FRACTION);
        assert_eq!(minus_log2(1 << 62), 2 << FRACTION);
    }

    #[test]
    fn table_and_hash_are_pinned() {
        assert_eq!(
            [LOG2[0], LOG2[1], LOG2[128]],
            [0, 1_583_169_853_354, 164_652_306_267_094]
        );
        assert_eq!([LOG2[255], LOG2[256]], [280_681_071_173_261, 1 << 48]);
        let subnet = |ip: &str| hash::subnet(ip.parse().unwrap());
        let digest = |ip: &str| hash::member(ip.parse().unwrap());
        assert_eq!(subnet("198.51.100.0"), 0x2d83_1e36_9cee_afd6);
        assert_eq!(subnet("2001:db8:1:2::"), 0x23c9_51ec_0171_23df);
        assert_eq!(digest("192.0.2.1"), 0x34a2_8965_cebb_a5c3);
        assert_eq!(digest("2001:db8::1"), 0xfa1a_cd4e_7bdd_444d);
        assert_eq!(minus_log2(0x0123_4567_89ab_cdef), 2_199_384_351_257_257);
    }

    /// Members that 16 subnets are pinned to, as the last octet of the address.
    fn pins(weights: [i64; 5]) -> String {
        let members = (1..).zip(weights).map(|(n, weight)| MemberDraft {
            weight: Some(weight),
            ..member(&format!("192.0.2.{n}"), "DE")
        });
        let site =
            Site::new()
                .pool("web", 0, members.collect())
                .chain("www.example.com.", "web", &["sticky"]);
        let env = Environment {
            tier: Tier::Pro,
            ..Environment::default()
        };
        let (snapshot, _slots) = site.compile(&env).unwrap();
        let qname = wire("www.example.com.");
        let Found::Service { service, .. } = snapshot.find(&qname) else {
            panic!("not found")
        };
        let mut scratch = Scratch::new();
        let pin = |n: u8| {
            let source = std::net::IpAddr::from([198, 51, n, 77]);
            let ctx = QueryContext {
                qname: &qname,
                family: Family::V4,
                source,
                subnet: None,
                now: 0,
                entropy: 0,
            };
            evaluate(&snapshot, service, &ctx, &mut scratch, &mut NoTrace);
            scratch.answers()[0].to_string().replace("192.0.2.", "")
        };
        (0..16).map(pin).collect()
    }

    #[test]
    fn pins_are_the_same_on_every_node_and_build() {
        assert_eq!(pins([1, 1, 1, 1, 1]), "1242345341144341");
        assert_eq!(pins([7, 7, 7, 7, 7]), pins([1, 1, 1, 1, 1]));
        assert_eq!(pins([0, 0, 0, 0, 0]), pins([1, 1, 1, 1, 1]));
        assert_eq!(pins([1, 2, 3, 4, 0]), "4242344341244444");
        assert_eq!(pins([2, 4, 6, 8, 0]), pins([1, 2, 3, 4, 0]));
    }

    /// Of each of 64 subnets, the member that it is pinned to.
    fn pinned(members: &[(&str, i64)]) -> Vec<String> {
        let drafts = members.iter().map(|(ip, weight)| MemberDraft {
            weight: Some(*weight),
            ..member(ip, "DE")
        });
        let site = Site::new()
            .pool("web", 0, drafts.collect())
            .chain("www.example.com.", "web", &["sticky"]);
        let env = Environment {
            tier: Tier::Pro,
            ..Environment::default()
        };
        let (snapshot, _slots) = site.compile(&env).unwrap();
        let service = snapshot.services().next().unwrap();
        let mut scratch = Scratch::new();
        let pin = |n: u8| {
            let ctx = QueryContext {
                qname: b"",
                family: Family::V6,
                source: [198, 51, n, 77].into(),
                subnet: None,
                now: 0,
                entropy: 0,
            };
            evaluate(&snapshot, service, &ctx, &mut scratch, &mut NoTrace);
            scratch.answers()[0].to_string()
        };
        (0..64).map(pin).collect()
    }

    #[test]
    fn ties_go_by_address_in_whatever_order() {
        // Two addresses with one hash: the second is worked out from the first.
        let (low, high, other) = ("2001:db8::1", "2001:db8:0:1:34c9:8fc2:a69a:1733", "2001:db8::2");
        assert_eq!(
            hash::member(low.parse().unwrap()),
            hash::member(high.parse().unwrap())
        );
        // Equal weights, weights that differ, and a third member that is sometimes ahead of both.
        for (weight, third) in [(1, 1), (3, 2), (2, 3), (1, 0), (0, 0)] {
            let orders = [
                [(low, weight), (high, weight), (other, third)],
                [(high, weight), (low, weight), (other, third)],
                [(other, third), (high, weight), (low, weight)],
            ];
            let pins = orders.map(|members| pinned(&members));
            assert_eq!((&pins[0], &pins[0]), (&pins[1], &pins[2]));
            assert!(pins[0].iter().any(|pin| pin == low));
            assert!(pins[0].iter().all(|pin| pin != high), "{weight} {third}");
        }
        // With more weight there is no tie.
        assert!(pinned(&[(low, 1), (high, 2)]).iter().all(|pin| pin == high));
    }
}
