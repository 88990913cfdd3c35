//! System calls that no library offers in a safe form. All unsafe code is here, each piece with its reasons.

mod batch;
mod options;
mod turn;

pub(crate) use batch::{BATCH, Batch};
pub(crate) use options::{forbid_fragments, queue, want_local_address};
pub use turn::take_turns_often;

/// A length for the C interface.
fn socklen(length: usize) -> libc::socklen_t {
    libc::socklen_t::try_from(length).unwrap_or(libc::socklen_t::MAX)
}
