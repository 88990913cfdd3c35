//! Snapshots: what does not fit together, what is kept from one to the next, and that changing some objects comes to
//! the same as compiling all of them.

use gslb_engine::environment::Environment;
use gslb_engine::model::{
    DomainName, ErrorCode, Pool, PoolId, RecordDraft, RecordId, Service, ServiceDraft, ServiceId, Tier,
    ValidationError, Zone, ZoneId,
};
use gslb_engine::snapshot::{Changes, Configuration, Found, Slots, Snapshot, SnapshotCell};
use gslb_engine::testing::{Site, member, wire};
use proptest::prelude::*;
use std::sync::Arc;
use uuid::Uuid;

fn site() -> Site {
    Site::new()
        .zone_named("example.com.")
        .zone_named("sub.example.com.")
        .pool("one", 0, vec![member("10.0.0.1", "DE"), member("10.0.0.2", "DE")])
        .pool("two", 0, vec![member("10.0.1.1", "US")])
        .chain("www.example.com.", "one", &["failover"])
}

fn compile(config: &Configuration, slots: &mut Slots) -> Result<Snapshot, Vec<ValidationError>> {
    Snapshot::compile(
        config,
        &Environment {
            tier: Tier::Pro,
            ..Environment::default()
        },
        slots,
        7,
    )
}

#[test]
fn every_problem_is_told_at_once_by_field() {
    let mut config = site().chain("ok.example.com.", "one", &["random"]).config;
    config.services.push(Service {
        id: ServiceId(Uuid::from_u128(90)),
        ..config.services[0].clone()
    });
    config.services[1].pool_id = PoolId(Uuid::from_u128(99));
    config.zones.push(Zone {
        id: ZoneId(Uuid::from_u128(91)),
        ..config.zones[0].clone()
    });
    let errors = compile(&config, &mut Slots::new()).map(|_| ()).unwrap_err();
    let mut fields: Vec<_> = errors.iter().map(|e| (e.field.as_str(), e.code)).collect();
    fields.sort_by_key(|(field, _)| *field);
    assert_eq!(
        fields,
        [
            ("services[1].poolId", ErrorCode::NotFound),
            ("services[2].domain", ErrorCode::Duplicate),
            ("zones[2].name", ErrorCode::Duplicate),
        ]
    );
}

#[test]
fn a_disabled_service_claims_no_name() {
    let mut config = site().config;
    let twin = Service {
        id: ServiceId(Uuid::from_u128(90)),
        enabled: false,
        ..config.services[0].clone()
    };
    config.services.push(twin.clone());
    let snapshot = compile(&config, &mut Slots::new()).unwrap();
    assert!(snapshot.service(twin.id).is_some_and(|service| !service.enabled));
    assert_eq!(snapshot.service_count(), 2);
}

#[test]
fn slots_outlive_snapshots_and_go_with_their_objects() {
    let mut config = site().config;
    let mut slots = Slots::new();
    compile(&config, &mut slots).unwrap();
    let kept = config.pools[0].members[0].id;
    let slot = slots.existing_member(kept).unwrap();
    slot.set_score(0.25);
    slot.count_answer();
    config.pools[0].members.remove(1);
    config.pools[1].members.clear();
    let snapshot = compile(&config, &mut slots).unwrap();
    assert_eq!(slots.len(), (1, 1));
    let member = &snapshot.pool(config.pools[0].id).unwrap().members[0];
    assert_eq!((member.score(), member.slot.answers()), (0.25, 1));
}

#[test]
fn one_swap_replaces_the_snapshot_and_gives_the_old_one_back() {
    let cell = SnapshotCell::default();
    assert!(matches!(
        cell.load().find(&wire("www.example.com.")),
        Found::Outside
    ));
    let old = cell.store(Arc::new(compile(&site().config, &mut Slots::new()).unwrap()));
    assert_eq!(old.service_count(), 0);
    assert!(matches!(
        cell.load().find(&wire("www.example.com.")),
        Found::Service { .. }
    ));
}

#[test]
fn what_reaches_too_far_is_left_to_a_whole_compilation() {
    let config = site().config;
    let mut slots = Slots::new();
    let snapshot = compile(&config, &mut slots).unwrap();
    let mut far = |changes: Changes| snapshot.with_changes(&changes, &mut slots, 7).unwrap().is_none();
    let without = |zone: usize| Changes {
        removed_zones: vec![config.zones[zone].id],
        ..Changes::default()
    };
    // The first has a service and the second nothing.
    assert!(far(without(0)) && !far(without(1)));
    let with = |name: &str| Changes {
        zones: vec![Zone {
            id: ZoneId(Uuid::from_u128(91)),
            name: DomainName::parse("name", name).unwrap(),
            ..config.zones[0].clone()
        }],
        ..Changes::default()
    };
    // At a name, around one, around another zone.
    for name in ["example.com.", "www.example.com.", "com."] {
        assert!(far(with(name)), "{name}");
    }
    for name in [
        "new.example.com.",
        "a.b.example.com.",
        "below.www.example.com.",
        "elsewhere.test.",
    ] {
        assert!(!far(with(name)), "{name}");
    }
    let outside = site()
        .chain("www.elsewhere.test.", "one", &["random"])
        .config
        .services
        .swap_remove(1);
    assert!(far(Changes {
        services: vec![outside],
        ..Changes::default()
    }));
    assert!(!far(Changes::default()));
}

