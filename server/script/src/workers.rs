//! [`Workers`]: where the engine gets its scripts from, and what it then holds of each.

use crate::breaker::{Breaker, Outcome};
use crate::child::WorkerProgram;
use crate::pool::{Keeper, Limits, NoAnswer, Pool};
use crate::program::{Checked, Facts, Program};
use crate::run::{Budget, Usage, run};
use crate::wire::{self, Answer};
use gslb_engine::script::{
    MAX_SCRIPT_BYTES, Script, ScriptError, ScriptFailure, ScriptInput, ScriptReads, Scripts,
};
use std::collections::HashMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

/// Stack of the thread that compiles what a worker, with a smaller one, has compiled before.
const COMPILE_STACK: usize = 16 << 20;

/// A script is not compiled because nobody could.
pub(crate) const NO_WORKER: &str = "no worker was free to compile it; try again";

/// Time since any zero, never backwards.
pub type Clock = Arc<dyn Fn() -> Duration + Send + Sync>;

/// Scripts in worker processes. The first script starts these; whoever uses none has none.
pub struct Workers {
    program: WorkerProgram,
    limits: Limits,
    clock: Clock,
    keeper: OnceLock<Keeper>,
    /// Held while the first workers are started.
    starting: Mutex<()>,
    known: Mutex<HashMap<Arc<str>, Weak<Compiled>>>,
    next_id: AtomicU64,
    overruns: Arc<AtomicU64>,
}

impl fmt::Debug for Workers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workers")
            .field("program", &self.program)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// State of one script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptStats {
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

impl Workers {
    /// Scripts that run in this program, started again as a worker.
    #[must_use]
    pub fn new() -> Self {
        Self::in_program(WorkerProgram::this())
    }

    /// Scripts that run in workers of another program.
    #[must_use]
    pub fn in_program(program: WorkerProgram) -> Self {
        let zero = Instant::now();
        Self::with(program, Limits::default(), Arc::new(move || zero.elapsed()))
    }

    /// Scripts with another program, limits and clock; the clock is that of the circuit breaker alone.
    #[must_use]
    pub fn with(program: WorkerProgram, limits: Limits, clock: Clock) -> Self {
        Self {
            program,
            limits,
            clock,
            keeper: OnceLock::new(),
            starting: Mutex::default(),
            known: Mutex::default(),
            next_id: AtomicU64::new(1),
            overruns: Arc::default(),
        }
    }

    /// Runs on the thread of a query that used more than the proof says. Each is a defect of the proof, and the last one of
    /// its script there: from then on it runs in workers.
    #[must_use]
    pub fn overruns(&self) -> u64 {
        self.overruns.load(Ordering::Relaxed)
    }

    /// What each script in use has done so far.
    #[must_use]
    pub fn stats(&self) -> Vec<ScriptStats> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known
            .values()
            .filter_map(Weak::upgrade)
            .map(|script| script.stats())
            .collect()
    }

    /// Process ids of workers that have nothing to do.
    #[must_use]
    pub fn idle_workers(&self) -> Vec<u32> {
        self.keeper
            .get()
            .map(|keeper| keeper.pool().idle())
            .unwrap_or_default()
    }

    fn pool(&self) -> Result<&Arc<Pool>, ScriptError> {
        let _starting = self.starting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(keeper) = self.keeper.get() {
            return Ok(keeper.pool());
        }
        let keeper = Keeper::start(self.program.clone(), self.limits.clone())
            .map_err(|error| whole(format!("no worker could be started for scripts: {error}")))?;
        Ok(self.keeper.get_or_init(|| keeper).pool())
    }

    fn find(&self, body: &str) -> Option<Arc<Compiled>> {
        self.known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(body)?
            .upgrade()
    }
}

impl Default for Workers {
    fn default() -> Self {
        Self::new()
    }
}

/// An error of the script as a whole.
fn whole(message: String) -> ScriptError {
    ScriptError {
        line: 1,
        column: 1,
        message,
    }
}

