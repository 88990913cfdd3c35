//! `cargo xtask hostile`: what hostile scripts cost, measured against the real daemon. A report, and no test: what it says
//! depends on the machine and on what else runs there.
//!
//! First each script by itself: how long its own queries take. Then, in turns with and without a load of all of them, how
//! long the queries of two neighbours take: one with built-in steps, and one with a good script that takes a worker.

mod daemon;
mod dns;
mod scripts;
mod turn;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use daemon::Daemon;
use dns::Client;
use scripts::{END, HOSTILE};

use crate::workspace::Workspace;

/// What is measured, and how often.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// The daemon. Default: target/release/gslbd
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Turns with and without the load
    #[arg(long, default_value_t = 11)]
    rounds: usize,
    /// Length of half a turn
    #[arg(long, default_value_t = 3)]
    seconds: u64,
    /// Queries a second to each neighbour
    #[arg(long, default_value_t = 500)]
    rate: u32,
    /// Queries a second to hostile scripts
    #[arg(long, default_value_t = 300)]
    load: u32,
}

/// Services with each script: each is met a few times before the breaker switches it off there.
const COPIES: usize = 4;
/// Queries to each of them: as many as the breaker lets through.
const QUERIES: usize = 5;
/// Threads that ask for hostile scripts.
const LOADING: usize = 4;
/// The last candidate, which the good script chooses.
const CHOSEN: Ipv4Addr = Ipv4Addr::new(127, 0, 9, 2);

/// Measures and prints.
pub fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let program = options
        .program
        .clone()
        .unwrap_or_else(|| workspace.server_binary(true));
    // Whoever reads the figures has to know how busy the machine was.
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!("{}, load average {}", program.display(), load.trim());
    let daemon = Daemon::start(&program)?;
    // The daemon is there already: it goes on with the priority that it would have in service.
    match turn::first() {
        Ok(()) => println!("clients have their turn before whatever else runs"),
        Err(error) => println!("clients wait for their turn, which adds to what they see: {error:#}"),
    }
    daemon.service("plain", &["failover"])?;
    daemon.service(
        "patient",
        &[&format!("script:{}", scripts::patient()), "failover"],
    )?;
    own(&daemon)?;
    let longest = longest(&daemon)?;
    println!("longest script that is not stopped: {longest} turns\n");
    neighbours(&daemon, longest, options)
}

/// How many turns a script may make and is not stopped, nearly.
fn longest(daemon: &Daemon) -> Result<u32> {
    let mut client = Client::new(daemon.dns)?;
    let mut turns = 400;
    while turns > 1 {
        let name = format!("turns-{turns}");
        let step = format!("script:{}", scripts::long(turns));
        let id = daemon.service(&name, &[&step, "failover"])?;
        let mut succeeded = true;
        for _ in 0..2 * QUERIES {
            succeeded &= client.ask(&name, None)?.address == Some(CHOSEN);
        }
        daemon.remove(&id)?;
        if succeeded {
            break;
        }
        turns = turns * 4 / 5;
    }
    Ok(turns)
}

/// Services with a new text of each script.
fn services(daemon: &Daemon, number: usize) -> Result<Vec<(String, String)>> {
    let service = |(name, body): &(&str, &str)| {
        let name = format!("{name}-{number}");
        let step = format!("script:# {number}\n{body}{END}");
        let id = daemon.service(&name, &[&step, "failover"])?;
        Ok((name, id))
    };
    HOSTILE.iter().map(service).collect()
}

