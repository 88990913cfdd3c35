//! What the fuzz targets do with their input. It stands here and not in the targets so that the tests can replay the
//! checked-in inputs with the ordinary compiler.

use super::{Rows, Site, member};
use crate::chain::{NoTrace, Scratch, evaluate, trace};
use crate::environment::{Environment, MapRule, Signals};
use crate::model::{AdminState, FILTERS, MemberDraft, ServiceDraft, Tier};
use crate::query::{ClientSubnet, Family, QueryContext};
use crate::snapshot::Found;
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

pub use super::zone_file::zone_file;

const NAME: &str = "www.example.com.";
const REGIONS: [&str; 4] = ["DE", "US", "unknown", "eu-west"];

/// An input that is read from its beginning; behind its end there are zeros.
struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn byte(&mut self) -> u8 {
        self.0.split_off_first().copied().unwrap_or_default()
    }

    /// A number below `n`.
    fn below(&mut self, n: u8) -> usize {
        usize::from(self.byte() % n.max(1))
    }

    fn word(&mut self) -> u64 {
        (0..8).fold(0, |word, _| word << 8 | u64::from(self.byte()))
    }

    fn one_of<T: Copy>(&mut self, list: &[T]) -> Option<T> {
        let index = self.below(u8::try_from(list.len()).unwrap_or(u8::MAX));
        list.get(index).copied()
    }

    fn address(&mut self) -> IpAddr {
        match self.byte() % 3 {
            0 => Ipv4Addr::from_bits(self.word() as u32).into(),
            // Where rules, databases and private blocks lie close together.
            1 => Ipv4Addr::from([10, 0, self.byte() & 3, self.byte()]).into(),
            _ => Ipv6Addr::from_bits(u128::from(self.word()) << 64 | u128::from(self.byte())).into(),
        }
    }

    fn network(&mut self) -> Option<IpNet> {
        let address = self.address();
        let length = self.byte();
        Some(match address {
            IpAddr::V4(v4) => Ipv4Net::new(v4, length % 33).ok()?.trunc().into(),
            IpAddr::V6(v6) => Ipv6Net::new(v6, length % 129).ok()?.trunc().into(),
        })
    }
}

/// A member and the score that its slot is given.
struct Row {
    draft: MemberDraft,
    address: IpAddr,
    score: f32,
    rtt_ns: u64,
}

impl Row {
    fn read(input: &mut Input<'_>, number: usize) -> Self {
        let flags = input.byte();
        let text = if flags & 1 == 0 {
            format!("10.0.0.{number}")
        } else {
            format!("2001:db8::{number}")
        };
        let states = [
            AdminState::Auto,
            AdminState::Up,
            AdminState::Down,
            AdminState::Drain,
        ];
        let draft = MemberDraft {
            weight: input.one_of(&[0, 1, 3, i64::from(i32::MAX)]),
            priority: Some(input.below(4) as i64),
            asn: Some(64_500 + i64::from(flags >> 3 & 3)),
            admin_state: input.one_of(&states),
            enabled: Some(flags & 0x20 == 0),
            ..member(&text, input.one_of(&REGIONS).unwrap_or_default())
        };
        Self {
            address: text.parse().unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)),
            draft,
            score: f32::from(input.byte() % 5) / 4.0,
            rtt_ns: u64::from(input.byte()) * 1_000_000,
        }
    }

    fn is_healthy(&self) -> bool {
        let alive = match self.draft.admin_state {
            Some(AdminState::Up) => true,
            Some(AdminState::Down) => false,
            _ => self.score > 0.0,
        };
        alive && self.draft.enabled == Some(true)
    }

    fn may_answer(&self) -> bool {
        self.is_healthy() && self.draft.admin_state != Some(AdminState::Drain)
    }
}

fn environment(input: &mut Input<'_>) -> Environment {
    let mut rows = Rows::new();
    for _ in 0..input.below(9) {
        if let (Some(net), Some(region)) = (input.network(), input.one_of(&REGIONS)) {
            rows = rows.country(&net.to_string(), region);
        }
        if let Some(net) = input.network() {
            let organisation = input.one_of(&REGIONS).unwrap_or_default();
            rows = rows.asn(&net.to_string(), 64_500 + input.below(4) as u32, organisation);
        }
    }
    let mut map: Vec<MapRule> = Vec::new();
    for _ in 0..input.below(9) {
        let target = input.one_of(&["DE", "US", "mars", "10.0.0.1"]);
        if let (Some(network), Some(target)) = (input.network(), target)
            && !map.iter().any(|rule| rule.network == network)
        {
            let targets = vec![target.to_owned()];
            map.push(MapRule { network, targets });
        }
    }
    let zones = REGIONS.map(|zone| (zone.to_owned(), f64::from(input.byte())));
    Environment {
        geo: Arc::new(rows),
        map: map.into(),
        signals: Signals {
            zones: zones.into_iter().take(input.below(5)).collect(),
            weight: f64::from(input.byte()) / 255.0,
        },
        tier: Tier::Enterprise,
        ..Environment::default()
    }
}

