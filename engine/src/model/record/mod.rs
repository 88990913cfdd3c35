//! Static records of a zone, as sets: all records of one type at one name have one TTL (RFC 2181 §5).
//!
//! The text of a record's data is read and written here, and not by hickory-proto: [`Rdata`] says why in
//! `docs/decisions/008-record-data.md`. A type without a form of its own is written by RFC 3597.

mod name;
mod params;
mod rdata;
mod rtype;
mod rules;
#[cfg(test)]
mod tests;
mod text;
mod zonefile;

pub use name::RecordName;
pub use rdata::{Origin, Rdata};
pub use rtype::RecordType;
pub use rules::{Problem, Subject, Surroundings};
pub use zonefile::{FileSet, ZoneFile, write_zone_file};

use super::error::{ErrorCode, ValidationError};
use super::id::{RecordId, TenantId, ZoneId};
use super::zone::{Zone, seconds};
use serde::{Deserialize, Serialize};

/// TTL of a record set that does not say, seconds.
const DEFAULT_TTL: u32 = 3600;
/// Most octets of a set in a message: with question, OPT and the SOA it must fit into 65,535.
const MAX_SET: usize = 60_000;
/// Octets of a record in a message beside its data: a pointer to its name, type, class, TTL, length.
const FRAME: usize = 12;

/// The records of one type at one name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct RecordSet {
    /// Id.
    pub id: RecordId,
    /// Owner.
    pub tenant_id: TenantId,
    /// The zone it belongs to.
    pub zone_id: ZoneId,
    /// Owner name, in full.
    pub name: RecordName,
    /// Type.
    #[serde(rename = "type")]
    pub rtype: RecordType,
    /// Seconds.
    pub ttl: u32,
    /// Data of each record, in its text form.
    pub data: Vec<String>,
}

impl RecordSet {
    /// Data of each record in wire form.
    ///
    /// # Errors
    /// When the text does not fit the type, which validation rules out.
    pub fn rdata(&self) -> Result<Vec<Rdata>, String> {
        let root = RecordName::root();
        self.data
            .iter()
            .map(|text| Rdata::parse(self.rtype, text, Origin::File(&root)))
            .collect()
    }

    /// Whether two sets give the same answers: the order of their records does not matter.
    #[must_use]
    pub fn same_as(&self, other: &Self) -> bool {
        let sorted = |set: &Self| {
            let mut data = set.data.clone();
            data.sort_unstable();
            data
        };
        (&self.name, self.rtype, self.ttl) == (&other.name, other.rtype, other.ttl)
            && sorted(self) == sorted(other)
    }
}

/// A record set as it arrives from outside.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RecordDraft {
    /// Owner name: in full, relative to the zone, or `@` for the zone itself. Required.
    pub name: Option<String>,
    /// `A`, `MX`, …, or `TYPE` with a number (RFC 3597). Required.
    #[serde(rename = "type")]
    pub rtype: Option<String>,
    /// Seconds, default 3600.
    pub ttl: Option<i64>,
    /// Data of each record, as in a zone file: `["10 mail.example.com."]`; of any type also `\# length hexadecimal`. A
    /// text of a TXT record stands in quotes when it has spaces. At least one.
    pub data: Option<Vec<String>>,
}

impl From<&RecordSet> for RecordDraft {
    /// The draft that validates to the same set, for merge patches.
    fn from(set: &RecordSet) -> Self {
        Self {
            name: Some(set.name.to_string()),
            rtype: Some(set.rtype.to_string()),
            ttl: Some(set.ttl.into()),
            data: Some(set.data.clone()),
        }
    }
}

/// Reads an owner name of a request: what ends with the zone's name is meant in full, with or without a dot.
fn owner(text: &str, apex: &RecordName) -> Result<RecordName, String> {
    let text = text.trim();
    if !text.ends_with('.')
        && let Ok(full) = RecordName::parse(&format!("{text}."), None)
        && full.is_within(apex)
    {
        return Ok(full);
    }
    RecordName::parse(text, Some(apex))
}

