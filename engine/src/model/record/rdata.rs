//! Data of one record: from its text to the wire and back (RFC 1035 §5.1, RFC 3597 §5).

use super::name::{RecordName, length_of};
use super::params;
use super::rtype::{Field, RecordType};
use super::text::{MAX_TTL, Word, base64, hex, octets, push_base64, push_hex, push_quoted, ttl, words};
use crate::model::name::DomainName;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Most octets of a record's data.
const MAX_RDATA: usize = 65_535;

/// How names without a dot at their end are read.
#[derive(Debug, Clone, Copy)]
pub enum Origin<'a> {
    /// As in a master file: they continue with this name.
    File(&'a RecordName),
    /// As in a request: a single label continues with this name; more of them are refused, because half of their
    /// authors would mean the one and half the other.
    Request(&'a RecordName),
}

impl Origin<'_> {
    fn read(self, word: &Word) -> Result<RecordName, String> {
        match self {
            Self::File(origin) => RecordName::parse(&word.raw, Some(origin)),
            Self::Request(origin) => {
                let name = RecordName::parse(&word.raw, Some(origin))?;
                let relative = word.raw != "@" && !word.raw.ends_with('.');
                if relative && name.labels().count() > origin.labels().count() + 1 {
                    return Err(format!(
                        "`{0}` does not end with a dot: write `{0}.`, or `{name}` if it lies in this zone",
                        word.raw
                    ));
                }
                Ok(name)
            }
        }
    }
}

/// Data of one record in uncompressed wire form. Names in it are lower case.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Rdata(Box<[u8]>);

impl From<&DomainName> for Rdata {
    /// Data of a record that is one name, such as a CNAME.
    fn from(name: &DomainName) -> Self {
        Self(name.to_wire().into())
    }
}

impl Rdata {
    /// Reads the text form, of the type or of RFC 3597.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn parse(rtype: RecordType, text: &str, origin: Origin<'_>) -> Result<Self, String> {
        Self::from_words(rtype, &words(text)?, origin)
    }

    /// As [`parse`](Self::parse), from words.
    pub(super) fn from_words(rtype: RecordType, words: &[Word], origin: Origin<'_>) -> Result<Self, String> {
        if let [first, rest @ ..] = words
            && first.raw == "\\#"
            && !first.quoted
        {
            return Self::generic(rtype, rest);
        }
        let Some(fields) = rtype.fields() else {
            return Err(format!(
                "data of {rtype} is written as `\\# length hexadecimal` (RFC 3597)"
            ));
        };
        let mut words = Words { words };
        let mut wire = Vec::new();
        for field in fields {
            words.write(*field, origin, &mut wire)?;
        }
        if let [first, ..] = words.words {
            return Err(format!("`{}` is one word too many for {rtype}", first.raw));
        }
        Self::sized(wire)
    }

    fn sized(wire: Vec<u8>) -> Result<Self, String> {
        if wire.len() > MAX_RDATA {
            return Err(format!("{} octets; {MAX_RDATA} are the limit", wire.len()));
        }
        Ok(Self(wire.into()))
    }

    /// `\# length hex`. Of a type with a form of its own the octets must fit that.
    fn generic(rtype: RecordType, words: &[Word]) -> Result<Self, String> {
        let Some((length, rest)) = words.split_first() else {
            return Err("`\\#` is followed by the number of octets".to_owned());
        };
        let digits: String = rest.iter().map(|word| word.raw.as_str()).collect();
        let wire = hex(&digits)?;
        if length.raw.parse() != Ok(wire.len()) {
            return Err(format!(
                "`{}` octets are announced, {} follow",
                length.raw,
                wire.len()
            ));
        }
        Self::from_wire(rtype, &wire)
    }

    /// Takes octets as they would come over the wire, without compression.
    ///
    /// # Errors
    /// When they do not fit the type.
    pub fn from_wire(rtype: RecordType, wire: &[u8]) -> Result<Self, String> {
        let Some(fields) = rtype.fields() else {
            return Self::sized(wire.to_vec());
        };
        let text = show(fields, wire).ok_or_else(|| format!("the octets are no data of {rtype}"))?;
        let read = Self::parse(rtype, &text, Origin::File(&RecordName::root()))?;
        // Names are stored in lower case; apart from that the octets must be the ones that were given.
        if read.0.eq_ignore_ascii_case(wire) {
            Ok(read)
        } else {
            Err(format!("the octets are no data of {rtype}"))
        }
    }

    /// Uncompressed wire form.
    #[must_use]
    pub fn as_wire(&self) -> &[u8] {
        &self.0
    }

    /// The text form.
    #[must_use]
    pub fn to_text(&self, rtype: RecordType) -> String {
        rtype
            .fields()
            .and_then(|fields| show(fields, &self.0))
            .unwrap_or_else(|| {
                let mut text = format!("\\# {}", self.0.len());
                if !self.0.is_empty() {
                    text.push(' ');
                    push_hex(&mut text, &self.0);
                }
                text
            })
    }

    /// The name that an answer with this record also gives addresses of, or that an alias leads to, in wire form.
    #[must_use]
    pub fn target_wire(&self, rtype: RecordType) -> Option<&[u8]> {
        let rest = self.0.get(rtype.target_at()?..)?;
        rest.get(..length_of(rest)?)
    }

    /// As [`target_wire`](Self::target_wire), as a name.
    #[must_use]
    pub fn target(&self, rtype: RecordType) -> Option<RecordName> {
        let (name, _) = RecordName::read(self.target_wire(rtype)?)?;
        Some(name)
    }

    /// Of the data of an SVCB or HTTPS record: whether it has hints for IPv4 and for IPv6 (RFC 9460 §7.3).
    #[must_use]
    pub fn hints(&self) -> [bool; 2] {
        let parameters = self.parameters().and_then(params::each).unwrap_or_default();
        [params::IPV4_HINT, params::IPV6_HINT].map(|hint| parameters.iter().any(|(key, _)| *key == hint))
    }

    /// The same SVCB or HTTPS data with these addresses in the hints that it has; a hint without an address goes.
    #[must_use]
    pub fn with_hints(&self, addresses: &[IpAddr]) -> Self {
        let Some(rest) = self.parameters() else {
            return self.clone();
        };
        let head = self.0.len() - rest.len();
        let mut wire = self.0.get(..head).unwrap_or_default().to_vec();
        match params::with_hints(rest, addresses) {
            Some(parameters) => wire.extend(parameters),
            None => return self.clone(),
        }
        Self(wire.into())
    }

    /// Service parameters, behind priority and target.
    fn parameters(&self) -> Option<&[u8]> {
        let rest = self.0.get(2..)?;
        rest.get(length_of(rest)?..)
    }
}

