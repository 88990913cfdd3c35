//! Why a probe failed, in words that a person understands without knowing this program.

use gslb_engine::model::StatusRange;
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicU8, Ordering};
use thiserror::Error;

/// How far a probe has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Phase {
    /// Connecting.
    Connect,
    /// Agreeing on TLS.
    Handshake,
    /// Request sent, or about to be.
    Request,
    /// Status and headers are there.
    Body,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connect => "connect",
            Self::Handshake => "the TLS handshake",
            Self::Request => "the wait for the response",
            Self::Body => "the response body",
        })
    }
}

/// The phase of a running probe, for the text of a timeout that hits it from outside.
#[derive(Debug, Default)]
pub(crate) struct Progress(AtomicU8);

impl Progress {
    pub(crate) fn enter(&self, phase: Phase) {
        self.0.store(phase as u8, Ordering::Relaxed);
    }

    pub(crate) fn phase(&self) -> Phase {
        match self.0.load(Ordering::Relaxed) {
            0 => Phase::Connect,
            1 => Phase::Handshake,
            2 => Phase::Request,
            _ => Phase::Body,
        }
    }
}

/// Why a probe failed.
#[derive(Debug, Error)]
pub enum ProbeError {
    /// The time allowed is over.
    #[error("timeout after {ms} ms during {phase}")]
    Timeout {
        /// Time allowed, milliseconds.
        ms: u32,
        /// What it was waiting for.
        phase: Phase,
    },
    /// The connection could not be made, or broke.
    #[error("{}", io_text(*phase, source))]
    Connection {
        /// When it happened.
        phase: Phase,
        /// What the operating system says.
        #[source]
        source: io::Error,
    },
    /// No agreement on TLS.
    #[error("TLS: {0}")]
    Tls(String),
    /// The response is no HTTP, or its head is beyond all measure.
    #[error("{0}")]
    Response(String),
    /// Another status than the check accepts.
    #[error("status {got}, expected {}", ranges(expected))]
    Status {
        /// The status.
        got: u16,
        /// What the check accepts.
        expected: Vec<StatusRange>,
    },
    /// The text that the check asks for did not come.
    #[error("the body does not contain `{}`{}", excerpt(text), if *cut { " in its first megabyte" } else { "" })]
    Missing {
        /// The text.
        text: String,
        /// Whether there was more body than is read.
        cut: bool,
    },
    /// The check itself cannot be sent.
    #[error("the check cannot be sent: {0}")]
    Check(String),
}

impl ProbeError {
    /// Whether this machine, not the member, is at fault: such a result must not count, or a shortage of file
    /// descriptors here would take every member down at once.
    #[must_use]
    pub fn is_local(&self) -> bool {
        // ENOMEM, ENFILE, EMFILE, ENOBUFS; the numbers are those of Linux.
        const SHORTAGES: [i32; 4] = [12, 23, 24, 105];
        match self {
            Self::Connection { source, .. } => source.raw_os_error().is_some_and(|e| SHORTAGES.contains(&e)),
            _ => false,
        }
    }

    pub(crate) fn connection(phase: Phase) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Connection { phase, source }
    }
}

fn io_text(phase: Phase, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "connection refused".to_owned(),
        io::ErrorKind::HostUnreachable => "host unreachable".to_owned(),
        io::ErrorKind::NetworkUnreachable => "network unreachable: no route from this machine".to_owned(),
        io::ErrorKind::ConnectionReset => format!("connection reset during {phase}"),
        io::ErrorKind::UnexpectedEof => format!("connection closed during {phase}"),
        // The kernel's own timeout, before ours.
        io::ErrorKind::TimedOut => format!("timeout of the operating system during {phase}"),
        _ => format!("{error} during {phase}"),
    }
}

fn ranges(ranges: &[StatusRange]) -> String {
    ranges
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}

/// The text, or its beginning: error texts stand in tables.
fn excerpt(text: &str) -> String {
    const LONGEST: usize = 60;
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    text.chars().take(LONGEST).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    //! The words themselves: operators read them, and write alerts on them.

    use super::*;

    #[test]
    fn texts() {
        let connection = |phase, kind: io::ErrorKind| {
            ProbeError::Connection {
                phase,
                source: kind.into(),
            }
            .to_string()
        };
        assert_eq!(
            connection(Phase::Connect, io::ErrorKind::ConnectionRefused),
            "connection refused"
        );
        assert_eq!(
            connection(Phase::Request, io::ErrorKind::ConnectionReset),
            "connection reset during the wait for the response"
        );
        let timeout = ProbeError::Timeout {
            ms: 2000,
            phase: Phase::Connect,
        };
        assert_eq!(timeout.to_string(), "timeout after 2000 ms during connect");
        let expected = vec![
            StatusRange { from: 200, to: 399 },
            StatusRange { from: 404, to: 404 },
        ];
        assert_eq!(
            ProbeError::Status { got: 503, expected }.to_string(),
            "status 503, expected 200-399, 404"
        );
        let missing = ProbeError::Missing {
            text: "x".repeat(61),
            cut: true,
        };
        assert_eq!(
            missing.to_string(),
            format!(
                "the body does not contain `{}…` in its first megabyte",
                "x".repeat(60)
            )
        );
    }

    #[test]
    fn a_shortage_here_is_not_the_members_fault() {
        let error = |code| ProbeError::Connection {
            phase: Phase::Connect,
            source: io::Error::from_raw_os_error(code),
        };
        assert!(error(24).is_local(), "EMFILE");
        assert!(!error(111).is_local(), "ECONNREFUSED");
        assert!(!error(101).is_local(), "ENETUNREACH");
    }
}
