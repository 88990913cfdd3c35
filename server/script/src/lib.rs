//! Scripts of routing chains, in Starlark.
//!
//! A script may be hostile, or merely wrong: nothing it does may stop the daemon, hold its memory, or keep another
//! service waiting. So each is compiled and run in a [worker process](worker) with walls that the operating system
//! keeps, killed at its deadline and replaced from a spare. Only a script that a [static check](quick) proves to be quick
//! runs where the query is, since going to a worker takes longer than it does.
//!
//! The way of a script: [`lexer`] → [`nesting`] bound → [`rewrite`] of chained comparisons → [`program`] (parsed, checked,
//! one frozen function) → [`run`]. The way of a query: [`placed`] (circuit [`breaker`]) → [`compiled`] (inline or not) → [`pool`] →
//! [`wire`] → [`worker`].

#![forbid(unsafe_code)]
// No script may stop the daemon.
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod breaker;
mod child;
mod compiled;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod lexer;
mod nesting;
mod placed;
mod pool;
mod program;
mod quick;
mod rewrite;
mod run;
mod source;
mod stopwatch;
mod syntax;
mod weight;
mod wire;
mod worker;
mod workers;

pub use breaker::{ERRORS_IN_A_ROW, OFF_FOR, PROVEN_FOR};
pub use child::WorkerProgram;
pub use placed::ScriptStats;
pub use pool::Limits;
pub use worker::{WORKER_COMMAND, worker_main};
pub use workers::{Clock, Workers};
