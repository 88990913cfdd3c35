//! What the engine and the scripts of `script:` steps have to do with each other.
//!
//! The engine knows neither the language nor where a script runs: it hands over a [`ScriptInput`] and gets an order of
//! candidates back. Whoever implements [`Scripts`] sees to limits, isolation and deadlines.

use crate::geo::Country;
use crate::model::ServiceId;
use crate::query::Family;
use std::fmt::Debug;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

/// Longest body of a script, bytes.
pub const MAX_SCRIPT_BYTES: usize = 8 * 1024;

/// A candidate as a script sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScriptCandidate<'a> {
    /// Address.
    pub ip: IpAddr,
    /// Port.
    pub port: u16,
    /// Region.
    pub region: &'a str,
    /// Weight.
    pub weight: u32,
    /// Priority.
    pub priority: u32,
    /// AS number of the member, 0 when unknown.
    pub asn: u32,
    /// Health score, 0.0 to 1.0.
    pub health_score: f64,
    /// Round-trip time that routing uses, milliseconds; infinite in the script when unknown.
    pub rtt_ms: Option<f64>,
}

/// What a script may know of one query.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptInput<'a> {
    /// The name asked for, lower case, with its trailing dot.
    pub qname: &'a str,
    /// The type asked for, "A" or "AAAA".
    pub qtype: Family,
    /// The effective client.
    pub client_ip: IpAddr,
    /// Country of the effective client; an empty string in the script when unknown.
    pub client_country: Option<Country>,
    /// AS number of the effective client, 0 when unknown.
    pub client_asn: u32,
    /// Unix seconds.
    pub now: u64,
    /// Name of the service.
    pub service: &'a str,
    /// The candidates, in the current order.
    pub candidates: &'a [ScriptCandidate<'a>],
    /// When the query came, if somebody waits for its answer: the time that it has waited already is not the script's. No
    /// script sees it.
    pub arrived: Option<Instant>,
}

/// Which facts about the client a script's source mentions: what its answer can depend on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScriptReads {
    /// `client_ip`
    pub client_ip: bool,
    /// `client_country`
    pub client_country: bool,
    /// `client_asn`
    pub client_asn: bool,
}

/// Why a script did not steer a query; the candidates stay as they were.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScriptFailure {
    /// It ended with an error, or `result` was not a list; the text is for people.
    #[error("{0}")]
    Failed(String),
    /// `result` named no candidate.
    #[error("result names no candidate")]
    NamesNobody,
    /// Steps, time or memory ran out.
    #[error("stopped: {0}")]
    Stopped(String),
    /// It does not compile here: stored by another version, or where scripts could run.
    #[error("does not compile: {0}")]
    NotCompiled(#[from] ScriptError),
    /// Every worker was busy.
    #[error("no script worker was free")]
    Busy,
    /// Switched off for a while after errors in a row.
    #[error("switched off for a while after {errors} errors in a row")]
    SwitchedOff {
        /// How many.
        errors: u32,
    },
}

/// Why a script cannot be compiled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct ScriptError {
    /// Line of the body, from 1.
    pub line: u32,
    /// Column, in characters, from 1.
    pub column: u32,
    /// What is wrong, and what would be right.
    pub message: String,
}

/// A compiled script.
pub trait Script: Debug + Send + Sync {
    /// Whether [`run`](Self::run) with so many candidates is quick, whatever the query: if not, it may block for
    /// milliseconds, and does not belong on a thread that other services wait for. The number matters because the cost of
    /// any script grows with it; one that is quick with n is quick with fewer. It may stop being quick, and never begins to.
    fn is_quick(&self, candidates: usize) -> bool;

    /// What it reads of the client.
    fn reads(&self) -> ScriptReads;

    /// Runs it. `order` is emptied and receives positions in `input.candidates`, each at most once, in the order that the
    /// script wants; it is not empty on success.
    ///
    /// # Errors
    /// The script failed or was stopped; the candidates are to be left as they are.
    fn run(&self, input: &ScriptInput<'_>, order: &mut Vec<u16>) -> Result<(), ScriptFailure>;
}

/// Where a script stands. What one service's queries make a script do is nothing to another service with the same text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// In the stored chain of this service. The same text in the same place is the same script, also in the next snapshot.
    Service(ServiceId),
    /// In no stored chain: it is checked, or tried once.
    Trial,
}

/// Where scripts come from.
pub trait Scripts: Debug + Send + Sync {
    /// Compiles a body, or finds it compiled already. Blocks, for some milliseconds at most.
    ///
    /// # Errors
    /// Where and why the body is no script.
    fn compile(&self, body: &str, place: Place) -> Result<Arc<dyn Script>, ScriptError>;
}

/// Scripts cannot run here: nothing compiles, and a script step that is stored all the same fails open.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoScripts;

impl Scripts for NoScripts {
    fn compile(&self, _: &str, _: Place) -> Result<Arc<dyn Script>, ScriptError> {
        Err(ScriptError {
            line: 1,
            column: 1,
            message: "scripts cannot run here: use the built-in filters".to_owned(),
        })
    }
}
