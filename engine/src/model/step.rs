//! Steps of a filter chain by name, the palette, and tiers.

use super::error::{ErrorCode, ValidationError};
use crate::script::MAX_SCRIPT_BYTES;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// What a licence allows; each tier includes those before it. `unlicensed` is `free`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// No licence: single algorithms.
    #[default]
    #[serde(alias = "unlicensed")]
    Free,
    /// Filter chains, signal-weight.
    #[serde(alias = "paid")]
    Pro,
    /// Scripts.
    Enterprise,
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Free => "free",
            Self::Pro => "pro",
            Self::Enterprise => "enterprise",
        })
    }
}

/// Whether a step goes on with what it leaves, or ends the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum FilterClass {
    /// Reorders or reduces the candidates.
    Narrowing,
    /// Picks one candidate and ends the chain.
    Selecting,
}

/// A built-in filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum FilterName {
    /// Members in the client's country.
    GeoIp,
    /// Members near in the client's autonomous system.
    Asn,
    /// Members named by the longest-prefix rule of the map file.
    MapFile,
    /// One member, pinned by a hash of the client's subnet.
    Sticky,
    /// Order biased by a signal per zone (carbon, cost).
    SignalWeight,
    /// Takes turns.
    RoundRobin,
    /// Random by weight.
    WeightedRoundRobin,
    /// Lowest positive priority.
    Failover,
    /// Random by round-trip time and region.
    Latency,
    /// Uniformly random.
    Random,
}

/// One row of the palette: what a person reads about a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct FilterInfo {
    /// Name in chains.
    pub name: FilterName,
    /// Title in the console.
    pub title: &'static str,
    /// Narrowing or selecting.
    pub class: FilterClass,
    /// Tier that a chain with this step needs.
    pub tier: Tier,
    /// Help in one line.
    pub help: &'static str,
    /// Whether the step only changes the order, so that an order-blind selecting step right behind undoes it.
    #[serde(skip)]
    pub order_only: bool,
}

/// The palette: every built-in filter, narrowing first.
pub const FILTERS: [FilterInfo; 10] = [
    FilterInfo {
        name: FilterName::GeoIp,
        title: "Geo IP",
        class: FilterClass::Narrowing,
        tier: Tier::Pro,
        help: "Keeps members whose region is the client's country; keeps all if none is there.",
        order_only: false,
    },
    FilterInfo {
        name: FilterName::Asn,
        title: "ASN",
        class: FilterClass::Narrowing,
        tier: Tier::Pro,
        help: "Puts members of the client's network first: same AS number, then same organisation.",
        order_only: true,
    },
    FilterInfo {
        name: FilterName::MapFile,
        title: "Map File",
        class: FilterClass::Narrowing,
        tier: Tier::Pro,
        help: "Keeps the members that the longest matching CIDR rule of the map file names.",
        order_only: false,
    },
    FilterInfo {
        name: FilterName::Sticky,
        title: "Sticky",
        class: FilterClass::Narrowing,
        tier: Tier::Pro,
        help: "Pins each client subnet to one member, by weight; only clients of a lost member move.",
        order_only: false,
    },
    FilterInfo {
        name: FilterName::SignalWeight,
        title: "Signal Weight",
        class: FilterClass::Narrowing,
        tier: Tier::Pro,
        help: "Prefers members in zones with a lower signal (carbon, cost), blended with health.",
        order_only: true,
    },
    FilterInfo {
        name: FilterName::RoundRobin,
        title: "Round Robin",
        class: FilterClass::Selecting,
        tier: Tier::Free,
        help: "Takes the members in turns.",
        order_only: false,
    },
    FilterInfo {
        name: FilterName::WeightedRoundRobin,
        title: "Weighted Round Robin",
        class: FilterClass::Selecting,
        tier: Tier::Free,
        help: "Picks at random in proportion to the weights.",
        order_only: false,
    },
    FilterInfo {
        name: FilterName::Failover,
        title: "Failover",
        class: FilterClass::Selecting,
        tier: Tier::Free,
        help: "Picks the lowest positive priority; 0 is last.",
        order_only: false,
    },
    FilterInfo {
        name: FilterName::Latency,
        title: "Latency",
        class: FilterClass::Selecting,
        tier: Tier::Free,
        help: "Picks at random by round-trip time, members in the client's region favoured.",
        order_only: false,
    },
    FilterInfo {
        name: FilterName::Random,
        title: "Random",
        class: FilterClass::Selecting,
        tier: Tier::Free,
        help: "Picks any member with equal chance.",
        order_only: false,
    },
];

impl FilterName {
    /// Name as it stands in chains.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::GeoIp => "geo-ip",
            Self::Asn => "asn",
            Self::MapFile => "map-file",
            Self::Sticky => "sticky",
            Self::SignalWeight => "signal-weight",
            Self::RoundRobin => "round-robin",
            Self::WeightedRoundRobin => "weighted-round-robin",
            Self::Failover => "failover",
            Self::Latency => "latency",
            Self::Random => "random",
        }
    }

    /// The palette row.
    #[must_use]
    pub fn info(self) -> &'static FilterInfo {
        // Every name has its row: a test walks them all.
        FILTERS
            .iter()
            .find(|info| info.name == self)
            .unwrap_or(&FILTERS[0])
    }

    /// Exact match, as chains want it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        FILTERS
            .iter()
            .map(|info| info.name)
            .find(|name| name.as_str() == text)
    }

    /// As [`parse`](Self::parse), with the aliases that `algorithm` takes: `wrr`, `weighted_rr`.
    #[must_use]
    pub fn parse_algorithm(text: &str) -> Option<Self> {
        match text {
            "wrr" | "weighted_rr" => Some(Self::WeightedRoundRobin),
            _ => Self::parse(text),
        }
    }

    /// Every name, for error messages.
    #[must_use]
    pub fn all() -> String {
        FILTERS.map(|info| info.name.as_str()).join(", ")
    }
}

