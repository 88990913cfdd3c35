//! What the engine does with script steps: what scripts see, what becomes of their answers, and that a failure keeps
//! the candidates.

use gslb_engine::chain::{Decision, NoTrace, Scratch, evaluate, trace};
use gslb_engine::environment::Environment;
use gslb_engine::geo::Country;
use gslb_engine::model::{MemberDraft, ServiceDraft, Tier};
use gslb_engine::query::{ClientSubnet, Family, QueryContext};
use gslb_engine::script::{ScriptFailure, ScriptReads};
use gslb_engine::snapshot::{Changes, Found, RoutedService, Slots, Snapshot};
use gslb_engine::testing::{FakeScript, FakeScripts, Rows, Site, member, wire};
use gslb_engine::trace::{StepAction, StepTrace};
use proptest::prelude::*;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const NAME: &str = "www.example.com.";

fn members(count: usize) -> Vec<MemberDraft> {
    let one = |n| MemberDraft {
        weight: Some(n as i64),
        priority: Some(n as i64 + 1),
        asn: (n % 2 == 0).then_some(64500),
        port: Some(8000 + n as i64),
        ..member(&format!("10.0.0.{n}"), "DE")
    };
    (1..=count).map(one).collect()
}

struct Built {
    site: Site,
    snapshot: Snapshot,
    slots: Slots,
    scripts: Arc<FakeScripts>,
}

fn environment(scripts: &Arc<FakeScripts>) -> Environment {
    Environment {
        geo: Arc::new(
            Rows::new()
                .country("198.51.96.0/20", "DE")
                .country("0.0.0.0/1", "US")
                .asn("198.51.100.0/23", 64500, "One"),
        ),
        tier: Tier::Enterprise,
        scripts: Arc::clone(scripts) as _,
        ..Environment::default()
    }
}

impl Built {
    fn new(scripts: FakeScripts, size: usize, chain: &[&str]) -> Self {
        let scripts = Arc::new(scripts);
        let site = Site::new()
            .zone_named("example.com.")
            .pool("web", 0, members(size))
            .chain(NAME, "web", chain);
        let (snapshot, slots) = site.compile(&environment(&scripts)).unwrap();
        Self {
            site,
            snapshot,
            slots,
            scripts,
        }
    }

    fn service(&self) -> RoutedService<'_> {
        match self.snapshot.find(&wire(NAME)) {
            Found::Service { service, .. } => service,
            other => panic!("{other:?}"),
        }
    }

    fn ask(&self, ctx: &QueryContext<'_>) -> (Decision, Vec<String>, Option<ScriptFailure>) {
        let mut scratch = Scratch::new();
        let decision = evaluate(&self.snapshot, self.service(), ctx, &mut scratch, &mut NoTrace);
        self.service().count(&decision, &scratch);
        let answers = scratch.answers().iter().map(ToString::to_string).collect();
        (decision, answers, scratch.script_failure().cloned())
    }

    fn answers(&self) -> Vec<String> {
        self.ask(&query(&wire(NAME))).1
    }

    fn steps(&self) -> Vec<StepTrace> {
        let mut now = 0;
        let clock = move || {
            now += 1500;
            now
        };
        trace(&self.snapshot, self.service(), &query(&wire(NAME)), None, clock).steps
    }
}

fn query(qname: &[u8]) -> QueryContext<'_> {
    QueryContext {
        qname,
        family: Family::V4,
        source: IpAddr::from([192, 0, 2, 1]),
        subnet: Some(ClientSubnet {
            address: IpAddr::from([198, 51, 100, 0]),
            source: 24,
        }),
        now: 1_700_000_000,
        entropy: 0,
    }
}

fn after(step: &StepTrace) -> Vec<&str> {
    step.after.iter().map(|c| c.address.as_str()).collect()
}

#[test]
fn a_script_narrows_and_orders_and_the_next_step_goes_on_with_that() {
    let scripts = FakeScripts::new().with("a", FakeScript::order(&[2, 0]));
    let built = Built::new(scripts, 3, &["script:a"]);
    assert_eq!(built.answers(), ["10.0.0.3"]);
    let steps = built.steps();
    assert_eq!(
        (steps[0].step.as_str(), steps[0].action),
        ("script:a", StepAction::Narrowed)
    );
    assert_eq!(after(&steps[0]), ["10.0.0.3", "10.0.0.1"]);
    assert_eq!(
        steps[0].reason,
        "the script left 1 out and put the others in another order"
    );

    let scripts = FakeScripts::new().with("a", FakeScript::order(&[2, 1]));
    let built = Built::new(scripts, 3, &["script:a", "failover"]);
    assert_eq!(built.answers(), ["10.0.0.2"]);
}

