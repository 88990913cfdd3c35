//! Pools in a snapshot: members with everything that steps compare, worked out beforehand.

use crate::environment::Environment;
use crate::geo::{AsInfo, Country};
use crate::hash;
use crate::model::{AdminState, HealthCheck, MAX_MEMBERS, Member, Pool, PoolId, Rdata, Region, TenantId};
use crate::query::Family;
use crate::slots::MemberSlot;
use crate::snapshot::facts::{Facts, PoolFacts};
use crate::snapshot::lane::{Hot, Reach};
use crate::snapshot::registry::Slots;
use std::net::IpAddr;
use std::sync::Arc;

/// A member, with what the steps compare.
#[derive(Debug, Clone)]
pub struct CompiledMember {
    /// The stored member.
    pub stored: Member,
    /// Live state.
    pub slot: Arc<MemberSlot>,
    /// Address, unless it is a host name.
    pub ip: Option<IpAddr>,
    /// Host name, as the data of a CNAME.
    pub host: Option<Rdata>,
    /// The region, when it has the form of a country code.
    pub country: Option<Country>,
    /// AS of the member: its field, else looked up from its address.
    pub asn: AsInfo,
    /// Value of its signal zone.
    pub signal: Option<f64>,
    /// Hash of the region's text, to compare it quickly.
    pub(crate) region_hash: u64,
    /// Whether its region is the `fallbackRegion` of the latency step.
    pub(crate) in_fallback_region: bool,
}

/// Hash of a region's text; equal texts have equal hashes, and unequal ones are told apart by their text.
pub(crate) fn region_hash(text: &str) -> u64 {
    text.bytes()
        .fold(0x7265_6769_6f6e_0001, |h, byte| hash::mix(h ^ u64::from(byte)))
}

impl CompiledMember {
    fn new(member: &Member, env: &Environment, slot: Arc<MemberSlot>) -> Self {
        let ip = member.endpoint.ip();
        let asn = match member.asn {
            Some(number) => AsInfo {
                number,
                organisation: env.geo.organisation_of(number).unwrap_or_default(),
            },
            None => ip.and_then(|ip| env.geo.asn(ip).value).unwrap_or_default(),
        };
        let fallback = env.latency.fallback_region.as_str();
        Self {
            slot,
            ip,
            host: member.endpoint.hostname().map(Rdata::from),
            country: Country::parse(member.region.as_str()),
            asn,
            signal: env
                .signals
                .zones
                .get(member.signal_zone().as_str())
                .copied()
                .filter(|v| v.is_finite()),
            region_hash: region_hash(member.region.as_str()),
            in_fallback_region: fallback != Region::UNKNOWN && member.region.as_str() == fallback,
            stored: member.clone(),
        }
    }

    /// Health as routing counts it: the operator's decision first, else whether the score is above 0.
    #[must_use]
    pub fn is_healthy(&self) -> bool {
        match self.stored.admin_state {
            AdminState::Up => true,
            AdminState::Down => false,
            AdminState::Auto | AdminState::Drain => self.slot.score() > 0.0,
        }
    }

    /// Score as a candidate, 0.0 to 1.0: 1.0 when the operator says `up`.
    #[inline]
    #[must_use]
    pub fn score(&self) -> f32 {
        if self.stored.admin_state == AdminState::Up {
            1.0
        } else {
            self.slot.score()
        }
    }
}

/// Members of one address family, in the pool's order.
#[derive(Debug, Clone, Default)]
pub(crate) struct FamilyMembers {
    /// Enabled, by their index in the pool.
    pub(crate) enabled: Box<[u16]>,
    /// Enabled, and neither `down` nor `drain`: candidates as soon as their score is above 0.
    pub(crate) eligible: Box<[u16]>,
}

/// A pool. In the order in which queries read it: what they need lies in its first cache lines.
#[derive(Debug, Clone)]
#[repr(C)]
pub struct CompiledPool {
    /// Of each member in `members`.
    lane: Arc<[Hot]>,
    /// Of each member in `members`.
    reach: Box<[Reach]>,
    v4: FamilyMembers,
    v6: FamilyMembers,
    /// Facts about members, when somebody has some.
    pub(crate) facts: Option<Arc<PoolFacts>>,
    /// Hash of the members' ids in order: a changed member set is another one for `round-robin`.
    pub(crate) digest: u64,
    /// Below this number of healthy enabled members the pool gives no answer; 0 is off.
    pub min_healthy: u32,
    /// Its members are host names.
    pub by_name: bool,
    /// Enabled and not `down`, of both families: healthy as soon as their score is above 0.
    counted: Box<[u16]>,
    /// Every member in the stored order, disabled ones too.
    pub members: Box<[CompiledMember]>,
    /// Id.
    pub id: PoolId,
    /// Owner.
    pub tenant_id: TenantId,
    /// Name.
    pub name: String,
    /// How its members are probed. Nothing that decides an answer: carried for whoever starts the probes.
    pub health_check: Option<HealthCheck>,
}

