//! Who may take a zone as a whole (AXFR, IXFR), who is told of its changes (NOTIFY), and the keys by which they are known
//! (TSIG, RFC 8945).

use super::error::{ErrorCode, ValidationError};
use super::record::RecordName;
use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::{IpAddr, SocketAddr};

/// Most peers, and most targets of NOTIFY, of one zone.
const MAX_ENTRIES: usize = 64;
/// Port of a target that names none.
const DNS_PORT: u16 = 53;

/// Transfers of a zone. Without peers nobody gets it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Transfer {
    /// Who may transfer the zone.
    pub peers: Vec<TransferPeer>,
    /// Who is told when the serial has changed (RFC 1996).
    pub notify: Vec<NotifyTarget>,
}

/// Somebody who may transfer a zone: from a network, with a key, or with a key from a network. One of the two is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct TransferPeer {
    /// Where the request comes from; absent: from anywhere.
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>))]
    pub network: Option<IpNet>,
    /// Name of the TSIG key that signs the request; absent: it may be unsigned.
    pub key: Option<RecordName>,
    /// Signs the zone itself: it gets the zone, without signatures, also while this server signs it.
    pub signer: bool,
}

/// Somebody who is told of a new serial.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct NotifyTarget {
    /// Address and port.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub address: SocketAddr,
    /// Name of the TSIG key that signs the message.
    pub key: Option<RecordName>,
}

/// Transfers as they arrive from outside.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TransferDraft {
    /// Who may transfer the zone; default nobody.
    pub peers: Option<Vec<TransferPeerDraft>>,
    /// Who is told of a new serial; default nobody.
    pub notify: Option<Vec<NotifyTargetDraft>>,
}

/// A peer as it arrives from outside.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TransferPeerDraft {
    /// An address or a network: `192.0.2.53`, `2001:db8::/48`.
    pub network: Option<String>,
    /// Name of a TSIG key.
    pub key: Option<String>,
    /// Whether the peer signs the zone itself; default false.
    pub signer: Option<bool>,
}

/// A target of NOTIFY as it arrives from outside.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NotifyTargetDraft {
    /// An address, with a port or without (53): `192.0.2.53`, `[2001:db8::53]:5353`. Required.
    pub address: Option<String>,
    /// Name of a TSIG key.
    pub key: Option<String>,
}

/// Reads the name of a key.
///
/// # Errors
/// It is no domain name.
pub fn key_name(field: &str, text: &str) -> Result<RecordName, ValidationError> {
    let text = text.trim();
    let problem = |message: String| ValidationError::new(field, ErrorCode::Invalid, message);
    let name = RecordName::parse(text, Some(&RecordName::root())).map_err(problem)?;
    if name == RecordName::root() {
        return Err(problem("the root is no name of a key".to_owned()));
    }
    Ok(name)
}

impl TransferPeer {
    /// Whether a request from this address, signed with this key, is from this peer.
    #[must_use]
    pub fn is(&self, source: IpAddr, key: Option<&[u8]>) -> bool {
        let by_network = self.network.is_none_or(|network| network.contains(&source));
        let by_key = self.key.as_ref().is_none_or(|name| key == Some(name.as_wire()));
        by_network && by_key
    }
}

impl Transfer {
    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.peers.is_empty() && self.notify.is_empty()
    }

    /// Names of the keys in it, with the fields that they stand in.
    pub fn keys(&self) -> impl Iterator<Item = (String, &RecordName)> {
        let peers = self.peers.iter().map(|peer| peer.key.as_ref());
        let notify = self.notify.iter().map(|target| target.key.as_ref());
        let peers = peers
            .enumerate()
            .map(|(at, key)| (format!("transfer.peers[{at}].key"), key));
        let notify = notify
            .enumerate()
            .map(|(at, key)| (format!("transfer.notify[{at}].key"), key));
        peers.chain(notify).filter_map(|(field, key)| Some((field, key?)))
    }
}

