//! Names of records: any octets (RFC 2181 §11), where the names of zones and services are host names.

use super::text::{Unit, push_octet, units};
use crate::model::name::DomainName;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Most octets of a name on the wire (RFC 1035 §2.3.4).
const MAX_NAME: usize = 255;
/// Most octets of a label.
const MAX_LABEL: usize = 63;

/// A fully qualified name in lower-case wire form; written as text with `\DDD` for what is not printable.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "schema", schema(value_type = String))]
#[serde(try_from = "String", into = "String")]
pub struct RecordName(Box<[u8]>);

impl RecordName {
    /// The root.
    #[must_use]
    pub fn root() -> Self {
        Self(Box::new([0]))
    }

    /// Reads a name as in a master file: `@` is the origin, and without a dot at its end it continues with the origin.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn parse(text: &str, origin: Option<&Self>) -> Result<Self, String> {
        if text == "@" {
            return origin
                .cloned()
                .ok_or_else(|| "`@` stands for no name here".to_owned());
        }
        if text == "." {
            return Ok(Self::root());
        }
        if text.is_empty() {
            return Err("is empty, and must be a name".to_owned());
        }
        let mut wire = Vec::with_capacity(text.len() + 2);
        let mut label = Vec::new();
        let mut absolute = false;
        for unit in units(text)? {
            absolute = false;
            match unit {
                Unit::Plain('.') => {
                    close(&mut wire, &mut label, text)?;
                    absolute = true;
                }
                Unit::Plain(c) | Unit::Escaped(c) if c.is_ascii() => {
                    label.extend(u8::try_from(c).ok().map(|octet| octet.to_ascii_lowercase()));
                }
                Unit::Plain(_) | Unit::Escaped(_) => {
                    return Err(format!(
                        "`{text}` is an international name: write it in its `xn--` form"
                    ));
                }
                Unit::Octet(octet) => label.push(octet.to_ascii_lowercase()),
            }
        }
        if absolute {
            wire.push(0);
        } else {
            close(&mut wire, &mut label, text)?;
            let origin = origin.ok_or_else(|| format!("`{text}` needs a dot at its end"))?;
            wire.extend_from_slice(&origin.0);
        }
        if wire.len() > MAX_NAME {
            return Err(format!(
                "the name takes {} octets on the wire; {MAX_NAME} are the limit",
                wire.len()
            ));
        }
        Ok(Self(wire.into()))
    }

    /// Reads a name in uncompressed wire form from the front of `wire`; returns it and the number of its octets.
    pub(super) fn read(wire: &[u8]) -> Option<(Self, usize)> {
        let length = length_of(wire)?;
        let octets: Box<[u8]> = wire.get(..length)?.to_ascii_lowercase().into();
        Some((Self(octets), length))
    }

    /// Lower-case uncompressed wire form, root label included.
    #[must_use]
    pub fn as_wire(&self) -> &[u8] {
        &self.0
    }

    /// Labels from left to right, without the root.
    pub fn labels(&self) -> impl Iterator<Item = &[u8]> {
        labels(&self.0)
    }

    /// The name without its first label; `None` at the root.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        let length = usize::from(*self.0.first()?);
        if length == 0 {
            return None;
        }
        self.0.get(length + 1..).map(|rest| Self(rest.into()))
    }

    /// Whether the first label is `*`.
    #[must_use]
    pub fn is_wildcard(&self) -> bool {
        self.0.starts_with(b"\x01*")
    }

    /// Whether this name is `other` or lies below it.
    #[must_use]
    pub fn is_within(&self, other: &Self) -> bool {
        let mut rest = &*self.0;
        loop {
            if *rest == *other.0 {
                return true;
            }
            match rest.first().map(|length| usize::from(*length)) {
                None | Some(0) => return false,
                Some(length) => rest = rest.get(length + 1..).unwrap_or_default(),
            }
        }
    }

    /// Labels from the root down, each with a dot behind it: names below this one are those that begin with it.
    #[must_use]
    pub fn sort_key(&self) -> String {
        let mut parts: Vec<String> = self
            .labels()
            .map(|label| {
                let mut text = String::new();
                push_label(&mut text, label);
                text.push('.');
                text
            })
            .collect();
        parts.reverse();
        parts.concat()
    }

    /// The name as it is written below `origin`: `@`, relative, or in full when it lies elsewhere.
    #[must_use]
    pub fn relative_to(&self, origin: &Self) -> String {
        if self == origin {
            return "@".to_owned();
        }
        let text = self.to_string();
        if !self.is_within(origin) || origin.0.len() <= 1 {
            return text;
        }
        let tail = origin.to_string().len() + 1;
        text.get(..text.len().saturating_sub(tail))
            .unwrap_or(&text)
            .to_owned()
    }
}

