//! The forms of pools and members.

use crate::form::{Form, given, ticked, whole_number};
#[cfg(any(feature = "ssr", test))]
use gslb_api_types::ApiError;
use gslb_api_types::model::{
    AdminState, ErrorCode, Finite, GeoDraft, Member, MemberDraft, MemberId, PoolDraft, PoolId, TenantId,
    ValidationError, WatermarksDraft,
};
use gslb_api_types::{PoolView, Stored};
use serde::{Deserialize, Serialize};

/// Name and gate of a pool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PoolForm {
    /// Empty for a new pool.
    pub id: String,
    /// The revision that the form was made from.
    pub revision: String,
    /// Name.
    pub name: String,
    /// Number.
    pub min_healthy: String,
}

impl PoolForm {
    /// The form of a stored pool.
    #[must_use]
    pub fn of(pool: &Stored<PoolView>) -> Self {
        Self {
            id: pool.value.id.to_string(),
            revision: pool.revision.to_string(),
            name: pool.value.name.clone(),
            min_healthy: pool.value.min_healthy.to_string(),
        }
    }

    /// The draft, and what is no number.
    #[must_use]
    pub fn draft(&self) -> (PoolDraft, Vec<ValidationError>) {
        let mut problems = Vec::new();
        let draft = PoolDraft {
            name: given(&self.name),
            min_healthy: whole_number(&mut problems, "minHealthy", &self.min_healthy),
            ..PoolDraft::default()
        };
        (draft, problems)
    }
}

/// Stands in where only the problems of a draft are wanted.
const ANY: MemberId = MemberId(TenantId::DEFAULT.0);

impl Form for PoolForm {
    const PARAM: &'static str = "pool";

    fn problems(&self) -> Vec<ValidationError> {
        let (draft, mut problems) = self.draft();
        if let Err(list) = draft.validate(PoolId(ANY.0), TenantId::DEFAULT, || ANY) {
            problems.extend(list);
        }
        problems
    }
}

/// A member.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemberForm {
    /// The pool.
    pub pool: String,
    /// The revision of the pool that the form was made from.
    pub revision: String,
    /// Empty for a new member.
    pub member: String,
    /// Address or host name.
    pub ip_address: String,
    /// Number.
    pub port: String,
    /// Number.
    pub weight: String,
    /// Number.
    pub priority: String,
    /// Region.
    pub region: String,
    /// Signal zone.
    pub zone: String,
    /// Number.
    pub asn: String,
    /// Ticked or empty.
    pub enabled: String,
    /// Kept as it is.
    pub admin_state: String,
    /// Continent.
    pub geo_continent: String,
    /// Country codes.
    pub geo_country: String,
    /// Subdivision.
    pub geo_subdivision: String,
    /// Degrees.
    pub geo_lat: String,
    /// Degrees.
    pub geo_lon: String,
    /// AS numbers.
    pub fence_asns: String,
    /// Prefixes.
    pub fence_prefixes: String,
    /// Number.
    pub load_watermarks_low: String,
    /// Number.
    pub load_watermarks_high: String,
}

/// Entries of a list that people separate by commas, spaces or new lines; none when empty.
fn entries(text: &str) -> Option<Vec<String>> {
    let entries = text.split(|c: char| c == ',' || c.is_whitespace());
    let entries: Vec<String> = entries.filter(|e| !e.is_empty()).map(str::to_owned).collect();
    (!entries.is_empty()).then_some(entries)
}

/// `None` for an empty field, a problem for one that is no number.
fn decimal(problems: &mut Vec<ValidationError>, field: &str, text: &str) -> Option<f64> {
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    let number = text.parse().ok();
    if number.is_none() {
        let message = format!("`{text}` is no number");
        problems.push(ValidationError::new(field, ErrorCode::Invalid, message));
    }
    number
}

/// Whether what stands in the input for both is a host name. What looks like an address is one, be it a wrong one.
fn is_name(text: &str) -> bool {
    let last = text.trim_end_matches('.').rsplit('.').next().unwrap_or_default();
    !text.contains(':') && !text.contains('/') && !last.bytes().all(|b| b.is_ascii_digit())
}

/// The input that shows a problem of a fact: `geo.lat` is `geoLat`, `fenceAsns[2]` is `fenceAsns`.
fn input_of(field: &str) -> String {
    // Both are typed into one.
    let field = if field == "hostname" { "ipAddress" } else { field };
    let whole = field.split('[').next().unwrap_or_default();
    let mut name = String::with_capacity(whole.len());
    for (index, part) in whole.split('.').enumerate() {
        let mut chars = part.chars();
        match chars.next() {
            Some(first) if index > 0 => name.extend(first.to_uppercase()),
            first => name.extend(first),
        }
        name.push_str(chars.as_str());
    }
    name
}

