//! Services: names that are answered from a pool.

use super::error::{ErrorCode, ValidationError};
use super::filter::FilterName;
use super::id::{PoolId, ServiceId, TenantId};
use super::name::DomainName;
use super::pool::object_name;
use super::step::FilterStep;
use super::tier::Tier;
use super::zone::seconds;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// Most steps a chain may have.
pub const MAX_STEPS: usize = 16;

/// How a service chooses: one algorithm, or a chain.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Routing {
    /// A single built-in filter, run as a chain of one.
    Algorithm(FilterName),
    /// A chain of 1 to 16 steps; needs tier pro.
    Chain(Vec<FilterStep>),
}

/// What a service answers when no member is a candidate.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(try_from = "FallbackText", into = "FallbackText")]
pub enum Fallback {
    /// No answer.
    #[default]
    None,
    /// Every enabled member of the family: fail open.
    All,
    /// These addresses as they are, those of the family asked for.
    #[cfg_attr(feature = "schema", schema(value_type = Vec<String>))]
    Addresses(Vec<IpAddr>),
}

/// The API's form: `"none"`, `"all"` or a list of addresses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum FallbackText {
    /// `none` or `all`.
    Word(String),
    /// Addresses.
    List(Vec<String>),
}

impl FallbackText {
    fn parse(&self) -> Result<Fallback, Vec<ValidationError>> {
        match self {
            Self::Word(word) => match word.as_str() {
                "" | "none" => Ok(Fallback::None),
                "all" => Ok(Fallback::All),
                other => Err(vec![ValidationError::new(
                    "fallback",
                    ErrorCode::Unknown,
                    format!("`{other}` is not `none`, `all` or a list of addresses"),
                )]),
            },
            Self::List(list) if list.is_empty() => Ok(Fallback::None),
            Self::List(list) => {
                let mut errors = Vec::new();
                let mut addresses: Vec<IpAddr> = Vec::new();
                for (index, text) in list.iter().enumerate() {
                    match text.trim().parse::<IpAddr>() {
                        Ok(ip) if !addresses.contains(&ip) => addresses.push(ip),
                        Ok(_) => {}
                        Err(_) => errors.push(ValidationError::new(
                            format!("fallback[{index}]"),
                            ErrorCode::Invalid,
                            format!("`{text}` is no IPv4 or IPv6 address"),
                        )),
                    }
                }
                if errors.is_empty() {
                    Ok(Fallback::Addresses(addresses))
                } else {
                    Err(errors)
                }
            }
        }
    }
}

impl TryFrom<FallbackText> for Fallback {
    type Error = ValidationError;

    fn try_from(text: FallbackText) -> Result<Self, Self::Error> {
        text.parse().map_err(|mut errors| errors.swap_remove(0))
    }
}

impl From<Fallback> for FallbackText {
    fn from(fallback: Fallback) -> Self {
        match fallback {
            Fallback::None => Self::Word("none".to_owned()),
            Fallback::All => Self::Word("all".to_owned()),
            Fallback::Addresses(list) => Self::List(list.iter().map(ToString::to_string).collect()),
        }
    }
}

/// A DNS name answered from one pool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", try_from = "ServiceText")]
pub struct Service {
    /// Id.
    pub id: ServiceId,
    /// Owner.
    pub tenant_id: TenantId,
    /// Name, unique in its tenant.
    pub name: String,
    /// The DNS name, unique over all tenants; may be a wildcard.
    pub domain: DomainName,
    /// The pool.
    pub pool_id: PoolId,
    /// `algorithm` (empty when a chain is set) and `filterChain` (absent when not).
    #[serde(flatten)]
    #[cfg_attr(feature = "schema", schema(value_type = RoutingText))]
    pub routing: Routing,
    /// TTL of answers, seconds.
    pub ttl: u32,
    /// A disabled service's name is absent.
    pub enabled: bool,
    /// What to answer without a candidate.
    pub fallback: Fallback,
    /// Answers with up to this many members.
    pub max_answers: u8,
    /// Answers with the addresses of a member that is a host name, rather than with a CNAME. At a zone's own name this
    /// is always so, and it means nothing to members that are addresses.
    #[serde(default)]
    pub flatten: bool,
}

