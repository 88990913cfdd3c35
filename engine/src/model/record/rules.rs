//! Rules between records, services and zones: what a name may have beside what.

use super::{Rdata, RecordName, RecordSet, RecordType};
use crate::model::error::{ErrorCode, ValidationError};
use std::collections::{HashMap, HashSet};

/// Types that whoever signs a zone makes.
pub(super) const fn is_signers(rtype: RecordType) -> bool {
    matches!(
        rtype,
        RecordType::RRSIG
            | RecordType::NSEC
            | RecordType::NSEC3
            | RecordType::NSEC3PARAM
            | RecordType::DNSKEY
            | RecordType::CDS
            | RecordType::CDNSKEY
            | RecordType::ZONEMD
    )
}

/// Types that the server makes itself, or that it cannot answer by the rules they bring along.
pub(super) fn storable(rtype: RecordType) -> Option<ValidationError> {
    let why = match rtype {
        RecordType::SOA => "the SOA is kept with the zone: change its fields there",
        RecordType::DNAME => "DNAME is not supported; a wildcard CNAME does for the names below",
        rtype if is_signers(rtype) => "is made by whoever signs the zone, and cannot be stored",
        rtype if rtype.is_meta() => "is a type of questions and messages, not of records",
        _ => return None,
    };
    Some(ValidationError::new(
        "type",
        ErrorCode::Unsupported,
        format!("{rtype}: {why}"),
    ))
}

/// What a set may not be, whatever is around it.
pub(super) fn alone(
    name: &RecordName,
    rtype: RecordType,
    data: &[Rdata],
    apex: &RecordName,
) -> Vec<ValidationError> {
    let mut problems = Vec::new();
    let mut wrong = |field: &str, message: String| {
        problems.push(ValidationError::new(field, ErrorCode::Conflict, message));
    };
    match rtype {
        RecordType::NS if name == apex => wrong(
            "type",
            "the name servers of the zone itself are kept with the zone: change its nameServers".to_owned(),
        ),
        RecordType::CNAME if name == apex => wrong(
            "type",
            format!("`{apex}` is the zone's own name, which has a SOA: no CNAME can stand beside it"),
        ),
        RecordType::DS if name == apex => wrong(
            "type",
            format!("the DS of `{apex}` belongs into the zone above it"),
        ),
        RecordType::NS | RecordType::DS if name.is_wildcard() => {
            wrong(
                "type",
                "a wildcard cannot be a delegation (RFC 4592 §4.2)".to_owned(),
            );
        }
        _ => {}
    }
    if rtype == RecordType::CNAME {
        if data.len() > 1 {
            wrong("data", "a name has one CNAME at most".to_owned());
        }
        if data
            .iter()
            .any(|rdata| rdata.target(rtype).as_ref() == Some(name))
        {
            wrong("data[0]", format!("`{name}` would lead to itself"));
        }
    }
    problems
}

/// What a problem is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject<'a> {
    /// A record set.
    Record(&'a RecordSet),
    /// The service with this domain.
    Service(RecordName),
    /// The zone with this apex, below the one looked at.
    Zone(RecordName),
}

/// Two things that cannot both be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem<'a> {
    /// The one.
    pub subject: Subject<'a>,
    /// What it collides with, in words.
    pub message: String,
}

/// Records of one zone with the services and zones around them: all there are, or those that one change touches.
#[derive(Debug, Clone, Default)]
pub struct Surroundings<'a> {
    /// The zone's apex.
    pub apex: Option<RecordName>,
    /// Record sets of the zone.
    pub records: Vec<&'a RecordSet>,
    /// Domains of services in the zone.
    pub services: Vec<RecordName>,
    /// Those of `services` that answer every type with a CNAME.
    pub aliases: Vec<RecordName>,
    /// Zones below the apex.
    pub zones: Vec<RecordName>,
}

/// Types by name, delegations, zones: what the rules look up.
struct Index<'s> {
    types: HashMap<&'s RecordName, Vec<RecordType>>,
    services: HashSet<&'s RecordName>,
    aliases: HashSet<&'s RecordName>,
    zones: HashSet<&'s RecordName>,
}

