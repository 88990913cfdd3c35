//! Zones: the names for which this server is authoritative.

use super::error::{ErrorCode, ValidationError};
use super::id::{TenantId, ZoneId};
use super::name::DomainName;
use super::record::RecordName;
use super::transfer::{Transfer, TransferDraft};
use serde::{Deserialize, Serialize};

/// Start of authority (RFC 1035 §3.3.13). Times in seconds. The serial is kept by the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Soa {
    /// Primary name server.
    pub mname: DomainName,
    /// Mailbox of the person responsible, as a name: `hostmaster.example.com.`. A dot before the `@` is escaped.
    pub rname: RecordName,
    /// Refresh interval of secondaries.
    pub refresh: u32,
    /// Retry interval of secondaries.
    pub retry: u32,
    /// After this long without contact a secondary stops answering.
    pub expire: u32,
    /// TTL bound of negative answers (RFC 2308 §4).
    pub minimum: u32,
    /// TTL of the SOA record itself.
    pub ttl: u32,
}

/// A zone: an apex with SOA and NS set. Services live in the closest enclosing zone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Zone {
    /// Id.
    pub id: ZoneId,
    /// Owner.
    pub tenant_id: TenantId,
    /// The apex, unique over all tenants.
    pub name: DomainName,
    /// Start of authority.
    pub soa: Soa,
    /// Name servers of the apex, at least one.
    pub name_servers: Vec<DomainName>,
    /// TTL of the NS set, seconds.
    pub ns_ttl: u32,
    /// SOA serial (RFC 1982): set by the store, grows with each change of the zone, of its records, of a service in it or
    /// of the addresses of such a service's pool.
    pub serial: u32,
    /// Who may transfer the zone, and who is told of changes.
    #[serde(default)]
    pub transfer: Transfer,
}

/// A zone as it arrives from outside. Absent fields take their defaults.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ZoneDraft {
    /// The apex. Required.
    pub name: Option<String>,
    /// Primary name server; default `ns1.<apex>`.
    pub mname: Option<String>,
    /// Responsible mailbox; default `hostmaster.<apex>`. May be written with its `@`.
    pub rname: Option<String>,
    /// Seconds, default 7200.
    pub refresh: Option<i64>,
    /// Seconds, default 900.
    pub retry: Option<i64>,
    /// Seconds, default 1209600.
    pub expire: Option<i64>,
    /// Seconds, default 60: recovery of a service must be seen soon.
    pub minimum: Option<i64>,
    /// TTL of the SOA, seconds, default 3600.
    pub soa_ttl: Option<i64>,
    /// Name servers; default the primary alone.
    pub name_servers: Option<Vec<String>>,
    /// TTL of the NS set, seconds, default 3600.
    pub ns_ttl: Option<i64>,
    /// Who may transfer the zone, and who is told of changes; default nobody.
    pub transfer: Option<TransferDraft>,
}

/// Checks a TTL or another 31-bit number of seconds (RFC 2181 §8).
pub(super) fn seconds(
    errors: &mut Vec<ValidationError>,
    field: &str,
    value: Option<i64>,
    default: u32,
) -> u32 {
    let Some(value) = value else { return default };
    match u32::try_from(value) {
        Ok(ok) if ok <= 0x7fff_ffff => ok,
        _ => {
            errors.push(ValidationError::new(
                field,
                ErrorCode::OutOfRange,
                format!("{value} is no number of seconds between 0 and 2147483647"),
            ));
            default
        }
    }
}

/// Reads a mailbox, as a name or with its `@`; a dot before that belongs to the first label (RFC 1035 §8).
fn mailbox(text: &str) -> Result<RecordName, ValidationError> {
    let text = text.trim();
    let name = match text.split_once('@') {
        Some((user, domain)) => {
            let domain = DomainName::parse("rname", domain)?;
            format!("{}.{domain}", user.replace('.', "\\."))
        }
        None if text.contains('\\') => format!("{}.", text.strip_suffix('.').unwrap_or(text)),
        None => return DomainName::parse("rname", text).map(|name| RecordName::from(&name)),
    };
    RecordName::parse(&name, None)
        .map_err(|message| ValidationError::new("rname", ErrorCode::Invalid, message))
}