/// Any pool, any chain of built-in steps, any environment and queries.
///
/// # Panics
/// A decision answers with somebody who is unhealthy, drained or no member of the pool, answers nobody although somebody
/// is there, or differs from its trace.
pub fn chain(data: &[u8]) {
    let mut input = Input(data);
    let size = input.below(80) + 1;
    let rows: Vec<Row> = (1..=size).map(|number| Row::read(&mut input, number)).collect();
    let steps: Vec<String> = (0..=input.below(6))
        .filter_map(|_| {
            let index = input.below(u8::try_from(FILTERS.len()).unwrap_or(u8::MAX));
            FILTERS.get(index).map(|info| info.name.to_string())
        })
        .collect();
    let environment = environment(&mut input);
    let min_healthy = input.below(4);
    let max_answers = input.below(5) + 1;
    let draft = ServiceDraft {
        filter_chain: Some(steps),
        max_answers: Some(max_answers as i64),
        ..ServiceDraft::default()
    };
    let site = Site::new()
        .pool(
            "web",
            min_healthy as i64,
            rows.iter().map(|row| row.draft.clone()).collect(),
        )
        .service(NAME, "web", draft);
    let Ok((snapshot, slots)) = site.compile(&environment) else {
        return;
    };
    for row in &rows {
        if let Some(slot) = site.slot(&slots, &row.address.to_string()) {
            slot.set_score(row.score);
            (0..3).for_each(|_| slot.set_rtt(row.rtt_ns, 0));
        }
    }
    let Found::Service { service, .. } = snapshot.find(&super::wire(NAME)) else {
        return;
    };
    let mut scratch = Scratch::new();
    let open = rows.iter().filter(|row| row.is_healthy()).count() >= min_healthy;
    for _ in 0..=input.below(8) {
        let family = if input.byte() & 1 == 0 {
            Family::V4
        } else {
            Family::V6
        };
        let source = input.address();
        let subnet = input.network().map(|net| ClientSubnet {
            address: net.addr(),
            source: net.prefix_len(),
        });
        let ctx = QueryContext {
            qname: b"",
            family,
            source,
            subnet: subnet.filter(|_| input.byte() & 1 == 0),
            now: 1,
            entropy: input.word(),
        };
        let traced = trace(&snapshot, service, &ctx, None, || 0);
        let decision = evaluate(&snapshot, service, &ctx, &mut scratch, &mut NoTrace);
        let allowed: BTreeSet<IpAddr> = rows
            .iter()
            .filter(|row| row.may_answer() && family.matches(row.address))
            .map(|row| row.address)
            .collect();
        let answers: BTreeSet<IpAddr> = scratch.answers().iter().copied().collect();
        assert!(answers.is_subset(&allowed), "{answers:?} of {allowed:?}");
        assert_eq!(answers.len(), scratch.answers().len(), "a repeat");
        assert_eq!(answers.is_empty(), !open || allowed.is_empty(), "{decision:?}");
        let texts: Vec<String> = scratch.answers().iter().map(ToString::to_string).collect();
        assert_eq!(texts, traced.answers, "the trace differs");
        assert_eq!(decision.ecs_scope, traced.ecs_scope, "the trace differs");
        assert!(decision.ecs_scope <= ctx.subnet.map_or(0, |subnet| subnet.source));
    }
}

/// Networks in any order and nested: the table finds the longest, as going through all of them does.
///
/// # Panics
/// The table finds another value, or claims a prefix with another value in it.
pub fn ranges(data: &[u8]) {
    let mut input = Input(data);
    let mut nets: Vec<(IpNet, u32)> = Vec::new();
    for _ in 0..input.below(40) {
        if let Some(net) = input.network()
            && !nets.iter().any(|(other, _)| *other == net)
        {
            nets.push((net, input.below(3) as u32));
        }
    }
    let table = crate::ranges::Table::nested(nets.iter().copied());
    let plain = |ip: IpAddr| {
        let around = nets.iter().filter(|(net, _)| net.contains(&ip));
        around.max_by_key(|(net, _)| net.prefix_len()).map(|(_, id)| *id)
    };
    let edges = nets.iter().flat_map(|(net, _)| [net.network(), net.broadcast()]);
    let probes: Vec<IpAddr> = edges.chain((0..8).map(|_| input.address())).collect();
    for ip in &probes {
        let (value, prefix) = table.find(*ip);
        assert_eq!(value, plain(*ip), "{ip}");
        let Ok(block) = IpNet::new(*ip, prefix) else {
            unreachable!("a prefix of {prefix} bits for {ip}")
        };
        for other in probes.iter().filter(|other| block.contains(*other)) {
            assert_eq!(plain(*other), value, "{other} in {block}");
        }
    }
}

/// Any text as a map file: what is accepted is unique networks with targets, and says the same when it is written down
/// again; what is not accepted is told line by line.
///
/// # Panics
/// It is not so.
pub fn mapfile(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    match crate::mapfile::parse(&text) {
        Ok(rules) => {
            let networks: BTreeSet<IpNet> = rules.iter().map(|rule| rule.network).collect();
            assert_eq!(networks.len(), rules.len(), "a network twice");
            for rule in &rules {
                assert_eq!(rule.network, rule.network.trunc(), "bits past the prefix");
                let targets: BTreeSet<&String> = rule.targets.iter().collect();
                assert!(!targets.is_empty(), "{} has no target", rule.network);
                assert_eq!(targets.len(), rule.targets.len(), "a target twice");
            }
            let lines: Vec<String> = rules
                .iter()
                .map(|rule| format!("{}\t{}", rule.network, rule.targets.join(",")))
                .collect();
            assert_eq!(crate::mapfile::parse(&lines.join("\n")), Ok(rules), "{lines:?}");
        }
        Err(problems) => {
            assert!(!problems.is_empty(), "refused for no reason");
            assert!(problems.is_sorted_by(|one, next| one.line < next.line));
            for problem in &problems {
                assert!((1..=text.lines().count()).contains(&problem.line), "{problem}");
            }
        }
    }
}