impl fmt::Display for FilterName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a chain entry begins with that carries a script.
const SCRIPT: &str = "script:";

/// One entry of a chain. Its text form is what the API carries.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum FilterStep {
    /// A built-in filter.
    Builtin(FilterName),
    /// `script:` and this body. Whether it compiles is for those to check who can run it.
    Script(Arc<str>),
}

impl FilterStep {
    /// Parses one chain entry; `field` names it in the error.
    ///
    /// # Errors
    /// An unknown name; a script that is empty or too long.
    pub fn parse(field: &str, text: &str) -> Result<Self, ValidationError> {
        if let Some(body) = text.strip_prefix(SCRIPT) {
            return script(field, body);
        }
        FilterName::parse(text).map(Self::Builtin).ok_or_else(|| {
            let hint = FilterName::parse_algorithm(text.trim().to_ascii_lowercase().as_str())
                .map(|near| format!(" (did you mean `{near}`?)"))
                .unwrap_or_default();
            ValidationError::new(
                field,
                ErrorCode::Unknown,
                format!(
                    "unknown filter `{text}`{hint}; the filters are {}",
                    FilterName::all()
                ),
            )
        })
    }

    /// The palette row of a built-in step.
    #[must_use]
    pub fn info(&self) -> Option<&'static FilterInfo> {
        match self {
            Self::Builtin(name) => Some(name.info()),
            Self::Script(_) => None,
        }
    }

    /// Body of a script step.
    #[must_use]
    pub fn script(&self) -> Option<&str> {
        match self {
            Self::Builtin(_) => None,
            Self::Script(body) => Some(body),
        }
    }

    /// Narrowing or selecting.
    #[must_use]
    pub fn class(&self) -> FilterClass {
        self.info().map_or(FilterClass::Narrowing, |info| info.class)
    }

    /// Tier that a chain with this step needs.
    #[must_use]
    pub fn tier(&self) -> Tier {
        self.info().map_or(Tier::Enterprise, |info| info.tier)
    }

    /// Title in the console.
    #[must_use]
    pub fn title(&self) -> &'static str {
        self.info().map_or("Script", |info| info.title)
    }

    /// What tables and messages call it: its text, but for a script `script`.
    #[must_use]
    pub fn label(&self) -> &'static str {
        self.info().map_or("script", |info| info.name.as_str())
    }
}

/// A script step. Line ends are those of Unix, so that a body is the same one when a form sends it back.
fn script(field: &str, body: &str) -> Result<FilterStep, ValidationError> {
    let body = body.replace("\r\n", "\n");
    if body.trim().is_empty() {
        return Err(ValidationError::new(
            field,
            ErrorCode::Required,
            "the script is empty; it must set `result` to a list of addresses",
        ));
    }
    if body.len() > MAX_SCRIPT_BYTES {
        return Err(ValidationError::new(
            field,
            ErrorCode::OutOfRange,
            format!(
                "the script has {} bytes; {MAX_SCRIPT_BYTES} are the limit",
                body.len()
            ),
        ));
    }
    Ok(FilterStep::Script(body.into()))
}

impl fmt::Display for FilterStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Builtin(name) => name.fmt(f),
            Self::Script(body) => write!(f, "{SCRIPT}{body}"),
        }
    }
}

impl TryFrom<String> for FilterStep {
    type Error = ValidationError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse("filterChain", &text)
    }
}

impl From<FilterStep> for String {
    fn from(step: FilterStep) -> Self {
        step.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_filter_has_one_palette_row_and_parses_back() {
        for info in FILTERS {
            assert_eq!(FilterName::parse(info.name.as_str()), Some(info.name));
            assert_eq!(info.name.info(), &info);
            assert_eq!(
                serde_json::to_value(info.name).ok(),
                Some(info.name.as_str().into())
            );
        }
    }

    #[test]
    fn chains_take_no_alias_and_algorithms_do() {
        assert!(FilterStep::parse("filterChain[0]", "wrr").is_err());
        assert_eq!(
            FilterName::parse_algorithm("weighted_rr"),
            Some(FilterName::WeightedRoundRobin)
        );
    }

    #[test]
    fn scripts_keep_their_text_but_for_line_ends() {
        let parse = |text: &str| FilterStep::parse("filterChain[0]", text);
        let step = parse("script:a = 1\r\nresult = []\n").unwrap();
        assert_eq!(step.to_string(), "script:a = 1\nresult = []\n");
        assert_eq!(parse(&step.to_string()).as_ref(), Ok(&step));
        assert_eq!(
            (step.tier(), step.class()),
            (Tier::Enterprise, FilterClass::Narrowing)
        );
        assert_ne!(parse("script:a = 1\nresult = [] \n"), Ok(step));
    }

    #[test]
    fn scripts_are_neither_empty_nor_too_long() {
        let code = |text: &str| FilterStep::parse("filterChain[0]", text).map_err(|e| e.code);
        assert_eq!(code("script: \n"), Err(ErrorCode::Required));
        let body = |bytes: usize| format!("script:{}", "#".repeat(bytes));
        assert!(code(&body(MAX_SCRIPT_BYTES)).is_ok());
        assert_eq!(code(&body(MAX_SCRIPT_BYTES + 1)), Err(ErrorCode::OutOfRange));
    }
}
