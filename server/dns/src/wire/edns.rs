//! The OPT record of a query (RFC 6891) and the options that the server reads: client subnet (RFC 7871), cookie
//! (RFC 7873), keepalive (RFC 7828), padding (RFC 7830) and NSID (RFC 5001). Others are skipped (RFC 6891 §6.1.2).

use super::{PLAIN_PAYLOAD, Reader};
use crate::cookie::CookieOption;
use gslb_engine::query::ClientSubnet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

pub(super) const OPTION_NSID: u16 = 3;
pub(super) const OPTION_CLIENT_SUBNET: u16 = 8;
pub(super) const OPTION_COOKIE: u16 = 10;
pub(super) const OPTION_KEEPALIVE: u16 = 11;
pub(super) const OPTION_PADDING: u16 = 12;
pub(super) const OPTION_EDE: u16 = 15;

/// A client subnet option that is valid, with what its echo needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ClientSubnetOption {
    /// FAMILY as it came: 1, 2, or 0 (only with a source of 0: what `dig +subnet=0` sends).
    pub(crate) family: u16,
    /// The subnet.
    pub(crate) subnet: ClientSubnet,
    /// Offset of the FAMILY field in the message.
    pub(crate) offset: usize,
}

impl ClientSubnetOption {
    /// The ADDRESS octets: as many as the source length needs (RFC 7871 §6).
    pub(crate) fn address_octets(&self) -> ([u8; 16], usize) {
        let mut octets = [0; 16];
        match self.subnet.address {
            IpAddr::V4(v4) => octets
                .iter_mut()
                .zip(v4.octets())
                .for_each(|(to, from)| *to = from),
            IpAddr::V6(v6) => octets = v6.octets(),
        }
        (octets, self.address_length())
    }

    /// Number of the ADDRESS octets.
    pub(crate) const fn address_length(&self) -> usize {
        (self.subnet.source as usize).div_ceil(8)
    }

    /// Reads OPTION-DATA. `None`: malformed, the query gets FORMERR (RFC 7871 §7.1.2). The scope is not looked at.
    fn read(data: &[u8], offset: usize) -> Option<Self> {
        let mut reader = Reader::new(data, 0);
        let (family, source, _scope) = (reader.u16()?, reader.u8()?, reader.u8()?);
        let bits = match family {
            0 => 0,
            1 => 32,
            2 => 128,
            _ => return None,
        };
        if source > bits {
            return None;
        }
        let address = data.get(reader.at()..)?;
        if address.len() != usize::from(source).div_ceil(8) {
            return None;
        }
        let mut octets = [0; 16];
        for (to, from) in octets.iter_mut().zip(address) {
            *to = *from;
        }
        // The address is left-aligned: pushed out by the source length, nothing may remain.
        if u128::from_be_bytes(octets)
            .checked_shl(source.into())
            .unwrap_or(0)
            != 0
        {
            return None;
        }
        let address = if family == 2 {
            IpAddr::V6(Ipv6Addr::from(octets))
        } else {
            let [a, b, c, d, ..] = octets;
            IpAddr::V4(Ipv4Addr::new(a, b, c, d))
        };
        Some(Self {
            family,
            subnet: ClientSubnet { address, source },
            offset,
        })
    }
}

/// Options that ask for one of the same kind, which is added to a reply that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extras {
    /// The query was padded.
    pub(crate) padding: bool,
    /// The client wants to know for how long its connection may be idle.
    pub(crate) keepalive: bool,
}

impl Extras {
    pub(crate) const NONE: Self = Self {
        padding: false,
        keepalive: false,
    };
}

/// The OPT record of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EdnsQuery {
    /// UDP payload size of the client; less than 512 counts as 512.
    pub(crate) payload: u16,
    /// EDNS version.
    pub(crate) version: u8,
    /// DO, copied into the reply (RFC 3225 §3).
    pub(crate) dnssec_ok: bool,
    /// Whether a reply about a name that does not exist may say NXDOMAIN beside its compact denial (CO, RFC 9824 §5.1).
    pub(crate) compact_ok: bool,
    /// Whether NSID is asked for.
    pub(crate) nsid: bool,
    /// What is to be added to the reply when it is written.
    pub(crate) extras: Extras,
    /// Client subnet.
    pub(crate) subnet: Option<ClientSubnetOption>,
    /// Cookie.
    pub(crate) cookie: Option<CookieOption>,
}

