//! A server with a small fixed configuration, for `dig` and for load generators:
//!
//! ```text
//! cargo run --release -p gslb-dns --example serve -- 127.0.0.1:5300 1
//! dig @127.0.0.1 -p 5300 www.bench.example. A
//! ```
//!
//! The arguments are the address and the number of UDP threads. It prints its counters when its input ends.

use gslb_dns::{DnsServer, DnsSettings, DnsStats};
use gslb_engine::environment::Environment;
use gslb_engine::model::{FilterName, MemberDraft, PoolDraft, ServiceDraft, TenantId, Tier, ZoneDraft};
use gslb_engine::snapshot::{Configuration, Slots, Snapshot, SnapshotCell};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

fn id<T: std::str::FromStr<Err: Error + 'static>>(number: usize) -> Result<T, Box<dyn Error>> {
    Ok(format!("00000000-0000-0000-0000-{number:012}").parse()?)
}

/// `www`: weighted over 8 members; `n0` to `n999`: one member each.
fn configuration() -> Result<Configuration, Box<dyn Error>> {
    let text = |errors: Vec<_>| format!("{errors:?}");
    let zone = ZoneDraft {
        name: Some("bench.example.".to_owned()),
        ..ZoneDraft::default()
    };
    let members = (1..=8).map(|n| MemberDraft {
        ip_address: Some(format!("192.0.2.{n}")),
        port: Some(80),
        weight: Some(n),
        ..MemberDraft::default()
    });
    let pool = PoolDraft {
        name: Some("pool".to_owned()),
        members: Some(members.collect()),
        ..PoolDraft::default()
    };
    let mut next = 100;
    let pool = pool
        .validate(id(2)?, TenantId::DEFAULT, || {
            next += 1;
            id(next).unwrap_or_else(|error| panic!("{error}"))
        })
        .map_err(text)?;
    let names = std::iter::once("www".to_owned()).chain((0..1000).map(|n| format!("n{n}")));
    let services = names.enumerate().map(|(number, name)| {
        let draft = ServiceDraft {
            name: Some(name.clone()),
            domain: Some(format!("{name}.bench.example.")),
            pool_id: Some(pool.id.to_string()),
            algorithm: Some("weighted-round-robin".to_owned()),
            ..ServiceDraft::default()
        };
        Ok(draft
            .validate(id(1000 + number)?, TenantId::DEFAULT, FilterName::RoundRobin)
            .map_err(text)?)
    });
    let services = services.collect::<Result<_, Box<dyn Error>>>()?;
    Ok(Configuration {
        zones: vec![zone.validate(id(1)?, TenantId::DEFAULT, 1).map_err(text)?],
        pools: vec![pool],
        services,
        ..Configuration::default()
    })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let address = arguments
        .next()
        .unwrap_or_else(|| "127.0.0.1:5300".to_owned())
        .parse()?;
    let udp_threads = arguments.next().map_or(Ok(0), |threads| threads.parse())?;
    let environment = Environment {
        tier: Tier::Pro,
        ..Environment::default()
    };
    let snapshot = Snapshot::compile(
        &configuration()?,
        &environment,
        &mut Slots::new(),
        fastrand::u64(..),
    )
    .map_err(|errors| format!("{errors:?}"))?;
    let stats = Arc::new(DnsStats::new());
    let settings = DnsSettings {
        listen: vec![address],
        udp_threads,
        ..DnsSettings::default()
    };
    let server = DnsServer::start(
        settings,
        Arc::new(SnapshotCell::new(snapshot)),
        Arc::clone(&stats),
    )?;
    println!("listening on {:?}", server.local_addrs());
    // Blocking on purpose, on a thread of its own: standard input has no better.
    tokio::task::spawn_blocking(|| std::io::copy(&mut std::io::stdin(), &mut std::io::sink())).await??;
    server.shutdown(Duration::from_secs(5)).await;
    println!("{:#?}", stats.snapshot());
    Ok(())
}
