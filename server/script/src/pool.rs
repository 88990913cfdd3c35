//! The worker processes: some at work, the others ready.
//!
//! A worker that misses its deadline is killed, and the next one takes its place at once, for there are always spares; a
//! thread in the background starts new ones and buries the dead, since both take milliseconds. Compiling has a place of its
//! own, so that it takes none from queries.

use crate::child::{Child, Silence, WorkerProgram};
use crate::weight::Weight;
use crate::wire::{self, Answer};
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How many workers, and how long each thing may take.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Queries that run at once; those of one service's script, and all of scripts that have been heavy lately, at most one
    /// less, unless there is one place only.
    pub workers: usize,
    /// Ready workers beyond these: they take the place of killed ones, and compile.
    pub spares: usize,
    /// Processor time that a script may take which is proven quick, on the thread of the query; the proof stands for a small
    /// part of it. Whatever takes longer there takes a worker from then on.
    pub inline: Duration,
    /// Processor time that a script may take for a query. Not time on the clock: a worker that waits for its turn on a busy
    /// machine is not to blame for that.
    pub run: Duration,
    /// How long after that a worker is killed at the earliest which has not answered, should it have run all the time.
    pub grace: Duration,
    /// How long after it came a query waits for its script at least, as long as nobody knows better.
    pub wait: Duration,
    /// How long after it came a query may still begin to run, having waited for a thread and for a free worker.
    pub queue: Duration,
    /// Processor time that compiling may take. Not time on the clock: on a busy machine the worker, which gives way to
    /// everybody else, may wait long for its turn, and a good script is not to be refused for that.
    pub compile: Duration,
    /// Time on the clock after which compiling is given up all the same.
    pub compile_patience: Duration,
    /// How long a change of configuration may wait for a worker that compiles.
    pub compile_queue: Duration,
    /// How long a worker may take to get ready.
    pub start: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            workers: 2,
            spares: 1,
            inline: Duration::from_millis(2),
            run: Duration::from_millis(1),
            grace: Duration::from_micros(500),
            wait: Duration::from_micros(3500),
            queue: Duration::from_millis(1),
            compile: Duration::from_millis(250),
            compile_patience: Duration::from_secs(20),
            compile_queue: Duration::from_secs(30),
            start: Duration::from_secs(5),
        }
    }
}

impl Limits {
    /// How many queries of one service's script run at once, and of all heavy ones together: they never take all places, if there
    /// are several, so that whatever they do, another script finds one.
    fn share(&self) -> usize {
        self.workers.saturating_sub(1).max(1)
    }
}

/// The first descriptor behind input, output and errors, which a worker gets its own of.
const FIRST_FOREIGN: i32 = 3;
/// What a worker is wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    /// A query of the script in this place; whether it has been heavy lately.
    Query {
        place: u64,
        heavy: bool,
    },
    Compile,
}

/// Whose script a query runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Runner<'a> {
    /// No other script's in no other service.
    pub(crate) place: u64,
    /// What its runs were like, to which this one is added.
    pub(crate) weight: &'a Weight,
}

/// Why a request was not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// No worker was free in time.
    Busy,
    /// The worker was killed at the deadline.
    Late,
    /// The worker ended.
    Died,
}

#[derive(Debug, Default)]
struct State {
    idle: Vec<Child>,
    dead: Vec<Child>,
    /// Places whose scripts run, once for each query, and whether they are heavy.
    querying: Vec<(u64, bool)>,
    compiling: usize,
    closing: bool,
    /// Scripts that new workers get before they are needed.
    scripts: BTreeMap<u64, Weak<str>>,
}

/// The pool; dropping its [`Keeper`] ends it.
#[derive(Debug)]
pub(crate) struct Pool {
    program: WorkerProgram,
    limits: Limits,
    state: Mutex<State>,
    /// A worker got free.
    freed: Condvar,
    /// There is something to start or to bury.
    work: Condvar,
}

/// Keeps the pool alive.
#[derive(Debug)]
pub(crate) struct Keeper {
    pool: Arc<Pool>,
    thread: Option<JoinHandle<()>>,
}

