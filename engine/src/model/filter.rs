//! The built-in filters: their names and the palette.

use super::tier::Tier;
use crate::nearest::nearest;
use serde::{Deserialize, Serialize};
use std::fmt;

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
    /// Members on the client's continent.
    GeoContinent,
    /// Members in the client's state or province.
    GeoSubdivision,
    /// Order by distance from the client.
    GeoNearest,
    /// Members near in the client's autonomous system.
    Asn,
    /// Members whose fence lets the client's AS number in.
    AsnFence,
    /// Members whose fence lets the client's address in.
    PrefixFence,
    /// Members named by the longest-prefix rule of the map file.
    MapFile,
    /// One member, pinned by a hash of the client's subnet.
    Sticky,
    /// Members left out at random as their load rises.
    ShedLoad,
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
    /// The first N in the current order: `select-first:N`.
    SelectFirst,
}

/// The number that a filter takes behind a colon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct FilterParameter {
    /// What it counts.
    pub name: &'static str,
    /// Smallest value.
    pub min: u8,
    /// Largest value.
    pub max: u8,
    /// What the palette puts in.
    pub default: u8,
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
    /// The number behind the name, for a filter that takes one: such a filter is no `algorithm`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameter: Option<FilterParameter>,
    /// Whether the step only changes the order, so that an order-blind selecting step right behind undoes it.
    #[serde(skip)]
    pub order_only: bool,
}

impl FilterInfo {
    /// The chain entry that the palette adds: the name, with the default of its parameter.
    #[must_use]
    pub fn entry(&self) -> String {
        match self.parameter {
            Some(parameter) => format!("{}:{}", self.name, parameter.default),
            None => self.name.to_string(),
        }
    }
}

/// The parameter of `select-first`.
pub(super) const ANSWERS: FilterParameter = FilterParameter {
    name: "answers",
    min: 1,
    max: 16,
    default: 2,
};

const fn narrowing(name: FilterName, title: &'static str, help: &'static str) -> FilterInfo {
    FilterInfo {
        name,
        title,
        class: FilterClass::Narrowing,
        tier: Tier::Pro,
        help,
        parameter: None,
        order_only: false,
    }
}

const fn ordering(name: FilterName, title: &'static str, help: &'static str) -> FilterInfo {
    FilterInfo {
        order_only: true,
        ..narrowing(name, title, help)
    }
}

const fn selecting(name: FilterName, title: &'static str, help: &'static str) -> FilterInfo {
    FilterInfo {
        class: FilterClass::Selecting,
        tier: Tier::Free,
        ..narrowing(name, title, help)
    }
}

/// The palette: every built-in filter, narrowing first.
pub const FILTERS: [FilterInfo; 17] = [
    narrowing(
        FilterName::GeoIp,
        "Geo IP",
        "Keeps members whose region (or list of countries) is the client's country; keeps all if none is there.",
    ),
    narrowing(
        FilterName::GeoContinent,
        "Geo Continent",
        "Keeps members on the client's continent; keeps all if none is there.",
    ),
    narrowing(
        FilterName::GeoSubdivision,
        "Geo Subdivision",
        "Keeps members in the client's state or province; keeps all if none is there.",
    ),
    ordering(
        FilterName::GeoNearest,
        "Geo Nearest",
        "Puts members in order of their distance from the client, the nearest first.",
    ),
    ordering(
        FilterName::Asn,
        "ASN",
        "Puts members of the client's network first: same AS number, then same organisation.",
    ),
    narrowing(
        FilterName::AsnFence,
        "ASN Fence",
        "Leaves out members that are fenced for other networks (AS numbers) than the client's.",
    ),
    narrowing(
        FilterName::PrefixFence,
        "Prefix Fence",
        "Leaves out members that are fenced for other prefixes than the client's address.",
    ),
    narrowing(
        FilterName::MapFile,
        "Map File",
        "Keeps the members that the longest matching CIDR rule of the map file names.",
    ),
    narrowing(
        FilterName::Sticky,
        "Sticky",
        "Pins each client subnet to one member, by weight; only clients of a lost member move.",
    ),
    narrowing(
        FilterName::ShedLoad,
        "Shed Load",
        "Leaves members out as their load rises: none below the low watermark, all at the high one.",
    ),
    ordering(
        FilterName::SignalWeight,
        "Signal Weight",
        "Prefers members in zones with a lower signal (carbon, cost), blended with health.",
    ),
    selecting(
        FilterName::RoundRobin,
        "Round Robin",
        "Takes the members in turns.",
    ),
    selecting(
        FilterName::WeightedRoundRobin,
        "Weighted Round Robin",
        "Picks at random in proportion to the weights.",
    ),
    selecting(
        FilterName::Failover,
        "Failover",
        "Picks the lowest positive priority; 0 is last.",
    ),
    selecting(
        FilterName::Latency,
        "Latency",
        "Picks at random by round-trip time, members in the client's region favoured.",
    ),
    selecting(
        FilterName::Random,
        "Random",
        "Picks any member with equal chance.",
    ),
    FilterInfo {
        tier: Tier::Pro,
        parameter: Some(ANSWERS),
        ..selecting(
            FilterName::SelectFirst,
            "Select First",
            "Answers with the first members in their order, as many as it says.",
        )
    },
];

