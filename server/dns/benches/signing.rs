//! What signatures cost a reply: none, found in the cache, and made anew, with both algorithms.

use criterion::{Criterion, criterion_group, criterion_main};
use gslb_dns::offline::Answerer;
use gslb_dnssec::{Algorithm, PrivateKey};
use gslb_engine::environment::Environment;
use gslb_engine::model::{ServiceDraft, Tier};
use gslb_engine::testing::{Site, member};
use std::collections::HashMap;
use std::hint::black_box;
use std::sync::Arc;

/// A query for an A record, with DO or without.
fn query(label: &str, dnssec_ok: bool) -> Vec<u8> {
    let mut message = vec![0, 7, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1];
    for label in [label, "wild", "bench", "test"] {
        message.push(u8::try_from(label.len()).unwrap());
        message.extend_from_slice(label.as_bytes());
    }
    let flags = if dnssec_ok { 0x80 } else { 0 };
    message.extend_from_slice(&[0, 0, 1, 0, 1, 0, 0, 41, 4, 208, 0, 0, flags, 0, 0, 0]);
    message
}

/// A server whose zone is signed; every name below its wildcard is a set of its own.
fn answerer(algorithm: Algorithm) -> Answerer {
    let draft = ServiceDraft {
        algorithm: Some("failover".to_owned()),
        ..ServiceDraft::default()
    };
    let site = Site::new()
        .zone_named("bench.test.")
        .pool("pool", 0, vec![member("192.0.2.1", "DE")])
        .service("*.wild.bench.test.", "pool", draft);
    let zone = &site.config.zones[0];
    let key = PrivateKey::from_pkcs8(&gslb_dnssec::generate(algorithm).unwrap()).unwrap();
    let keys = gslb_dnssec::zone_keys(&zone.name, key, None).unwrap();
    let environment = Environment {
        tier: Tier::Enterprise,
        keys: Arc::new(HashMap::from([(zone.id, Arc::new(keys))])),
        ..Environment::default()
    };
    Answerer::new(site.compile(&environment).unwrap().0)
}

fn signing(criterion: &mut Criterion) {
    for (algorithm, name) in [(Algorithm::P256, "p256"), (Algorithm::Ed25519, "ed25519")] {
        let mut server = answerer(algorithm);
        let plain = [query("www", false)];
        criterion.bench_function(&format!("{name}/unsigned"), |bench| {
            bench.iter(|| black_box(server.answer(black_box(&plain))));
        });
        let signed = [query("www", true)];
        assert!(
            server.answer(&signed) > server.answer(&plain) + 64,
            "the reply is not signed"
        );
        criterion.bench_function(&format!("{name}/cached"), |bench| {
            bench.iter(|| black_box(server.answer(black_box(&signed))));
        });
        let mut number = 0_u64;
        criterion.bench_function(&format!("{name}/cold"), |bench| {
            bench.iter_batched(
                || {
                    number += 1;
                    [query(&format!("n{number:016x}"), true)]
                },
                |message| black_box(server.answer(&message)),
                criterion::BatchSize::SmallInput,
            );
        });
    }
}

criterion_group!(benches, signing);
criterion_main!(benches);
