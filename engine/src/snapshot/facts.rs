//! Facts about members, for the steps that steer by them: only pools in which somebody has some pay for them.

use crate::geo::{Continent, Country, Point, Subdivision};
use crate::model::{LoadWatermarks, MAX_MEMBERS, MemberGeo, Pool};
use crate::ranges::Table;
use ipnet::IpNet;
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::Arc;

/// Facts about one member.
#[derive(Debug, Clone, Default)]
pub(crate) struct Facts {
    pub(crate) continent: Option<Continent>,
    pub(crate) countries: Box<[Country]>,
    pub(crate) subdivision: Option<Subdivision>,
    pub(crate) point: Option<Point>,
    pub(crate) watermarks: Option<LoadWatermarks>,
}

/// A set of members, by their index in the pool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct MemberSet([u64; MAX_MEMBERS.div_ceil(64)]);

impl MemberSet {
    fn insert(&mut self, index: u16) {
        if let Some(word) = self.0.get_mut(usize::from(index >> 6)) {
            *word |= 1 << (index & 63);
        }
    }

    #[inline]
    pub(crate) fn has(&self, index: u16) -> bool {
        self.0
            .get(usize::from(index >> 6))
            .is_some_and(|word| word >> (index & 63) & 1 == 1)
    }

    fn with(&self, other: &Self) -> Self {
        let mut both = *self;
        for (word, more) in both.0.iter_mut().zip(other.0) {
            *word |= more;
        }
        both
    }
}

/// Fences of one kind in a pool: who has one, and whom the fence of which client lets in.
#[derive(Debug)]
pub(crate) struct AsnFences {
    /// Members with a fence.
    pub(crate) fenced: MemberSet,
    /// By AS number, rising.
    members: Box<[(u32, MemberSet)]>,
}

impl AsnFences {
    fn new(pool: &Pool) -> Option<Self> {
        let mut fenced = MemberSet::default();
        let mut members: BTreeMap<u32, MemberSet> = BTreeMap::new();
        for (index, member) in (0_u16..).zip(&pool.members) {
            for asn in &member.fence_asns {
                fenced.insert(index);
                members.entry(*asn).or_default().insert(index);
            }
        }
        (!members.is_empty()).then(|| Self {
            fenced,
            members: members.into_iter().collect(),
        })
    }

    /// Members whose fence lets clients of this AS in.
    #[inline]
    pub(crate) fn open_to(&self, asn: u32) -> MemberSet {
        let place = self.members.binary_search_by_key(&asn, |(asn, _)| *asn);
        let found = place.ok().and_then(|place| self.members.get(place));
        found.map(|(_, set)| *set).unwrap_or_default()
    }
}

/// As [`AsnFences`], for prefixes.
#[derive(Debug)]
pub(crate) struct PrefixFences {
    /// Members with a fence.
    pub(crate) fenced: MemberSet,
    table: Table,
    sets: Box<[MemberSet]>,
}

impl PrefixFences {
    fn new(pool: &Pool) -> Option<Self> {
        let mut fenced = MemberSet::default();
        // In order: IPv4 first, then by address, an outer prefix before those inside it.
        let mut own: BTreeMap<IpNet, MemberSet> = BTreeMap::new();
        for (index, member) in (0_u16..).zip(&pool.members) {
            for prefix in &member.fence_prefixes {
                fenced.insert(index);
                own.entry(*prefix).or_default().insert(index);
            }
        }
        if own.is_empty() {
            return None;
        }
        // A prefix lets in everybody that one around it lets in.
        let mut around: Vec<(IpNet, MemberSet)> = Vec::new();
        let mut sets = Vec::new();
        let mut known = HashMap::new();
        let mut nets = Vec::with_capacity(own.len());
        for (net, members) in own {
            while around.pop_if(|(outer, _)| !outer.contains(&net)).is_some() {}
            let all = around.last().map_or(members, |(_, outer)| outer.with(&members));
            around.push((net, all));
            let id = *known.entry(all).or_insert_with(|| {
                sets.push(all);
                u32::try_from(sets.len() - 1).unwrap_or(u32::MAX)
            });
            nets.push((net, id));
        }
        Some(Self {
            fenced,
            table: Table::nested(nets),
            sets: sets.into(),
        })
    }

    /// Members whose fence lets this client in, and the length of the prefix around it in which that is so.
    #[inline]
    pub(crate) fn open_to(&self, client: IpAddr) -> (MemberSet, u8) {
        let (id, prefix) = self.table.find(client);
        let set = id.and_then(|id| self.sets.get(id as usize));
        (set.copied().unwrap_or_default(), prefix)
    }
}

/// Facts about the members of one pool.
#[derive(Debug, Default)]
pub(crate) struct PoolFacts {
    /// By the members' index; empty when nobody has any.
    members: Box<[Facts]>,
    pub(crate) asn_fences: Option<AsnFences>,
    pub(crate) prefix_fences: Option<PrefixFences>,
}

impl PoolFacts {
    /// None when no member has any fact.
    pub(crate) fn new(pool: &Pool) -> Option<Arc<Self>> {
        let some = pool
            .members
            .iter()
            .any(|m| m.geo.is_some() || m.load_watermarks.is_some());
        let members = pool
            .members
            .iter()
            .take(if some { MAX_MEMBERS } else { 0 })
            .map(|m| {
                let geo = m.geo.as_deref();
                Facts {
                    continent: geo.and_then(|geo| geo.continent),
                    countries: geo.map(|geo| geo.country.as_slice().into()).unwrap_or_default(),
                    subdivision: geo.and_then(|geo| geo.subdivision),
                    point: geo.and_then(MemberGeo::point),
                    watermarks: m.load_watermarks.as_deref().copied(),
                }
            });
        let facts = Self {
            members: members.collect(),
            asn_fences: AsnFences::new(pool),
            prefix_fences: PrefixFences::new(pool),
        };
        let any = some || facts.asn_fences.is_some() || facts.prefix_fences.is_some();
        any.then(|| Arc::new(facts))
    }

    /// Facts about the member with this index.
    #[inline]
    pub(crate) fn of(&self, index: u16) -> Option<&Facts> {
        self.members.get(usize::from(index))
    }
}
