//! RFC 6781: while keys change, everything can be validated with the old ones and with the new ones.

use crate::support::Server;
use crate::support::ask::{A, CDS, DNSKEY, MX, SOA};
use crate::support::dnssec::Validator;
use gslb_dnssec::{Algorithm, PrivateKey, Role, signing_key, zone_keys};
use gslb_engine::environment::Environment;
use gslb_engine::model::Tier;
use gslb_engine::snapshot::SigningKey;
use gslb_engine::testing::{Site, member};
use std::collections::HashMap;
use std::sync::Arc;

fn key() -> PrivateKey {
    PrivateKey::from_pkcs8(&gslb_dnssec::generate(Algorithm::P256).unwrap()).unwrap()
}

/// A server with a zone whose keys are these and those beside them.
fn server(two: bool, others: Vec<SigningKey>) -> Server {
    let site = Site::new()
        .zone_named("zone.test.")
        .pool("pool", 0, vec![member("192.0.2.1", "DE")])
        .chain("www.zone.test.", "pool", &["failover"]);
    let zone = &site.config.zones[0];
    let mut keys = zone_keys(&zone.name, key(), two.then(key)).unwrap();
    keys.others = others;
    let environment = Environment {
        tier: Tier::Enterprise,
        keys: Arc::new(HashMap::from([(zone.id, Arc::new(keys))])),
        ..Environment::default()
    };
    let server = Server::start();
    server.cell.store(Arc::new(site.compile(&environment).unwrap().0));
    server
}

/// Number of records and signatures in the answers to these types at the apex, and to A of the service.
fn answers(server: &Server) -> [usize; 4] {
    let mut validator = Validator::new(server);
    // What is not there is denied with a signature of the zone's key too.
    validator.ask("www.zone.test.", MX);
    let mut count = |name, qtype| validator.ask(name, qtype).answers().len();
    [
        count("zone.test.", DNSKEY),
        count("zone.test.", CDS),
        count("zone.test.", SOA),
        count("www.zone.test.", A),
    ]
}

#[test]
fn s4_1_1_1_a_new_zsk_is_published_and_signs_nothing() {
    let others = vec![signing_key(key(), Role::ZoneSigning).unwrap()];
    assert_eq!(answers(&server(true, others)), [3 + 1, 1 + 1, 2, 2]);
}

#[test]
fn s4_1_2_two_ksks_sign_the_key_set() {
    let others = vec![signing_key(key(), Role::KeySigning).unwrap()];
    assert_eq!(answers(&server(true, others)), [3 + 2, 1 + 2, 2, 2]);
}

#[test]
fn s4_1_2_two_keys_for_all_sign_the_key_set_and_one_the_rest() {
    let others = vec![signing_key(key(), Role::KeySigning).unwrap()];
    assert_eq!(answers(&server(false, others)), [2 + 2, 1 + 2, 2, 2]);
}
