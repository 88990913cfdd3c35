//! A script in its place: what its queries have made of it so far.

use crate::breaker::{Breaker, Outcome};
use crate::compiled::Compiled;
use crate::pool::Runner;
use crate::weight::Weight;
use crate::workers::Clock;
use gslb_engine::model::ServiceId;
use gslb_engine::script::{Place, Script, ScriptFailure, ScriptInput, ScriptReads};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// State of one script in one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptStats {
    /// Whose it is; none if it is tried only.
    pub service: Option<ServiceId>,
    /// Its text.
    pub body: Arc<str>,
    /// With how many candidates it runs on the thread of the query; 0 if it always takes a worker.
    pub quick_up_to: u16,
    /// It was proven quick, and then used more than the proof says: it always takes a worker now.
    pub demoted: bool,
    /// Runs so far.
    pub runs: u64,
    /// Runs that ended with an error, or with nobody.
    pub errors: u64,
    /// Runs that had to be stopped.
    pub stopped: u64,
    /// Errors since the last success.
    pub errors_in_a_row: u32,
    /// How much longer it is switched off, if it is; zero if the next query tries it.
    pub off_for: Option<Duration>,
}

/// A script of the engine. Its text may stand in other places too; its failures are those of this one.
pub(crate) struct Placed {
    id: u64,
    place: Place,
    text: Arc<Compiled>,
    clock: Clock,
    breaker: Breaker,
    weight: Weight,
    runs: AtomicU64,
    errors: AtomicU64,
    stopped: AtomicU64,
}

impl fmt::Debug for Placed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Placed")
            .field("place", &self.place)
            .field("text", &self.text)
            .finish_non_exhaustive()
    }
}

impl Placed {
    /// `id` is no other place's.
    pub(crate) fn new(id: u64, place: Place, text: Arc<Compiled>, clock: Clock) -> Self {
        Self {
            id,
            place,
            text,
            clock,
            breaker: Breaker::default(),
            weight: Weight::default(),
            runs: AtomicU64::new(0),
            errors: AtomicU64::new(0),
            stopped: AtomicU64::new(0),
        }
    }

    pub(crate) fn stats(&self) -> ScriptStats {
        let demoted = self.text.is_demoted();
        ScriptStats {
            service: match self.place {
                Place::Service(service) => Some(service),
                Place::Trial => None,
            },
            body: Arc::clone(&self.text.body),
            quick_up_to: if demoted { 0 } else { self.text.facts.quick_up_to },
            demoted,
            runs: self.runs.load(Ordering::Relaxed),
            errors: self.errors.load(Ordering::Relaxed),
            stopped: self.stopped.load(Ordering::Relaxed),
            errors_in_a_row: self.breaker.errors_in_a_row(),
            off_for: self.breaker.off_for((self.clock)()),
        }
    }
}

/// Longest name that a script gets, bytes. In text an octet that is no letter takes four (`\\200`), and so a name of the
/// wire could be four times as long: anybody can ask for that below a wildcard.
pub(crate) const MAX_QNAME: usize = 255;

/// The end of a name that is too long.
fn end_of(qname: &str) -> &str {
    let mut from = qname.len().saturating_sub(MAX_QNAME);
    while !qname.is_char_boundary(from) {
        from += 1;
    }
    qname.get(from..).unwrap_or_default()
}

impl Script for Placed {
    fn is_quick(&self, candidates: usize) -> bool {
        self.text.is_quick(candidates)
    }

    fn reads(&self) -> ScriptReads {
        self.text.facts.reads
    }

    fn run(&self, input: &ScriptInput<'_>, order: &mut Vec<u16>) -> Result<(), ScriptFailure> {
        self.breaker
            .admit(|| (self.clock)())
            .map_err(|errors| ScriptFailure::SwitchedOff { errors })?;
        self.runs.fetch_add(1, Ordering::Relaxed);
        let shorter;
        let input = if input.qname.len() > MAX_QNAME {
            shorter = ScriptInput {
                qname: end_of(input.qname),
                ..input.clone()
            };
            &shorter
        } else {
            input
        };
        let runner = Runner {
            place: self.id,
            weight: &self.weight,
        };
        let result = self.text.run(runner, input, order);
        let outcome = match &result {
            Ok(()) => Outcome::Success,
            Err(ScriptFailure::Busy | ScriptFailure::SwitchedOff { .. }) => {
                self.breaker.release();
                return result;
            }
            Err(ScriptFailure::Stopped(_)) => {
                self.stopped.fetch_add(1, Ordering::Relaxed);
                Outcome::Stopped
            }
            // Naming nobody is what a script may well do for some clients; it says nothing against the script.
            Err(ScriptFailure::NamesNobody) => {
                self.errors.fetch_add(1, Ordering::Relaxed);
                Outcome::Success
            }
            Err(ScriptFailure::Failed(_) | ScriptFailure::NotCompiled(_)) => {
                self.errors.fetch_add(1, Ordering::Relaxed);
                Outcome::Error
            }
        };
        if self.breaker.record(outcome, (self.clock)())
            && let Err(failure) = &result
        {
            tracing::warn!(
                service = input.service,
                %failure,
                "a script is switched off for {} s after {} errors in a row",
                crate::breaker::OFF_FOR.as_secs(),
                self.breaker.errors_in_a_row()
            );
        }
        result
    }
}