/// A service as it is read: field by field, since what serde flattens it has to keep aside first, which takes longer
/// than all the rest of a million services.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ServiceText {
    id: ServiceId,
    tenant_id: TenantId,
    name: String,
    domain: DomainName,
    pool_id: PoolId,
    #[serde(default)]
    algorithm: String,
    filter_chain: Option<Vec<String>>,
    ttl: u32,
    enabled: bool,
    fallback: Fallback,
    max_answers: u8,
    #[serde(default)]
    flatten: bool,
}

impl TryFrom<ServiceText> for Service {
    type Error = String;

    fn try_from(text: ServiceText) -> Result<Self, String> {
        let routing = RoutingText {
            algorithm: text.algorithm,
            filter_chain: text.filter_chain,
        };
        Ok(Self {
            id: text.id,
            tenant_id: text.tenant_id,
            name: text.name,
            domain: text.domain,
            pool_id: text.pool_id,
            routing: routing.parse()?,
            ttl: text.ttl,
            enabled: text.enabled,
            fallback: text.fallback,
            max_answers: text.max_answers,
            flatten: text.flatten,
        })
    }
}

/// The API's form of [`Routing`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct RoutingText {
    /// Built-in filter name; empty when a chain is set.
    #[serde(default)]
    pub algorithm: String,
    /// The chain; absent when a single algorithm is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter_chain: Option<Vec<String>>,
}

impl Serialize for Routing {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = match self {
            Self::Algorithm(name) => RoutingText {
                algorithm: name.to_string(),
                filter_chain: None,
            },
            Self::Chain(steps) => RoutingText {
                algorithm: String::new(),
                filter_chain: Some(steps.iter().map(ToString::to_string).collect()),
            },
        };
        text.serialize(serializer)
    }
}

impl RoutingText {
    fn parse(self) -> Result<Routing, String> {
        let chain = self.filter_chain.unwrap_or_default();
        parse_routing(Some(&self.algorithm), &chain, FilterName::RoundRobin)
            .map_err(|errors| errors.first().map_or_else(String::new, ToString::to_string))
    }
}

impl<'de> Deserialize<'de> for Routing {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = RoutingText::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// A service as it arrives from outside.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ServiceDraft {
    /// Name, 1 to 64 characters. Required.
    pub name: Option<String>,
    /// DNS name. Required.
    pub domain: Option<String>,
    /// Pool. Required.
    pub pool_id: Option<String>,
    /// Built-in filter name or the aliases `wrr`, `weighted_rr`; ignored when a chain is given.
    pub algorithm: Option<String>,
    /// Chain of filter names; wins over `algorithm` when not empty.
    pub filter_chain: Option<Vec<String>>,
    /// Seconds, default 30.
    pub ttl: Option<i64>,
    /// Default true.
    pub enabled: Option<bool>,
    /// Default `none`.
    pub fallback: Option<FallbackText>,
    /// Default 1, at most 64.
    pub max_answers: Option<i64>,
    /// Addresses rather than a CNAME for members that are host names; default false.
    pub flatten: Option<bool>,
}