impl FilterName {
    /// Name as it stands in chains.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::GeoIp => "geo-ip",
            Self::GeoContinent => "geo-continent",
            Self::GeoSubdivision => "geo-subdivision",
            Self::GeoNearest => "geo-nearest",
            Self::Asn => "asn",
            Self::AsnFence => "asn-fence",
            Self::PrefixFence => "prefix-fence",
            Self::MapFile => "map-file",
            Self::Sticky => "sticky",
            Self::ShedLoad => "shed-load",
            Self::SignalWeight => "signal-weight",
            Self::RoundRobin => "round-robin",
            Self::WeightedRoundRobin => "weighted-round-robin",
            Self::Failover => "failover",
            Self::Latency => "latency",
            Self::Random => "random",
            Self::SelectFirst => "select-first",
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

    /// A filter that can stand alone as `algorithm`, by its name or the aliases `wrr`, `weighted_rr`.
    #[must_use]
    pub fn parse_algorithm(text: &str) -> Option<Self> {
        match text {
            "wrr" | "weighted_rr" => Some(Self::WeightedRoundRobin),
            _ => Self::parse(text).filter(|name| name.info().parameter.is_none()),
        }
    }

    /// Tier that the filter needs as `algorithm`: those that every load balancer has are free there, also where a
    /// chain with them is not.
    #[must_use]
    pub fn algorithm_tier(self) -> Tier {
        match self {
            Self::GeoIp
            | Self::Asn
            | Self::MapFile
            | Self::Sticky
            | Self::RoundRobin
            | Self::WeightedRoundRobin
            | Self::Failover
            | Self::Latency
            | Self::Random => Tier::Free,
            Self::GeoContinent
            | Self::GeoSubdivision
            | Self::GeoNearest
            | Self::AsnFence
            | Self::PrefixFence
            | Self::ShedLoad
            | Self::SignalWeight
            | Self::SelectFirst => Tier::Pro,
        }
    }

    /// That a chain names a filter that there is none of, with the one that is meant, or all.
    #[must_use]
    pub fn unknown_filter(text: &str) -> String {
        let name = text.split_once(':').map_or(text, |(name, _)| name);
        let entry = |info: &FilterInfo| match info.parameter {
            Some(_) => format!("{}:N", info.name),
            None => info.name.to_string(),
        };
        unknown("filter", text, name, FILTERS.iter(), entry)
    }

    /// That `algorithm` names one that there is none of, with the one that is meant, or all.
    #[must_use]
    pub fn unknown_algorithm(text: &str) -> String {
        let alone = FILTERS.iter().filter(|info| info.parameter.is_none());
        unknown("algorithm", text, text, alone, |info: &FilterInfo| {
            info.name.to_string()
        })
    }
}

/// `name` is what is compared of `text`.
fn unknown<'a>(
    what: &str,
    text: &str,
    name: &str,
    known: impl IntoIterator<Item = &'a FilterInfo> + Clone,
    entry: impl Fn(&FilterInfo) -> String,
) -> String {
    let names = known.clone().into_iter().map(|info| info.name.as_str());
    let hint = nearest(name, names)
        .map(|near| format!(" (did you mean `{near}`?)"))
        .unwrap_or_default();
    let all: Vec<String> = known.into_iter().map(entry).collect();
    format!(
        "unknown {what} `{text}`{hint}; the {what}s are {}",
        all.join(", ")
    )
}

impl fmt::Display for FilterName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
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
            let alone = FilterName::parse_algorithm(info.name.as_str());
            assert_eq!(alone.is_some(), info.parameter.is_none());
            assert!(info.name.algorithm_tier() <= info.tier);
        }
    }
}
