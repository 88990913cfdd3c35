//! The query tracer: a request becomes the context of a query, and the engine records what it does with it.

use crate::state::{AppState, entropy, unix_seconds};
use gslb_api_types::model::{
    Actor, DomainName, ErrorCode, FilterName, Permission, Routing, TenantId, ValidationError,
};
use gslb_api_types::{Trace, TraceRequest};
use gslb_core::OpError;
use gslb_core::draft::Proposal;
use gslb_engine::query::{ClientSubnet, Family, QueryContext};
use gslb_engine::snapshot::{Found, RoutedService, Snapshot};
use std::net::IpAddr;
use std::time::Instant;

/// How a client travels: as the transport source, or in an ECS option that a resolver sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Way {
    source: IpAddr,
    subnet: Option<ClientSubnet>,
}

fn address(field: &str, text: &str) -> Result<IpAddr, ValidationError> {
    text.trim()
        .parse::<IpAddr>()
        .map(|ip| ip.to_canonical())
        .map_err(|_| {
            ValidationError::new(
                field,
                ErrorCode::Invalid,
                format!("`{text}` is no IPv4 or IPv6 address"),
            )
        })
}

/// Zero past the first `bits` bits.
fn truncated(ip: IpAddr, bits: u8) -> IpAddr {
    match ip {
        IpAddr::V4(v4) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(bits.min(32))).unwrap_or(0);
            IpAddr::V4((v4.to_bits() & mask).into())
        }
        IpAddr::V6(v6) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(bits.min(128))).unwrap_or(0);
            IpAddr::V6((v6.to_bits() & mask).into())
        }
    }
}

/// `client` may be an address or a network. A network always travels as ECS; an address does when a resolver is named,
/// cut to /24 or /56 as resolvers do.
pub(super) fn way(request: &TraceRequest) -> Result<Way, Vec<ValidationError>> {
    let mut errors = Vec::new();
    let resolver = match request
        .resolver
        .as_deref()
        .map(str::trim)
        .filter(|t| !t.is_empty())
    {
        Some(text) => address("resolver", text).map_err(|e| errors.push(e)).ok(),
        None => None,
    };
    let text = request.client.as_deref().map(str::trim).unwrap_or_default();
    let (ip, bits) = match text.split_once('/') {
        _ if text.is_empty() => {
            errors.push(ValidationError::new(
                "client",
                ErrorCode::Required,
                "must be an address or a network",
            ));
            (None, None)
        }
        Some((ip, length)) => {
            let ip = address("client", ip).map_err(|e| errors.push(e)).ok();
            let most = if ip.is_none_or(|ip| ip.is_ipv6()) { 128 } else { 32 };
            let length = length.trim().parse::<u8>().ok().filter(|n| *n <= most);
            if length.is_none() {
                let message = format!("`{text}` has no prefix length between 0 and {most}");
                errors.push(ValidationError::new("client", ErrorCode::Invalid, message));
            }
            (ip, length)
        }
        None => (address("client", text).map_err(|e| errors.push(e)).ok(), None),
    };
    let Some(ip) = ip.filter(|_| errors.is_empty()) else {
        return Err(errors);
    };
    let usual = if ip.is_ipv4() { 24 } else { 56 };
    let bits = bits.or(resolver.map(|_| usual));
    let subnet = bits.map(|source| ClientSubnet {
        address: truncated(ip, source),
        source,
    });
    // Without a named resolver, a query with ECS comes from somewhere inside the network it speaks for.
    Ok(Way {
        source: resolver.unwrap_or(ip),
        subnet,
    })
}

/// The routing to try, if the request names one.
fn proposed(request: &TraceRequest) -> Result<Option<Routing>, Vec<ValidationError>> {
    let algorithm = request.algorithm.as_deref().filter(|a| !a.is_empty());
    let chain = request.chain.as_deref().unwrap_or_default();
    if algorithm.is_none() && chain.is_empty() {
        return Ok(None);
    }
    let as_chain = |mut error: ValidationError| {
        error.field = error.field.replacen("filterChain", "chain", 1);
        error
    };
    Routing::parse(algorithm, chain, FilterName::RoundRobin)
        .map(Some)
        .map_err(|errors| errors.into_iter().map(as_chain).collect())
}