impl Keeper {
    /// Starts workers in the background.
    ///
    /// # Errors
    /// No thread could be started.
    pub(crate) fn start(program: WorkerProgram, limits: Limits) -> std::io::Result<Self> {
        let pool = Arc::new(Pool {
            program,
            limits,
            state: Mutex::default(),
            freed: Condvar::new(),
            work: Condvar::new(),
        });
        // The standard library opens all with this mark. What whoever started this program has left open has none.
        close_fds::set_fds_cloexec_threadsafe(FIRST_FOREIGN, &[]);
        let kept = Arc::clone(&pool);
        let thread = std::thread::Builder::new()
            .name("script-workers".to_owned())
            .spawn(move || kept.keep())?;
        Ok(Self {
            pool,
            thread: Some(thread),
        })
    }

    pub(crate) fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.pool.lock().closing = true;
        self.pool.work.notify_all();
        self.pool.freed.notify_all();
        if let Some(thread) = self.thread.take() {
            // It cannot have panicked with anything that matters here.
            let _ = thread.join();
        }
    }
}

impl Pool {
    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a script in a worker: `frame` is the request, `body` what to send if the worker does not hold the script yet.
    /// `runner` is whose script it is; `arrived` is when the query came.
    ///
    /// What comes too late to have all of its time is not begun: it would be the script that gets the blame.
    ///
    /// # Errors
    /// There was no answer.
    pub(crate) fn query(
        &self,
        runner: Runner<'_>,
        id: u64,
        body: &str,
        frame: &[u8],
        arrived: Option<Instant>,
    ) -> Result<Answer, NoAnswer> {
        let limits = &self.limits;
        let arrived = arrived.unwrap_or_else(Instant::now);
        let used = Use::Query {
            place: runner.place,
            heavy: runner.weight.is_heavy(),
        };
        let mut child = self.take(used, arrived + limits.queue)?;
        let begun = Instant::now();
        let deadline = (begun + limits.run + limits.grace).max(arrived + limits.wait);
        let mut answer = child.ask(frame, deadline);
        while answer == Err(Silence::Gone) {
            // It ended while it had nothing to do; the next one may live.
            self.bury(used, child);
            child = self.take(used, deadline)?;
            answer = child.ask(frame, deadline);
        }
        if answer == Ok(Answer::Unknown) {
            answer = match child.ask(&wire::load(id, body), deadline) {
                Ok(Answer::Loaded(_)) => child.ask(frame, deadline),
                Ok(_) => Err(Silence::Broken),
                Err(silence) => Err(silence),
            };
        }
        // Time on the clock, for it is the worker that others miss meanwhile.
        runner
            .weight
            .record(answer.is_err() || begun.elapsed() > limits.run);
        self.give_back(used, child, answer)
    }

    /// Has a body compiled.
    ///
    /// # Errors
    /// There was no answer.
    pub(crate) fn compile(&self, id: u64, body: &str) -> Result<Answer, NoAnswer> {
        let limits = &self.limits;
        let frame = wire::load(id, body);
        let patience = Instant::now() + limits.compile_queue;
        // What a worker has done before is nothing to blame this script for.
        let mut second = false;
        loop {
            let mut child = self.take(Use::Compile, patience)?;
            let deadline = Instant::now() + limits.compile_patience;
            match child.ask_patiently(&frame, limits.compile, deadline) {
                Err(Silence::Gone) => self.bury(Use::Compile, child),
                Err(Silence::Died) if !second => {
                    second = true;
                    self.bury(Use::Compile, child);
                }
                answer => return self.give_back(Use::Compile, child, answer),
            }
        }
    }

    /// Has workers that start later know the script at once.
    pub(crate) fn remember(&self, id: u64, body: &Arc<str>) {
        let mut state = self.lock();
        state.scripts.retain(|_, body| body.strong_count() > 0);
        state.scripts.insert(id, Arc::downgrade(body));
    }

    /// Process ids of the workers that have nothing to do, for tests and figures.
    pub(crate) fn idle(&self) -> Vec<u32> {
        self.lock().idle.iter().map(Child::id).collect()
    }

