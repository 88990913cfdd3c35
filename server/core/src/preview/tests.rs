use super::*;
use gslb_api_types::{PreviewCountry, PreviewMove, PreviewShare};
use gslb_engine::environment::Environment;
use gslb_engine::model::{ServiceDraft, Tier};
use gslb_engine::query::Family;
use gslb_engine::testing::{Rows, Site, member};
use std::sync::Arc;

fn environment() -> Environment {
    let geo = Rows::new()
        .country("198.51.100.0/24", "US")
        .country("203.0.113.0/24", "DE");
    Environment {
        geo: Arc::new(geo),
        tier: Tier::Enterprise,
        ..Environment::default()
    }
}

/// Two members, and so many queries of each client.
fn compared(stored: &[&str], proposed: &[&str], clients: &[(&str, usize)]) -> Preview {
    let site = |chain: &[&str]| {
        let members = vec![member("192.0.2.1", "US"), member("192.0.2.2", "DE")];
        let draft = ServiceDraft {
            filter_chain: Some(chain.iter().map(|step| (*step).to_owned()).collect()),
            ..ServiceDraft::default()
        };
        Site::new()
            .pool("web", 0, members)
            .service("www.example.com", "web", draft)
    };
    let (snapshot, _slots) = site(stored).compile(&environment()).unwrap();
    let change = site(proposed).config.services[0].clone();
    let (changed, service) = snapshot.proposal(&change, None, None).unwrap();
    let queries: Vec<_> = clients
        .iter()
        .flat_map(|(client, times)| std::iter::repeat_n(client, *times))
        .zip(100_u64..)
        .map(|(client, at)| PastQuery::new(client.parse().unwrap(), None, Family::V4, at))
        .collect();
    let stored = snapshot.services().next().unwrap();
    compare(
        [&snapshot, &changed],
        [stored, changed.route(&service).unwrap()],
        &queries,
    )
}

fn of(name: &str, region: Option<&str>, before: u32, after: u32) -> PreviewShare {
    PreviewShare {
        name: name.to_owned(),
        region: region.map(str::to_owned),
        before,
        after,
    }
}

#[test]
fn it_tells_who_moves_and_where() {
    let clients = [("198.51.100.7", 6), ("203.0.113.7", 3), ("192.0.2.77", 1)];
    let told = compared(&["failover"], &["geo-ip", "failover"], &clients);
    assert_eq!((told.queries, told.differ), (10, 3));
    assert_eq!((told.since, told.until), (Some(100), Some(109)));
    assert_eq!(
        told.members,
        [
            of("192.0.2.1", Some("US"), 10, 7),
            of("192.0.2.2", Some("DE"), 0, 3)
        ]
    );
    assert_eq!(told.regions, [of("US", None, 10, 7), of("DE", None, 0, 3)]);
    let country = |country: Option<&str>, queries, differ| PreviewCountry {
        country: country.map(str::to_owned),
        queries,
        differ,
    };
    assert_eq!(
        told.countries,
        [
            country(Some("US"), 6, 0),
            country(Some("DE"), 3, 3),
            country(None, 1, 0)
        ]
    );
    assert_eq!(
        told.moves,
        [PreviewMove {
            client: "203.0.113.0/24".to_owned(),
            country: Some("DE".to_owned()),
            queries: 3,
            from: vec!["192.0.2.1".to_owned()],
            to: vec!["192.0.2.2".to_owned()],
        }]
    );
    let [proof] = told.traces.as_slice() else {
        panic!("one way to move, one trace: {:?}", told.traces);
    };
    assert_eq!(
        (&proof.before.answers, &proof.after.answers),
        (&told.moves[0].from, &told.moves[0].to)
    );
    assert_eq!(proof.after.chain, ["geo-ip", "failover"]);
}

#[test]
fn nothing_moves_without_a_change_however_members_are_chosen() {
    for chain in ["round-robin", "weighted-round-robin", "random", "latency"] {
        let told = compared(&[chain], &[chain], &[("192.0.2.77", 200)]);
        assert_eq!((told.queries, told.differ), (200, 0), "{chain}");
        let shares: Vec<_> = told.members.iter().map(|share| share.before).collect();
        assert!(
            shares.iter().all(|share| (60..=140).contains(share)),
            "{chain}: {shares:?}"
        );
    }
}

#[test]
fn without_queries_there_is_nothing_to_tell() {
    let told = compared(&["failover"], &["random"], &[]);
    assert_eq!((told.queries, told.since, told.members.len()), (0, None, 0));
}

#[test]
fn scripts_are_timed_by_nearest_rank() {
    let mut ns: Vec<u64> = (1..=200).rev().map(|n| n * 1000).collect();
    let time = tally::script_time(&mut ns).unwrap();
    assert!((time.p50_micros - 100.0).abs() < 1e-9, "{time:?}");
    assert!((time.p99_micros - 198.0).abs() < 1e-9, "{time:?}");
    assert_eq!(tally::script_time(&mut []), None);
}