impl TransferDraft {
    /// Checks the draft.
    pub(super) fn validate(&self, errors: &mut Vec<ValidationError>) -> Transfer {
        let mut transfer = Transfer::default();
        for (at, peer) in self.peers.iter().flatten().enumerate() {
            let found = errors.len();
            let field = format!("transfer.peers[{at}]");
            let network = peer
                .network
                .as_deref()
                .map(|text| network(&format!("{field}.network"), text));
            let key = peer
                .key
                .as_deref()
                .map(|text| key_name(&format!("{field}.key"), text));
            if network.is_none() && key.is_none() {
                errors.push(ValidationError::new(
                    field,
                    ErrorCode::Required,
                    "a network, a key, or both say who the peer is",
                ));
            }
            let mut told = |error| errors.push(error);
            let network = network.and_then(|network| network.map_err(&mut told).ok());
            let key = key.and_then(|key| key.map_err(&mut told).ok());
            if errors.len() == found {
                transfer.peers.push(TransferPeer {
                    network,
                    key,
                    signer: peer.signer.unwrap_or(false),
                });
            }
        }
        for (at, target) in self.notify.iter().flatten().enumerate() {
            let found = errors.len();
            let address = address(
                &format!("transfer.notify[{at}].address"),
                target.address.as_deref(),
            );
            let key = target
                .key
                .as_deref()
                .map(|text| key_name(&format!("transfer.notify[{at}].key"), text));
            let mut told = |error| errors.push(error);
            let address = address.map_err(&mut told).ok();
            let key = key.and_then(|key| key.map_err(&mut told).ok());
            if let (Some(address), true) = (address, errors.len() == found) {
                transfer.notify.push(NotifyTarget { address, key });
            }
        }
        for (field, length) in [
            ("transfer.peers", self.peers.as_ref().map_or(0, Vec::len)),
            ("transfer.notify", self.notify.as_ref().map_or(0, Vec::len)),
        ] {
            if length > MAX_ENTRIES {
                errors.push(ValidationError::new(
                    field,
                    ErrorCode::OutOfRange,
                    format!("{length} entries; {MAX_ENTRIES} are the limit"),
                ));
            }
        }
        transfer
    }
}

/// Reads a network, or an address for the network of that one.
fn network(field: &str, text: &str) -> Result<IpNet, ValidationError> {
    let text = text.trim();
    let read = text
        .parse::<IpNet>()
        .or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
    match read {
        Ok(network) if network.addr() == network.network() => Ok(network),
        Ok(network) => Err(ValidationError::new(
            field,
            ErrorCode::Invalid,
            format!(
                "`{text}` has bits set behind its length; the network is {}",
                network.trunc()
            ),
        )),
        Err(_) => Err(ValidationError::new(
            field,
            ErrorCode::Invalid,
            format!("`{text}` is neither an address nor a network such as 192.0.2.0/24"),
        )),
    }
}

fn address(field: &str, text: Option<&str>) -> Result<SocketAddr, ValidationError> {
    let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) else {
        return Err(ValidationError::new(
            field,
            ErrorCode::Required,
            "an address must be given",
        ));
    };
    let plain = text.parse::<IpAddr>();
    let read = plain
        .map(|ip| SocketAddr::new(ip, DNS_PORT))
        .or_else(|_| text.parse::<SocketAddr>());
    match read {
        Ok(address)
            if address.port() != 0 && !address.ip().is_unspecified() && !address.ip().is_multicast() =>
        {
            Ok(address)
        }
        _ => Err(ValidationError::new(
            field,
            ErrorCode::Invalid,
            format!("`{text}` is no address of a server, such as 192.0.2.53 or [2001:db8::53]:5353"),
        )),
    }
}

impl From<&Transfer> for TransferDraft {
    /// The draft that validates to the same.
    fn from(transfer: &Transfer) -> Self {
        let text = |key: &Option<RecordName>| key.as_ref().map(ToString::to_string);
        let peers = transfer.peers.iter().map(|peer| TransferPeerDraft {
            network: peer.network.map(|network| network.to_string()),
            key: text(&peer.key),
            signer: Some(peer.signer),
        });
        let notify = transfer.notify.iter().map(|target| NotifyTargetDraft {
            address: Some(target.address.to_string()),
            key: text(&target.key),
        });
        Self {
            peers: Some(peers.collect()),
            notify: Some(notify.collect()),
        }
    }
}

