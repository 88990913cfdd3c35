//! What an operator knows about a member, for the steps that steer by it: where it is, whom it is for, how much load
//! it takes.

use super::error::{ErrorCode, ValidationError};
use crate::geo::{Continent, Country, Point, Subdivision};
use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// Most entries of a fence, and of a list of countries.
pub const MAX_FENCE: usize = 64;
/// Largest load and watermark.
pub const MAX_LOAD: f64 = 1e12;

/// A finite number, so that values that hold it can be compared.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Finite(f64);

impl Finite {
    /// Neither NaN nor infinite.
    #[must_use]
    pub fn new(number: f64) -> Option<Self> {
        // Adding 0 makes of −0 the other one.
        number.is_finite().then_some(Self(number + 0.0))
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }
}

// Without NaN every number equals itself.
impl Eq for Finite {}

impl TryFrom<f64> for Finite {
    type Error = &'static str;

    fn try_from(number: f64) -> Result<Self, Self::Error> {
        Self::new(number).ok_or("not a finite number")
    }
}

impl From<Finite> for f64 {
    fn from(number: Finite) -> Self {
        number.0
    }
}

/// Where a member is, and which countries it serves.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct MemberGeo {
    /// Continent, for `geo-continent`: `AF`, `AN`, `AS`, `EU`, `NA`, `OC` or `SA`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>))]
    pub continent: Option<Continent>,
    /// Countries (ISO 3166-1 alpha-2) that `geo-ip` counts the member to, beside its region.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    #[cfg_attr(feature = "schema", schema(value_type = Vec<String>))]
    pub country: Vec<Country>,
    /// Subdivision (ISO 3166-2, `US-CA`), for `geo-subdivision`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>))]
    pub subdivision: Option<Subdivision>,
    /// Latitude, degrees, for `geo-nearest`; with `lon` or not at all.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[cfg_attr(feature = "schema", schema(value_type = Option<f64>))]
    pub lat: Option<Finite>,
    /// Longitude, degrees.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[cfg_attr(feature = "schema", schema(value_type = Option<f64>))]
    pub lon: Option<Finite>,
}

impl MemberGeo {
    /// Latitude and longitude as a point.
    #[must_use]
    pub fn point(&self) -> Option<Point> {
        Point::new(self.lat?.get(), self.lon?.get())
    }
}

/// Where a member is, as it arrives from outside.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GeoDraft {
    /// `AF`, `AN`, `AS`, `EU`, `NA`, `OC` or `SA`.
    pub continent: Option<String>,
    /// ISO 3166-1 alpha-2 codes, at most 64.
    pub country: Option<Vec<String>>,
    /// ISO 3166-2 code.
    pub subdivision: Option<String>,
    /// Degrees, −90 to 90; with `lon`.
    pub lat: Option<f64>,
    /// Degrees, −180 to 180; with `lat`.
    pub lon: Option<f64>,
}

fn invalid(field: impl Into<String>, message: String) -> ValidationError {
    ValidationError::new(field, ErrorCode::Invalid, message)
}

fn too_many(field: &str, count: usize) -> Option<ValidationError> {
    (count > MAX_FENCE).then(|| {
        let message = format!("{count} entries; {MAX_FENCE} are the limit");
        ValidationError::new(field, ErrorCode::OutOfRange, message)
    })
}

/// Each entry once, in the order given; wrong ones are told by their place.
fn list<T, U: PartialEq>(
    field: &str,
    entries: &[T],
    errors: &mut Vec<ValidationError>,
    parse: impl Fn(&T) -> Result<U, String>,
) -> Vec<U> {
    errors.extend(too_many(field, entries.len()));
    let mut values = Vec::new();
    for (index, entry) in entries.iter().take(MAX_FENCE).enumerate() {
        match parse(entry) {
            Ok(value) if values.contains(&value) => {}
            Ok(value) => values.push(value),
            Err(message) => errors.push(invalid(format!("{field}[{index}]"), message)),
        }
    }
    values
}

