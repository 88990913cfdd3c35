//! Building blocks for tests and benches, here and in other crates (feature `testing`).

mod crowd;
pub mod fuzz;
pub mod portable;
mod script;
mod world;
mod zone_file;

pub use crowd::{Placed, crowd, measure};
pub use script::{FakeScript, FakeScripts};
pub use world::World;

use crate::chain::{Decision, NoTrace, Scratch, evaluate_steps};
use crate::environment::Environment;
use crate::geo::{AsInfo, Country, Geo, Located, Place};
use crate::hash::mix;
use crate::model::{
    DomainName, Endpoint, FilterName, MemberDraft, MemberId, PoolDraft, PoolId, ServiceDraft, ServiceId,
    TenantId, ValidationError, ZoneDraft, ZoneId,
};
use crate::query::QueryContext;
use crate::ranges::Table;
use crate::slots::MemberSlot;
use crate::snapshot::{Configuration, RoutedService, Slots, Snapshot};
use ipnet::IpNet;
use std::net::IpAddr;
use std::sync::Arc;
use uuid::Uuid;

/// Geo databases written down row by row. The longest matching network wins.
#[derive(Debug, Clone, Default)]
pub struct Rows {
    countries: Vec<(IpNet, Country)>,
    systems: Vec<(IpNet, AsInfo)>,
    places: Vec<(IpNet, Place)>,
    organisations: Vec<String>,
}

impl Rows {
    /// No rows.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Places a network in a country. Texts that do not parse are left out.
    #[must_use]
    pub fn country(mut self, network: &str, country: &str) -> Self {
        self.countries
            .extend(network.parse().ok().zip(Country::parse(country)));
        self
    }

    /// Says where a network is. A text that does not parse is left out.
    #[must_use]
    pub fn place(mut self, network: &str, place: Place) -> Self {
        self.places
            .extend(network.parse().ok().map(|network: IpNet| (network, place)));
        self
    }

    /// Gives a network to an autonomous system. Texts that do not parse are left out.
    #[must_use]
    pub fn asn(mut self, network: &str, number: u32, organisation: &str) -> Self {
        let known = self.organisations.iter().position(|name| name == organisation);
        let index = known.unwrap_or_else(|| {
            self.organisations.push(organisation.to_owned());
            self.organisations.len() - 1
        });
        let info = AsInfo {
            number,
            organisation: if organisation.is_empty() {
                0
            } else {
                index as u64 + 1
            },
        };
        self.systems
            .extend(network.parse().ok().map(|network: IpNet| (network, info)));
        self
    }
}

/// The same, compiled to ranges as the daemon does it with its databases.
#[derive(Debug, Default)]
pub struct CompiledRows {
    rows: Rows,
    countries: Table,
    systems: Table,
}

impl Rows {
    /// Compiles the rows; no two of a kind may have the same network.
    #[must_use]
    pub fn compile(self) -> CompiledRows {
        // Rows with one value have one number, that of the first: neighbours become one network, as in the daemon's tables.
        fn table<T: PartialEq>(rows: &[(IpNet, T)]) -> Table {
            let first = |value: &T| (0..).zip(rows).find(|(_, (_, other))| other == value);
            let numbered = rows
                .iter()
                .filter_map(|(network, value)| first(value).map(|(id, _)| (*network, id)));
            Table::nested(numbered)
        }
        CompiledRows {
            countries: table(&self.countries),
            systems: table(&self.systems),
            rows: self,
        }
    }
}

/// The row that a table names for an address.
fn find<T: Copy>(table: &Table, rows: &[(IpNet, T)], ip: IpAddr) -> Located<T> {
    let (id, prefix) = table.find(ip);
    let value = id.and_then(|id| rows.get(id as usize)).map(|(_, value)| *value);
    Located { value, prefix }
}

impl Geo for CompiledRows {
    fn country(&self, ip: IpAddr) -> Located<Country> {
        find(&self.countries, &self.rows.countries, ip)
    }

