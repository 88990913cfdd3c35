//! A server with a small fixed configuration, for `dig` and for load generators:
//!
//! ```text
//! cargo run --release -p gslb-dns --example serve -- 127.0.0.1:5300 1 1000
//! dig @127.0.0.1 -p 5300 s000.bench.test. A
//! ```
//!
//! The arguments are the address, the number of UDP threads, and the number of pools that the thousand services share. It prints its counters when its input ends.

use gslb_dns::{DnsServer, DnsSettings, DnsStats};
use gslb_engine::environment::Environment;
use gslb_engine::model::{FilterName, MemberDraft, PoolDraft, ServiceDraft, TenantId, Tier, ZoneDraft};
use gslb_engine::snapshot::{Configuration, Slots, Snapshot, SnapshotCell};
use gslb_engine::testing::World;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

fn id<T: std::str::FromStr<Err: Error + 'static>>(number: usize) -> Result<T, Box<dyn Error>> {
    Ok(format!("00000000-0000-0000-0000-{number:012}").parse()?)
}

/// `s000` to `s999`, with 8 members each, in so many pools.
fn configuration(pools: usize) -> Result<Configuration, Box<dyn Error>> {
    let text = |errors: Vec<_>| format!("{errors:?}");
    let zone = ZoneDraft {
        name: Some("bench.test.".to_owned()),
        ..ZoneDraft::default()
    };
    let mut next = 100_000;
    let mut pool = |number: usize| -> Result<_, Box<dyn Error>> {
        let members = (0..8).map(|n: i64| MemberDraft {
            ip_address: Some(format!("198.18.{}.{}", number % 250, n + 1)),
            port: Some(80),
            weight: Some(n + 1),
            region: Some(["DE", "US"][n as usize % 2].to_owned()),
            ..MemberDraft::default()
        });
        let draft = PoolDraft {
            name: Some(format!("pool-{number}")),
            members: Some(members.collect()),
            ..PoolDraft::default()
        };
        let pool = draft.validate(id(10_000 + number)?, TenantId::DEFAULT, || {
            next += 1;
            id(next).unwrap_or_else(|error| panic!("{error}"))
        });
        Ok(pool.map_err(text)?)
    };
    let pools = (0..pools.max(1)).map(&mut pool).collect::<Result<Vec<_>, _>>()?;
    let chain = ["geo-ip", "weighted-round-robin"];
    let services = (0..1000).map(|number| {
        let draft = ServiceDraft {
            name: Some(format!("s{number:03}")),
            domain: Some(format!("s{number:03}.bench.test.")),
            pool_id: pools.get(number % pools.len()).map(|pool| pool.id.to_string()),
            filter_chain: Some(chain.map(str::to_owned).to_vec()),
            ..ServiceDraft::default()
        };
        Ok(draft
            .validate(id(1000 + number)?, TenantId::DEFAULT, FilterName::RoundRobin)
            .map_err(text)?)
    });
    let services = services.collect::<Result<_, Box<dyn Error>>>()?;
    Ok(Configuration {
        zones: vec![zone.validate(id(1)?, TenantId::DEFAULT, 1).map_err(text)?],
        pools,
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
    let pools = arguments.next().map_or(Ok(1), |pools| pools.parse())?;
    let environment = Environment {
        geo: Arc::new(World::new()),
        tier: Tier::Pro,
        ..Environment::default()
    };
    // What members are measured by lives as long as the server.
    let mut slots = Slots::new();
    let snapshot = Snapshot::compile(
        &configuration(pools)?,
        &environment,
        &mut slots,
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