/// Reads `algorithm` and `filterChain` together: a chain that is not empty wins, neither gives `default`.
fn parse_routing(
    algorithm: Option<&str>,
    chain: &[String],
    default: FilterName,
) -> Result<Routing, Vec<ValidationError>> {
    if chain.is_empty() {
        let text = algorithm.unwrap_or_default();
        if text.is_empty() {
            return Ok(Routing::Algorithm(default));
        }
        return FilterName::parse_algorithm(text)
            .map(Routing::Algorithm)
            .ok_or_else(|| {
                vec![ValidationError::new(
                    "algorithm",
                    ErrorCode::Unknown,
                    FilterName::unknown_algorithm(text),
                )]
            });
    }
    let mut errors = Vec::new();
    if chain.len() > MAX_STEPS {
        errors.push(ValidationError::new(
            "filterChain",
            ErrorCode::OutOfRange,
            format!("{} steps; {MAX_STEPS} are the limit", chain.len()),
        ));
    }
    let mut steps = Vec::with_capacity(chain.len());
    for (index, text) in chain.iter().enumerate() {
        match FilterStep::parse(&format!("filterChain[{index}]"), text) {
            Ok(step) => steps.push(step),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() {
        Ok(Routing::Chain(steps))
    } else {
        Err(errors)
    }
}

impl Routing {
    /// Reads a proposed `algorithm` and `filterChain`, for the tracer and the builder.
    ///
    /// # Errors
    /// Unknown names and too long chains, by field.
    pub fn parse(
        algorithm: Option<&str>,
        chain: &[String],
        default: FilterName,
    ) -> Result<Self, Vec<ValidationError>> {
        parse_routing(algorithm, chain, default)
    }

    /// The tier that this routing needs: a chain is pro, as are some filters alone.
    #[must_use]
    pub fn required_tier(&self) -> Tier {
        match self {
            Self::Algorithm(name) => name.algorithm_tier(),
            Self::Chain(steps) => steps
                .iter()
                .map(FilterStep::tier)
                .max()
                .unwrap_or_default()
                .max(Tier::Pro),
        }
    }

    /// `geo-ip→weighted-round-robin`, as tables show it; a script is `script`, without its body.
    #[must_use]
    pub fn summary(&self) -> String {
        match self {
            Self::Algorithm(name) => name.to_string(),
            Self::Chain(steps) => steps.iter().map(FilterStep::label).collect::<Vec<_>>().join("→"),
        }
    }
}

impl ServiceDraft {
    /// Checks the draft and fills in defaults; `default` is the configured algorithm. Whether the pool exists is
    /// for the caller to check.
    ///
    /// # Errors
    /// Every problem at once, by field.
    pub fn validate(
        &self,
        id: ServiceId,
        tenant_id: TenantId,
        default: FilterName,
    ) -> Result<Service, Vec<ValidationError>> {
        let mut errors = Vec::new();
        let name = object_name(&mut errors, self.name.as_deref());
        let domain = DomainName::parse("domain", self.domain.as_deref().unwrap_or_default())
            .map_err(|e| errors.push(e))
            .ok();
        let pool_id = match self.pool_id.as_deref().map(str::trim) {
            None | Some("") => {
                errors.push(ValidationError::new(
                    "poolId",
                    ErrorCode::Required,
                    "must name a pool",
                ));
                None
            }
            Some(text) => text
                .parse::<PoolId>()
                .map_err(|_| {
                    errors.push(ValidationError::new(
                        "poolId",
                        ErrorCode::NotFound,
                        format!("there is no pool `{text}`"),
                    ));
                })
                .ok(),
        };
        let routing = parse_routing(
            self.algorithm.as_deref(),
            self.filter_chain.as_deref().unwrap_or_default(),
            default,
        )
        .map_err(|list| errors.extend(list))
        .ok();
        let ttl = seconds(&mut errors, "ttl", self.ttl, 30);
        let fallback = match &self.fallback {
            None => Fallback::None,
            Some(text) => text.parse().unwrap_or_else(|list| {
                errors.extend(list);
                Fallback::None
            }),
        };
        let max_answers = match self.max_answers {
            None => 1,
            Some(n) => u8::try_from(n)
                .ok()
                .filter(|n| (1..=64).contains(n))
                .unwrap_or_else(|| {
                    errors.push(ValidationError::new(
                        "maxAnswers",
                        ErrorCode::OutOfRange,
                        format!("{n} is not between 1 and 64"),
                    ));
                    1
                }),
        };
        match (domain, pool_id, routing) {
            (Some(domain), Some(pool_id), Some(routing)) if errors.is_empty() => Ok(Service {
                id,
                tenant_id,
                name,
                domain,
                pool_id,
                routing,
                ttl,
                enabled: self.enabled.unwrap_or(true),
                fallback,
                max_answers,
                flatten: self.flatten.unwrap_or(false),
            }),
            _ => Err(errors),
        }
    }
}

impl From<&Service> for ServiceDraft {
    /// The draft that validates to the same service, for merge patches.
    fn from(service: &Service) -> Self {
        let (algorithm, filter_chain) = match &service.routing {
            Routing::Algorithm(name) => (Some(name.to_string()), None),
            Routing::Chain(steps) => (None, Some(steps.iter().map(ToString::to_string).collect())),
        };
        Self {
            name: Some(service.name.clone()),
            domain: Some(service.domain.to_string()),
            pool_id: Some(service.pool_id.to_string()),
            algorithm,
            filter_chain,
            ttl: Some(service.ttl.into()),
            enabled: Some(service.enabled),
            fallback: Some(service.fallback.clone().into()),
            max_answers: Some(service.max_answers.into()),
            flatten: Some(service.flatten),
        }
    }
}

#[cfg(test)]
mod tests;
