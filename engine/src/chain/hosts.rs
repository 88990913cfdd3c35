//! Members that are host names: who is a candidate for the addresses behind them, and what the answer is.
//!
//! Without `flatten` the name is the answer, and a member can be a candidate whatever the family asked for, unless a
//! resolver has said that the name leads nowhere. With it the addresses are: a member without one of the family is no
//! candidate.

use super::{Candidate, Run, Scratch};
use crate::decision::Outcome;
use crate::hash::below;
use crate::query::Family;
use crate::snapshot::CompiledPool;

/// Whether a candidate has addresses of the family just now.
fn has_addresses(pool: &CompiledPool, candidate: Candidate, family: Family) -> bool {
    let addresses = candidate.member(pool).map(|member| member.slot.addresses());
    addresses.is_some_and(|known| known.as_ref().is_some_and(|known| !known.of(family).is_empty()))
}

/// Whether it is known that the name of a candidate has no addresses. That nobody has asked yet, or got no answer, says
/// nothing: clients have resolvers of their own.
fn leads_nowhere(pool: &CompiledPool, candidate: Candidate) -> bool {
    let addresses = candidate.member(pool).map(|member| member.slot.addresses());
    addresses.is_some_and(|known| known.as_ref().is_some_and(|known| known.leads_nowhere()))
}

/// Takes members out that have nothing to answer with.
#[inline(never)]
pub(super) fn retain(run: &Run<'_>, scratch: &mut Scratch) {
    let (pool, family) = (run.pool, run.ctx.family);
    if run.service.flatten {
        scratch
            .set
            .retain(|candidate| has_addresses(pool, *candidate, family));
    } else {
        scratch.set.retain(|candidate| !leads_nowhere(pool, *candidate));
    }
}

/// Why there is no candidate: a name that has addresses, but none of the family, is no failure.
pub(super) fn nobody(run: &Run<'_>) -> Outcome {
    let members = run.pool.members.iter().filter(|member| member.stored.enabled);
    let mut known = members.filter_map(|member| member.slot.addresses().as_ref().map(|a| a.all().len()));
    let other_family = run.service.flatten && known.any(|count| count > 0) && {
        let all = &run.pool.family(run.ctx.family).enabled;
        !all.iter().any(|index| {
            let candidate = Candidate {
                index: *index,
                score: 0.0,
            };
            has_addresses(run.pool, candidate, run.ctx.family)
        })
    };
    if other_family {
        Outcome::NoSuchFamily
    } else {
        Outcome::NoCandidate
    }
}

/// Makes the answer of the first candidate: its name, or its addresses, as many as there may be.
#[inline(never)]
pub(super) fn answer(run: &mut Run<'_>, scratch: &mut Scratch) {
    scratch.choose(1);
    if !run.service.flatten {
        return;
    }
    let member = scratch.set.first().and_then(|first| first.member(run.pool));
    let Some(member) = member else { return };
    let known = member.slot.addresses();
    let Some(known) = known.as_ref() else { return };
    run.ttl = run.ttl.min(known.ttl());
    let (addresses, most) = (known.of(run.ctx.family), usize::from(run.answers));
    // Where not all have room, chance says where to begin, so that each has its share. Other bits of it than the steps use.
    let first = if addresses.len() > most {
        usize::try_from(below(run.ctx.entropy.rotate_left(17), addresses.len() as u64)).unwrap_or_default()
    } else {
        0
    };
    let (before, from) = addresses.split_at_checked(first).unwrap_or((&[], addresses));
    scratch.answer_with(from.iter().chain(before).take(most).copied());
}
