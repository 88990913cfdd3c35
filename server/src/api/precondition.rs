//! `If-Match` (RFC 9110 §13.1.1): a write is made only when the object still has one of these entity tags.

use axum::http::{HeaderMap, header};
use gslb_core::ops::Expected;

/// The revisions that `If-Match` names. Absent or `*`: any. A weak tag matches nothing here (§8.8.3.2: strong
/// comparison), and neither does a tag that this server has not given.
pub fn if_match(headers: &HeaderMap) -> Expected {
    let mut given = headers.get_all(header::IF_MATCH).iter().peekable();
    if given.peek().is_none() {
        return Expected::Any;
    }
    let mut revisions = Vec::new();
    for value in given {
        let text = value.to_str().unwrap_or_default().trim();
        if text == "*" {
            return Expected::Any;
        }
        revisions.extend(tags(text).into_iter().filter_map(revision));
    }
    Expected::OneOf(revisions)
}

/// The tags of a list. A comma inside quotes belongs to its tag.
fn tags(text: &str) -> Vec<&str> {
    let mut quoted = false;
    text.split(|c: char| {
        quoted ^= c == '"';
        c == ',' && !quoted
    })
    .map(str::trim)
    .collect()
}

/// The revision of a strong tag. One without its quotes is understood, as people type it.
fn revision(tag: &str) -> Option<u64> {
    let inner = tag
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .unwrap_or(tag);
    let digits = !inner.is_empty() && inner.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| inner.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn expected(lines: &[&'static str]) -> Expected {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(header::IF_MATCH, HeaderValue::from_static(line));
        }
        if_match(&headers)
    }

    #[test]
    fn rfc_9110_13_1_1() {
        let one_of = |list: &[u64]| Expected::OneOf(list.to_vec());
        assert_eq!(expected(&[]), Expected::Any);
        assert_eq!(expected(&["*"]), Expected::Any);
        assert_eq!(expected(&["\"7\""]), one_of(&[7]));
        assert_eq!(expected(&["7"]), one_of(&[7]));
        assert_eq!(expected(&["\"7\", \"8\" ,\"x,9\""]), one_of(&[7, 8]));
        assert_eq!(expected(&["\"7\"", "\"8\""]), one_of(&[7, 8]));
        assert_eq!(expected(&["W/\"7\""]), one_of(&[]));
        assert_eq!(expected(&["nonsense"]), one_of(&[]));
        assert_eq!(expected(&["\"+7\""]), one_of(&[]));
        assert_eq!(expected(&[""]), one_of(&[]));
    }
}