#[test]
fn an_order_of_all_is_a_reordering_changed_or_not() {
    for (order, reason) in [
        (&[0, 1, 2], "the script kept every candidate, in the same order"),
        (&[1, 2, 0], "the script put the candidates in another order"),
    ] {
        let scripts = FakeScripts::new().with("a", FakeScript::order(order));
        let steps = Built::new(scripts, 3, &["script:a"]).steps();
        assert_eq!(
            (steps[0].action, steps[0].reason.as_str()),
            (StepAction::Reordered, reason)
        );
    }
}

#[test]
fn a_trace_tells_the_time_of_the_script_and_what_it_reads() {
    let reads = ScriptReads {
        client_ip: true,
        client_asn: true,
        ..ScriptReads::default()
    };
    let scripts = FakeScripts::new().with("a", FakeScript::order(&[0]).reading(reads));
    let steps = Built::new(scripts, 2, &["script:a"]).steps();
    let details: Vec<_> = steps[0]
        .details
        .iter()
        .map(|d| (d.name.as_str(), d.value.as_str()))
        .collect();
    assert_eq!(
        details,
        [("reads", "client_ip, client_asn"), ("script time", "1.5 µs")]
    );
}

#[test]
fn every_failure_keeps_the_candidates_and_is_counted_and_told() {
    for failure in [
        ScriptFailure::Failed("line 1, column 1: division by zero".to_owned()),
        ScriptFailure::NamesNobody,
        ScriptFailure::Stopped("2 ms are over".to_owned()),
        ScriptFailure::Busy,
        ScriptFailure::SwitchedOff { errors: 20 },
    ] {
        let scripts = FakeScripts::new().with("a", FakeScript::failing(failure.clone()));
        let built = Built::new(scripts, 3, &["script:a", "failover"]);
        let steps = built.steps();
        assert_eq!(steps[0].action, StepAction::Error);
        assert_eq!(steps[0].before, steps[0].after);
        assert_eq!(
            steps[0].reason,
            format!("the script failed, and all candidates are kept: {failure}")
        );
        assert_eq!(steps[1].reason, "lowest priority: 2");
        let errors = || {
            let slot = &built.service().slot;
            slot.script_errors.load(Ordering::Relaxed)
        };
        assert_eq!(errors(), 0, "a trace counts nothing");
        let (decision, answers, told) = built.ask(&query(&wire(NAME)));
        assert_eq!(
            (answers, decision.script_errors),
            (vec!["10.0.0.1".to_owned()], 1)
        );
        assert_eq!(told, Some(failure));
        assert_eq!(errors(), 1);
    }
}

#[test]
fn the_failure_of_one_query_is_not_that_of_the_next() {
    let scripts = FakeScripts::new().with("a", FakeScript::failing(ScriptFailure::Busy));
    let built = Built::new(scripts, 2, &["script:a"]);
    let mut scratch = Scratch::new();
    let qname = wire(NAME);
    evaluate(
        &built.snapshot,
        built.service(),
        &query(&qname),
        &mut scratch,
        &mut NoTrace,
    );
    assert!(scratch.script_failure().is_some());
    let other = QueryContext {
        family: Family::V6,
        ..query(&qname)
    };
    evaluate(
        &built.snapshot,
        built.service(),
        &other,
        &mut scratch,
        &mut NoTrace,
    );
    assert_eq!(scratch.script_failure(), None);
}

#[test]
fn an_answer_without_any_candidate_is_a_failure() {
    for order in [&[][..], &[3, 99, u16::MAX]] {
        let scripts = FakeScripts::new().with("a", FakeScript::order(order));
        let (_, answers, failure) =
            Built::new(scripts, 3, &["script:a", "failover"]).ask(&query(&wire(NAME)));
        assert_eq!(answers, ["10.0.0.1"]);
        assert_eq!(failure, Some(ScriptFailure::NamesNobody));
    }
}

#[test]
fn a_script_that_does_not_compile_fails_open_and_stops_nothing_else() {
    let built = Built::new(FakeScripts::new(), 3, &["script:unheard of", "failover"]);
    assert_eq!(built.answers(), ["10.0.0.1"]);
    assert!(!built.service().has_slow_script());
    assert_eq!(
        built.steps()[0].reason,
        "the script failed, and all candidates are kept: does not compile: line 2, column 3: nobody knows this"
    );
    // Where nobody can run scripts, the reason says that.
    let env = Environment {
        tier: Tier::Enterprise,
        ..Environment::default()
    };
    let (snapshot, slots) = built.site.compile(&env).unwrap();
    let here = Built {
        snapshot,
        slots,
        scripts: Arc::default(),
        site: built.site.clone(),
    };
    let steps = here.steps();
    assert_eq!(steps[0].action, StepAction::Error);
    assert!(
        steps[0]
            .reason
            .ends_with("scripts cannot run here: use the built-in filters")
    );
}