impl CompiledPool {
    pub(crate) fn new(pool: &Pool, env: &Environment, slots: &mut Slots) -> Self {
        let members: Box<[_]> = pool
            .members
            .iter()
            .take(MAX_MEMBERS)
            .map(|member| CompiledMember::new(member, env, slots.member(member.id)))
            .collect();
        let family = |family: Family| {
            let of_family = || {
                let all = (0_u16..).zip(&members);
                // What a host name leads to is not known here: it may be of either family.
                all.filter(move |(_, m)| m.stored.enabled && m.ip.is_none_or(|ip| family.matches(ip)))
            };
            let eligible = of_family()
                .filter(|(_, m)| !matches!(m.stored.admin_state, AdminState::Down | AdminState::Drain));
            FamilyMembers {
                enabled: of_family().map(|(index, _)| index).collect(),
                eligible: eligible.map(|(index, _)| index).collect(),
            }
        };
        let (v4, v6) = (family(Family::V4), family(Family::V6));
        let lane = members.iter().map(|m| {
            let mut hot = Hot::new(m.stored.weight, m.stored.priority, m.country);
            hot.digest = match (&m.ip, &m.host) {
                (Some(ip), _) => hash::member(*ip),
                (None, host) => hash::host(host.as_ref().map_or(&[], Rdata::as_wire)),
            };
            hot.more_countries = m.stored.geo.as_ref().is_some_and(|geo| !geo.country.is_empty());
            hot
        });
        let lane: Arc<[_]> = lane.collect();
        for (place, member) in members.iter().enumerate() {
            if member.stored.admin_state != AdminState::Up {
                member.slot.write_also_to(&lane, place);
            }
        }
        let counted = (0_u16..)
            .zip(&members)
            .filter(|(_, m)| m.stored.enabled && m.stored.admin_state != AdminState::Down)
            .map(|(index, _)| index)
            .collect();
        let reach = members.iter().map(|m| Reach {
            ip: m.ip,
            slot: Arc::clone(&m.slot),
        });
        let reach = reach.collect();
        let digest = members.iter().filter(|m| m.stored.enabled).fold(1, |h, m| {
            let (high, low) = m.stored.id.0.as_u64_pair();
            hash::mix(hash::mix(h ^ high) ^ low)
        });
        Self {
            id: pool.id,
            tenant_id: pool.tenant_id,
            name: pool.name.clone(),
            min_healthy: pool.min_healthy,
            health_check: pool.health_check.clone(),
            facts: PoolFacts::new(pool),
            lane,
            reach,
            counted,
            by_name: pool.is_by_name(),
            members,
            v4,
            v6,
            digest,
        }
    }

    /// The part of the members that the commonest steps read.
    #[inline]
    pub(crate) fn lane(&self) -> &[Hot] {
        &self.lane
    }

    /// The part of a member that the commonest steps read.
    #[inline]
    pub(crate) fn hot(&self, index: u16) -> &Hot {
        static NOBODY: Hot = Hot::new(0, 0, None);
        self.lane.get(usize::from(index)).unwrap_or(&NOBODY)
    }

    /// The part of a member that answers take.
    #[inline]
    pub(crate) fn reach(&self, index: usize) -> Option<&Reach> {
        self.reach.get(index)
    }

    /// Facts about a member.
    #[inline]
    pub(crate) fn facts(&self, index: u16) -> Option<&Facts> {
        self.facts.as_ref()?.of(index)
    }

    /// Whether a member counts to a country: by its region, or by its facts.
    #[inline]
    pub(crate) fn is_in(&self, index: u16, country: Country) -> bool {
        let hot = self.hot(index);
        hot.is_in(country)
            || (hot.more_countries
                && self
                    .facts(index)
                    .is_some_and(|facts| facts.countries.contains(&country)))
    }

    /// Reads where everything is, for nothing but to have it in the cache.
    #[inline]
    pub(crate) fn approach(&self) -> u64 {
        self.lane.len() as u64 ^ self.v4.eligible.len() as u64 ^ u64::from(self.min_healthy)
    }

    /// Reads a little of all that a decision reads, for nothing but to have it in the cache.
    #[inline]
    pub(crate) fn approach_members(&self) -> u64 {
        // One of each cache line, of the first few.
        let (mut sum, mut at) = (0, 0);
        while let Some(hot) = self.lane.get(at).filter(|_| at < 32) {
            sum ^= u64::from(hot.weight);
            at += 64 / size_of::<Hot>();
        }
        at = 0;
        while let Some(reach) = self.reach.get(at).filter(|_| at < 16) {
            sum ^= u64::from(reach.ip.is_some());
            at += 64 / size_of::<Reach>();
        }
        sum ^ u64::from(self.v4.eligible.first().copied().unwrap_or_default())
    }

    #[inline]
    pub(crate) fn family(&self, family: Family) -> &FamilyMembers {
        match family {
            Family::V4 => &self.v4,
            Family::V6 => &self.v6,
        }
    }

    /// Enabled members that count as healthy, of both families.
    #[must_use]
    pub fn healthy(&self) -> u32 {
        let count = self
            .counted
            .iter()
            .filter(|index| self.hot(**index).score() > 0.0)
            .count();
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// The largest number of candidates that any query can have.
    pub(crate) fn most_candidates(&self) -> usize {
        self.v4.enabled.len().max(self.v6.enabled.len())
    }

    /// Whether the pool has an enabled member with an address of this family, whatever its health.
    #[must_use]
    #[inline]
    pub fn has_family(&self, family: Family) -> bool {
        !self.family(family).enabled.is_empty()
    }
}