impl Index<'_> {
    fn has(&self, name: &RecordName, rtype: RecordType) -> bool {
        self.types.get(name).is_some_and(|types| types.contains(&rtype))
    }

    /// The closest name above (or, with `or_self`, at) `name` for which `is` holds, below the apex.
    fn above(
        &self,
        name: &RecordName,
        apex: &RecordName,
        or_self: bool,
        is: impl Fn(&RecordName) -> bool,
    ) -> Option<RecordName> {
        let mut at = if or_self {
            Some(name.clone())
        } else {
            name.parent()
        };
        while let Some(name) = at {
            if name == *apex || !name.is_within(apex) {
                return None;
            }
            if is(&name) {
                return Some(name);
            }
            at = name.parent();
        }
        None
    }
}

impl<'a> Surroundings<'a> {
    /// Everything that collides.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem<'a>> {
        let Some(apex) = &self.apex else { return Vec::new() };
        let mut index = Index {
            types: HashMap::new(),
            services: self.services.iter().collect(),
            aliases: self.aliases.iter().filter(|name| *name != apex).collect(),
            zones: self.zones.iter().collect(),
        };
        for set in &self.records {
            index.types.entry(&set.name).or_default().push(set.rtype);
        }
        let mut problems = Vec::new();
        for set in &self.records {
            let found = record(set, apex, &index);
            problems.extend(found.into_iter().map(|message| Problem {
                subject: Subject::Record(set),
                message,
            }));
        }
        for service in &self.services {
            // Services in a zone further down are that zone's business.
            let inner = index.above(service, apex, true, |name| index.zones.contains(name));
            let cut = index.above(service, apex, true, |name| index.has(name, RecordType::NS));
            if let (None, Some(cut)) = (inner, cut) {
                problems.push(Problem {
                    subject: Subject::Service(service.clone()),
                    message: format!("the service `{service}` would lie at or below the delegation `{cut}`"),
                });
            }
        }
        problems
    }
}

fn record(set: &RecordSet, apex: &RecordName, index: &Index<'_>) -> Vec<String> {
    let (name, rtype) = (&set.name, set.rtype);
    let mut problems = Vec::new();
    let here = index.types.get(name).map(Vec::as_slice).unwrap_or_default();
    if here.iter().filter(|other| **other == rtype).count() > 1 {
        problems.push(format!("`{name}` has a set of type {rtype} already"));
    }
    if rtype == RecordType::CNAME && here.iter().any(|other| *other != RecordType::CNAME) {
        problems.push(format!("`{name}` has other records, and a CNAME stands alone"));
    }
    let serves = matches!(rtype, RecordType::A | RecordType::AAAA | RecordType::CNAME);
    if index.aliases.contains(name) {
        problems.push(format!(
            "`{name}` is the domain of a service whose members are host names: it answers with a CNAME, which stands alone \
             (with `flatten` it would answer with addresses)"
        ));
    } else if serves && index.services.contains(name) {
        problems.push(format!(
            "`{name}` is the domain of a service, which answers for its addresses"
        ));
    }
    let cut = index.above(name, apex, true, |name| index.has(name, RecordType::NS));
    let glue = matches!(rtype, RecordType::A | RecordType::AAAA);
    let at_cut = cut.as_ref() == Some(name) && matches!(rtype, RecordType::NS | RecordType::DS);
    if let Some(zone) = index.above(name, apex, true, |name| index.zones.contains(name))
        && !(zone == *name && matches!(rtype, RecordType::NS | RecordType::DS))
        && !(glue && cut.is_some())
    {
        problems.push(format!(
            "`{name}` lies in the zone `{zone}`, and its records belong there"
        ));
        return problems;
    }
    match (&cut, rtype) {
        (Some(cut), RecordType::NS) if index.above(cut, apex, false, |n| index.has(n, RecordType::NS)).is_some() => {
            problems.push(format!("`{name}` lies below another delegation"));
        }
        (Some(cut), _) if !at_cut && !glue => problems.push(format!(
            "`{cut}` is delegated: at and below it only DS and the addresses of its name servers can be stored"
        )),
        (None, RecordType::DS) => problems.push(format!(
            "`{name}` is no delegation: a DS stands beside the NS records of one"
        )),
        _ => {}
    }
    problems
}