impl RecordDraft {
    /// Checks the draft and fills in defaults.
    ///
    /// # Errors
    /// Every problem at once, by field.
    pub fn validate(&self, id: RecordId, zone: &Zone) -> Result<RecordSet, Vec<ValidationError>> {
        let mut errors = Vec::new();
        let apex = RecordName::from(&zone.name);
        let name = match self.name.as_deref() {
            None => {
                errors.push(ValidationError::new(
                    "name",
                    ErrorCode::Required,
                    "must be a name in the zone; `@` is the zone itself",
                ));
                None
            }
            Some(text) => match owner(text, &apex) {
                Ok(name) if name.is_within(&apex) => Some(name),
                Ok(name) => {
                    let message = format!("`{name}` is not in the zone `{apex}`");
                    errors.push(ValidationError::new("name", ErrorCode::Invalid, message));
                    None
                }
                Err(message) => {
                    errors.push(ValidationError::new("name", ErrorCode::Invalid, message));
                    None
                }
            },
        };
        let rtype = match self.rtype.as_deref().map(str::trim) {
            None | Some("") => {
                errors.push(ValidationError::new(
                    "type",
                    ErrorCode::Required,
                    "must be a record type such as A or MX",
                ));
                None
            }
            Some(text) => {
                let rtype = RecordType::parse(text);
                if rtype.is_none() {
                    errors.push(ValidationError::new(
                        "type",
                        ErrorCode::Unknown,
                        format!(
                            "`{text}` is no known record type; any type can be written as TYPE and its number"
                        ),
                    ));
                }
                rtype
            }
        };
        if let Some(rtype) = rtype {
            errors.extend(rules::storable(rtype));
        }
        let ttl = seconds(&mut errors, "ttl", self.ttl, DEFAULT_TTL);
        let data = self.data.as_deref().unwrap_or_default();
        if data.is_empty() {
            errors.push(ValidationError::new(
                "data",
                ErrorCode::Required,
                "a set has at least one record",
            ));
        }
        let texts = rtype.map(|rtype| read_data(&mut errors, rtype, data, &apex));
        if let (Some(name), Some(rtype)) = (&name, rtype) {
            errors.extend(rules::alone(
                name,
                rtype,
                texts.as_deref().unwrap_or_default(),
                &apex,
            ));
        }
        match (name, rtype, texts) {
            (Some(name), Some(rtype), Some(texts)) if errors.is_empty() => Ok(RecordSet {
                id,
                tenant_id: zone.tenant_id,
                zone_id: zone.id,
                name,
                rtype,
                ttl,
                data: texts.iter().map(|rdata| rdata.to_text(rtype)).collect(),
            }),
            _ => Err(errors),
        }
    }
}

/// Reads the data of each record of a request.
fn read_data(
    errors: &mut Vec<ValidationError>,
    rtype: RecordType,
    texts: &[String],
    apex: &RecordName,
) -> Vec<Rdata> {
    let mut read: Vec<Rdata> = Vec::new();
    for (index, text) in texts.iter().enumerate() {
        let field = format!("data[{index}]");
        match Rdata::parse(rtype, text, Origin::Request(apex)) {
            Ok(rdata) if read.contains(&rdata) => errors.push(ValidationError::new(
                field,
                ErrorCode::Duplicate,
                "is in the set already",
            )),
            Ok(rdata) => read.push(rdata),
            Err(message) => errors.push(ValidationError::new(field, ErrorCode::Invalid, message)),
        }
    }
    errors.extend(size(&read));
    read
}

/// A set that fits into no message is of no use.
fn size(data: &[Rdata]) -> Option<ValidationError> {
    let octets: usize = data.iter().map(|rdata| rdata.as_wire().len() + FRAME).sum();
    (octets > MAX_SET).then(|| {
        ValidationError::new(
            "data",
            ErrorCode::OutOfRange,
            format!("the set takes {octets} octets in a message; {MAX_SET} are the limit"),
        )
    })
}