/// How long a script's own queries take.
fn own(daemon: &Daemon) -> Result<()> {
    println!(
        "own queries, ms ({} each)      median     worst",
        COPIES * QUERIES
    );
    let mut client = Client::new(daemon.dns)?;
    let mut times = vec![Vec::new(); HOSTILE.len()];
    for copy in 0..COPIES {
        let services = services(daemon, copy)?;
        for ((name, _), times) in services.iter().zip(&mut times) {
            for _ in 0..QUERIES {
                times.push(client.ask(name, None)?.took);
                // Another worker gets ready meanwhile, as it would between the queries of a resolver.
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        services.iter().try_for_each(|(_, id)| daemon.remove(id))?;
    }
    let mut worst = Duration::ZERO;
    for ((name, _), times) in HOSTILE.iter().zip(&mut times) {
        times.sort_unstable();
        let most = times.last().copied().unwrap_or_default();
        println!("{name:<30} {:>8.2} {:>9.2}", ms(quantile(times, 0.5)), ms(most));
        worst = worst.max(most);
    }
    println!("{:<30} {:>18.2}  (bar 5)\n", "all", ms(worst));
    Ok(())
}

/// How long the neighbours' queries take, with and without the load.
fn neighbours(daemon: &Daemon, longest: u32, options: &Options) -> Result<()> {
    println!("neighbours      plain, p99 ms     patient, p99 ms   patient, by script   load/s");
    println!("load            without   with    without   with     without   with");
    let half = Duration::from_secs(options.seconds);
    let mut differences = [Vec::new(), Vec::new()];
    for round in 0..options.rounds {
        let mut services = services(daemon, COPIES + round)?;
        let step = format!("script:{}", scripts::long(longest));
        services.push((
            "longest".to_owned(),
            daemon.service("longest", &[&step, "failover"])?,
        ));
        // The one with the load first in every other round.
        let mut halves = [None, None];
        for loaded in [round % 2 == 1, round % 2 == 0] {
            let names: &[(String, String)] = if loaded { &services } else { &[] };
            halves[usize::from(loaded)] = Some(measure(daemon.dns, names, half, options)?);
        }
        services.iter().try_for_each(|(_, id)| daemon.remove(id))?;
        let [Some(without), Some(with)] = halves else {
            continue;
        };
        let p99 = |half: &Half, which: usize| quantile(&half.times[which], 0.99);
        println!(
            "round {:<9} {:>7.3} {:>7.3}   {:>7.3} {:>7.3}   {:>7.1} % {:>5.1} % {:>8.0}",
            round + 1,
            ms(p99(&without, 0)),
            ms(p99(&with, 0)),
            ms(p99(&without, 1)),
            ms(p99(&with, 1)),
            without.steered * 100.0,
            with.steered * 100.0,
            with.load / half.as_secs_f64(),
        );
        for (which, differences) in differences.iter_mut().enumerate() {
            differences.push(ms(p99(&with, which)) - ms(p99(&without, which)));
        }
    }
    for (name, mut differences) in ["plain", "patient"].into_iter().zip(differences) {
        differences.sort_unstable_by(f64::total_cmp);
        let median = differences
            .get(differences.len() / 2)
            .copied()
            .unwrap_or_default();
        println!(
            "{name}: {median:+.3} ms at the 99th percentile, median of {} rounds (bar 1)",
            differences.len()
        );
    }
    Ok(())
}

/// Half a turn.
struct Half {
    /// Of each neighbour, shortest first.
    times: [Vec<Duration>; 2],
    /// Share of the second one's answers that its script chose.
    steered: f64,
    /// Queries to hostile scripts that were answered.
    load: f64,
}

fn measure(
    server: SocketAddr,
    hostile: &[(String, String)],
    half: Duration,
    options: &Options,
) -> Result<Half> {
    let names: Vec<&str> = hostile.iter().map(|(name, _)| name.as_str()).collect();
    let (names, done) = (names.as_slice(), &AtomicBool::new(false));
    std::thread::scope(|scope| {
        // One query of each thread at a time: enough of them that they do not wait for one another.
        let threads = if hostile.is_empty() { 0 } else { LOADING };
        let start = |thread| scope.spawn(move || load(server, names, thread, options.load, done));
        let loading: Vec<_> = (0..threads).map(start).collect();
        let asking =
            ["plain", "patient"].map(|name| scope.spawn(move || neighbour(server, name, half, options.rate)));
        let died = |_| anyhow!("a thread died");
        let asked = asking.map(|thread| thread.join().map_err(died));
        done.store(true, Ordering::Relaxed);
        let mut load = 0;
        for thread in loading {
            load += thread.join().map_err(died)??;
        }
        let [plain, patient] = asked;
        let ((plain, _), (patient, steered)) = (plain??, patient??);
        Ok(Half {
            steered: f64::from(steered) / patient.len() as f64,
            times: [plain, patient],
            load: f64::from(load),
        })
    })
}

/// Asks for hostile scripts until all is done. Returns the number of replies.
fn load(server: SocketAddr, names: &[&str], thread: usize, rate: u32, done: &AtomicBool) -> Result<u32> {
    let mut number = 0;
    paced(server, rate / LOADING as u32, |client, _| {
        // Those that are switched off after a while take turns with the last one, which never is.
        let turn = if number % 2 == 0 {
            thread * 5 + number / 2
        } else {
            names.len() - 1
        };
        client.ask(names[turn % names.len()], None)?;
        number += 1;
        Ok(!done.load(Ordering::Relaxed))
    })?;
    Ok(u32::try_from(number)?)
}

/// Asks a neighbour. Returns the times, shortest first, and how many answers the good script chose.
fn neighbour(server: SocketAddr, name: &str, half: Duration, rate: u32) -> Result<(Vec<Duration>, u32)> {
    let (end, mut times, mut steered) = (Instant::now() + half, Vec::new(), 0);
    paced(server, rate, |client, due| {
        let reply = client.ask(name, due)?;
        times.push(reply.took);
        steered += u32::from(reply.address == Some(CHOSEN));
        Ok(Instant::now() < end)
    })?;
    times.sort_unstable();
    Ok((times, steered))
}

/// Calls `ask` so many times a second until it says no. It gets the time that its query was due if that is past.
fn paced(
    server: SocketAddr,
    rate: u32,
    mut ask: impl FnMut(&mut Client, Option<Instant>) -> Result<bool>,
) -> Result<()> {
    let mut client = Client::new(server)?;
    let step = Duration::from_secs(1) / rate.max(1);
    let mut due = Instant::now();
    loop {
        due += step;
        let left = due.saturating_duration_since(Instant::now());
        let late = left.is_zero().then_some(due);
        std::thread::sleep(left);
        if !ask(&mut client, late)? {
            return Ok(());
        }
    }
}

/// Of times in order.
fn quantile(times: &[Duration], share: f64) -> Duration {
    let last = times.len().saturating_sub(1) as f64;
    times
        .get((last * share).round() as usize)
        .copied()
        .unwrap_or_default()
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