/// Traces a query to a service of the actor's tenant.
///
/// # Errors
/// A missing permission; every wrong field at once; no service at the name; a chain above the tier.
pub async fn trace(
    state: &AppState,
    actor: &Actor,
    request: impl Into<Proposal<TraceRequest>>,
) -> Result<Trace, OpError> {
    if !actor.may(Permission::TraceRead) {
        return Err(OpError::Forbidden(Permission::TraceRead));
    }
    let proposal = request.into();
    let request = &proposal.draft;
    let mut errors = Vec::new();
    let domain = DomainName::parse("domain", request.domain.as_deref().unwrap_or_default())
        .map_err(|e| errors.push(e))
        .ok();
    let way = way(request).map_err(|list| errors.extend(list)).ok();
    let routing = proposed(request).map_err(|list| errors.extend(list)).ok();
    let errors = proposal.with(errors);
    let (Some(domain), Some(way), Some(routing), true) = (domain, way, routing, errors.is_empty()) else {
        return Err(OpError::Invalid(errors));
    };
    let chain = request.chain.as_deref().unwrap_or_default();
    let (snapshot, tenant_id) = (state.snapshot.load_full(), actor.tenant_id);
    let service = find(&snapshot, tenant_id, &domain).map(|service| service.id);
    let algorithm = request.algorithm.as_deref();
    state.ops.gate_texts(actor, chain, algorithm, service).await?;
    let errors = state.ops.script_errors(actor, "chain", chain).await;
    if !errors.is_empty() {
        return Err(OpError::Invalid(errors));
    }
    let (family, now) = (
        request.qtype.unwrap_or(Family::V4),
        request.at.unwrap_or_else(unix_seconds),
    );
    let record = move || record(&snapshot, tenant_id, &domain, way, family, now, routing.as_ref());
    // Scripts take milliseconds.
    tokio::task::spawn_blocking(record)
        .await
        .map_err(OpError::internal)?
}

/// The tenant's service that answers for a name.
fn find<'a>(snapshot: &'a Snapshot, tenant_id: TenantId, domain: &DomainName) -> Option<RoutedService<'a>> {
    match snapshot.find(&domain.to_wire()) {
        Found::Service { service, .. } if service.tenant_id == tenant_id => Some(service),
        // A disabled service cannot be found by a query, but its owner may look at it.
        _ => snapshot
            .services()
            .find(|s| s.domain == *domain && s.tenant_id == tenant_id),
    }
}

fn record(
    snapshot: &Snapshot,
    tenant_id: TenantId,
    domain: &DomainName,
    way: Way,
    family: Family,
    now: u64,
    routing: Option<&Routing>,
) -> Result<Trace, OpError> {
    let Some(service) = find(snapshot, tenant_id, domain) else {
        return Err(OpError::invalid(
            "domain",
            ErrorCode::NotFound,
            format!("no service answers for `{domain}`"),
        ));
    };
    Ok(ask(snapshot, service, domain, way, family, now, routing))
}

/// Asks a service for a name, and writes down what happens.
pub(super) fn ask(
    snapshot: &Snapshot,
    service: RoutedService<'_>,
    domain: &DomainName,
    way: Way,
    family: Family,
    now: u64,
    routing: Option<&Routing>,
) -> Trace {
    let qname = domain.to_wire();
    let context = QueryContext {
        qname: &qname,
        family,
        source: way.source,
        subnet: way.subnet,
        now,
        entropy: entropy(),
    };
    let begun = Instant::now();
    let clock = move || u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
    gslb_engine::chain::trace(snapshot, service, &context, routing, clock)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(client: &str, resolver: Option<&str>) -> TraceRequest {
        TraceRequest {
            client: Some(client.to_owned()),
            resolver: resolver.map(str::to_owned),
            ..TraceRequest::default()
        }
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn an_address_alone_asks_itself() {
        let way = way(&request("198.51.100.7", None)).unwrap();
        assert_eq!(
            way,
            Way {
                source: ip("198.51.100.7"),
                subnet: None
            }
        );
    }

    #[test]
    fn behind_a_resolver_the_client_travels_as_ecs() {
        let found = way(&request("198.51.100.7", Some("203.0.113.1"))).unwrap();
        let subnet = Some(ClientSubnet {
            address: ip("198.51.100.0"),
            source: 24,
        });
        assert_eq!(
            found,
            Way {
                source: ip("203.0.113.1"),
                subnet
            }
        );
        let found = way(&request("2001:db8:1:2ff::1", Some("203.0.113.1"))).unwrap();
        assert_eq!(
            found.subnet,
            Some(ClientSubnet {
                address: ip("2001:db8:1:200::"),
                source: 56
            })
        );
    }

    #[test]
    fn a_network_travels_as_ecs_with_its_own_length() {
        let found = way(&request("198.51.100.7/20", None)).unwrap();
        assert_eq!(
            found.subnet,
            Some(ClientSubnet {
                address: ip("198.51.96.0"),
                source: 20
            })
        );
        let found = way(&request("0.0.0.0/0", None)).unwrap();
        assert_eq!(
            found.subnet,
            Some(ClientSubnet {
                address: ip("0.0.0.0"),
                source: 0
            })
        );
    }

    #[test]
    fn wrong_fields_are_named_together() {
        let fields = |r| {
            way(&r)
                .unwrap_err()
                .into_iter()
                .map(|e| e.field)
                .collect::<Vec<_>>()
        };
        assert_eq!(fields(request("nonsense", Some("x"))), ["resolver", "client"]);
        assert_eq!(fields(request("198.51.100.0/33", None)), ["client"]);
        assert_eq!(fields(request("", None)), ["client"]);
    }
}
