//! The built-in steps do not allocate: counted by an allocator of the test's own.

use gslb_engine::chain::{NoTrace, Scratch, evaluate};
use gslb_engine::environment::{Environment, MapRule, Signals};
use gslb_engine::geo::{Continent, Country, Place, Point, Subdivision};
use gslb_engine::model::{FILTERS, GeoDraft, MemberDraft, ServiceDraft, Tier, WatermarksDraft};
use gslb_engine::query::{ClientSubnet, Family, QueryContext};
use gslb_engine::snapshot::Found;
use gslb_engine::testing::{FakeScript, FakeScripts, Rows, Site, entropy, member, wire};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// Counts per thread, so that tests running beside this one do not disturb.
struct Counting;

#[expect(
    unsafe_code,
    reason = "an allocator is unsafe by its trait; this one passes everything on"
)]
// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`; all memory comes from `System`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const REGIONS: [&str; 4] = ["DE", "US", "FR", "unknown"];

fn members(count: usize) -> Vec<MemberDraft> {
    let one = |n: usize| MemberDraft {
        weight: Some(n as i64 % 7),
        priority: Some(n as i64 % 5),
        asn: Some(64500 + n as i64 % 3),
        geo: (!n.is_multiple_of(3)).then(|| GeoDraft {
            continent: Some(["EU", "NA"][n % 2].to_owned()),
            country: Some(vec!["AT".to_owned(), "DE".to_owned()]),
            subdivision: Some(["DE-BE", "US-CA"][n % 2].to_owned()),
            lat: Some(n as f64 % 90.0),
            lon: Some(n as f64 % 180.0),
        }),
        fence_asns: n.is_multiple_of(5).then(|| vec![64500 + n as i64 % 2]),
        fence_prefixes: n
            .is_multiple_of(4)
            .then(|| vec![["198.51.100.0/24", "203.0.113.0/24"][n % 8 / 4].to_owned()]),
        load_watermarks: Some(WatermarksDraft {
            low: Some(0.3),
            high: Some(0.9),
        }),
        ..member(&format!("10.0.{}.{}", n / 250, n % 250 + 1), REGIONS[n % 4])
    };
    (0..count).map(one).collect()
}

#[test]
fn no_step_allocates_from_the_first_query_on_up_to_512_members() {
    let here = Place {
        continent: Continent::parse("EU"),
        country: Country::parse("DE"),
        subdivision: Subdivision::parse("DE-BE"),
        point: Point::new(52.0, 13.0),
    };
    let network = "198.51.100.0/24";
    let rows = Rows::new().country(network, "DE").place(network, here);
    let environment = Environment {
        geo: Arc::new(rows.asn(network, 64500, "Example ISP")),
        map: [MapRule {
            network: "198.51.100.0/24".parse().unwrap(),
            targets: vec!["x".into(), "US".into()],
        }]
        .into(),
        signals: Signals {
            zones: [("DE".into(), 3.0), ("US".into(), 1.0)].into(),
            weight: 0.7,
        },
        tier: Tier::Enterprise,
        ..Environment::default()
    };
    let mut chains: Vec<Vec<String>> = FILTERS.iter().map(|info| vec![info.entry()]).collect();
    chains.push(
        ["geo-ip", "asn", "map-file", "signal-weight", "sticky", "latency"]
            .map(str::to_owned)
            .to_vec(),
    );
    chains.push(["signal-weight", "asn", "latency"].map(str::to_owned).to_vec());
    chains.push(
        [
            "prefix-fence",
            "asn-fence",
            "shed-load",
            "geo-nearest",
            "geo-continent",
            "geo-subdivision",
            "select-first:3",
        ]
        .map(str::to_owned)
        .to_vec(),
    );
    // One answer goes another way through the selecting steps than several.
    for (size, max_answers) in [1, 8, 64, 65, 512]
        .into_iter()
        .flat_map(|size| [(size, 1), (size, 64)])
    {
        for chain in &chains {
            let draft = ServiceDraft {
                filter_chain: Some(chain.clone()),
                max_answers: Some(max_answers),
                ..ServiceDraft::default()
            };
            let site = Site::new()
                .pool("web", 1, members(size))
                .service("www.example.com.", "web", draft);
            let (snapshot, slots) = site.compile(&environment).unwrap();
            for (n, stored) in site.config.pools[0].members.iter().enumerate() {
                let slot = slots.existing_member(stored.id).unwrap();
                slot.set_score([1.0, 0.5, 0.0, 0.7][n % 4]);
                slot.set_load(Some(n as f64 % 10.0 / 10.0), (n % 2 == 0).then_some(25));
                for _ in 0..n % 5 {
                    slot.set_rtt(1_000_000 * (n as u64 % 50 + 1), 0);
                }
            }
            let qname = wire("www.example.com.");
            let mut scratch = Scratch::new();
            let before = ALLOCATIONS.get();
            for n in 0..50 {
                let Found::Service { service, .. } = snapshot.find(&qname) else {
                    panic!("not found")
                };
                let ctx = QueryContext {
                    qname: &qname,
                    family: Family::V4,
                    source: "192.0.2.1".parse().unwrap(),
                    subnet: Some(ClientSubnet {
                        address: "198.51.100.0".parse().unwrap(),
                        source: 24,
                    }),
                    now: n,
                    entropy: entropy(n),
                };
                let decision = evaluate(&snapshot, service, &ctx, &mut scratch, &mut NoTrace);
                service.count(&decision, &scratch);
                assert!(!scratch.answers().is_empty());
            }
            assert_eq!(
                ALLOCATIONS.get() - before,
                0,
                "{chain:?} with {size} members, {max_answers} answers"
            );
        }
    }
}

#[test]
fn a_script_step_allocates_only_in_the_first_query() {
    let scripts = FakeScripts::new().with(
        "a",
        FakeScript::new(|input, order| {
            order.extend((0..).take(input.candidates.len()));
            order.reverse();
            Ok(())
        }),
    );
    let environment = Environment {
        tier: Tier::Enterprise,
        scripts: Arc::new(scripts),
        ..Environment::default()
    };
    let site =
        Site::new()
            .pool("web", 0, members(512))
            .chain("www.example.com.", "web", &["script:a", "script:a"]);
    let (snapshot, _slots) = site.compile(&environment).unwrap();
    let qname = wire("www.example.com.");
    let service = snapshot.services().next().unwrap();
    let mut scratch = Scratch::new();
    let mut before = 0;
    for n in 0..50 {
        let ctx = QueryContext {
            qname: &qname,
            family: Family::V4,
            source: "192.0.2.1".parse().unwrap(),
            subnet: None,
            now: n,
            entropy: n,
        };
        let decision = evaluate(&snapshot, service, &ctx, &mut scratch, &mut NoTrace);
        assert_eq!(decision.script_errors, 0);
        if n == 0 {
            before = ALLOCATIONS.get();
        }
    }
    assert_eq!(ALLOCATIONS.get() - before, 0);
}

#[test]
fn the_counter_counts() {
    let before = ALLOCATIONS.get();
    drop(std::hint::black_box(vec![1_u8]));
    assert_eq!(ALLOCATIONS.get() - before, 1);
}