#[test]
fn a_pool_in_use_cannot_go() {
    let config = site().config;
    let mut slots = Slots::new();
    let snapshot = compile(&config, &mut slots).unwrap();
    let changes = Changes {
        removed_pools: vec![config.pools[0].id],
        ..Changes::default()
    };
    let errors = snapshot
        .with_changes(&changes, &mut slots, 7)
        .map(|_| ())
        .unwrap_err();
    assert_eq!(errors[0].code, ErrorCode::NotFound);
    assert_eq!(slots.len(), (3, 1));
}

/// Names that the changes below are about, and those around them.
const NAMES: [&str; 12] = [
    "www.example.com.",
    "*.example.com.",
    "a.b.example.com.",
    "b.example.com.",
    "*.b.example.com.",
    "x.y.z.example.com.",
    "example.com.",
    "sub.example.com.",
    "w.sub.example.com.",
    "*.sub.example.com.",
    "new.example.com.",
    "w.new.example.com.",
];
/// Zones that come and go.
const ZONES: [&str; 4] = [
    "new.example.com.",
    "y.z.example.com.",
    "deep.in.sub.example.com.",
    "elsewhere.test.",
];
const ASKED: [&str; 13] = [
    "q.new.example.com.",
    "q.y.z.example.com.",
    "in.sub.example.com.",
    "q.deep.in.sub.example.com.",
    "q.elsewhere.test.",
    "q.example.com.",
    "q.b.example.com.",
    "y.z.example.com.",
    "z.example.com.",
    "q.z.example.com.",
    "q.sub.example.com.",
    "com.",
    "q.a.b.example.com.",
];

#[derive(Debug, Clone)]
enum Step {
    /// Name, pool, enabled.
    Put(usize, bool, bool),
    Rename(usize, usize),
    Remove(usize),
    /// Pool, minHealthy, drop a member.
    Pool(bool, u32, bool),
    Serial(bool),
    /// Comes, or goes with its records.
    Zone(usize),
    /// Name, which records.
    Records(usize, u8),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let name = 0..NAMES.len();
    let step = prop_oneof![
        4 => (name.clone(), any::<bool>(), prop::bool::weighted(0.8)).prop_map(|(n, p, e)| Step::Put(n, p, e)),
        2 => (name.clone(), name.clone()).prop_map(|(a, b)| Step::Rename(a, b)),
        2 => name.clone().prop_map(Step::Remove),
        4 => (name, 0_u8..4).prop_map(|(n, kind)| Step::Records(n, kind)),
        1 => (any::<bool>(), 0_u32..9, any::<bool>()).prop_map(|(p, n, d)| Step::Pool(p, n, d)),
        1 => any::<bool>().prop_map(Step::Serial),
        2 => (0..ZONES.len()).prop_map(Step::Zone),
    ];
    proptest::collection::vec(step, 1..25)
}

fn service(config: &Configuration, name: usize, second: bool, enabled: bool) -> Service {
    let template = Site::new()
        .pool("p", 0, vec![])
        .service(NAMES[name], "p", ServiceDraft::default());
    Service {
        id: ServiceId(Uuid::from_u128(1000 + name as u128)),
        pool_id: config.pools[usize::from(second)].id,
        enabled,
        ..template.config.services[0].clone()
    }
}