/// Reads words field by field.
struct Words<'a> {
    words: &'a [Word],
}

impl<'a> Words<'a> {
    fn next(&mut self, what: &str) -> Result<&'a Word, String> {
        let (first, rest) = self
            .words
            .split_first()
            .ok_or_else(|| format!("ends where {what} should follow"))?;
        self.words = rest;
        Ok(first)
    }

    fn number<T: std::str::FromStr>(&mut self, most: u32) -> Result<T, String> {
        let word = self.next("a number")?;
        let digits = word.raw.bytes().all(|b| b.is_ascii_digit());
        Some(&word.raw)
            .filter(|_| digits)
            .and_then(|raw| raw.parse().ok())
            .ok_or_else(|| format!("`{}` is no number between 0 and {most}", word.raw))
    }

    /// The rest, joined.
    fn rest(&mut self, what: &str) -> Result<String, String> {
        let mut text = self.next(what)?.raw.clone();
        text.extend(
            std::mem::take(&mut self.words)
                .iter()
                .map(|word| word.raw.as_str()),
        );
        Ok(text)
    }

    fn write(&mut self, field: Field, origin: Origin<'_>, wire: &mut Vec<u8>) -> Result<(), String> {
        match field {
            Field::V4 => {
                let word = self.next("an IPv4 address")?;
                let address: Ipv4Addr = word
                    .raw
                    .parse()
                    .map_err(|_| format!("`{}` is no IPv4 address", word.raw))?;
                wire.extend_from_slice(&address.octets());
            }
            Field::V6 => {
                let word = self.next("an IPv6 address")?;
                let address: Ipv6Addr = word
                    .raw
                    .parse()
                    .map_err(|_| format!("`{}` is no IPv6 address", word.raw))?;
                wire.extend_from_slice(&address.octets());
            }
            Field::U8 => wire.push(self.number(255)?),
            Field::U16 => wire.extend_from_slice(&self.number::<u16>(65_535)?.to_be_bytes()),
            Field::U32 => wire.extend_from_slice(&self.number::<u32>(u32::MAX)?.to_be_bytes()),
            Field::Time => {
                let word = self.next("a number of seconds")?;
                let seconds = ttl(&word.raw).ok_or_else(|| {
                    format!("`{}` is no number of seconds between 0 and {MAX_TTL}", word.raw)
                })?;
                wire.extend_from_slice(&seconds.to_be_bytes());
            }
            Field::Name => wire.extend_from_slice(origin.read(self.next("a name")?)?.as_wire()),
            Field::Text => push_text(wire, self.next("a text")?)?,
            Field::Texts => {
                push_text(wire, self.next("a text")?)?;
                for word in std::mem::take(&mut self.words) {
                    push_text(wire, word)?;
                }
            }
            Field::Tag => {
                let word = self.next("a tag")?;
                let good = !word.raw.is_empty() && word.raw.bytes().all(|b| b.is_ascii_alphanumeric());
                let length = u8::try_from(word.raw.len()).ok().filter(|_| good);
                wire.push(length.ok_or_else(|| format!("`{}` is no tag: letters and digits", word.raw))?);
                wire.extend(word.raw.bytes().map(|b| b.to_ascii_lowercase()));
            }
            Field::Rest => wire.extend(octets(&self.next("a text")?.raw)?),
            Field::Hex => wire.extend(hex(&self.rest("hexadecimal data")?)?),
            Field::Base64 => wire.extend(base64(&self.rest("base64 data")?)?),
            Field::Types => {
                let types: Result<Vec<RecordType>, String> = std::mem::take(&mut self.words)
                    .iter()
                    .map(|word| RecordType::try_from(word.raw.clone()))
                    .collect();
                push_bitmap(wire, types?);
            }
            Field::Parameters => params::write(std::mem::take(&mut self.words), wire)?,
        }
        Ok(())
    }
}