    fn asn(&self, ip: IpAddr) -> Located<AsInfo> {
        find(&self.systems, &self.rows.systems, ip)
    }

    fn organisation(&self, id: u64) -> Option<String> {
        self.rows.organisation(id)
    }

    fn organisation_of(&self, number: u32) -> Option<u64> {
        self.rows.organisation_of(number)
    }

    fn has_country(&self) -> bool {
        self.rows.has_country()
    }

    fn has_asn(&self) -> bool {
        self.rows.has_asn()
    }
}

/// Longest match, with the shortest prefix around the address that holds no other row.
fn locate<T: Copy>(rows: &[(IpNet, T)], ip: IpAddr) -> Located<T> {
    let best = rows
        .iter()
        .filter(|(net, _)| net.contains(&ip))
        .max_by_key(|(net, _)| net.prefix_len());
    let bits = if ip.is_ipv4() { 32 } else { 128 };
    let alone = |prefix: &u8| {
        let Ok(block) = IpNet::new(ip, *prefix) else {
            return false;
        };
        !rows
            .iter()
            .any(|(net, _)| net.prefix_len() > *prefix && block.trunc().contains(net))
    };
    Located {
        value: best.map(|(_, value)| *value),
        prefix: (0..=bits).find(alone).unwrap_or(bits),
    }
}

impl Geo for Rows {
    fn country(&self, ip: IpAddr) -> Located<Country> {
        locate(&self.countries, ip)
    }

    fn asn(&self, ip: IpAddr) -> Located<AsInfo> {
        locate(&self.systems, ip)
    }

    fn place(&self, ip: IpAddr) -> Located<Place> {
        locate(&self.places, ip)
    }

    fn organisation(&self, id: u64) -> Option<String> {
        self.organisations
            .get(usize::try_from(id).ok()?.checked_sub(1)?)
            .cloned()
    }

    fn organisation_of(&self, number: u32) -> Option<u64> {
        let row = self.systems.iter().find(|(_, info)| info.number == number);
        row.map(|(_, info)| info.organisation)
    }

    fn has_country(&self) -> bool {
        !self.countries.is_empty()
    }

    fn has_asn(&self) -> bool {
        !self.systems.is_empty()
    }

    fn has_place(&self) -> bool {
        !self.places.is_empty()
    }
}

/// Random bits number `n`: a sequence that is the same in every run.
#[must_use]
pub fn entropy(n: u64) -> u64 {
    mix(n.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1))
}

/// A configuration written in a few lines, with ids that count from 1.
#[derive(Debug, Clone, Default)]
pub struct Site {
    /// What has been built so far.
    pub config: Configuration,
    errors: Vec<String>,
    next: u128,
}

impl Site {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn id(&mut self) -> Uuid {
        self.next += 1;
        Uuid::from_u128(self.next)
    }

    fn note(&mut self, errors: &[ValidationError]) {
        self.errors.extend(errors.iter().map(ToString::to_string));
    }

    /// Adds a zone.
    #[must_use]
    pub fn zone(mut self, draft: &ZoneDraft) -> Self {
        let id = ZoneId(self.id());
        match draft.validate(id, TenantId::DEFAULT, 1) {
            Ok(zone) => self.config.zones.push(zone),
            Err(errors) => self.note(&errors),
        }
        self
    }

    /// Adds a zone with default settings.
    #[must_use]
    pub fn zone_named(self, name: &str) -> Self {
        self.zone(&ZoneDraft {
            name: Some(name.to_owned()),
            ..ZoneDraft::default()
        })
    }