impl EdnsQuery {
    /// Takes the fixed fields, from CLASS and TTL (RFC 6891 §6.1.2).
    pub(crate) fn new(class: u16, ttl: u32) -> Self {
        let [_, version, flags, _] = ttl.to_be_bytes();
        Self {
            payload: class.max(PLAIN_PAYLOAD),
            version,
            dnssec_ok: flags & 0x80 != 0,
            // Without DO there are no such replies.
            compact_ok: flags & 0xc0 == 0xc0,
            nsid: false,
            extras: Extras::NONE,
            subnet: None,
            cookie: None,
        }
    }

    /// Reads the options; `offset` is that of `rdata` in the message. `None`: malformed.
    pub(crate) fn read_options(&mut self, rdata: &[u8], offset: usize) -> Option<()> {
        let mut reader = Reader::new(rdata, 0);
        while reader.at() < rdata.len() {
            let (option, length) = (reader.u16()?, reader.u16()?);
            let start = reader.at();
            let data = reader.take(length.into())?;
            match option {
                OPTION_NSID => self.nsid = true,
                OPTION_PADDING => self.extras.padding = true,
                OPTION_KEEPALIVE => self.extras.keepalive = true,
                OPTION_CLIENT_SUBNET => {
                    // Two subnets would leave open for which of them an answer may be cached.
                    if self.subnet.is_some() {
                        return None;
                    }
                    self.subnet = Some(ClientSubnetOption::read(data, offset + start)?);
                }
                OPTION_COOKIE => {
                    let cookie = CookieOption::read(data)?;
                    // Of several the first counts.
                    self.cookie.get_or_insert(cookie);
                }
                _ => {}
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subnet(data: &[u8]) -> Option<(IpAddr, u8)> {
        ClientSubnetOption::read(data, 0).map(|o| {
            let (octets, length) = o.address_octets();
            assert_eq!(
                octets.get(..length),
                data.get(4..),
                "the echo has the octets of the query"
            );
            (o.subnet.address, o.subnet.source)
        })
    }

    #[test]
    fn rfc_7871_6_valid_lengths() {
        assert_eq!(subnet(&[0, 1, 0, 0]), Some(("0.0.0.0".parse().unwrap(), 0)));
        assert_eq!(subnet(&[0, 0, 0, 0]), Some(("0.0.0.0".parse().unwrap(), 0)));
        assert_eq!(subnet(&[0, 2, 0, 0]), Some(("::".parse().unwrap(), 0)));
        assert_eq!(subnet(&[0, 1, 5, 0, 8]), Some(("8.0.0.0".parse().unwrap(), 5)));
        assert_eq!(
            subnet(&[0, 1, 23, 0, 101, 132, 254]),
            Some(("101.132.254.0".parse().unwrap(), 23))
        );
        assert_eq!(
            subnet(&[0, 1, 32, 0, 192, 0, 2, 1]),
            Some(("192.0.2.1".parse().unwrap(), 32))
        );
        assert_eq!(
            subnet(&[0, 2, 33, 0, 0x20, 1, 0xd, 0xb8, 0x80]),
            Some(("2001:db8:8000::".parse().unwrap(), 33))
        );
        let whole = [&[0, 2, 128, 0][..], &[0xff; 16]].concat();
        assert_eq!(subnet(&whole).map(|s| s.1), Some(128));
    }

    #[test]
    fn rfc_7871_6_malformed() {
        for data in [
            &[0, 1, 33, 0, 1, 2, 3, 4, 5][..],
            &[0, 1, 255, 0, 1, 2, 3, 4],
            &[
                0, 2, 129, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17,
            ],
            &[0, 3, 0, 0],
            &[0, 3, 8, 0, 1],
            &[0, 0, 8, 0, 1],
            &[0, 1, 23, 0, 101, 132, 255],
            &[0, 1, 24, 0, 1, 2, 3, 0],
            &[0, 1, 24, 0, 1, 2],
            &[0, 1, 0, 0, 0],
            &[0, 1, 24],
            &[],
        ] {
            assert_eq!(subnet(data), None, "{data:?}");
        }
    }

    #[test]
    fn options_that_run_past_the_end_are_malformed() {
        let mut edns = EdnsQuery::new(1232, 0);
        assert_eq!(edns.read_options(&[0, 3, 0, 0], 0), Some(()));
        assert!(edns.nsid);
        assert_eq!(edns.read_options(&[0, 9, 0, 0, 0xfd, 0xe9, 0, 1, 7], 0), Some(()));
        assert_eq!(edns.read_options(&[0, 3, 0, 1], 0), None);
        assert_eq!(edns.read_options(&[0, 3, 0], 0), None);
    }
}