/// A number of degrees between `-most` and `most`.
fn degrees(field: &str, value: Option<f64>, most: f64, errors: &mut Vec<ValidationError>) -> Option<Finite> {
    let value = value?;
    let found = Finite::new(value).filter(|_| value.abs() <= most);
    if found.is_none() {
        let message = format!("{value} is not between -{most} and {most} degrees");
        errors.push(ValidationError::new(field, ErrorCode::OutOfRange, message));
    }
    found
}

fn given(text: Option<&String>) -> Option<&str> {
    text.map(|text| text.trim()).filter(|text| !text.is_empty())
}

impl GeoDraft {
    /// Checks the draft; nothing given is nothing known.
    pub(super) fn validate(&self, errors: &mut Vec<ValidationError>) -> Option<Box<MemberGeo>> {
        let continent = given(self.continent.as_ref()).and_then(|text| {
            let found = Continent::parse(text);
            if found.is_none() {
                let all = Continent::ALL.join(", ");
                errors.push(ValidationError::new(
                    "geo.continent",
                    ErrorCode::Unknown,
                    format!("`{text}` is no continent; they are {all}"),
                ));
            }
            found
        });
        let countries = self.country.as_deref().unwrap_or_default();
        let country = list("geo.country", countries, errors, |text| {
            Country::parse(text.trim())
                .ok_or_else(|| format!("`{text}` is no country code of two capital letters"))
        });
        let subdivision = given(self.subdivision.as_ref()).and_then(|text| {
            let found = Subdivision::parse(text);
            if found.is_none() {
                let message = format!("`{text}` is no ISO 3166-2 code such as US-CA");
                errors.push(invalid("geo.subdivision", message));
            }
            found
        });
        let lat = degrees("geo.lat", self.lat, 90.0, errors);
        let lon = degrees("geo.lon", self.lon, 180.0, errors);
        for (field, here, other) in [("geo.lat", self.lat, self.lon), ("geo.lon", self.lon, self.lat)] {
            if here.is_none() && other.is_some() {
                let message = "latitude and longitude are given together or not at all";
                errors.push(ValidationError::new(field, ErrorCode::Required, message));
            }
        }
        let geo = MemberGeo {
            continent,
            country,
            subdivision,
            lat,
            lon,
        };
        (geo != MemberGeo::default()).then(|| Box::new(geo))
    }
}

impl From<&MemberGeo> for GeoDraft {
    fn from(geo: &MemberGeo) -> Self {
        Self {
            continent: geo.continent.map(|c| c.to_string()),
            country: Some(geo.country.iter().map(ToString::to_string).collect()),
            subdivision: geo.subdivision.map(|s| s.to_string()),
            lat: geo.lat.map(Finite::get),
            lon: geo.lon.map(Finite::get),
        }
    }
}

/// AS numbers that a member is for.
pub(super) fn fence_asns(entries: &[i64], errors: &mut Vec<ValidationError>) -> Box<[u32]> {
    let asns = list("fenceAsns", entries, errors, |number| {
        let asn = u32::try_from(*number).ok().filter(|asn| *asn > 0);
        asn.ok_or_else(|| format!("{number} is no AS number between 1 and 4294967295"))
    });
    asns.into()
}

/// Prefixes that a member is for. A single address is a prefix too.
pub(super) fn fence_prefixes(entries: &[String], errors: &mut Vec<ValidationError>) -> Box<[IpNet]> {
    let prefixes = list("fencePrefixes", entries, errors, |text| {
        let text = text.trim();
        let net = text
            .parse::<IpNet>()
            .or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
        match net {
            Ok(net) if net.addr() == net.network() => Ok(net),
            Ok(net) => Err(format!(
                "`{text}` has bits set behind its length; the prefix is {}",
                net.trunc()
            )),
            Err(_) => Err(format!(
                "`{text}` is no prefix such as 198.51.100.0/24 or 2001:db8::/32"
            )),
        }
    });
    prefixes.into()
}

