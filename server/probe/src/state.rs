//! The health of one probed target as a pure state machine: results go in, score and transitions come out.
//!
//! There is no clock and no socket in here, so that every rule (rise, fall, score window, the mean of round-trip
//! times) is proved by tests on values alone.

use gslb_engine::model::HealthCheck;
use std::fmt;

/// Successful probes over which the round-trip time is averaged.
pub const RTT_SAMPLES: usize = 5;
/// Longest score window, results.
const MAX_WINDOW: u32 = 128;

/// What probes say about a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HealthState {
    /// Nothing is decided yet: no probe has succeeded, and fewer than `fall` have failed. Counts as healthy.
    Unknown,
    /// Healthy.
    Up,
    /// Unhealthy.
    Down,
}

impl HealthState {
    /// The word of the API.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Up => "up",
            Self::Down => "down",
        }
    }

    /// The state that was known before a restart; nothing known is [`HealthState::Unknown`].
    #[must_use]
    pub const fn from_last_known(up: Option<bool>) -> Self {
        match up {
            None => Self::Unknown,
            Some(true) => Self::Up,
            Some(false) => Self::Down,
        }
    }
}

impl fmt::Display for HealthState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The numbers of a health check that the state machine goes by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thresholds {
    /// Consecutive successes that bring a member that is down up; at least 1.
    pub rise: u32,
    /// Consecutive failures that take a member down; at least 1.
    pub fall: u32,
    /// 0: the score is 1 or 0. Else the share of successes over this many last results; at most 128.
    pub score_window: u32,
}

impl From<&HealthCheck> for Thresholds {
    fn from(check: &HealthCheck) -> Self {
        Self {
            rise: check.rise,
            fall: check.fall,
            score_window: check.score_window,
        }
    }
}

/// A change of state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transition {
    /// State before.
    pub from: HealthState,
    /// State after; never the same as `from`, never [`HealthState::Unknown`].
    pub to: HealthState,
    /// Consecutive equal results that brought it about.
    pub streak: u32,
}

impl Transition {
    /// What happened, for people: `3 failures in a row, the last: connection refused`.
    #[must_use]
    pub fn reason(&self, error: Option<&str>) -> String {
        match (self.from, self.streak, error) {
            (HealthState::Unknown, _, None) => "first successful probe".to_owned(),
            (_, 1, None) => "probe succeeded".to_owned(),
            (_, n, None) => format!("{n} successes in a row"),
            (_, 1, Some(error)) => error.to_owned(),
            (_, n, Some(error)) => format!("{n} failures in a row, the last: {error}"),
        }
    }
}

/// Health, score and round-trip time of one target.
#[derive(Debug, Clone)]
pub struct Health {
    thresholds: Thresholds,
    state: HealthState,
    /// Result of the last probe and how many in a row were like it.
    streak: Option<(bool, u32)>,
    /// The last results, newest in bit 0; 1 is a success. Starts filled with what was assumed, so that one failure
    /// of a new member lowers the score by one share instead of to nothing.
    window: u128,
    /// Round-trip times of the last successes, nanoseconds, as a ring.
    rtts: [u64; RTT_SAMPLES],
    successes: u64,
}

impl Health {
    /// A target that nobody has probed yet, in the state that is assumed until probes decide.
    #[must_use]
    pub fn new(thresholds: Thresholds, assumed: HealthState) -> Self {
        let window = if assumed == HealthState::Down {
            0
        } else {
            u128::MAX
        };
        Self {
            thresholds,
            state: assumed,
            streak: None,
            window,
            rtts: [0; RTT_SAMPLES],
            successes: 0,
        }
    }

    /// The same history under other thresholds. The state stays until the next results decide.
    #[must_use]
    pub fn with_thresholds(mut self, thresholds: Thresholds) -> Self {
        self.thresholds = thresholds;
        self
    }

    /// Takes in the result of a probe: the round-trip time in nanoseconds, or `None` for a failure. Returns the
    /// change of state it brought.
    pub fn apply(&mut self, rtt_ns: Option<u64>) -> Option<Transition> {
        let ok = rtt_ns.is_some();
        if let Some(rtt) = rtt_ns {
            let at = usize::try_from(self.successes % RTT_SAMPLES as u64).unwrap_or_default();
            if let Some(cell) = self.rtts.get_mut(at) {
                *cell = rtt.max(1);
            }
            self.successes = self.successes.saturating_add(1);
        }
        self.window = self.window << 1 | u128::from(ok);
        let streak = match self.streak {
            Some((last, n)) if last == ok => n.saturating_add(1),
            _ => 1,
        };
        self.streak = Some((ok, streak));
        let to = match (self.state, ok) {
            (HealthState::Unknown, true) => HealthState::Up,
            (HealthState::Down, true) if streak >= self.thresholds.rise => HealthState::Up,
            (HealthState::Unknown | HealthState::Up, false) if streak >= self.thresholds.fall => {
                HealthState::Down
            }
            (same, _) => same,
        };
        let from = std::mem::replace(&mut self.state, to);
        (from != to).then_some(Transition { from, to, streak })
    }

    /// The state.
    #[must_use]
    pub fn state(&self) -> HealthState {
        self.state
    }

    /// Consecutive results like the last one; 0 before the first probe.
    #[must_use]
    pub fn streak(&self) -> u32 {
        self.streak.map_or(0, |(_, n)| n)
    }

    /// Score for routing, 0.0 to 1.0. Down is 0 whatever the window says.
    #[must_use]
    pub fn score(&self) -> f32 {
        if self.state == HealthState::Down {
            return 0.0;
        }
        match self.thresholds.score_window.min(MAX_WINDOW) {
            0 => 1.0,
            n => {
                let mask = u128::MAX >> (MAX_WINDOW - n);
                // Both are at most 128: exact in f32.
                (self.window & mask).count_ones() as f32 / n as f32
            }
        }
    }

    /// Mean round-trip time of the last [`RTT_SAMPLES`] successes, nanoseconds.
    #[must_use]
    pub fn rtt_ns(&self) -> Option<u64> {
        let n = self.successes.min(RTT_SAMPLES as u64);
        let sum: u128 = self.rtts.iter().map(|ns| u128::from(*ns)).sum();
        sum.checked_div(u128::from(n))
            .and_then(|mean| u64::try_from(mean).ok())
    }

    /// Successful probes so far.
    #[must_use]
    pub fn successes(&self) -> u64 {
        self.successes
    }
}

#[cfg(test)]
mod tests;
