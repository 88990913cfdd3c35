//! Record types: their numbers, names and the layout of their data.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A part of a record's data, in the order in which it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    /// An IPv4 address.
    V4,
    /// An IPv6 address.
    V6,
    /// A number of one octet.
    U8,
    /// A number of two octets.
    U16,
    /// A number of four octets.
    U32,
    /// A number of seconds of four octets; in text also with units, as in `1h30m`.
    Time,
    /// A domain name, never compressed in the stored form.
    Name,
    /// A character string: at most 255 octets after one that counts them.
    Text,
    /// Character strings to the end, at least one.
    Texts,
    /// A property tag of CAA: letters and digits, with its length in front.
    Tag,
    /// One text to the end, without a length.
    Rest,
    /// Octets to the end, in hexadecimal.
    Hex,
    /// Octets to the end, in base64.
    Base64,
    /// A bitmap of record types to the end (RFC 4034 §4.1.2).
    Types,
    /// Service parameters to the end (RFC 9460 §2.1).
    Parameters,
}

/// What is known of a type.
#[derive(Debug)]
struct Known {
    code: u16,
    name: &'static str,
    fields: &'static [Field],
}

macro_rules! known {
    ($($code:literal $name:ident [$($field:ident)*],)+) => {
        /// The types with a text form of their own. All others are written by RFC 3597.
        const KNOWN: &[Known] = &[$(Known {
            code: $code,
            name: stringify!($name),
            fields: &[$(Field::$field),*],
        }),+];

        impl RecordType {
            $(
                #[doc = concat!("`", stringify!($name), "`")]
                pub const $name: Self = Self($code);
            )+
        }
    };
}

known! {
    1 A [V4],
    2 NS [Name],
    5 CNAME [Name],
    6 SOA [Name Name U32 Time Time Time Time],
    12 PTR [Name],
    13 HINFO [Text Text],
    15 MX [U16 Name],
    16 TXT [Texts],
    17 RP [Name Name],
    18 AFSDB [U16 Name],
    28 AAAA [V6],
    33 SRV [U16 U16 U16 Name],
    35 NAPTR [U16 U16 Text Text Text Name],
    36 KX [U16 Name],
    37 CERT [U16 U16 U8 Base64],
    39 DNAME [Name],
    43 DS [U16 U8 U8 Hex],
    44 SSHFP [U8 U8 Hex],
    46 RRSIG [Hex],
    47 NSEC [Hex],
    48 DNSKEY [U16 U8 U8 Base64],
    49 DHCID [Base64],
    50 NSEC3 [Hex],
    51 NSEC3PARAM [Hex],
    52 TLSA [U8 U8 U8 Hex],
    53 SMIMEA [U8 U8 U8 Hex],
    59 CDS [U16 U8 U8 Hex],
    60 CDNSKEY [U16 U8 U8 Base64],
    61 OPENPGPKEY [Base64],
    62 CSYNC [U32 U16 Types],
    63 ZONEMD [U32 U8 U8 Hex],
    64 SVCB [U16 Name Parameters],
    65 HTTPS [U16 Name Parameters],
    99 SPF [Texts],
    256 URI [U16 U16 Rest],
    257 CAA [U8 Tag Rest],
}

/// Type of a record: `A`, `MX`, or `TYPE65280` for one without a name here (RFC 3597 §5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "schema", schema(value_type = String))]
#[serde(try_from = "String", into = "String")]
pub struct RecordType(pub u16);

impl RecordType {
    /// Reads a name or `TYPE` with a number.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(known) = KNOWN.iter().find(|known| known.name.eq_ignore_ascii_case(text)) {
            return Some(Self(known.code));
        }
        let (head, number) = text.split_at_checked(4)?;
        let plain = number.bytes().all(|b| b.is_ascii_digit());
        (head.eq_ignore_ascii_case("TYPE") && plain)
            .then(|| number.parse().ok())
            .flatten()
            .map(Self)
    }

    /// The layout of the data; `None` for a type that is only known by its number.
    pub(super) fn fields(self) -> Option<&'static [Field]> {
        self.known().map(|known| known.fields)
    }

    fn known(self) -> Option<&'static Known> {
        KNOWN.iter().find(|known| known.code == self.0)
    }

    /// Whether the type is one of questions and messages, not of stored data (RFC 6895 §3.1).
    #[must_use]
    pub const fn is_meta(self) -> bool {
        matches!(self.0, 0 | 41 | 128..=255)
    }

    /// Where in the data the name stands that answers also give addresses of, or that an alias leads to.
    pub(super) const fn target_at(self) -> Option<usize> {
        match self {
            Self::NS | Self::CNAME | Self::PTR => Some(0),
            Self::MX | Self::SVCB | Self::HTTPS => Some(2),
            Self::SRV => Some(6),
            _ => None,
        }
    }
}

impl fmt::Display for RecordType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.known() {
            Some(known) => f.write_str(known.name),
            None => write!(f, "TYPE{}", self.0),
        }
    }
}

impl TryFrom<String> for RecordType {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).ok_or_else(|| format!("`{text}` is no record type"))
    }
}

impl From<RecordType> for String {
    fn from(rtype: RecordType) -> Self {
        rtype.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers() {
        for (text, code, shown) in [
            ("a", 1, "A"),
            ("TYPE1", 1, "A"),
            ("Type65280", 65280, "TYPE65280"),
            ("https", 65, "HTTPS"),
            ("type257", 257, "CAA"),
        ] {
            let rtype = RecordType::parse(text).unwrap();
            assert_eq!((rtype.0, rtype.to_string().as_str()), (code, shown));
        }
        for bad in ["", "TYPE", "TYPE65536", "TYPE+1", "TYPE-1", "nonsense", "TÿPE1"] {
            assert_eq!(RecordType::parse(bad), None, "{bad}");
        }
    }
}