/// Name of an operator's decision, as the API has it.
#[must_use]
pub fn admin_name(state: AdminState) -> &'static str {
    match state {
        AdminState::Auto => "auto",
        AdminState::Up => "up",
        AdminState::Down => "down",
        AdminState::Drain => "drain",
    }
}

fn admin_state(text: &str) -> Option<AdminState> {
    [
        AdminState::Auto,
        AdminState::Up,
        AdminState::Down,
        AdminState::Drain,
    ]
    .into_iter()
    .find(|state| admin_name(*state) == text)
}

fn shown<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn joined<T: ToString>(list: &[T]) -> String {
    list.iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}

impl MemberForm {
    /// Moves problems to the inputs that show them.
    pub fn place(problems: &mut [ValidationError]) {
        for problem in problems {
            problem.field = input_of(&problem.field);
        }
    }

    /// The form of a stored member, or of a new one.
    #[must_use]
    pub fn of(pool: &Stored<PoolView>, member: Option<&Member>) -> Self {
        let base = Self {
            pool: pool.value.id.to_string(),
            revision: pool.revision.to_string(),
            enabled: "on".to_owned(),
            weight: "1".to_owned(),
            ..Self::default()
        };
        let Some(member) = member else { return base };
        let (geo, marks) = (member.geo.as_deref(), member.load_watermarks.as_deref());
        let number = |n: u32| if n == 0 { String::new() } else { n.to_string() };
        Self {
            member: member.id.to_string(),
            ip_address: member.endpoint.to_string(),
            port: member.port.to_string(),
            weight: member.weight.to_string(),
            priority: number(member.priority),
            region: if member.region.is_unknown() {
                String::new()
            } else {
                member.region.to_string()
            },
            zone: member.zone.as_ref().map(ToString::to_string).unwrap_or_default(),
            asn: member.asn.map(|asn| asn.to_string()).unwrap_or_default(),
            enabled: if member.enabled { "on" } else { "" }.to_owned(),
            admin_state: admin_name(member.admin_state).to_owned(),
            geo_continent: shown(geo.and_then(|geo| geo.continent)),
            geo_country: joined(geo.map(|geo| geo.country.as_slice()).unwrap_or_default()),
            geo_subdivision: shown(geo.and_then(|geo| geo.subdivision)),
            geo_lat: shown(geo.and_then(|geo| geo.lat).map(Finite::get)),
            geo_lon: shown(geo.and_then(|geo| geo.lon).map(Finite::get)),
            fence_asns: joined(&member.fence_asns),
            fence_prefixes: joined(&member.fence_prefixes),
            load_watermarks_low: shown(marks.map(|marks| marks.low.get())),
            load_watermarks_high: shown(marks.map(|marks| marks.high.get())),
            ..base
        }
    }

    /// The draft, and what is no number.
    #[must_use]
    pub fn draft(&self) -> (MemberDraft, Vec<ValidationError>) {
        let mut problems = Vec::new();
        let mut number = |field: &str, text: &str| whole_number(&mut problems, field, text);
        let (ip_address, hostname) = match given(&self.ip_address) {
            Some(text) if is_name(&text) => (None, Some(text)),
            text => (text, None),
        };
        let draft = MemberDraft {
            id: self.member.parse().ok(),
            ip_address,
            hostname,
            port: number("port", &self.port),
            weight: number("weight", &self.weight),
            priority: number("priority", &self.priority),
            asn: number("asn", &self.asn),
            region: given(&self.region),
            zone: given(&self.zone),
            enabled: Some(ticked(&self.enabled)),
            admin_state: admin_state(&self.admin_state),
            geo: Some(GeoDraft {
                continent: given(&self.geo_continent),
                country: entries(&self.geo_country),
                subdivision: given(&self.geo_subdivision),
                lat: decimal(&mut problems, "geo.lat", &self.geo_lat),
                lon: decimal(&mut problems, "geo.lon", &self.geo_lon),
            }),
            fence_asns: entries(&self.fence_asns).map(|list| {
                let mut asn = |text: &String| whole_number(&mut problems, "fenceAsns", text);
                list.iter().filter_map(&mut asn).collect()
            }),
            fence_prefixes: entries(&self.fence_prefixes),
            load_watermarks: Some(WatermarksDraft {
                low: decimal(&mut problems, "loadWatermarks.low", &self.load_watermarks_low),
                high: decimal(&mut problems, "loadWatermarks.high", &self.load_watermarks_high),
            }),
        };
        (draft, problems)
    }
}

impl Form for MemberForm {
    const PARAM: &'static str = "member";

    fn problems(&self) -> Vec<ValidationError> {
        let (draft, mut problems) = self.draft();
        if let Err(list) = draft.validate(ANY) {
            problems.extend(list);
        }
        Self::place(&mut problems);
        problems
    }
}

