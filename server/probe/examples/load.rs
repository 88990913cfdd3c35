//! Measures what probing costs: many tcp targets on loopback, probed once a second (or as told).
//!
//! `cargo run --release -p gslb-probe --example load -- [targets] [interval ms] [seconds]`. The listeners run in a
//! process of their own, so that the CPU time shown is the prober's alone.

use gslb_engine::model::{CheckKind, HealthCheck, MemberId, PoolId};
use gslb_engine::slots::MemberSlot;
use gslb_probe::{Prober, ProberSettings, SystemClock, Target};
use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpSocket;
use tokio::sync::mpsc::unbounded_channel;

/// Argument that makes this program the listening side.
const LISTEN: &str = "--listen";

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.first().is_some_and(|arg| arg == LISTEN) {
        return listen();
    }
    let number = |at: usize, default: u32| args.get(at).map_or(Ok(default), |text| text.parse());
    let (targets, interval_ms, seconds) = (number(0, 10_000)?, number(1, 1_000)?, number(2, 20)?);

    let mut backend = Command::new(std::env::current_exe()?)
        .arg(LISTEN)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut line = String::new();
    BufReader::new(backend.stdout.take().ok_or("no output")?).read_line(&mut line)?;
    let port = line.trim().parse()?;

    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(measure(targets, interval_ms, seconds, port))?;
    // The end of its input ends it.
    drop(backend.stdin.take());
    backend.wait()?;
    Ok(())
}

/// Accepts on every loopback address until the input ends.
fn listen() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let listener = runtime.block_on(async {
        let socket = TcpSocket::new_v4()?;
        socket.bind("0.0.0.0:0".parse().map_err(std::io::Error::other)?)?;
        // As long a queue as the kernel allows: this side must not be what is measured.
        socket.listen(65_535)
    })?;
    println!("{}", listener.local_addr()?.port());
    std::io::stdout().flush()?;
    runtime.block_on(async move {
        tokio::spawn(async move {
            loop {
                let _ = listener.accept().await;
            }
        });
        tokio::task::spawn_blocking(|| std::io::stdin().read_line(&mut String::new())).await
    })??;
    Ok(())
}

async fn measure(targets: u32, interval_ms: u32, seconds: u32, port: u16) -> Result<(), Box<dyn Error>> {
    let (sender, mut events) = unbounded_channel();
    let prober = Prober::start(ProberSettings::default(), Arc::new(SystemClock), sender);
    let set: Vec<_> = (0..targets).map(|n| target(n, interval_ms, port)).collect();
    prober.set_targets(set.clone());
    let stats = prober.stats();
    // The first round is spread; count from the second on.
    tokio::time::sleep(Duration::from_millis(u64::from(interval_ms) * 2)).await;

    let (start, cpu, probes) = (Instant::now(), cpu_time()?, stats.probes());
    let (mut lags, mut in_flight) = (Vec::new(), 0);
    while start.elapsed() < Duration::from_secs(seconds.into()) {
        tokio::time::sleep(Duration::from_millis(10)).await;
        lags.push(stats.lag());
        in_flight = in_flight.max(stats.in_flight());
    }
    let elapsed = start.elapsed().as_secs_f64();
    let cpu = (cpu_time()? - cpu).as_secs_f64();
    let probes = (stats.probes() - probes) as f64;
    lags.sort_unstable();
    let lag = |share: usize| lags.get(lags.len() * share / 100).copied().unwrap_or_default();

    let again = Instant::now();
    prober.set_targets(set);
    let replace = again.elapsed();
    println!("targets {targets}, interval {interval_ms} ms, {elapsed:.1} s");
    println!(
        "probes  {:.0}/s, failures {}, local errors {}",
        probes / elapsed,
        stats.failures(),
        stats.local_errors()
    );
    println!(
        "CPU     {:.1} % of one core, {:.1} us a probe",
        100.0 * cpu / elapsed,
        1e6 * cpu / probes
    );
    println!(
        "lag     median {:?}, 99 % {:?}, largest {:?}",
        lag(50),
        lag(99),
        stats.max_lag()
    );
    println!("open    at most {in_flight}");
    println!("the same set again: {replace:?}");
    prober.shutdown().await;
    let mut transitions = 0;
    while events.try_recv().is_ok() {
        transitions += 1;
    }
    println!("events  {transitions}");
    Ok(())
}

fn target(n: u32, interval_ms: u32, port: u16) -> Target {
    let member_id = MemberId(uuid::Uuid::from_u128(n.into()));
    // 127.1.0.0 onwards: each target has its own address.
    let ip = Ipv4Addr::from_bits(Ipv4Addr::new(127, 1, 0, 0).to_bits() + n);
    Target {
        member_id,
        pool_id: PoolId(uuid::Uuid::from_u128(1)),
        address: SocketAddr::new(IpAddr::V4(ip), port),
        check: Some(HealthCheck {
            kind: CheckKind::Tcp,
            port: None,
            interval_ms,
            timeout_ms: interval_ms,
            rise: 1,
            fall: 1,
            score_window: 0,
        }),
        slot: Arc::new(MemberSlot::new(member_id)),
        last_known: None,
    }
}

/// User and system time of this process so far, from the kernel's accounting in nanoseconds per thread.
fn cpu_time() -> Result<Duration, Box<dyn Error>> {
    let mut total = 0;
    for thread in std::fs::read_dir("/proc/self/task")? {
        let stat = std::fs::read_to_string(thread?.path().join("schedstat"))?;
        total += stat
            .split_ascii_whitespace()
            .next()
            .ok_or("empty schedstat")?
            .parse::<u64>()?;
    }
    Ok(Duration::from_nanos(total))
}