fn push_text(wire: &mut Vec<u8>, word: &Word) -> Result<(), String> {
    let octets = octets(&word.raw)?;
    let length = u8::try_from(octets.len())
        .map_err(|_| format!("a text of {} octets; each part has at most 255", octets.len()))?;
    wire.push(length);
    wire.extend(octets);
    Ok(())
}

/// Windows of 256 types, each with as many octets as it needs (RFC 4034 §4.1.2).
fn push_bitmap(wire: &mut Vec<u8>, mut types: Vec<RecordType>) {
    types.sort_unstable();
    types.dedup();
    for window in types.chunk_by(|a, b| a.0 >> 8 == b.0 >> 8) {
        let mut bits = [0_u8; 32];
        let mut used = 0;
        for rtype in window {
            let [_, low] = rtype.0.to_be_bytes();
            let at = usize::from(low >> 3);
            if let Some(octet) = bits.get_mut(at) {
                *octet |= 0x80 >> (low & 7);
            }
            used = at + 1;
        }
        let [high, _] = window.first().map_or(0, |rtype| rtype.0).to_be_bytes();
        wire.push(high);
        wire.push(u8::try_from(used).unwrap_or_default());
        wire.extend_from_slice(bits.get(..used).unwrap_or_default());
    }
}

/// Takes octets from the front.
pub(super) fn take<'a>(wire: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (head, rest) = wire.split_at_checked(length)?;
    *wire = rest;
    Some(head)
}

/// Takes a number of `length` octets from the front.
pub(super) fn number(wire: &mut &[u8], length: usize) -> Option<u32> {
    Some(
        take(wire, length)?
            .iter()
            .fold(0, |number, octet| number << 8 | u32::from(*octet)),
    )
}

fn take_text<'a>(wire: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(number(wire, 1)?).ok()?;
    take(wire, length)
}

/// The text form; `None` when the octets do not fit.
fn show(fields: &[Field], wire: &[u8]) -> Option<String> {
    let mut rest = wire;
    let wire = &mut rest;
    let mut text = String::new();
    for field in fields {
        if !text.is_empty() {
            text.push(' ');
        }
        match field {
            Field::V4 => {
                text.push_str(&Ipv4Addr::from(<[u8; 4]>::try_from(take(wire, 4)?).ok()?).to_string());
            }
            Field::V6 => {
                text.push_str(&Ipv6Addr::from(<[u8; 16]>::try_from(take(wire, 16)?).ok()?).to_string());
            }
            Field::U8 => text.push_str(&number(wire, 1)?.to_string()),
            Field::U16 => text.push_str(&number(wire, 2)?.to_string()),
            Field::U32 | Field::Time => text.push_str(&number(wire, 4)?.to_string()),
            Field::Name => {
                let (name, length) = RecordName::read(wire)?;
                take(wire, length)?;
                text.push_str(&name.to_string());
            }
            Field::Text => push_quoted(&mut text, take_text(wire)?),
            Field::Texts => {
                push_quoted(&mut text, take_text(wire)?);
                while !wire.is_empty() {
                    text.push(' ');
                    push_quoted(&mut text, take_text(wire)?);
                }
            }
            Field::Tag => {
                let tag = str::from_utf8(take_text(wire)?).ok()?;
                text.push_str(Some(tag).filter(|tag| !tag.is_empty())?);
            }
            Field::Rest => push_quoted(&mut text, std::mem::take(wire)),
            Field::Hex => push_hex(&mut text, Some(std::mem::take(wire)).filter(|w| !w.is_empty())?),
            Field::Base64 => push_base64(&mut text, Some(std::mem::take(wire)).filter(|w| !w.is_empty())?),
            Field::Types => {
                show_bitmap(&mut text, std::mem::take(wire))?;
                text.truncate(text.trim_end().len());
            }
            Field::Parameters => {
                params::show(&mut text, std::mem::take(wire))?;
                text.truncate(text.trim_end().len());
            }
        }
    }
    wire.is_empty().then_some(text)
}

fn show_bitmap(text: &mut String, mut wire: &[u8]) -> Option<()> {
    while !wire.is_empty() {
        let window = u16::try_from(number(&mut wire, 1)?).ok()? << 8;
        for (at, octet) in (0_u16..).step_by(8).zip(take_text(&mut wire)?) {
            for bit in 0..8 {
                if octet & (0x80 >> bit) != 0 {
                    text.push_str(&RecordType(window | (at + bit)).to_string());
                    text.push(' ');
                }
            }
        }
    }
    Some(())
}
