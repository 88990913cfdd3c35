//! Timing on a machine that others use too.

/// Prints the shortest of many short runs, per call: it is the one that nobody disturbed.
#[expect(clippy::disallowed_methods, reason = "a bench needs a clock")]
pub fn least(mut call: impl FnMut(), name: &str) {
    const RUN: u32 = 500;
    let run = |_| {
        let started = std::time::Instant::now();
        (0..RUN).for_each(|_| call());
        started.elapsed()
    };
    let least = (0..2000).map(run).min().unwrap_or_default();
    println!("{name}: least {:.1} ns", least.as_nanos() as f64 / f64::from(RUN));
}