/// The change of one step, done to the configuration as well.
fn change(config: &mut Configuration, step: &Step) -> Changes {
    let mut changes = Changes::default();
    let taken =
        |config: &Configuration, domain: &str| config.services.iter().any(|s| s.domain.as_str() == domain);
    match *step {
        Step::Put(name, second, enabled) => {
            let new = service(config, name, second, enabled);
            config.services.retain(|old| old.id != new.id);
            if !taken(config, NAMES[name]) {
                config.services.push(new.clone());
                changes.services.push(new);
            } else {
                changes.removed_services.push(new.id);
            }
        }
        Step::Rename(name, to) => {
            let id = ServiceId(Uuid::from_u128(1000 + name as u128));
            if !taken(config, NAMES[to])
                && let Some(old) = config.services.iter_mut().find(|old| old.id == id)
            {
                old.domain = service(&site().config, to, false, true).domain;
                changes.services.push(old.clone());
            }
        }
        Step::Remove(name) => {
            let id = ServiceId(Uuid::from_u128(1000 + name as u128));
            config.services.retain(|old| old.id != id);
            changes.removed_services.push(id);
        }
        Step::Pool(second, min_healthy, drop) => {
            let pool: &mut Pool = &mut config.pools[usize::from(second)];
            pool.min_healthy = min_healthy;
            if drop {
                pool.members.pop();
            }
            changes.pools.push(pool.clone());
        }
        Step::Records(name, kind) => {
            // A zone in the example, and the one below it.
            let zones = &config.zones;
            let closest = zones
                .iter()
                .filter(|zone| format!(".{}", NAMES[name]).ends_with(&format!(".{}", zone.name)));
            let zone = closest
                .max_by_key(|zone| zone.name.as_str().len())
                .unwrap()
                .clone();
            let apex = zone.name.as_str() == NAMES[name] || NAMES[name].starts_with('*');
            let (rtype, data) = match kind {
                1 => ("TXT", "x"),
                2 if !apex => ("NS", "ns.example.net."),
                _ => ("MX", "0 ."),
            };
            let draft = RecordDraft {
                name: Some(NAMES[name].to_owned()),
                rtype: Some(rtype.to_owned()),
                ttl: Some(i64::from(kind)),
                data: Some(vec![data.to_owned()]),
            };
            let set = draft
                .validate(RecordId(Uuid::from_u128(5000 + name as u128)), &zone)
                .unwrap();
            // It may have been in a zone around this one, or below.
            let old = config.records.iter().filter(|old| old.id == set.id);
            changes
                .names
                .extend(old.map(|old| (old.zone_id, old.name.clone())));
            config.records.retain(|old| old.id != set.id);
            changes.names.push((zone.id, set.name.clone()));
            if kind > 0 {
                config.records.push(set.clone());
                changes.records.push(set);
            }
        }
        Step::Zone(index) => {
            let id = ZoneId(Uuid::from_u128(7000 + index as u128));
            if config.zones.iter().any(|zone| zone.id == id) {
                config.zones.retain(|zone| zone.id != id);
                changes.removed_zones.push(id);
                config.records.retain(|set| {
                    let gone = set.zone_id == id;
                    if gone {
                        changes.names.push((id, set.name.clone()));
                    }
                    !gone
                });
            } else {
                let mut zone = config.zones[0].clone();
                zone.id = id;
                zone.name = DomainName::parse("name", ZONES[index]).unwrap();
                config.zones.push(zone.clone());
                changes.zones.push(zone);
            }
        }
        Step::Serial(second) => {
            let zone = &mut config.zones[usize::from(second)];
            zone.serial += 1;
            changes.zones.push(zone.clone());
        }
    }
    changes
}

fn describe(snapshot: &Snapshot) -> Vec<String> {
    let one = |name: &&str| match snapshot.find(&wire(name)) {
        Found::Service {
            service,
            records,
            zone,
        } => {
            let pool = &service.pool;
            let pool = (pool.id, pool.min_healthy, pool.members.len());
            format!(
                "{name} service {} {pool:?} in {} {} beside {}",
                service.id,
                zone.name,
                zone.serial,
                records.map_or(0, |records| records.sets().len())
            )
        }
        Found::Records { records, zone } => format!("{name} {:?} in {} {}", records, zone.name, zone.serial),
        Found::Apex { records, zone } => format!("{name} apex {} {records:?}", zone.serial),
        Found::Delegated { cut, records, zone } => {
            format!("{name} at {cut:?} {records:?} in {} {}", zone.name, zone.serial)
        }
        Found::Empty(zone) => format!("{name} empty {} {}", zone.name, zone.serial),
        Found::Missing(zone) => format!("{name} missing {} {}", zone.name, zone.serial),
        Found::Outside => format!("{name} outside"),
    };
    NAMES.iter().chain(&ASKED).map(one).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn changing_some_comes_to_the_same_as_compiling_all(steps in steps()) {
        let mut config = site().config;
        config.services.clear();
        let (mut slots, mut other_slots) = (Slots::new(), Slots::new());
        let mut changed = compile(&config, &mut slots).unwrap();
        for step in &steps {
            let before = describe(&changed);
            let changes = change(&mut config, step);
            let next = match changed.with_changes(&changes, &mut slots, 7).unwrap() {
                Some(next) => next,
                None if matches!(step, Step::Zone(_)) => compile(&config, &mut slots).unwrap(),
                None => panic!("{step:?} needs no whole compilation"),
            };
            prop_assert_eq!(&before, &describe(&changed), "the old snapshot changed");
            let whole = compile(&config, &mut other_slots).unwrap();
            prop_assert_eq!(describe(&next), describe(&whole), "{:?}", step);
            prop_assert_eq!(next.service_count(), whole.service_count());
            prop_assert_eq!(slots.len(), other_slots.len());
            changed = next;
        }
    }
}
