//! Texts for people: numbers, times, names of steps, parts of addresses. The same on server and in the browser, so
//! that hydration finds what it expects.

use gslb_api_types::model::{FilterStep, Routing};

/// `text` as a value in the query of an address (percent-encoded).
#[must_use]
pub fn query_value(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~' | b'/') {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// `path?name=value&…` of the pairs that have a value.
#[must_use]
pub fn link(path: &str, pairs: &[(&str, &str)]) -> String {
    let query: Vec<_> = pairs
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| format!("{name}={}", query_value(value)))
        .collect();
    if query.is_empty() {
        path.to_owned()
    } else {
        format!("{path}?{}", query.join("&"))
    }
}

/// `1,234,567`
#[must_use]
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `3 members`, `1 member`.
#[must_use]
pub fn plural(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// `12.3 ms`, `0.42 ms`.
#[must_use]
pub fn millis(value: f64) -> String {
    if value < 1.0 {
        format!("{value:.2} ms")
    } else if value < 100.0 {
        format!("{value:.1} ms")
    } else {
        format!("{value:.0} ms")
    }
}

/// Part of a whole in percent, `-` of nothing.
#[must_use]
pub fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "-".to_owned();
    }
    let value = ratio(part, whole) * 100.0;
    if value >= 99.95 || value == 0.0 {
        format!("{value:.0} %")
    } else {
        format!("{value:.1} %")
    }
}

/// Part of a whole, 0 of nothing.
#[must_use]
pub fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

/// `4 d 3 h`, `12 min`, `8 s`.
#[must_use]
pub fn duration(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..86_400 => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds / 3600 % 24),
    }
}

/// `2026-11-30 07:55:19` in UTC.
#[must_use]
pub fn utc(unix_ms: u64) -> String {
    let seconds = unix_ms / 1000;
    let (year, month, day) = civil(seconds / 86_400);
    let time = seconds % 86_400;
    format!(
        "{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}",
        time / 3600,
        time / 60 % 60,
        time % 60
    )
}

/// Year, month and day of a number of days since 1970-01-01 (proleptic Gregorian, eras of 400 years from March on).
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

/// Title of a step as the palette has it; the text itself for one that it lacks.
#[must_use]
pub fn step_title(step: &str) -> String {
    match FilterStep::parse("step", step) {
        Ok(step) => step.title().into_owned(),
        Err(_) if step.starts_with("script:") => "Script".to_owned(),
        Err(_) => step.to_owned(),
    }
}

/// A problem with the field that it is of, in words: `Step 2 of the chain: …`, `Country: …`.
#[must_use]
pub fn problem(field: &str, message: &str) -> String {
    let words = field_words(field);
    if words.is_empty() {
        message.to_owned()
    } else {
        format!("{words}: {message}")
    }
}

/// The field of a problem as people know it from the form.
fn field_words(field: &str) -> String {
    let chain = field
        .strip_prefix("filterChain[")
        .or_else(|| field.strip_prefix("chain["));
    if let Some(place) = chain.and_then(|rest| rest.strip_suffix(']')) {
        return match place.parse::<usize>() {
            Ok(at) => format!("Step {} of the chain", at + 1),
            Err(_) => "The chain".to_owned(),
        };
    }
    if field.starts_with("line ") {
        return field.to_owned();
    }
    // What the fields of a member stand below says nothing new.
    let last = field.rsplit('.').next().unwrap_or(field);
    let name = last.split('[').next().unwrap_or(last);
    let name = name
        .strip_prefix("geo")
        .filter(|rest| !rest.is_empty())
        .unwrap_or(name);
    let mut words = String::with_capacity(name.len() + 4);
    for c in name.chars() {
        if c.is_uppercase() && !words.is_empty() {
            words.push(' ');
            words.extend(c.to_lowercase());
        } else if words.is_empty() {
            words.extend(c.to_uppercase());
        } else {
            words.push(c);
        }
    }
    words
}

/// Steps of a routing, a single algorithm as a chain of one.
#[must_use]
pub fn steps(routing: &Routing) -> Vec<FilterStep> {
    match routing {
        Routing::Algorithm(name) => vec![FilterStep::Builtin(*name)],
        Routing::Chain(steps) => steps.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        assert_eq!(utc(0), "1970-01-01 00:00:00");
        assert_eq!(utc(951_782_400_000), "2000-02-29 00:00:00");
        assert_eq!(utc(1_796_025_319_999), "2026-11-30 07:55:19");
    }

    #[test]
    fn numbers_are_grouped_and_rounded() {
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(count(123), "123");
        assert_eq!(percent(1, 3), "33.3 %");
        assert_eq!(percent(0, 0), "-");
        assert_eq!(millis(0.4219), "0.42 ms");
        assert_eq!(duration(90_000), "1 d 1 h");
    }

    #[test]
    fn fields_are_named_in_words() {
        let named = [
            "filterChain[1]",
            "geoCountry",
            "geo.country",
            "minHealthy",
            "nameServers[2]",
            "line 7",
            "",
        ];
        assert_eq!(
            named.map(field_words),
            [
                "Step 2 of the chain",
                "Country",
                "Country",
                "Min healthy",
                "Name servers",
                "line 7",
                ""
            ]
        );
    }

    #[test]
    fn links_keep_only_what_has_a_value() {
        assert_eq!(link("/a", &[("q", "x y"), ("s", "")]), "/a?q=x%20y");
        assert_eq!(link("/a", &[("q", "")]), "/a");
    }
}
