//! Steps that can have no effect: accepted, and told.

use super::error::Warning;
use super::filter::{FilterClass, FilterName};
use super::pool::{Member, Pool, Region};
use super::service::Routing;
use super::step::FilterStep;
use crate::geo::Country;
use crate::nearest::nearest;
use std::collections::BTreeSet;

/// What a step does with the order of its candidates.
enum Order {
    /// Its result follows the order.
    Matters,
    /// It leaves one candidate, whatever the order.
    Ignored,
    /// It keeps the order of those it keeps.
    Kept,
}

fn order(step: &FilterStep) -> Order {
    match step {
        FilterStep::Script(_) | FilterStep::SelectFirst(_) | FilterStep::Builtin(FilterName::Failover) => {
            Order::Matters
        }
        FilterStep::Builtin(FilterName::Sticky) => Order::Ignored,
        FilterStep::Builtin(name) if name.info().class == FilterClass::Selecting => Order::Ignored,
        FilterStep::Builtin(_) => Order::Kept,
    }
}

/// Why the step at `index` has no effect, whatever the pool.
fn no_effect(steps: &[FilterStep], index: usize) -> Option<String> {
    let (before, rest) = steps.split_at_checked(index)?;
    let (step, behind) = rest.split_first()?;
    let label = step.label();
    if let Some(by) = before.iter().find(|s| s.class() == FilterClass::Selecting) {
        return Some(format!(
            "`{label}` never runs: `{}` before it ends the chain",
            by.label()
        ));
    }
    let sticky = FilterStep::Builtin(FilterName::Sticky);
    if step.class() == FilterClass::Narrowing && before.contains(&sticky) {
        return Some(format!(
            "`{label}` has nothing to choose from: `sticky` before it leaves one candidate"
        ));
    }
    if !step.info().is_some_and(|info| info.order_only) {
        return None;
    }
    let next = behind.iter().find(|s| !matches!(order(s), Order::Kept))?;
    matches!(order(next), Order::Ignored).then(|| {
        format!(
            "`{label}` only changes the order, which `{}` does not look at",
            next.label()
        )
    })
}

/// A fact: the name of its field, and whether a member has it.
type Fact = (&'static str, fn(&Member) -> bool);

/// What a step compares, of the facts that a member need not have.
fn needs(name: FilterName) -> Option<Fact> {
    Some(match name {
        FilterName::GeoContinent => ("geo.continent", |m| {
            m.geo.as_ref().is_some_and(|geo| geo.continent.is_some())
        }),
        FilterName::GeoSubdivision => ("geo.subdivision", |m| {
            m.geo.as_ref().is_some_and(|geo| geo.subdivision.is_some())
        }),
        FilterName::GeoNearest => ("geo.lat and geo.lon", |m| {
            m.geo.as_ref().is_some_and(|geo| geo.lat.is_some())
        }),
        FilterName::AsnFence => ("fenceAsns", |m| !m.fence_asns.is_empty()),
        FilterName::PrefixFence => ("fencePrefixes", |m| !m.fence_prefixes.is_empty()),
        FilterName::ShedLoad => ("loadWatermarks", |m| m.load_watermarks.is_some()),
        _ => return None,
    })
}

fn lacks(field: String, name: FilterName, pool: &Pool) -> Option<Warning> {
    let (fact, has) = needs(name)?;
    (!pool.members.iter().any(has)).then(|| Warning {
        field,
        message: format!(
            "`{name}` has no effect: no member of the pool `{}` has {fact}",
            pool.name
        ),
    })
}

impl Routing {
    /// Steps that can have no effect whatever the pool: behind a selecting step or `sticky`, or an order that nobody
    /// looks at.
    #[must_use]
    pub fn warnings(&self) -> Vec<Warning> {
        let Self::Chain(steps) = self else {
            return Vec::new();
        };
        let told = |index: usize| {
            no_effect(steps, index).map(|message| Warning {
                field: format!("filterChain[{index}]"),
                message,
            })
        };
        (0..steps.len()).filter_map(told).collect()
    }

    /// As [`warnings`](Self::warnings), with the steps that have no effect for want of facts about this pool's members.
    #[must_use]
    pub fn warnings_with(&self, pool: &Pool) -> Vec<Warning> {
        let mut warnings = self.warnings();
        match self {
            Self::Algorithm(name) => warnings.extend(lacks("algorithm".to_owned(), *name, pool)),
            Self::Chain(steps) => {
                for (index, step) in steps.iter().enumerate() {
                    let field = format!("filterChain[{index}]");
                    if let Some(name) = step.name().filter(|_| warnings.iter().all(|w| w.field != field)) {
                        warnings.extend(lacks(field, name, pool));
                    }
                }
            }
        }
        warnings
    }
}

/// Names that a warning tells at most.
const TOLD: usize = 8;

impl Pool {
    /// Regions that no client is ever in, and that nothing else steers by: neither countries nor among `named`. Told once
    /// for each region, at the first member that has it. `named` is asked only when there is one to look for.
    #[must_use]
    pub fn region_warnings<'n>(&self, named: impl FnOnce() -> BTreeSet<&'n str>) -> Vec<Warning> {
        let mut told = BTreeSet::new();
        let elsewhere = |region: &Region| {
            let country = Country::parse(region.as_str()).is_some_and(|country| country.is_assigned());
            !country && !region.is_unknown()
        };
        let members = self.members.iter().enumerate();
        let doubtful: Vec<(usize, &str)> = members
            .filter(|(_, member)| elsewhere(&member.region) && told.insert(&member.region))
            .map(|(index, member)| (index, member.region.as_str()))
            .collect();
        if doubtful.is_empty() {
            return Vec::new();
        }
        let named = named();
        doubtful
            .into_iter()
            .filter(|(_, region)| !named.contains(region))
            .map(|(index, region)| Warning {
                field: format!("members[{index}].region"),
                message: no_such_region(region, &named),
            })
            .collect()
    }
}