    /// Adds a pool.
    #[must_use]
    pub fn pool(mut self, name: &str, min_healthy: i64, members: Vec<MemberDraft>) -> Self {
        let id = PoolId(self.id());
        let draft = PoolDraft {
            name: Some(name.to_owned()),
            min_healthy: Some(min_healthy),
            members: Some(members),
            health_check: None,
        };
        let mut next = self.next;
        let result = draft.validate(id, TenantId::DEFAULT, || {
            next += 1;
            MemberId(Uuid::from_u128(next))
        });
        self.next = next;
        match result {
            Ok(pool) => self.config.pools.push(pool),
            Err(errors) => self.note(&errors),
        }
        self
    }

    /// Adds a service; the draft's `poolId` and `name` are filled in from `pool` and the domain.
    #[must_use]
    pub fn service(mut self, domain: &str, pool: &str, mut draft: ServiceDraft) -> Self {
        let id = ServiceId(self.id());
        let known = self
            .config
            .pools
            .iter()
            .find(|p| p.name == pool)
            .map(|p| p.id.to_string());
        draft.pool_id = known.or_else(|| Some(pool.to_owned()));
        draft.name = Some(domain.chars().take(64).collect());
        draft.domain = Some(domain.to_owned());
        match draft.validate(id, TenantId::DEFAULT, FilterName::RoundRobin) {
            Ok(service) => self.config.services.push(service),
            Err(errors) => self.note(&errors),
        }
        self
    }

    /// Adds a service with a chain.
    #[must_use]
    pub fn chain(self, domain: &str, pool: &str, chain: &[&str]) -> Self {
        let filter_chain = Some(chain.iter().map(|step| (*step).to_owned()).collect());
        self.service(
            domain,
            pool,
            ServiceDraft {
                filter_chain,
                ..ServiceDraft::default()
            },
        )
    }

    /// Compiles what has been built.
    ///
    /// # Errors
    /// Everything that did not validate, one problem a line.
    pub fn compile(&self, env: &Environment) -> Result<(Snapshot, Slots), String> {
        if !self.errors.is_empty() {
            return Err(self.errors.join("\n"));
        }
        let mut slots = Slots::new();
        let snapshot = Snapshot::compile(&self.config, env, &mut slots, 1);
        snapshot.map(|snapshot| (snapshot, slots)).map_err(|errors| {
            errors
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join("\n")
        })
    }

    /// The live slot of the member with this address or host name.
    #[must_use]
    pub fn slot(&self, slots: &Slots, text: &str) -> Option<Arc<MemberSlot>> {
        let wanted = match text.parse::<IpAddr>() {
            Ok(ip) => Endpoint::IpAddress(ip),
            Err(_) => Endpoint::Hostname(DomainName::parse("hostname", text).ok()?),
        };
        let mut members = self.config.pools.iter().flat_map(|pool| &pool.members);
        let member = members.find(|m| m.endpoint == wanted)?;
        slots.existing_member(member.id).cloned()
    }
}

/// A decision without any step: what a query to a service costs before its chain.
pub fn without_steps(
    snapshot: &Snapshot,
    service: RoutedService<'_>,
    ctx: &QueryContext<'_>,
    scratch: &mut Scratch,
) -> Decision {
    evaluate_steps(snapshot, service, &[], ctx, scratch, &mut NoTrace)
}

/// A draft of a member with an address and a region.
#[must_use]
pub fn member(ip: &str, region: &str) -> MemberDraft {
    MemberDraft {
        ip_address: Some(ip.to_owned()),
        port: Some(80),
        region: Some(region.to_owned()),
        ..MemberDraft::default()
    }
}

/// A draft of a member with a host name and a region.
#[must_use]
pub fn host(name: &str, region: &str) -> MemberDraft {
    MemberDraft {
        hostname: Some(name.to_owned()),
        port: Some(80),
        region: Some(region.to_owned()),
        ..MemberDraft::default()
    }
}

/// Lower-case wire form of a name; empty when it is no name.
#[must_use]
pub fn wire(name: &str) -> Vec<u8> {
    if name == "." {
        return vec![0];
    }
    DomainName::parse("name", name)
        .map(|name| name.to_wire())
        .unwrap_or_default()
}