/// Algorithm of a TSIG key. HMAC-SHA1 and HMAC-MD5 are not offered (RFC 8945 §6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TsigAlgorithm {
    /// HMAC with SHA-256, which everybody has.
    HmacSha256,
    /// HMAC with SHA-384.
    HmacSha384,
    /// HMAC with SHA-512.
    HmacSha512,
}

impl TsigAlgorithm {
    /// Every algorithm.
    pub const ALL: [Self; 3] = [Self::HmacSha256, Self::HmacSha384, Self::HmacSha512];

    /// Its name, in configurations and (as a domain name) on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::HmacSha256 => "hmac-sha256",
            Self::HmacSha384 => "hmac-sha384",
            Self::HmacSha512 => "hmac-sha512",
        }
    }

    /// Octets of a MAC; a key as long as that is as strong as the algorithm (RFC 2104 §3).
    #[must_use]
    pub const fn length(self) -> usize {
        match self {
            Self::HmacSha256 => 32,
            Self::HmacSha384 => 48,
            Self::HmacSha512 => 64,
        }
    }

    /// The algorithm of a name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().trim_end_matches('.');
        Self::ALL
            .into_iter()
            .find(|algorithm| algorithm.as_str().eq_ignore_ascii_case(text))
    }
}

impl fmt::Display for TsigAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(json: &str) -> TransferDraft {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn a_peer_is_known_by_network_and_key() {
        let mut errors = Vec::new();
        let transfer = draft(
            r#"{"peers": [{"network": "192.0.2.0/24"}, {"key": "Xfr"}, {"network": "::1", "key": "both.example."}],
                "notify": [{"address": "192.0.2.53"}, {"address": "[::1]:5300", "key": "xfr."}]}"#,
        )
        .validate(&mut errors);
        assert_eq!(errors, []);
        let is = |at: usize, ip: &str, key: Option<&[u8]>| transfer.peers[at].is(ip.parse().unwrap(), key);
        assert!(is(0, "192.0.2.200", None) && is(0, "192.0.2.200", Some(b"\x01k\0")));
        assert!(!is(0, "192.0.3.1", None) && !is(0, "::1", None));
        assert!(is(1, "::9", Some(b"\x03xfr\0")) && !is(1, "::9", None) && !is(1, "::9", Some(b"\x01x\0")));
        let both = Some(&b"\x04both\x07example\0"[..]);
        assert!(is(2, "::1", both) && !is(2, "::2", both) && !is(2, "::1", None));
        let addresses: Vec<_> = transfer.notify.iter().map(|t| t.address.to_string()).collect();
        assert_eq!(addresses, ["192.0.2.53:53", "[::1]:5300"]);
        assert_eq!(transfer.keys().count(), 3);

        let again = TransferDraft::from(&transfer).validate(&mut errors);
        assert_eq!((again, errors), (transfer, vec![]));
    }

    #[test]
    fn every_problem_is_told_by_field() {
        let mut errors = Vec::new();
        draft(
            r#"{"peers": [{}, {"network": "192.0.2.7/24"}, {"key": "a..b"}, {"key": "."}],
                "notify": [{}, {"address": "ns.example.com"}, {"address": "0.0.0.0"}, {"address": "192.0.2.1:0"},
                           {"address": "192.0.2.1", "key": "@@.."}]}"#,
        )
        .validate(&mut errors);
        let fields: Vec<_> = errors.iter().map(|error| &*error.field).collect();
        assert_eq!(
            fields,
            [
                "transfer.peers[0]",
                "transfer.peers[1].network",
                "transfer.peers[2].key",
                "transfer.peers[3].key",
                "transfer.notify[0].address",
                "transfer.notify[1].address",
                "transfer.notify[2].address",
                "transfer.notify[3].address",
                "transfer.notify[4].key",
            ]
        );
        assert_eq!(
            TsigAlgorithm::parse("HMAC-SHA256."),
            Some(TsigAlgorithm::HmacSha256)
        );
        assert_eq!(TsigAlgorithm::parse("hmac-sha1"), None);
    }
}