fn no_such_region(region: &str, named: &BTreeSet<&str>) -> String {
    let upper = region.to_ascii_uppercase();
    let country = Country::parse(&upper).filter(Country::is_assigned);
    let hint = country
        .is_some()
        .then_some(upper.as_str())
        .or_else(|| nearest(region, named.iter().copied()))
        .map(|near| format!("; did you mean `{near}`?"))
        .unwrap_or_else(|| ".".to_owned());
    let mut known: Vec<String> = named.iter().take(TOLD).map(|name| format!("`{name}`")).collect();
    if named.len() > TOLD {
        known.push(format!("{} more", named.len() - TOLD));
    }
    let known = if known.is_empty() {
        String::new()
    } else {
        format!(", and {} from map file, signals and settings", known.join(", "))
    };
    format!(
        "no client is in `{region}`{hint} Known are the ISO 3166-1 codes of countries in upper case, such as `DE`{known}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{MemberDraft, MemberId, PoolDraft, PoolId, TenantId, WatermarksDraft};

    fn routing(steps: &[&str]) -> Routing {
        let chain: Vec<String> = steps.iter().map(|step| (*step).to_owned()).collect();
        Routing::parse(None, &chain, FilterName::RoundRobin).unwrap()
    }

    /// Positions of the steps that are warned of.
    fn doubtful(steps: &[&str]) -> Vec<usize> {
        let number = |w: Warning| {
            w.field
                .replace("filterChain[", "")
                .replace(']', "")
                .parse()
                .unwrap()
        };
        routing(steps).warnings().into_iter().map(number).collect()
    }

    #[test]
    fn nothing_runs_behind_a_selecting_step() {
        assert_eq!(doubtful(&["random", "geo-ip"]), [1]);
        assert_eq!(doubtful(&["select-first:2", "failover", "script:x"]), [1, 2]);
        assert_eq!(doubtful(&["geo-ip", "script:x", "random"]), [0; 0]);
    }

    #[test]
    fn an_order_matters_to_those_who_look_at_it() {
        for order in ["asn", "signal-weight", "geo-nearest"] {
            for blind in [
                "random",
                "latency",
                "round-robin",
                "weighted-round-robin",
                "sticky",
            ] {
                assert_eq!(doubtful(&[order, "geo-ip", blind]), [0], "{order} {blind}");
            }
            for reader in ["failover", "select-first:3", "script:x"] {
                assert_eq!(doubtful(&[order, "geo-ip", reader]), [0; 0], "{order} {reader}");
            }
            assert_eq!(doubtful(&[order]), [0; 0]);
            assert_eq!(doubtful(&[order, "script:x", "random"]), [0; 0]);
        }
    }

    #[test]
    fn behind_sticky_there_is_nothing_to_choose() {
        assert_eq!(doubtful(&["sticky", "geo-ip", "weighted-round-robin"]), [1]);
        assert_eq!(doubtful(&["geo-ip", "sticky", "weighted-round-robin"]), [0; 0]);
    }

    #[test]
    fn regions_that_nothing_knows_are_told_once() {
        let member = |(n, region): (usize, &&str)| MemberDraft {
            ip_address: Some(format!("192.0.2.{n}")),
            port: Some(80),
            region: Some((*region).to_owned()),
            ..MemberDraft::default()
        };
        let told = |regions: &[&str], named: &[&str]| -> Vec<(String, String)> {
            let draft = PoolDraft {
                name: Some("web".to_owned()),
                members: Some((1..).zip(regions).map(member).collect()),
                ..PoolDraft::default()
            };
            let mut ids = 0;
            let id = || {
                ids += 1;
                MemberId(uuid::Uuid::from_u128(ids))
            };
            let pool = draft
                .validate(PoolId(TenantId::DEFAULT.0), TenantId::DEFAULT, id)
                .unwrap();
            let warnings = pool.region_warnings(|| named.iter().copied().collect());
            warnings.into_iter().map(|w| (w.field, w.message)).collect()
        };
        assert_eq!(told(&["DE", "unknown", "eu-west"], &["eu-west"]), []);
        let found = told(&["DE", "de", "Narnia", "UK", "de"], &["eu-west", "us-east"]);
        let fields: Vec<&str> = found.iter().map(|(field, _)| field.as_str()).collect();
        assert_eq!(
            fields,
            ["members[1].region", "members[2].region", "members[3].region"]
        );
        assert_eq!(
            found[0].1,
            "no client is in `de`; did you mean `DE`? Known are the ISO 3166-1 codes of countries in upper case, such as \
             `DE`, and `eu-west`, `us-east` from map file, signals and settings"
        );
        assert!(
            found[1].1.starts_with("no client is in `Narnia`. Known are"),
            "{}",
            found[1].1
        );
        let near = told(&["eu-wset"], &["eu-west"]);
        assert!(near[0].1.contains("did you mean `eu-west`?"), "{near:?}");
        assert!(told(&["x"], &[])[0].1.ends_with("such as `DE`"));
    }

    #[test]
    fn steps_without_facts_to_go_by_are_told() {
        let mut member = MemberDraft {
            ip_address: Some("192.0.2.1".to_owned()),
            port: Some(80),
            ..MemberDraft::default()
        };
        let pool = |member: &MemberDraft| {
            let draft = PoolDraft {
                name: Some("web".to_owned()),
                members: Some(vec![member.clone()]),
                ..PoolDraft::default()
            };
            let id = TenantId::DEFAULT.0;
            draft
                .validate(PoolId(id), TenantId::DEFAULT, || MemberId(id))
                .unwrap()
        };
        let chain = routing(&["asn-fence", "shed-load", "geo-ip", "random"]);
        let fields = |member: &MemberDraft| -> Vec<String> {
            let warnings = chain.warnings_with(&pool(member));
            warnings.into_iter().map(|w| w.field).collect()
        };
        assert_eq!(fields(&member), ["filterChain[0]", "filterChain[1]"]);
        member.fence_asns = Some(vec![64500]);
        assert_eq!(fields(&member), ["filterChain[1]"]);
        member.load_watermarks = Some(WatermarksDraft {
            low: Some(0.5),
            high: Some(0.9),
        });
        assert_eq!(fields(&member), [""; 0]);
        let alone = Routing::Algorithm(FilterName::GeoNearest).warnings_with(&pool(&member));
        assert_eq!(
            alone.iter().map(|w| w.message.as_str()).collect::<Vec<_>>(),
            ["`geo-nearest` has no effect: no member of the pool `web` has geo.lat and geo.lon"]
        );
    }
}