#[test]
fn scripts_are_compiled_with_the_snapshot_and_not_by_queries_or_other_changes() {
    let scripts = FakeScripts::new().with("a", FakeScript::order(&[0]));
    let mut built = Built::new(scripts, 3, &["script:a", "script:a"]);
    assert_eq!(built.scripts.asked(), 2);
    for _ in 0..20 {
        built.answers();
    }
    let mut other = built.site.config.pools[0].clone();
    other.members.truncate(2);
    let changes = Changes {
        pools: vec![other],
        ..Changes::default()
    };
    built.snapshot = built
        .snapshot
        .with_changes(&changes, &mut built.slots, 1)
        .unwrap()
        .unwrap();
    built.answers();
    assert_eq!(built.scripts.asked(), 2);
}

#[test]
fn a_script_sees_the_query_and_its_candidates() {
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&runs);
    let everything = ScriptReads {
        client_ip: true,
        client_country: true,
        client_asn: true,
    };
    let look = FakeScript::new(move |input, order| {
        counted.fetch_add(1, Ordering::Relaxed);
        order.push(1);
        assert_eq!(
            (input.qname, input.qtype, input.now, input.service),
            ("any.example.com.", Family::V4, 1_700_000_000, "*.example.com."),
        );
        assert_eq!(
            (input.client_ip, input.client_country, input.client_asn),
            (IpAddr::from([198, 51, 100, 0]), Some(Country(*b"DE")), 64500)
        );
        let candidate = &input.candidates[0];
        assert_eq!(
            (candidate.ip, candidate.port),
            (IpAddr::from([10, 0, 0, 2]), 8002)
        );
        assert_eq!(
            (candidate.region, candidate.weight, candidate.priority),
            ("DE", 2, 3)
        );
        assert_eq!(
            (candidate.asn, candidate.health_score, candidate.rtt_ms),
            (64500, 1.0, Some(2.5))
        );
        assert_eq!(input.candidates[1].ip, IpAddr::from([10, 0, 0, 1]));
        assert_eq!(
            (input.candidates[1].asn, input.candidates[1].health_score),
            (0, 0.5)
        );
        assert_eq!(input.candidates[1].rtt_ms, None);
        Ok(())
    });
    let scripts = Arc::new(FakeScripts::new().with("a", look.reading(everything)));
    let site = Site::new().pool("web", 0, members(2)).service(
        "*.example.com.",
        "web",
        ServiceDraft {
            filter_chain: Some(vec!["script:a".to_owned()]),
            ..ServiceDraft::default()
        },
    );
    let (snapshot, slots) = site.compile(&environment(&scripts)).unwrap();
    site.slot(&slots, "10.0.0.1").unwrap().set_score(0.5);
    for _ in 0..3 {
        site.slot(&slots, "10.0.0.2").unwrap().set_rtt(2_500_000, 0);
    }
    let qname = wire("any.example.com.");
    let mut scratch = Scratch::new();
    // The second query works in the memory of the first.
    for run in 1..3 {
        let service = snapshot.services().next().unwrap();
        evaluate(&snapshot, service, &query(&qname), &mut scratch, &mut NoTrace);
        assert_eq!(scratch.answers(), [IpAddr::from([10, 0, 0, 1])]);
        assert_eq!(runs.load(Ordering::Relaxed), run);
    }
}

fn scope_of(reads: ScriptReads, source: u8) -> u8 {
    let scripts = FakeScripts::new().with("a", FakeScript::order(&[0]).reading(reads));
    let qname = wire(NAME);
    let mut query = query(&qname);
    query.subnet = Some(ClientSubnet {
        address: IpAddr::from([198, 51, 100, 0]),
        source,
    });
    Built::new(scripts, 2, &["script:a"]).ask(&query).0.ecs_scope
}

fn scope(reads: ScriptReads) -> u8 {
    scope_of(reads, 24)
}

#[test]
fn the_scope_follows_what_the_script_reads() {
    let nothing = ScriptReads::default();
    assert_eq!(scope(nothing), 0);
    let ip = ScriptReads {
        client_ip: true,
        ..nothing
    };
    assert_eq!((scope(ip), scope_of(ip, 32), scope_of(ip, 9)), (24, 32, 9));
    let country = ScriptReads {
        client_country: true,
        ..nothing
    };
    assert_eq!(scope(country), 20);
    let asn = ScriptReads {
        client_asn: true,
        ..nothing
    };
    assert_eq!(scope(asn), 23);
}

#[test]
fn what_a_script_does_not_read_it_does_not_get() {
    let blind = FakeScript::new(|input, order| {
        assert_eq!((input.client_country, input.client_asn), (None, 0));
        order.push(0);
        Ok(())
    });
    let built = Built::new(FakeScripts::new().with("a", blind), 2, &["script:a"]);
    assert_eq!(built.ask(&query(&wire(NAME))).2, None);
}

