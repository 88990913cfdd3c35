//! A script's text, compiled, and how it runs: on the thread of the query or in a worker.

use crate::pool::{NoAnswer, Pool, Runner};
use crate::program::{Facts, Program};
use crate::run::{Budget, Usage, run};
use crate::wire::{self, Answer};
use gslb_engine::script::{ScriptFailure, ScriptInput};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A text, compiled: one for all places where it stands.
pub(crate) struct Compiled {
    pub(crate) id: u64,
    pub(crate) body: Arc<str>,
    pub(crate) facts: Facts,
    /// For running it on the caller's thread, if it is proven quick.
    pub(crate) program: Option<Program>,
    pub(crate) pool: Arc<Pool>,
    /// Of all scripts.
    pub(crate) overruns: Arc<AtomicU64>,
    /// It was proven quick, and then used more than the proof says: what is wrong is the proof, whoever asked.
    pub(crate) demoted: AtomicBool,
}

impl fmt::Debug for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compiled")
            .field("id", &self.id)
            .field("facts", &self.facts)
            .finish_non_exhaustive()
    }
}

impl Compiled {
    pub(crate) fn is_demoted(&self) -> bool {
        self.demoted.load(Ordering::Relaxed)
    }

    pub(crate) fn is_quick(&self, candidates: usize) -> bool {
        candidates <= usize::from(self.facts.quick_up_to) && !self.is_demoted()
    }

    /// Runs it where that is best. `runner` is whose it is: of the workers nobody gets all.
    ///
    /// # Errors
    /// It failed, was stopped, or found no worker.
    pub(crate) fn run(
        &self,
        runner: Runner<'_>,
        input: &ScriptInput<'_>,
        order: &mut Vec<u16>,
    ) -> Result<(), ScriptFailure> {
        match &self.program {
            Some(program) if self.is_quick(input.candidates.len()) => self.here(program, input, order),
            _ => self.in_worker(runner, input, order),
        }
    }

    fn here(
        &self,
        program: &Program,
        input: &ScriptInput<'_>,
        order: &mut Vec<u16>,
    ) -> Result<(), ScriptFailure> {
        let budget = Budget::proven(self.facts.steps, self.pool.limits().inline);
        let run = || run(program, input, budget, order);
        let (result, usage) = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| {
            let gave_up = ScriptFailure::Stopped("the interpreter gave up on it".to_owned());
            let usage = Usage {
                over: true,
                ..Usage::default()
            };
            (Err(gave_up), usage)
        });
        if usage.over {
            self.overruns.fetch_add(1, Ordering::Relaxed);
            if !self.demoted.swap(true, Ordering::Relaxed) {
                tracing::error!(
                    service = input.service,
                    body = &*self.body,
                    result = ?result,
                    ticks = usage.ticks,
                    bytes = usage.heap,
                    steps = self.facts.steps,
                    "a script used more than it is proven to, which is a defect of the proof: it runs in workers from now on"
                );
            }
        }
        result
    }

    fn in_worker(
        &self,
        runner: Runner<'_>,
        input: &ScriptInput<'_>,
        order: &mut Vec<u16>,
    ) -> Result<(), ScriptFailure> {
        order.clear();
        let limits = self.pool.limits();
        let frame = wire::run(self.id, input);
        let found = match self
            .pool
            .query(runner, self.id, &self.body, &frame, input.arrived)
        {
            Ok(Answer::Order(found)) => found,
            Ok(Answer::Failure(failure)) => return Err(failure),
            Ok(_) => {
                return Err(ScriptFailure::Stopped(
                    "its worker did not understand it".to_owned(),
                ));
            }
            Err(NoAnswer::Busy) => return Err(ScriptFailure::Busy),
            Err(NoAnswer::Late) => {
                return Err(ScriptFailure::Stopped(format!(
                    "not done within {:?}",
                    (limits.run + limits.grace).max(limits.wait)
                )));
            }
            Err(NoAnswer::Died) => {
                return Err(ScriptFailure::Stopped(
                    "its worker ended: too much memory, or too deep".to_owned(),
                ));
            }
        };
        // A worker is not trusted: positions have to be candidates, each once.
        let mut taken = vec![false; input.candidates.len()];
        for position in found {
            if let Some(seen) = taken.get_mut(usize::from(position))
                && !std::mem::replace(seen, true)
            {
                order.push(position);
            }
        }
        if order.is_empty() {
            Err(ScriptFailure::NamesNobody)
        } else {
            Ok(())
        }
    }
}
