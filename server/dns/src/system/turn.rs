//! When a thread gets a processor.
//!
//! A thread that answers a query works for microseconds and then waits for the next. The scheduler of Linux (EEVDF, 6.12
//! and later) lets whoever runs use up its slice before one that has woken up gets its turn: with the usual slices that is
//! milliseconds, where scripts, signatures or the console are at work. What a thread may use in all does not depend on the
//! length of its slices, and asking for short ones needs no privilege. Threads and processes inherit them, so that all of a
//! program wait for one another for a tenth of a millisecond at most: those that answer queries, and the workers in which
//! scripts run, good ones and hostile ones.
//!
//! Older kernels take the same call and ignore what they do not know.

#![expect(
    unsafe_code,
    reason = "sched_getattr and sched_setattr exist only as system calls"
)]

use std::mem::{size_of, zeroed};
use std::ptr;
use std::time::Duration;

/// The shortest slice that the kernel takes.
const SLICE: Duration = Duration::from_micros(100);
const SIZE: libc::c_uint = size_of::<libc::sched_attr>() as libc::c_uint;

/// Asks for the shortest slices for the thread that calls, and all that it starts from now on. Its priority stays, and a
/// thread that somebody has given a real-time policy keeps that. Where the kernel refuses (a sandbox), all goes on as it was.
pub fn take_turns_often() {
    if let Some(mut attributes) = attributes() {
        if !matches!(
            i32::try_from(attributes.sched_policy),
            Ok(libc::SCHED_OTHER | libc::SCHED_BATCH)
        ) {
            return;
        }
        attributes.sched_runtime = u64::try_from(SLICE.as_nanos()).unwrap_or_default();
        // SAFETY: the call reads a `sched_attr` whose `size` field says how long it is, and keeps no pointer to it. Thread 0
        // is the one that calls.
        unsafe {
            libc::syscall(libc::SYS_sched_setattr, 0, ptr::from_ref(&attributes), 0);
        }
    }
}

/// How the thread that calls is scheduled. `None`: the kernel does not tell.
fn attributes() -> Option<libc::sched_attr> {
    // SAFETY: a `sched_attr` is numbers only, for which all zeros is a value.
    let mut attributes: libc::sched_attr = unsafe { zeroed() };
    // SAFETY: the kernel writes at most the size that is passed, which is that of the structure.
    let result = unsafe {
        libc::syscall(
            libc::SYS_sched_getattr,
            0,
            ptr::from_mut(&mut attributes),
            SIZE,
            0,
        )
    };
    (result == 0).then_some(attributes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_asks_keeps_its_policy_and_priority() {
        let thread = std::thread::spawn(|| {
            let before = attributes().unwrap();
            take_turns_often();
            (before, attributes().unwrap())
        });
        let (before, after) = thread.join().unwrap();
        assert_eq!(after.sched_policy, before.sched_policy);
        assert_eq!(after.sched_nice, before.sched_nice);
        // Kernels before 6.12 say 0 here, before and after.
        if after.sched_runtime != before.sched_runtime {
            assert_eq!(u128::from(after.sched_runtime), SLICE.as_nanos());
        }
    }
}
