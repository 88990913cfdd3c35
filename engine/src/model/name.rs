//! Domain names as they are stored: lower case, ASCII (UTS 46), fully qualified with a trailing dot.

use super::error::{ErrorCode, ValidationError};
use serde::{Deserialize, Serialize};
use std::borrow::Borrow;
use std::fmt;

/// A fully qualified domain name, normalised: lower case, ASCII, trailing dot. May begin with the label `*`.
///
/// Limits of RFC 1035 §2.3.4 hold: labels of at most 63 octets, at most 255 octets on the wire.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(try_from = "String", into = "String")]
pub struct DomainName(String);

/// The ASCII form (UTS 46) of a name with other characters; `text` is what was typed.
#[cfg(feature = "idna")]
fn international(field: &str, text: &str, name: &str) -> Result<String, ValidationError> {
    idna::domain_to_ascii(name).map_err(|_| {
        ValidationError::new(
            field,
            ErrorCode::Invalid,
            format!("`{text}` has characters that no international domain name may have"),
        )
    })
}

/// Without the tables there is no telling whether the name is right.
#[cfg(not(feature = "idna"))]
fn international(field: &str, text: &str, _name: &str) -> Result<String, ValidationError> {
    Err(ValidationError::new(
        field,
        ErrorCode::Unsupported,
        format!("`{text}` is an international name: the server checks it"),
    ))
}

impl DomainName {
    /// Normalises what a person typed: spaces around it go, case is folded, a missing trailing dot is added, and
    /// labels outside ASCII are IDNA-encoded.
    ///
    /// # Errors
    /// Says which rule of RFC 1035 §2.3.4 (or of a host name) the text breaks; `field` names it in the error.
    pub fn parse(field: &str, text: &str) -> Result<Self, ValidationError> {
        let invalid = |message: String| ValidationError::new(field, ErrorCode::Invalid, message);
        let text = text.trim();
        let bare = text.strip_suffix('.').unwrap_or(text);
        if bare.is_empty() {
            return Err(ValidationError::new(
                field,
                ErrorCode::Required,
                "must be a domain name such as www.example.com.",
            ));
        }
        let (wildcard, rest) = match bare.strip_prefix("*.") {
            Some(rest) => ("*.", rest),
            None => ("", bare),
        };
        let ascii = if rest.is_ascii() {
            rest.to_ascii_lowercase()
        } else {
            international(field, text, rest)?
        };
        for label in ascii.split('.') {
            if label.is_empty() {
                return Err(invalid(format!(
                    "`{text}` has an empty label: two dots in a row, or one in front"
                )));
            }
            if label.len() > 63 {
                return Err(invalid(format!(
                    "the label `{label}` has {} characters; a label has at most 63",
                    label.len()
                )));
            }
            if let Some(bad) = label
                .chars()
                .find(|c| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_')))
            {
                let hint = if bad == '*' {
                    " (`*` may only be the whole first label)"
                } else {
                    ""
                };
                return Err(invalid(format!(
                    "`{text}` contains {bad:?}; letters, digits, `-` and `_` are allowed{hint}"
                )));
            }
        }
        let name = format!("{wildcard}{ascii}.");
        // Each label costs one octet more than its dot-free text, and the root one octet.
        let wire = name.len() + 1;
        if wire > 255 {
            return Err(invalid(format!(
                "the name takes {wire} octets on the wire; 255 are the limit"
            )));
        }
        Ok(Self(name))
    }

    /// The text with its trailing dot.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the first label is `*`.
    #[must_use]
    pub fn is_wildcard(&self) -> bool {
        self.0.starts_with("*.")
    }

    /// Labels from left to right, without the root.
    pub fn labels(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.trim_end_matches('.').split('.')
    }

    /// Whether this name is `other` or lies below it.
    #[must_use]
    pub fn is_within(&self, other: &Self) -> bool {
        self.0 == other.0
            || self
                .0
                .strip_suffix(&other.0)
                .is_some_and(|head| head.ends_with('.') && !head.is_empty())
    }

    /// Uncompressed wire form (RFC 1035 §3.1), root label included.
    #[must_use]
    pub fn to_wire(&self) -> Vec<u8> {
        let mut wire = Vec::with_capacity(self.0.len() + 1);
        for label in self.labels() {
            // Labels are at most 63 octets by construction.
            wire.push(u8::try_from(label.len()).unwrap_or(u8::MAX));
            wire.extend_from_slice(label.as_bytes());
        }
        wire.push(0);
        wire
    }
}

impl TryFrom<String> for DomainName {
    type Error = ValidationError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse("domain", &text)
    }
}

impl From<DomainName> for String {
    fn from(name: DomainName) -> Self {
        name.0
    }
}

impl Borrow<str> for DomainName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for DomainName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<String, String> {
        DomainName::parse("domain", text)
            .map(String::from)
            .map_err(|e| e.message)
    }

    #[test]
    fn normalises_case_dot_and_idna() {
        assert_eq!(parse("WWW.Example.com").as_deref(), Ok("www.example.com."));
        assert_eq!(parse("*.Svc.example.com.").as_deref(), Ok("*.svc.example.com."));
        assert_eq!(parse("bücher.example").as_deref(), Ok("xn--bcher-kva.example."));
    }

    #[test]
    fn refuses_what_rfc_1035_2_3_4_forbids() {
        assert!(parse("").is_err());
        assert!(parse("a..b").is_err());
        assert!(parse(".a").is_err());
        assert!(parse("a b.example").is_err());
        assert!(parse("a.*.example").is_err());
        assert!(parse(&format!("{}.example", "a".repeat(63))).is_ok());
        assert!(parse(&format!("{}.example", "a".repeat(64))).is_err());
        let long = ["a".repeat(63), "b".repeat(63), "c".repeat(63), "d".repeat(61)].join(".");
        assert_eq!(
            DomainName::parse("domain", &long).map(|n| n.to_wire().len()),
            Ok(255)
        );
        assert!(parse(&format!("{long}d")).is_err());
    }

    #[test]
    fn knows_what_lies_below_it() {
        let name = |t| DomainName::parse("domain", t).unwrap_or_else(|e| panic!("{e}"));
        assert!(name("www.example.com").is_within(&name("example.com")));
        assert!(name("example.com").is_within(&name("example.com")));
        assert!(!name("wwwexample.com").is_within(&name("example.com")));
    }
}