#[test]
fn more_candidates_than_a_word_has_bits_are_told_apart() {
    let scripts = FakeScripts::new().with(
        "a",
        FakeScript::new(|input, order| {
            let count = u16::try_from(input.candidates.len()).unwrap();
            order.extend((0..count).rev().flat_map(|position| [position, position]));
            Ok(())
        }),
    );
    let steps = Built::new(scripts, 130, &["script:a"]).steps();
    let wanted: Vec<String> = (1..=130).rev().map(|n| format!("10.0.0.{n}")).collect();
    assert_eq!(after(&steps[0]), wanted);
}

#[test]
fn a_thread_that_must_not_wait_leaves_out_what_is_not_quick() {
    for (quick_up_to, skip, runs) in [
        (8, true, true),
        (2, true, false),
        (2, false, true),
        (8, false, true),
    ] {
        let script = FakeScript::order(&[2]).quick_up_to(quick_up_to);
        let built = Built::new(FakeScripts::new().with("a", script), 3, &["script:a"]);
        let mut scratch = Scratch::new();
        scratch.skip_slow_scripts(skip);
        let qname = wire(NAME);
        let ctx = query(&qname);
        evaluate(&built.snapshot, built.service(), &ctx, &mut scratch, &mut NoTrace);
        let wanted = [10, 0, 0, if runs { 3 } else { 1 }];
        assert_eq!(scratch.answers(), [IpAddr::from(wanted)], "{quick_up_to} {skip}");
        let failure = (!runs).then_some(ScriptFailure::Busy);
        assert_eq!(scratch.script_failure().cloned(), failure);
    }
}

#[test]
fn with_one_candidate_no_script_runs() {
    let scripts = FakeScripts::new().with("a", FakeScript::failing(ScriptFailure::Busy));
    let built = Built::new(scripts, 1, &["script:a"]);
    assert_eq!(built.steps()[0].action, StepAction::Skipped);
    assert_eq!(built.ask(&query(&wire(NAME))).2, None);
}

#[test]
fn without_the_tier_no_script_runs() {
    let scripts = Arc::new(FakeScripts::new().with("a", FakeScript::order(&[2])));
    let site = Site::new()
        .pool("web", 0, members(3))
        .chain(NAME, "web", &["script:a"]);
    let env = Environment {
        tier: Tier::Pro,
        ..environment(&scripts)
    };
    let (snapshot, _slots) = site.compile(&env).unwrap();
    let service = snapshot.services().next().unwrap();
    assert!(service.licence_fallback && !service.has_slow_script());
    assert_eq!(scripts.asked(), 0);
}

#[test]
fn a_service_tells_whether_a_query_may_block() {
    let slow = |chain: &[&str], size| {
        let scripts = FakeScripts::new().with("a", FakeScript::order(&[0]).quick_up_to(4));
        Built::new(scripts, size, chain)
    };
    assert!(!slow(&["script:a"], 4).service().has_slow_script());
    assert!(slow(&["geo-ip", "script:a"], 5).service().has_slow_script());
    assert!(!slow(&["random", "script:a"], 5).service().has_slow_script());
    assert!(!slow(&["geo-ip"], 5).service().has_slow_script());

    // A pool that grows makes it slow.
    let mut built = slow(&["script:a"], 4);
    let bigger = Site::new().zone_named("example.com.").pool("web", 0, members(5));
    let mut pool = built.site.config.pools[0].clone();
    pool.members
        .extend(bigger.config.pools[0].members.last().cloned());
    let changes = Changes {
        pools: vec![pool],
        ..Changes::default()
    };
    built.snapshot = built
        .snapshot
        .with_changes(&changes, &mut built.slots, 1)
        .unwrap()
        .unwrap();
    assert!(built.service().has_slow_script());
}

proptest! {
    /// Whatever a script answers, only candidates come out, each once, in its order.
    #[test]
    fn only_candidates_come_out(order in proptest::collection::vec(0_u16..12, 0..12), size in 2_usize..9) {
        let wanted: &'static [u16] = Vec::leak(order);
        let scripts = FakeScripts::new().with("a", FakeScript::order(wanted));
        let built = Built::new(scripts, size, &["script:a"]);
        let mut expected: Vec<String> = Vec::new();
        for position in wanted.iter().filter(|p| usize::from(**p) < size) {
            let ip = format!("10.0.0.{}", position + 1);
            if !expected.contains(&ip) {
                expected.push(ip);
            }
        }
        if expected.is_empty() {
            expected = (1..=size).map(|n| format!("10.0.0.{n}")).collect();
        }
        let steps = built.steps();
        prop_assert_eq!(after(&steps[0]), expected);
    }
}