    fn take(&self, wanted: Use, deadline: Instant) -> Result<Child, NoAnswer> {
        let mut state = self.lock();
        loop {
            if state.closing {
                return Err(NoAnswer::Busy);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(NoAnswer::Busy);
            }
            if state.has_place(wanted, &self.limits)
                && let Some(child) = state.idle.pop()
            {
                state.begins(wanted);
                return Ok(child);
            }
            state = self
                .freed
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    fn give_back(
        &self,
        used: Use,
        child: Child,
        answer: Result<Answer, Silence>,
    ) -> Result<Answer, NoAnswer> {
        match answer {
            Ok(answer) => {
                let mut state = self.lock();
                state.ends(used);
                state.idle.push(child);
                drop(state);
                self.freed.notify_all();
                Ok(answer)
            }
            Err(silence) => {
                self.bury(used, child);
                Err(if silence == Silence::Late {
                    NoAnswer::Late
                } else {
                    NoAnswer::Died
                })
            }
        }
    }

    fn bury(&self, used: Use, mut child: Child) {
        child.kill();
        let mut state = self.lock();
        state.ends(used);
        state.dead.push(child);
        drop(state);
        self.freed.notify_all();
        self.work.notify_one();
    }

    /// Starts and buries until the pool closes.
    fn keep(&self) {
        let wanted = self.limits.workers + self.limits.spares + 1;
        let mut pause = Duration::ZERO;
        loop {
            let mut state = self.lock();
            while !state.closing && state.dead.is_empty() && state.alive() >= wanted {
                state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            let dead = std::mem::take(&mut state.dead);
            let closing = state.closing;
            let idle = if closing {
                std::mem::take(&mut state.idle)
            } else {
                Vec::new()
            };
            let missing = wanted.saturating_sub(state.alive());
            let scripts: Vec<_> = state
                .scripts
                .iter()
                .filter_map(|(id, body)| Some((*id, body.upgrade()?)))
                .collect();
            drop(state);
            // Before anything is started: those who go still hold their memory.
            dead.into_iter().chain(idle).for_each(Child::end);
            if closing {
                return;
            }
            if missing > 0 {
                match self.start(&scripts) {
                    Ok(child) => {
                        pause = Duration::ZERO;
                        self.lock().idle.insert(0, child);
                        self.freed.notify_all();
                    }
                    Err(Unready::Script(id)) => {
                        self.lock().scripts.remove(&id);
                    }
                    Err(Unready::Worker(error)) => {
                        pause = (pause * 2).clamp(Duration::from_millis(10), Duration::from_secs(5));
                        tracing::warn!(%error, "a script worker could not be started; trying again in {pause:?}");
                    }
                }
            }
            if !pause.is_zero() {
                let state = self.lock();
                if !state.closing {
                    // Woken early when the pool closes.
                    drop(self.work.wait_timeout(state, pause));
                }
            }
        }
    }

    fn start(&self, scripts: &[(u64, Arc<str>)]) -> Result<Child, Unready> {
        let mut child =
            Child::start(&self.program, self.limits.run, self.limits.start).map_err(Unready::Worker)?;
        for (id, body) in scripts.iter().rev().take(crate::worker::KEPT).rev() {
            let deadline = Instant::now() + self.limits.compile_patience;
            let answer = child.ask_patiently(&wire::load(*id, body), self.limits.compile, deadline);
            if !matches!(answer, Ok(Answer::Loaded(_))) {
                child.end();
                return Err(Unready::Script(*id));
            }
        }
        Ok(child)
    }
}

/// Why a new worker cannot be used.
enum Unready {
    /// It did not start.
    Worker(std::io::Error),
    /// It did not take this script: the next one is better off without.
    Script(u64),
}

impl State {
    fn has_place(&self, wanted: Use, limits: &Limits) -> bool {
        match wanted {
            Use::Query { place, heavy } => {
                let running = |counts: &dyn Fn(&(u64, bool)) -> bool| {
                    self.querying.iter().filter(|running| counts(running)).count()
                };
                self.querying.len() < limits.workers
                    && running(&|(other, _)| *other == place) < limits.share()
                    && (!heavy || running(&|(_, heavy)| *heavy) < limits.share())
            }
            Use::Compile => self.compiling == 0,
        }
    }

    fn begins(&mut self, wanted: Use) {
        match wanted {
            Use::Query { place, heavy } => self.querying.push((place, heavy)),
            Use::Compile => self.compiling += 1,
        }
    }

    fn ends(&mut self, used: Use) {
        match used {
            Use::Query { place, heavy } => {
                let ended = (place, heavy);
                if let Some(at) = self.querying.iter().position(|running| *running == ended) {
                    self.querying.swap_remove(at);
                }
            }
            Use::Compile => self.compiling -= 1,
        }
    }

    fn alive(&self) -> usize {
        self.idle.len() + self.querying.len() + self.compiling
    }
}