/// Octets of the uncompressed name at the front of `wire`.
pub(super) fn length_of(wire: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        let length = usize::from(*wire.get(at)?);
        if length > MAX_LABEL {
            return None;
        }
        at += length + 1;
        if at > MAX_NAME || at > wire.len() {
            return None;
        }
        if length == 0 {
            return Some(at);
        }
    }
}

fn labels(wire: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = wire;
    std::iter::from_fn(move || {
        let (length, tail) = rest.split_first()?;
        let label = tail
            .get(..usize::from(*length))
            .filter(|label| !label.is_empty())?;
        rest = tail.get(label.len()..).unwrap_or_default();
        Some(label)
    })
}

/// Ends a label.
fn close(wire: &mut Vec<u8>, label: &mut Vec<u8>, text: &str) -> Result<(), String> {
    if label.is_empty() {
        return Err(format!(
            "`{text}` has an empty label: two dots in a row, or one in front"
        ));
    }
    match u8::try_from(label.len()) {
        Ok(length) if label.len() <= MAX_LABEL => {
            wire.push(length);
            wire.append(label);
            Ok(())
        }
        _ => Err(format!(
            "a label of `{text}` has {} octets; a label has at most {MAX_LABEL}",
            label.len()
        )),
    }
}

fn push_label(out: &mut String, label: &[u8]) {
    for octet in label {
        if *octet == b' ' {
            out.push_str("\\032");
        } else {
            push_octet(out, *octet, b".\\\"();@$");
        }
    }
}

impl fmt::Display for RecordName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::with_capacity(self.0.len());
        for label in self.labels() {
            push_label(&mut text, label);
            text.push('.');
        }
        f.write_str(if text.is_empty() { "." } else { &text })
    }
}

impl From<&DomainName> for RecordName {
    fn from(name: &DomainName) -> Self {
        Self(name.to_wire().into())
    }
}

impl TryFrom<String> for RecordName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text, None)
    }
}

impl From<RecordName> for String {
    fn from(name: RecordName) -> Self {
        name.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> RecordName {
        RecordName::parse(text, None).unwrap()
    }

    #[test]
    fn relative_names_continue_with_the_origin() {
        let origin = name("Example.com.");
        let read = |text: &str| RecordName::parse(text, Some(&origin)).unwrap();
        for (text, full, relative) in [
            ("@", "example.com.", "@"),
            ("WWW", "www.example.com.", "www"),
            ("a.b", "a.b.example.com.", "a.b"),
            ("a.example.net.", "a.example.net.", "a.example.net."),
            ("*", "*.example.com.", "*"),
            (".", ".", "."),
        ] {
            assert_eq!(read(text).to_string(), full);
            assert_eq!(read(text).relative_to(&origin), relative);
            assert_eq!(read(&read(text).relative_to(&origin)), read(text));
        }
        assert!(RecordName::parse("www", None).is_err());
    }

    #[test]
    fn rfc_2181_11_any_octets_come_back() {
        for text in [
            r"a\000b.test.",
            r"x\.y.test.",
            r"\255\032.test.",
            r"0/25.2.0.192.in-addr.arpa.",
            r"\@.test.",
        ] {
            assert_eq!(name(text).to_string(), text);
        }
        assert_eq!(name(r"x\.y.test.").labels().count(), 2);
        assert_eq!(name(r"\065.test.").to_string(), "a.test.");
    }

    #[test]
    fn rfc_1035_2_3_4_limits() {
        let label = "a".repeat(63);
        assert!(RecordName::parse(&format!("{label}."), None).is_ok());
        assert!(RecordName::parse(&format!("{label}a."), None).is_err());
        let long = [63, 63, 63, 61].map(|n| "x".repeat(n)).join(".");
        assert_eq!(name(&format!("{long}.")).as_wire().len(), 255);
        assert!(RecordName::parse(&format!("{long}x."), None).is_err());
        for bad in ["", "a..b.", ".a."] {
            assert!(RecordName::parse(bad, None).is_err(), "{bad}");
        }
    }

    #[test]
    fn names_below_begin_with_the_key_of_the_one_above() {
        let (above, below, beside) = (name("b.test."), name(r"a\.c.b.test."), name("bb.test."));
        assert!(below.sort_key().starts_with(&above.sort_key()) && below.is_within(&above));
        assert!(!beside.sort_key().starts_with(&above.sort_key()) && !beside.is_within(&above));
        assert!(above.is_within(&above) && !above.is_within(&below));
        assert_eq!(below.parent(), Some(above));
        assert_eq!(RecordName::root().parent(), None);
    }
}
