//! Scripts written in Rust, for tests of what the engine does with scripts.

use crate::script::{Place, Script, ScriptError, ScriptFailure, ScriptInput, ScriptReads, Scripts};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

type Body = dyn Fn(&ScriptInput<'_>, &mut Vec<u16>) -> Result<(), ScriptFailure> + Send + Sync;

/// A script that is a closure.
pub struct FakeScript {
    reads: ScriptReads,
    quick_up_to: usize,
    body: Box<Body>,
}

impl FakeScript {
    /// A quick script that reads nothing of the client.
    #[must_use]
    pub fn new(
        body: impl Fn(&ScriptInput<'_>, &mut Vec<u16>) -> Result<(), ScriptFailure> + Send + Sync + 'static,
    ) -> Self {
        Self {
            reads: ScriptReads::default(),
            quick_up_to: usize::MAX,
            body: Box::new(body),
        }
    }

    /// A script that always wants the candidates at these positions.
    #[must_use]
    pub fn order(positions: &'static [u16]) -> Self {
        Self::new(move |_, order| {
            order.extend(positions);
            Ok(())
        })
    }

    /// A script that always fails.
    #[must_use]
    pub fn failing(failure: ScriptFailure) -> Self {
        Self::new(move |_, _| Err(failure.clone()))
    }

    /// Says what it reads of the client.
    #[must_use]
    pub fn reading(self, reads: ScriptReads) -> Self {
        Self { reads, ..self }
    }

    /// Quick only with so many candidates or fewer.
    #[must_use]
    pub fn quick_up_to(self, quick_up_to: usize) -> Self {
        Self { quick_up_to, ..self }
    }
}

impl fmt::Debug for FakeScript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FakeScript")
            .field("reads", &self.reads)
            .field("quick_up_to", &self.quick_up_to)
            .finish_non_exhaustive()
    }
}

impl Script for FakeScript {
    fn is_quick(&self, candidates: usize) -> bool {
        candidates <= self.quick_up_to
    }

    fn reads(&self) -> ScriptReads {
        self.reads
    }

    fn run(&self, input: &ScriptInput<'_>, order: &mut Vec<u16>) -> Result<(), ScriptFailure> {
        order.clear();
        (self.body)(input, order)
    }
}

/// Knows scripts by their body; any other body does not compile.
#[derive(Debug, Default)]
pub struct FakeScripts {
    known: HashMap<&'static str, Arc<FakeScript>>,
    asked: AtomicUsize,
}

impl FakeScripts {
    /// Knows none.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Knows one more.
    #[must_use]
    pub fn with(mut self, body: &'static str, script: FakeScript) -> Self {
        self.known.insert(body, Arc::new(script));
        self
    }

    /// How often anything was to be compiled.
    #[must_use]
    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

impl Scripts for FakeScripts {
    fn compile(&self, body: &str, _: Place) -> Result<Arc<dyn Script>, ScriptError> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        match self.known.get(body) {
            Some(script) => Ok(Arc::clone(script) as Arc<dyn Script>),
            None => Err(ScriptError {
                line: 2,
                column: 3,
                message: "nobody knows this".to_owned(),
            }),
        }
    }
}
