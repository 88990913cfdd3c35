//! What decisions read of a pool's members, side by side.
//!
//! A query looks at every member of one pool out of thousands, so that nearly all it reads comes from far away in memory:
//! what counts is how many cache lines it touches. Stored members are large and their slots lie anywhere; here is the
//! little that is compared for each query, in one piece.

use crate::geo::Country;
use crate::slots::MemberSlot;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// What the commonest steps compare of one member.
#[derive(Debug)]
pub(crate) struct Hot {
    /// Score as a candidate, `f32` bits: that of the member's slot, which writes it here too, or 1.0 for good when the
    /// operator says `up`.
    score: AtomicU32,
    pub(crate) weight: u32,
    pub(crate) priority: u32,
    /// Its country as a number, see [`code`]; 0 without one.
    country: u16,
    /// Whether its facts name countries beside that one.
    pub(crate) more_countries: bool,
    /// Hash of the address, for `sticky`.
    pub(crate) digest: u64,
}

impl Hot {
    /// With a score of 1.0.
    pub(crate) const fn new(weight: u32, priority: u32, country: Option<Country>) -> Self {
        Self {
            score: AtomicU32::new(1.0_f32.to_bits()),
            weight,
            priority,
            country: match country {
                Some(country) => code(country),
                None => 0,
            },
            more_countries: false,
            digest: 0,
        }
    }

    /// Whether this is its country.
    #[inline]
    pub(crate) fn is_in(&self, country: Country) -> bool {
        self.country == code(country)
    }

    /// The bits in which its score differs from 1.0, the highest there is, which nearly all have.
    #[inline]
    pub(crate) fn short_of_best(&self) -> u32 {
        self.score.load(Ordering::Relaxed) ^ 1.0_f32.to_bits()
    }

    /// Score as a candidate, 0.0 to 1.0.
    #[inline]
    pub(crate) fn score(&self) -> f32 {
        f32::from_bits(self.score.load(Ordering::Relaxed))
    }

    /// Takes over what a slot says.
    pub(crate) fn set_score(&self, score: f32) {
        self.score.store(score.to_bits(), Ordering::Relaxed);
    }
}

/// A country as a number, which is compared at once; letters are never 0.
const fn code(country: Country) -> u16 {
    u16::from_ne_bytes(country.0)
}

/// What an answer takes of a chosen member.
#[derive(Debug, Clone)]
pub(crate) struct Reach {
    /// Its address; host names have none.
    pub(crate) ip: Option<IpAddr>,
    /// Counts the answer.
    pub(crate) slot: Arc<MemberSlot>,
}