/// Where `shed-load` begins to leave a member out, and where it always does, in the unit of the load that is pushed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct LoadWatermarks {
    /// Up to this load nothing is shed.
    #[cfg_attr(feature = "schema", schema(value_type = f64))]
    pub low: Finite,
    /// From this load on everything is.
    #[cfg_attr(feature = "schema", schema(value_type = f64))]
    pub high: Finite,
}

impl LoadWatermarks {
    /// Chance of being left out with this load, 0 to 1.
    #[must_use]
    #[inline]
    pub fn chance(&self, load: f64) -> f64 {
        let (low, high) = (self.low.get(), self.high.get());
        if load >= high {
            1.0
        } else if load <= low {
            0.0
        } else {
            (load - low) / (high - low)
        }
    }
}

/// How much load a member takes, as it arrives from outside.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct WatermarksDraft {
    /// 0 or more. Required.
    pub low: Option<f64>,
    /// Not below `low`. Required.
    pub high: Option<f64>,
}

impl WatermarksDraft {
    /// Checks the draft; neither given is none.
    pub(super) fn validate(&self, errors: &mut Vec<ValidationError>) -> Option<Box<LoadWatermarks>> {
        if self.low.is_none() && self.high.is_none() {
            return None;
        }
        let mut mark = |field: &str, value: Option<f64>| {
            let found = value
                .filter(|v| (0.0..=MAX_LOAD).contains(v))
                .and_then(Finite::new);
            if found.is_none() {
                errors.push(match value {
                    None => ValidationError::new(field, ErrorCode::Required, "both watermarks must be given"),
                    Some(value) => ValidationError::new(
                        field,
                        ErrorCode::OutOfRange,
                        format!("{value} is not between 0 and {MAX_LOAD}"),
                    ),
                });
            }
            found
        };
        let low = mark("loadWatermarks.low", self.low);
        let high = mark("loadWatermarks.high", self.high);
        let (low, high) = (low?, high?);
        if low > high {
            errors.push(ValidationError::new(
                "loadWatermarks.high",
                ErrorCode::Conflict,
                format!("{} is below the low watermark, {}", high.get(), low.get()),
            ));
            return None;
        }
        Some(Box::new(LoadWatermarks { low, high }))
    }
}

