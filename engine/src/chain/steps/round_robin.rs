//! `round-robin`: takes the candidates in turns, in member order. Of several answers the first is the one whose turn it is,
//! and the others are those whose turn is next.

use crate::chain::sink::Sink;
use crate::chain::{Reason, Report, Run, Scratch};
use crate::hash::mix;
use crate::model::MAX_MEMBERS;
use crate::query::Family;
use crate::trace::StepAction;

/// A set of members as bits: its hash names the counter, and counting its bits finds a candidate in member order
/// without sorting.
const WORDS: usize = MAX_MEMBERS.div_ceil(64);

pub(super) fn run<S: Sink>(run: &Run<'_>, scratch: &mut Scratch) -> Report {
    let turn = select::<S>(run, scratch);
    let of = scratch.set.len() as u64;
    Report::new(StepAction::Selected, Reason::Turn { turn: turn + 1, of })
}

/// Puts whose turn it is first; the number of that turn from 0.
pub(super) fn select<S: Sink>(run: &Run<'_>, scratch: &mut Scratch) -> u64 {
    let (position, turn) = pick::<S>(run, scratch);
    if run.one_answer() {
        run.select(scratch, position);
    } else {
        rotate(scratch, turn as usize);
    }
    turn
}

#[inline(never)]
fn rotate(scratch: &mut Scratch, turn: usize) {
    scratch.set.sort_unstable_by_key(|candidate| candidate.index);
    let turn = turn.min(scratch.set.len());
    scratch.set.rotate_left(turn);
}

/// Position of the candidate whose turn it is, and the number of that turn from 0.
fn pick<S: Sink>(run: &Run<'_>, scratch: &Scratch) -> (usize, u64) {
    let family = match run.ctx.family {
        Family::V4 => 4,
        Family::V6 => 6,
    };
    let count = scratch.set.len() as u64;
    let seed = run.pool.digest ^ family;
    if run.pool.members.len() <= 64 {
        let mut members = 0_u64;
        let mut in_order = true;
        for candidate in &scratch.set {
            let bit = 1 << (candidate.index & 63);
            in_order &= bit > members;
            members |= bit;
        }
        let turn = ticket::<S>(run, mix(seed ^ mix(members)), count);
        if in_order {
            return (turn as usize, turn);
        }
        let mut rest = members;
        for _ in 0..turn {
            rest &= rest.wrapping_sub(1);
        }
        return (position_of(scratch, rest.trailing_zeros() as usize), turn);
    }
    let mut members = [0_u64; WORDS];
    for candidate in &scratch.set {
        if let Some(word) = members.get_mut(usize::from(candidate.index >> 6)) {
            *word |= 1 << (candidate.index & 63);
        }
    }
    let set = members.iter().fold(seed, |hash, word| mix(hash ^ mix(*word)));
    let turn = ticket::<S>(run, set, count);
    let mut left = turn;
    for (number, word) in members.iter().enumerate() {
        let here = u64::from(word.count_ones());
        if left >= here {
            left -= here;
            continue;
        }
        let mut rest = *word;
        for _ in 0..left {
            rest &= rest.wrapping_sub(1);
        }
        return (
            position_of(scratch, number * 64 + rest.trailing_zeros() as usize),
            turn,
        );
    }
    (0, turn)
}

/// Whose turn it is among `count`.
fn ticket<S: Sink>(run: &Run<'_>, set: u64, count: u64) -> u64 {
    // With one candidate there are no turns to keep.
    if count <= 1 {
        return 0;
    }
    // Each set begins elsewhere: a series of small changes must not send every first query to one member.
    let ticket = run
        .service
        .slot
        .turn(set, run.ctx.now, S::LIVE)
        .wrapping_add(set >> 48);
    // A division of 32 bits takes half the time.
    match (u32::try_from(ticket), u32::try_from(count)) {
        (Ok(ticket), Ok(count)) => u64::from(ticket % count),
        _ => ticket % count,
    }
}

fn position_of(scratch: &Scratch, index: usize) -> usize {
    scratch
        .set
        .iter()
        .position(|c| usize::from(c.index) == index)
        .unwrap_or(0)
}
