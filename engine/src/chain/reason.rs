//! Why a step did what it did: a value on the way, a sentence only in a trace.

use crate::geo::{Continent, Country, Subdivision};
use std::fmt;

/// Where a client and members can both be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Area {
    /// A continent.
    Continent(Continent),
    /// A country.
    Country(Country),
    /// A subdivision.
    Subdivision(Subdivision),
}

impl fmt::Display for Area {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Continent(continent) => continent.fmt(f),
            Self::Country(country) => country.fmt(f),
            Self::Subdivision(subdivision) => subdivision.fmt(f),
        }
    }
}

/// Why a step did what it did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reason {
    /// At most one candidate is left.
    NothingToChoose,
    /// No country is known for the client.
    NoCountry {
        /// Whether a database is loaded.
        database: bool,
    },
    /// No AS number is known for the client.
    NoAsn {
        /// Whether a database is loaded.
        database: bool,
    },
    /// No place is known for the client, or not this part of it.
    NoPlace {
        /// `continent`, `subdivision`, `position`.
        what: &'static str,
        /// Whether a database is loaded.
        database: bool,
    },
    /// No candidate has the fact that the step goes by.
    NobodyHas(&'static str),
    /// No candidate is where the client is.
    NobodyIn(Area),
    /// Candidates where the client is were kept.
    In {
        /// Where.
        area: Area,
        /// Candidates removed.
        removed: usize,
    },
    /// Sorted by distance from the client.
    ByDistance {
        /// Candidates without a position.
        unplaced: usize,
        /// Whether the order changed.
        changed: bool,
    },
    /// Fences keep the client from some candidates, perhaps none.
    Fenced {
        /// Candidates removed.
        removed: usize,
    },
    /// Fences keep the client from every candidate.
    AllFenced,
    /// No candidate has watermarks and a load.
    NoLoad,
    /// Candidates were left out for their load, perhaps none.
    Shed {
        /// Candidates removed.
        removed: usize,
    },
    /// Every candidate would be left out for its load.
    AllShed,
    /// The first candidates.
    First {
        /// How many.
        count: usize,
        /// Of how many.
        of: usize,
    },
    /// No candidate is near in the client's AS or organisation.
    NobodyNear(u32),
    /// Sorted by nearness to the client's AS.
    ByAsn {
        /// The client's AS.
        asn: u32,
        /// Candidates in the same AS.
        same: usize,
        /// Candidates of the same organisation.
        organisation: usize,
        /// Whether the order changed.
        changed: bool,
    },
    /// The map file is empty.
    NoMap,
    /// No rule of the map file covers the client.
    NoRule,
    /// The rule that covers the client names nobody among the candidates.
    RuleNamesNobody,
    /// The rule's first group with a candidate was kept.
    ByRule {
        /// Which group of the rule, from 1.
        preference: usize,
        /// Candidates removed.
        removed: usize,
    },
    /// One member is pinned to the client's subnet.
    Pinned,
    /// The weight of signals is 0.
    SignalsOff,
    /// No candidate's zone has a value.
    NoSignal,
    /// All values are equal.
    SignalsEqual,
    /// Sorted by health blended with signals.
    BySignal {
        /// Whether the first candidate changed.
        steered: bool,
        /// Whether the order changed.
        changed: bool,
    },
    /// The turn of this candidate.
    Turn {
        /// Which one, from 1.
        turn: u64,
        /// Of how many.
        of: u64,
    },
    /// At random by weight.
    ByWeight {
        /// Weight of the choice.
        weight: u32,
        /// Sum of weights.
        total: u64,
    },
    /// All weights are 0: at random with equal chance.
    WeightsZero,
    /// Lowest priority.
    Priority(u32),
    /// No candidate has a priority.
    NoPriority,
    /// At random with equal chance.
    Uniform,
    /// At random by round-trip time, perhaps with a bonus for the region.
    ByLatency {
        /// Candidates in the client's region.
        in_region: usize,
        /// Candidates without a round-trip time of their own.
        unmeasured: usize,
    },
    /// Nobody has a round-trip time: at random among those in the client's region.
    RegionOnly(usize),
    /// Nobody has a round-trip time or is in the client's region: round-robin.
    NoLatency,
    /// As the script wants it.
    ByScript {
        /// Candidates that it left out.
        removed: usize,
        /// Whether the order of those kept changed.
        changed: bool,
    },
    /// The script failed: all are kept. Why is told to the sink.
    ScriptFailed,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NothingToChoose => f.write_str("at most one candidate is left: nothing to choose"),
            Self::NoCountry { database: true } => {
                f.write_str("the country database does not know the client")
            }
            Self::NoCountry { database: false } => f.write_str("no country database is loaded"),
            Self::NoAsn { database: true } => f.write_str("the ASN database does not know the client"),
            Self::NoAsn { database: false } => f.write_str("no ASN database is loaded"),
            Self::NoPlace { what, database: true } => {
                write!(f, "the database of places does not know the client's {what}")
            }
            Self::NoPlace { database: false, .. } => f.write_str("no database of places is loaded"),
            Self::NobodyHas(fact) => write!(f, "no candidate has {fact}"),
            Self::NobodyIn(area) => write!(f, "no candidate is in {area}: all are kept"),
            Self::In { area, removed: 0 } => {
                write!(f, "every candidate is in {area} already")
            }
            Self::In { area, removed } => {
                write!(f, "keeps the candidates in {area}; {removed} elsewhere left out")
            }
            Self::ByDistance { unplaced, changed } => {
                f.write_str("the nearest first")?;
                if unplaced > 0 {
                    write!(f, ", {unplaced} without a position last")?;
                }
                if changed {
                    Ok(())
                } else {
                    f.write_str("; the order was that already")
                }
            }
            Self::Fenced { removed: 0 } => f.write_str("no fence keeps the client out"),
            Self::Fenced { removed } => write!(f, "{removed} left out, whose fence keeps the client out"),
            Self::AllFenced => f.write_str("every candidate's fence keeps the client out: all are kept"),
            Self::NoLoad => f.write_str("no candidate has watermarks and a load"),
            Self::Shed { removed: 0 } => f.write_str("nobody is left out for its load"),
            Self::Shed { removed } => write!(f, "{removed} left out for their load"),
            Self::AllShed => f.write_str("every candidate would be left out for its load: all are kept"),
            Self::First { count, of } => write!(f, "the first {count} of {of}"),
            Self::NobodyNear(asn) => {
                write!(f, "no candidate is in AS{asn} or of its organisation")
            }
            Self::ByAsn {
                asn,
                same,
                organisation,
                changed,
            } => {
                write!(
                    f,
                    "{same} in AS{asn} first, then {organisation} of the same organisation"
                )?;
                if changed {
                    Ok(())
                } else {
                    f.write_str("; the order was that already")
                }
            }
            Self::NoMap => f.write_str("the map file has no rules"),
            Self::NoRule => f.write_str("no rule of the map file covers the client"),
            Self::RuleNamesNobody => f.write_str("no candidate is named by the client's rule: all are kept"),
            Self::ByRule {
                preference,
                removed: 0,
            } => {
                write!(
                    f,
                    "every candidate is in preference {preference} of the client's rule already"
                )
            }
            Self::ByRule { preference, removed } => {
                write!(
                    f,
                    "keeps preference {preference} of the client's rule; {removed} others left out"
                )
            }
            Self::Pinned => f.write_str("pinned to the client's subnet by weighted hash"),
            Self::SignalsOff => f.write_str("the weight of signals is 0"),
            Self::NoSignal => f.write_str("no candidate's zone has a value"),
            Self::SignalsEqual => f.write_str("all zones of the candidates have one value"),
            Self::BySignal { steered, changed } => {
                f.write_str("health blended with the signal of the zone")?;
                match (steered, changed) {
                    (true, _) => f.write_str("; another candidate is first"),
                    (false, true) => f.write_str("; the first candidate stays"),
                    (false, false) => f.write_str("; the order was that already"),
                }
            }
            Self::Turn { turn, of } => write!(f, "turn {turn} of {of}, in member order"),
            Self::ByWeight { weight, total } => write!(f, "at random by weight: {weight} of {total}"),
            Self::WeightsZero => f.write_str("all weights are 0: at random with equal chance"),
            Self::Priority(priority) => write!(f, "lowest priority: {priority}"),
            Self::NoPriority => f.write_str("no candidate has a priority: the first"),
            Self::Uniform => f.write_str("at random with equal chance"),
            Self::ByLatency {
                in_region,
                unmeasured,
            } => {
                f.write_str("at random by round-trip time")?;
                if in_region > 0 {
                    write!(f, ", {in_region} in the client's region favoured")?;
                }
                if unmeasured > 0 {
                    write!(f, "; {unmeasured} not measured yet take the median")?;
                }
                Ok(())
            }
            Self::RegionOnly(count) => {
                write!(
                    f,
                    "no round-trip times yet: at random among the {count} in the client's region"
                )
            }
            Self::NoLatency => {
                f.write_str("no round-trip times yet and nobody in the client's region: round-robin")
            }
            Self::ByScript { removed, changed } => match (removed, changed) {
                (0, true) => f.write_str("the script put the candidates in another order"),
                (0, false) => f.write_str("the script kept every candidate, in the same order"),
                (_, true) => write!(
                    f,
                    "the script left {removed} out and put the others in another order"
                ),
                (_, false) => write!(f, "the script left {removed} out"),
            },
            Self::ScriptFailed => f.write_str("the script failed, and all candidates are kept"),
        }
    }
}