impl From<&LoadWatermarks> for WatermarksDraft {
    fn from(marks: &LoadWatermarks) -> Self {
        Self {
            low: Some(marks.low.get()),
            high: Some(marks.high.get()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Member, MemberDraft, MemberId, TenantId};

    fn draft() -> MemberDraft {
        MemberDraft {
            ip_address: Some("192.0.2.1".to_owned()),
            port: Some(80),
            ..MemberDraft::default()
        }
    }

    fn validate(draft: &MemberDraft) -> Result<Member, Vec<ValidationError>> {
        draft.validate(MemberId(TenantId::DEFAULT.0))
    }

    fn texts(list: &[&str]) -> Option<Vec<String>> {
        Some(list.iter().map(|text| (*text).to_owned()).collect())
    }

    fn full() -> MemberDraft {
        MemberDraft {
            geo: Some(GeoDraft {
                continent: Some("EU".to_owned()),
                country: texts(&["DE", "AT", "DE"]),
                subdivision: Some("DE-BE".to_owned()),
                lat: Some(52.52),
                lon: Some(13.405),
            }),
            fence_asns: Some(vec![64500, 64501, 64500]),
            fence_prefixes: texts(&["198.51.100.0/24", "2001:db8::/32", "192.0.2.7"]),
            load_watermarks: Some(WatermarksDraft {
                low: Some(0.6),
                high: Some(0.9),
            }),
            ..draft()
        }
    }

    #[test]
    fn facts_are_stored_shown_and_read_back() {
        let member = validate(&full()).unwrap();
        let json = serde_json::to_value(&member).unwrap();
        assert_eq!(
            json["geo"],
            serde_json::json!({"continent": "EU", "country": ["DE", "AT"], "subdivision": "DE-BE", "lat": 52.52, "lon": 13.405})
        );
        assert_eq!(json["fenceAsns"], serde_json::json!([64500, 64501]));
        assert_eq!(
            json["fencePrefixes"],
            serde_json::json!(["198.51.100.0/24", "2001:db8::/32", "192.0.2.7/32"])
        );
        assert_eq!(
            json["loadWatermarks"],
            serde_json::json!({"low": 0.6, "high": 0.9})
        );
        assert_eq!(serde_json::from_value::<Member>(json).unwrap(), member);
        assert_eq!(validate(&MemberDraft::from(&member)).unwrap(), member);
    }

    #[test]
    fn a_member_without_facts_is_stored_as_before_there_were_any() {
        let json = serde_json::to_value(validate(&draft()).unwrap()).unwrap();
        for field in ["geo", "fenceAsns", "fencePrefixes", "loadWatermarks"] {
            assert!(json.get(field).is_none(), "{field}");
        }
        let empty = MemberDraft {
            geo: Some(GeoDraft::default()),
            fence_asns: Some(Vec::new()),
            fence_prefixes: Some(Vec::new()),
            load_watermarks: Some(WatermarksDraft::default()),
            ..draft()
        };
        assert_eq!(validate(&empty), validate(&draft()));
    }

    #[test]
    fn every_wrong_fact_is_told_by_its_field() {
        let wrong = MemberDraft {
            geo: Some(GeoDraft {
                continent: Some("Europe".to_owned()),
                country: texts(&["DE", "de"]),
                subdivision: Some("Berlin".to_owned()),
                lat: Some(91.0),
                lon: None,
            }),
            fence_asns: Some(vec![0, 64500, -1]),
            fence_prefixes: texts(&["198.51.100.7/24", "here", "2001:db8::/32"]),
            load_watermarks: Some(WatermarksDraft {
                low: Some(-1.0),
                high: None,
            }),
            ..draft()
        };
        let mut fields: Vec<String> = validate(&wrong)
            .unwrap_err()
            .into_iter()
            .map(|e| e.field)
            .collect();
        fields.sort();
        assert_eq!(
            fields,
            [
                "fenceAsns[0]",
                "fenceAsns[2]",
                "fencePrefixes[0]",
                "fencePrefixes[1]",
                "geo.continent",
                "geo.country[1]",
                "geo.lat",
                "geo.lon",
                "geo.subdivision",
                "loadWatermarks.high",
                "loadWatermarks.low",
            ]
        );
        let crossed = MemberDraft {
            load_watermarks: Some(WatermarksDraft {
                low: Some(2.0),
                high: Some(1.0),
            }),
            fence_asns: Some((1..=65).collect()),
            ..draft()
        };
        let fields: Vec<String> = validate(&crossed)
            .unwrap_err()
            .into_iter()
            .map(|e| e.field)
            .collect();
        assert_eq!(fields, ["fenceAsns", "loadWatermarks.high"]);
    }

    #[test]
    fn the_chance_rises_from_one_watermark_to_the_other() {
        let marks = |low, high| LoadWatermarks {
            low: Finite::new(low).unwrap(),
            high: Finite::new(high).unwrap(),
        };
        let between = marks(50.0, 100.0);
        let chances = [0.0, 50.0, 75.0, 90.0, 100.0, 500.0].map(|load| between.chance(load));
        assert_eq!(chances, [0.0, 0.0, 0.5, 0.8, 1.0, 1.0]);
        assert_eq!(
            [9.9, 10.0, 10.1].map(|load| marks(10.0, 10.0).chance(load)),
            [0.0, 1.0, 1.0]
        );
    }
}
