//! [`Workers`]: where the engine gets its scripts from, and what it then holds of each.

use crate::child::WorkerProgram;
use crate::compiled::Compiled;
use crate::placed::{Placed, ScriptStats};
use crate::pool::{Keeper, Limits, NoAnswer, Pool};
use crate::program::{Checked, Program};
use crate::wire::Answer;
use gslb_engine::model::ServiceId;
use gslb_engine::script::{MAX_SCRIPT_BYTES, Place, Script, ScriptError, Scripts};
use std::borrow::Borrow;
use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
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
    /// Texts: each is compiled once, wherever it stands.
    known: Mutex<Register<Arc<str>, Compiled>>,
    /// Where they stand: the service, and the id of the text.
    places: Mutex<Register<(ServiceId, u64), Placed>>,
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
            places: Mutex::default(),
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

    /// What each script of a service has done so far.
    #[must_use]
    pub fn stats(&self) -> Vec<ScriptStats> {
        let places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        places.all().map(|script| script.stats()).collect()
    }

    /// How many texts are compiled: those that are in use.
    #[must_use]
    pub fn texts(&self) -> usize {
        self.known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .all()
            .count()
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

    fn text(&self, body: &str) -> Result<Arc<Compiled>, ScriptError> {
        let known = |body| {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            known.find(body)
        };
        if let Some(text) = known(body) {
            return Ok(text);
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
        let text = Arc::new(Compiled {
            id,
            body: Arc::clone(&body),
            facts,
            program,
            pool: Arc::clone(pool),
            overruns: Arc::clone(&self.overruns),
            demoted: AtomicBool::new(false),
        });
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        // Somebody else may have compiled the same text meanwhile.
        Ok(known.find_or_insert(body, text))
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
    fn compile(&self, body: &str, place: Place) -> Result<Arc<dyn Script>, ScriptError> {
        let text = self.text(body)?;
        let key = match place {
            Place::Service(service) => Some((service, text.id)),
            Place::Trial => None,
        };
        let placed = || {
            let id = self.next_id.fetch_add(1, Ordering::Relaxed);
            Arc::new(Placed::new(id, place, text, Arc::clone(&self.clock)))
        };
        let Some(key) = key else {
            return Ok(placed());
        };
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(match places.find(&key) {
            Some(known) => known,
            None => places.find_or_insert(key, placed()),
        })
    }
}

/// What is in use, by a key. Entries of what is used no more go when there are as many of them as of the others, so that
/// entering each of many takes the same time.
#[derive(Debug)]
struct Register<K, V> {
    entries: HashMap<K, Weak<V>>,
    /// How many there are when it is looked through.
    full: usize,
}

impl<K, V> Default for Register<K, V> {
    fn default() -> Self {
        Self {
            entries: HashMap::new(),
            full: 16,
        }
    }
}

impl<K: Eq + Hash, V> Register<K, V> {
    fn find<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<Arc<V>>
    where
        K: Borrow<Q>,
    {
        self.entries.get(key)?.upgrade()
    }

    /// What is in use under this key already; else this one is.
    fn find_or_insert(&mut self, key: K, value: Arc<V>) -> Arc<V> {
        if let Some(known) = self.find(&key) {
            return known;
        }
        if self.entries.len() >= self.full {
            self.entries.retain(|_, value| value.strong_count() > 0);
            self.full = (self.entries.len() * 2).max(16);
        }
        self.entries.insert(key, Arc::downgrade(&value));
        value
    }

    fn all(&self) -> impl Iterator<Item = Arc<V>> {
        self.entries.values().filter_map(Weak::upgrade)
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
