//! How a member is reached: an address, or a host name.

use super::error::{ErrorCode, ValidationError};
use super::name::DomainName;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::IpAddr;

/// How a member is reached: exactly one of the two. A pool is all addresses or all host names.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Endpoint {
    /// `ipAddress`.
    IpAddress(IpAddr),
    /// `hostname`.
    Hostname(DomainName),
}

/// The API's form of [`Endpoint`]: one of the two is there.
#[cfg(feature = "schema")]
#[derive(utoipa::ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "exists for the OpenAPI document only")]
pub struct EndpointText {
    /// IPv4 or IPv6 address.
    ip_address: Option<String>,
    /// Host name.
    hostname: Option<String>,
}

impl Endpoint {
    /// The address, unless this is a host name.
    #[must_use]
    pub fn ip(&self) -> Option<IpAddr> {
        match self {
            Self::IpAddress(ip) => Some(*ip),
            Self::Hostname(_) => None,
        }
    }

    /// The host name, unless this is an address.
    #[must_use]
    pub fn hostname(&self) -> Option<&DomainName> {
        match self {
            Self::IpAddress(_) => None,
            Self::Hostname(name) => Some(name),
        }
    }

    /// The field of the API that it stands in.
    #[must_use]
    pub const fn field(&self) -> &'static str {
        match self {
            Self::IpAddress(_) => "ipAddress",
            Self::Hostname(_) => "hostname",
        }
    }

    /// Reads the two fields of a draft, of which one must be given.
    pub(super) fn parse(
        errors: &mut Vec<ValidationError>,
        ip_address: Option<&str>,
        hostname: Option<&str>,
    ) -> Option<Self> {
        let ip = ip_address.map(str::trim).filter(|text| !text.is_empty());
        let name = hostname.map(str::trim).filter(|text| !text.is_empty());
        let result = match (ip, name) {
            (Some(_), Some(_)) => Err(ValidationError::new(
                "hostname",
                ErrorCode::Conflict,
                "a member has an address or a host name, not both",
            )),
            (None, None) => Err(ValidationError::new(
                "ipAddress",
                ErrorCode::Required,
                "must be an IPv4 or IPv6 address; a member that is a name has `hostname` instead",
            )),
            (Some(text), None) => address(text).map(Self::IpAddress),
            (None, Some(text)) => host(text).map(Self::Hostname),
        };
        result.map_err(|error| errors.push(error)).ok()
    }
}

fn address(text: &str) -> Result<IpAddr, ValidationError> {
    let invalid = |message| Err(ValidationError::new("ipAddress", ErrorCode::Invalid, message));
    match text.parse::<IpAddr>().map(|ip| ip.to_canonical()) {
        Ok(ip) if ip.is_unspecified() || ip.is_multicast() => {
            invalid(format!("{ip} is no address that a client could connect to"))
        }
        Ok(ip) => Ok(ip),
        Err(_) => invalid(format!("`{text}` is no IPv4 or IPv6 address")),
    }
}

fn host(text: &str) -> Result<DomainName, ValidationError> {
    let name = DomainName::parse("hostname", text)?;
    let invalid = |message| Err(ValidationError::new("hostname", ErrorCode::Invalid, message));
    if name.is_wildcard() {
        return invalid(format!("`{name}` is a wildcard, which is no host"));
    }
    if text.parse::<IpAddr>().is_ok() {
        return invalid(format!("`{text}` is an address: it belongs into `ipAddress`"));
    }
    Ok(name)
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::IpAddress(ip) => ip.fmt(f),
            Self::Hostname(name) => name.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(ip: &str, name: &str) -> Result<String, String> {
        let mut errors = Vec::new();
        let endpoint = Endpoint::parse(&mut errors, Some(ip), Some(name));
        endpoint
            .map(|endpoint| format!("{} {endpoint}", endpoint.field()))
            .ok_or_else(|| errors.iter().map(|error| error.field.clone()).collect())
    }

    #[test]
    fn exactly_one_of_the_two() {
        assert_eq!(parse("192.0.2.1", "").as_deref(), Ok("ipAddress 192.0.2.1"));
        assert_eq!(
            parse(" ", "LB.Example.net").as_deref(),
            Ok("hostname lb.example.net.")
        );
        assert_eq!(parse("", ""), Err("ipAddress".to_owned()));
        assert_eq!(parse("192.0.2.1", "lb.example.net"), Err("hostname".to_owned()));
        assert_eq!(parse("lb.example.net", ""), Err("ipAddress".to_owned()));
        for wrong in ["192.0.2.1", "*.example.net", "a..b", "bad host"] {
            assert_eq!(parse("", wrong), Err("hostname".to_owned()), "{wrong}");
        }
    }
}