impl Scripts for Workers {
    fn compile(&self, body: &str) -> Result<Arc<dyn Script>, ScriptError> {
        if let Some(known) = self.find(body) {
            return Ok(known);
        }
        if body.len() > MAX_SCRIPT_BYTES {
            let length = body.len();
            return Err(whole(format!(
                "the script has {length} bytes, and at most {MAX_SCRIPT_BYTES} are allowed"
            )));
        }
        let pool = self.pool()?;
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let facts = match pool.compile(id, body) {
            Ok(Answer::Loaded(facts)) => facts,
            Ok(Answer::Refused(error)) => return Err(error),
            Ok(_) | Err(NoAnswer::Died) => {
                return Err(whole(
                    "compiling it takes too much memory, or nests too deeply".to_owned(),
                ));
            }
            Err(NoAnswer::Late) => return Err(whole("compiling it takes too long".to_owned())),
            Err(NoAnswer::Busy) => return Err(whole(NO_WORKER.to_owned())),
        };
        let program = if facts.quick_up_to > 0 {
            Some(compile_here(body)?)
        } else {
            None
        };
        let body: Arc<str> = body.into();
        pool.remember(id, &body);
        let script = Arc::new(Compiled {
            id,
            body: Arc::clone(&body),
            facts,
            program,
            pool: Arc::clone(pool),
            clock: Arc::clone(&self.clock),
            breaker: Breaker::default(),
            overruns: Arc::clone(&self.overruns),
            demoted: AtomicBool::new(false),
            runs: AtomicU64::new(0),
            errors: AtomicU64::new(0),
            stopped: AtomicU64::new(0),
        });
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, script| script.strong_count() > 0);
        // Somebody else may have compiled the same text meanwhile: one text, one state.
        if let Some(other) = known.get(&body).and_then(Weak::upgrade) {
            return Ok(other);
        }
        known.insert(body, Arc::downgrade(&script));
        Ok(script)
    }
}

/// Compiles in this process what a worker has compiled before and found quick.
fn compile_here(body: &str) -> Result<Program, ScriptError> {
    let body = body.to_owned();
    let compile = move || catch_unwind(AssertUnwindSafe(|| Checked::new(&body)?.compile(true)));
    let thread = std::thread::Builder::new()
        .stack_size(COMPILE_STACK)
        .spawn(compile);
    match thread.map(std::thread::JoinHandle::join) {
        Ok(Ok(Ok(result))) => result,
        _ => Err(whole("the interpreter gave up on it".to_owned())),
    }
}

/// A script of the engine.
struct Compiled {
    id: u64,
    body: Arc<str>,
    facts: Facts,
    /// For running it on the caller's thread, if it is proven quick.
    program: Option<Program>,
    pool: Arc<Pool>,
    clock: Clock,
    breaker: Breaker,
    /// Of all scripts.
    overruns: Arc<AtomicU64>,
    demoted: AtomicBool,
    runs: AtomicU64,
    errors: AtomicU64,
    stopped: AtomicU64,
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
    fn stats(&self) -> ScriptStats {
        ScriptStats {
            body: Arc::clone(&self.body),
            quick_up_to: if self.is_demoted() {
                0
            } else {
                self.facts.quick_up_to
            },
            demoted: self.is_demoted(),
            runs: self.runs.load(Ordering::Relaxed),
            errors: self.errors.load(Ordering::Relaxed),
            stopped: self.stopped.load(Ordering::Relaxed),
            errors_in_a_row: self.breaker.errors_in_a_row(),
            off_for: self.breaker.off_for((self.clock)()),
        }
    }

    fn is_demoted(&self) -> bool {
        self.demoted.load(Ordering::Relaxed)
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

    fn in_worker(&self, input: &ScriptInput<'_>, order: &mut Vec<u16>) -> Result<(), ScriptFailure> {
        order.clear();
        let limits = self.pool.limits();
        let found = match self
            .pool
            .query(self.id, &self.body, &wire::run(self.id, input), input.arrived)
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
                    limits.run + limits.grace
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

impl Script for Compiled {
    fn is_quick(&self, candidates: usize) -> bool {
        candidates <= usize::from(self.facts.quick_up_to) && !self.is_demoted()
    }

    fn reads(&self) -> ScriptReads {
        self.facts.reads
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
        let result = match &self.program {
            Some(program) if self.is_quick(input.candidates.len()) => self.here(program, input, order),
            _ => self.in_worker(input, order),
        };
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
