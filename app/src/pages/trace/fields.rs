//! The fields of the tracer as the address carries them.

use crate::api::overview::Asked;
use crate::components::chain::step_list;
use crate::failure::Failure;
use crate::form::{given, invalid};
use gslb_api_types::TraceRequest;
use gslb_api_types::model::{ErrorCode, ValidationError};
use gslb_engine::query::Family;
use leptos_router::params::ParamsMap;

/// What was typed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TraceFields {
    /// Name asked for.
    pub domain: String,
    /// `A` or `AAAA`.
    pub qtype: String,
    /// Address or network.
    pub client: String,
    /// Address.
    pub resolver: String,
    /// UTC, or Unix seconds.
    pub at: String,
    /// Chain to try.
    pub chain: String,
}

impl TraceFields {
    /// From the query of the address.
    #[must_use]
    pub fn read(query: &ParamsMap) -> Self {
        let field = |name: &str| query.get(name).unwrap_or_default();
        Self {
            domain: field("domain"),
            qtype: field("qtype"),
            client: field("client"),
            resolver: field("resolver"),
            at: field("at"),
            chain: field("chain"),
        }
    }
}

/// The requests that the fields make; none while nothing is asked yet.
#[must_use]
pub fn asked(fields: &TraceFields) -> Option<Result<Asked, Failure>> {
    let domain = given(&fields.domain)?;
    let at = match given(&fields.at).map(|text| unix_seconds(&text).ok_or(text)) {
        None => None,
        Some(Ok(at)) => Some(at),
        Some(Err(text)) => {
            return Some(Err(Failure(invalid(vec![ValidationError::new(
                "at",
                ErrorCode::Invalid,
                format!("`{text}` is no time such as 2026-11-30 08:15 (UTC)"),
            )]))));
        }
    };
    let stored = TraceRequest {
        domain: Some(domain),
        qtype: family(&fields.qtype),
        client: given(&fields.client),
        resolver: given(&fields.resolver),
        at,
        ..TraceRequest::default()
    };
    let chain = step_list(&fields.chain);
    let tried = (!chain.is_empty()).then(|| TraceRequest {
        chain: Some(chain),
        ..stored.clone()
    });
    Some(Ok(Asked { stored, tried }))
}

/// `A` and `AAAA`; anything else is left to the default.
#[must_use]
pub fn family(text: &str) -> Option<Family> {
    match text {
        "A" => Some(Family::V4),
        "AAAA" => Some(Family::V6),
        _ => None,
    }
}

/// Reads Unix seconds, or `2026-11-30 08:15[:30]` in UTC (a `T` for the space and a `Z` at the end are taken too).
fn unix_seconds(text: &str) -> Option<u64> {
    if let Ok(seconds) = text.parse() {
        return Some(seconds);
    }
    let text = text.trim_end_matches('Z');
    let (date, time) = text.split_once([' ', 'T'])?;
    let numbers = |text: &str, mark: char| {
        text.split(mark)
            .map(|part| part.parse::<u64>().ok())
            .collect::<Option<Vec<_>>>()
    };
    let (date, time) = (numbers(date, '-')?, numbers(time, ':')?);
    let [year @ 1970..=9999, month @ 1..=12, day @ 1..=31] = date[..] else {
        return None;
    };
    let (hour, minute, second) = match time[..] {
        [hour, minute] => (hour, minute, 0),
        [hour, minute, second] => (hour, minute, second),
        _ => return None,
    };
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    // Days since 1970-01-01, in years that begin in March.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let day_of_era = year % 400 * 365 + year % 400 / 4 - year % 400 / 100 + (153 * month + 2) / 5 + day - 1;
    let days = (year / 400 * 146_097 + day_of_era).checked_sub(719_468)?;
    Some(days * 86_400 + hour * 3600 + minute * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_utc() {
        assert_eq!(unix_seconds("1796025319"), Some(1_796_025_319));
        assert_eq!(unix_seconds("2026-11-30 07:55:19"), Some(1_796_025_319));
        assert_eq!(unix_seconds("2000-02-29T00:00Z"), Some(951_782_400));
        assert_eq!(unix_seconds("1970-01-01 00:00"), Some(0));
        for bad in ["tomorrow", "2026-13-01 00:00", "2026-11-30", "2026-11-30 25:00"] {
            assert_eq!(unix_seconds(bad), None, "{bad}");
        }
    }

    #[test]
    fn nothing_is_asked_without_a_domain() {
        assert_eq!(asked(&TraceFields::default()), None);
        let fields = TraceFields {
            domain: "www.example.com".to_owned(),
            chain: "geo-ip → random".to_owned(),
            ..TraceFields::default()
        };
        let both = asked(&fields).and_then(Result::ok);
        let tried = both
            .and_then(|asked| asked.tried)
            .and_then(|request| request.chain);
        assert_eq!(tried, Some(vec!["geo-ip".to_owned(), "random".to_owned()]));
    }
}