/// A pool, and one of its members, that something is done to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PoolTarget {
    /// The pool.
    pub pool: String,
    /// The member.
    pub member: String,
    /// The operator's decision, when that is what changes.
    pub admin_state: String,
}

#[cfg(any(feature = "ssr", test))]
impl PoolTarget {
    /// The operator's decision.
    ///
    /// # Errors
    /// When it is none of the four.
    pub fn state(&self) -> Result<AdminState, ApiError> {
        admin_state(&self.admin_state).ok_or_else(|| {
            crate::form::invalid(vec![ValidationError::new(
                "adminState",
                ErrorCode::Unknown,
                format!("`{}` is not auto, up, down or drain", self.admin_state),
            )])
        })
    }
}

impl Form for PoolTarget {
    const PARAM: &'static str = "action";

    fn problems(&self) -> Vec<ValidationError> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_form_tells_every_problem() {
        let form = MemberForm {
            ip_address: "10.0.0.300".to_owned(),
            port: "http".to_owned(),
            weight: "-1".to_owned(),
            region: "x".repeat(65),
            ..MemberForm::default()
        };
        let problems = form.problems();
        for field in ["ipAddress", "port", "weight", "region"] {
            assert!(problems.iter().any(|p| p.field == field), "{field}: {problems:?}");
        }
    }

    #[test]
    fn a_host_name_stands_where_an_address_does() {
        let read = |text: &str| {
            let form = MemberForm {
                ip_address: text.to_owned(),
                port: "80".to_owned(),
                ..MemberForm::default()
            };
            let (draft, _) = form.draft();
            let fields: Vec<String> = form.problems().into_iter().map(|p| p.field).collect();
            (draft.hostname.is_some(), fields)
        };
        assert_eq!(read("lb.example.net"), (true, vec![]));
        assert_eq!(read("10.0.0.3"), (false, vec![]));
        assert_eq!(read("2001:db8::1"), (false, vec![]));
        for (text, name) in [("10.0.0.300", false), ("bad host", true), ("", false)] {
            assert_eq!(read(text), (name, vec!["ipAddress".to_owned()]), "{text}");
        }
    }

    #[test]
    fn facts_show_their_problems_at_their_inputs() {
        let form = MemberForm {
            ip_address: "10.0.0.3".to_owned(),
            port: "80".to_owned(),
            geo_continent: "Europe".to_owned(),
            geo_country: "DE, at".to_owned(),
            geo_lat: "north".to_owned(),
            geo_lon: "13.4".to_owned(),
            fence_asns: "64500 AS64501".to_owned(),
            fence_prefixes: "10.0.0.0/8\nhere".to_owned(),
            load_watermarks_low: "2".to_owned(),
            load_watermarks_high: "1".to_owned(),
            ..MemberForm::default()
        };
        let problems = form.problems();
        for field in [
            "geoContinent",
            "geoCountry",
            "geoLat",
            "fenceAsns",
            "fencePrefixes",
            "loadWatermarksHigh",
        ] {
            assert!(problems.iter().any(|p| p.field == field), "{field}: {problems:?}");
        }
    }

    #[test]
    fn a_member_goes_through_its_form_unchanged() {
        let text = |text: &str| Some(text.to_owned());
        let draft = MemberDraft {
            ip_address: text("10.0.0.3"),
            port: Some(80),
            geo: Some(GeoDraft {
                continent: text("EU"),
                country: Some(vec!["DE".to_owned(), "AT".to_owned()]),
                subdivision: text("DE-BE"),
                lat: Some(52.52),
                lon: Some(-13.405),
            }),
            fence_asns: Some(vec![64500, 64501]),
            fence_prefixes: Some(vec!["198.51.100.0/24".to_owned(), "2001:db8::/32".to_owned()]),
            load_watermarks: Some(WatermarksDraft {
                low: Some(0.5),
                high: Some(0.75),
            }),
            ..MemberDraft::default()
        };
        let member = draft.validate(ANY).unwrap();
        let pool = PoolDraft {
            name: text("web"),
            ..PoolDraft::default()
        };
        let pool = pool.validate(PoolId(ANY.0), TenantId::DEFAULT, || ANY).unwrap();
        let stored = Stored {
            value: PoolView::from(&pool),
            revision: 1,
            warnings: Vec::new(),
        };
        let (back, problems) = MemberForm::of(&stored, Some(&member)).draft();
        assert_eq!(problems, Vec::new());
        assert_eq!(back.validate(ANY).unwrap(), member);
    }

    #[test]
    fn decisions_are_read_by_name() {
        let target = |text: &str| PoolTarget {
            admin_state: text.to_owned(),
            ..PoolTarget::default()
        };
        assert_eq!(target("drain").state().ok(), Some(AdminState::Drain));
        assert!(target("sideways").state().is_err());
    }
}