impl ZoneDraft {
    /// Checks the draft and fills in defaults. `serial` is carried into the result.
    ///
    /// # Errors
    /// Every problem at once, by field.
    pub fn validate(
        &self,
        id: ZoneId,
        tenant_id: TenantId,
        serial: u32,
    ) -> Result<Zone, Vec<ValidationError>> {
        let mut errors = Vec::new();
        let mut take = |result: Result<DomainName, ValidationError>| result.map_err(|e| errors.push(e)).ok();
        let name = take(DomainName::parse(
            "name",
            self.name.as_deref().unwrap_or_default(),
        ));
        // With a bad apex the defaults below would only add noise: `invalid.` stands in and is never returned.
        let sound = name.as_ref().filter(|name| !name.is_wildcard());
        let apex = sound.map_or("invalid.", DomainName::as_str).to_owned();
        let mname = take(DomainName::parse(
            "mname",
            self.mname.as_deref().unwrap_or(&format!("ns1.{apex}")),
        ));
        let name_servers: Vec<_> = match &self.name_servers {
            Some(list) => list
                .iter()
                .enumerate()
                .filter_map(|(i, text)| take(DomainName::parse(&format!("nameServers[{i}]"), text)))
                .collect(),
            None => mname.iter().cloned().collect(),
        };
        let rname = mailbox(self.rname.as_deref().unwrap_or(&format!("hostmaster.{apex}")));
        let rname = rname.map_err(|error| errors.push(error)).ok();
        if name.as_ref().is_some_and(DomainName::is_wildcard) {
            errors.push(ValidationError::new(
                "name",
                ErrorCode::Invalid,
                "a zone cannot be a wildcard",
            ));
        }
        if self.name_servers.as_ref().is_some_and(Vec::is_empty) {
            errors.push(ValidationError::new(
                "nameServers",
                ErrorCode::Required,
                "a zone has at least one name server",
            ));
        }
        let refresh = seconds(&mut errors, "refresh", self.refresh, 7200);
        let retry = seconds(&mut errors, "retry", self.retry, 900);
        let expire = seconds(&mut errors, "expire", self.expire, 1_209_600);
        let minimum = seconds(&mut errors, "minimum", self.minimum, 60);
        let ttl = seconds(&mut errors, "soaTtl", self.soa_ttl, 3600);
        let ns_ttl = seconds(&mut errors, "nsTtl", self.ns_ttl, 3600);
        let transfer = self.transfer.as_ref().map(|draft| draft.validate(&mut errors));
        match (name, mname, rname) {
            (Some(name), Some(mname), Some(rname)) if errors.is_empty() => Ok(Zone {
                id,
                tenant_id,
                name,
                soa: Soa {
                    mname,
                    rname,
                    refresh,
                    retry,
                    expire,
                    minimum,
                    ttl,
                },
                name_servers,
                ns_ttl,
                serial,
                transfer: transfer.unwrap_or_default(),
            }),
            _ => Err(errors),
        }
    }
}

impl From<&Zone> for ZoneDraft {
    /// The draft that validates to the same zone, for merge patches.
    fn from(zone: &Zone) -> Self {
        Self {
            name: Some(zone.name.to_string()),
            mname: Some(zone.soa.mname.to_string()),
            rname: Some(zone.soa.rname.to_string()),
            refresh: Some(zone.soa.refresh.into()),
            retry: Some(zone.soa.retry.into()),
            expire: Some(zone.soa.expire.into()),
            minimum: Some(zone.soa.minimum.into()),
            soa_ttl: Some(zone.soa.ttl.into()),
            name_servers: Some(zone.name_servers.iter().map(ToString::to_string).collect()),
            ns_ttl: Some(zone.ns_ttl.into()),
            transfer: Some(TransferDraft::from(&zone.transfer)),
        }
    }
}
