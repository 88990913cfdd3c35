//! Service parameters of SVCB and HTTPS records (RFC 9460 §2.1, §7).

use super::rdata::{number, take};
use super::text::{Word, base64, octets, push_base64, push_octet, push_quoted};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Keys with a name, by their number.
const KEYS: [&str; 8] = [
    "mandatory",
    "alpn",
    "no-default-alpn",
    "port",
    "ipv4hint",
    "ech",
    "ipv6hint",
    "dohpath",
];
const MANDATORY: u16 = 0;
const ALPN: u16 = 1;
const NO_DEFAULT_ALPN: u16 = 2;
const PORT: u16 = 3;
/// Key of `ipv4hint`.
pub(super) const IPV4_HINT: u16 = 4;
const ECH: u16 = 5;
/// Key of `ipv6hint`.
pub(super) const IPV6_HINT: u16 = 6;

fn key(text: &str) -> Option<u16> {
    if let Some(number) = KEYS.iter().position(|name| *name == text) {
        return u16::try_from(number).ok();
    }
    let number = text.strip_prefix("key")?;
    let plain = !number.is_empty()
        && number.bytes().all(|b| b.is_ascii_digit())
        && (number == "0" || !number.starts_with('0'));
    // 65535 is reserved as the invalid key.
    plain
        .then(|| number.parse().ok())
        .flatten()
        .filter(|key| *key != u16::MAX)
}

fn name(key: u16) -> String {
    KEYS.get(usize::from(key))
        .map_or_else(|| format!("key{key}"), |name| (*name).to_owned())
}

/// Reads `key=value` words and writes them in the order of their keys.
pub(super) fn write(words: &[Word], wire: &mut Vec<u8>) -> Result<(), String> {
    let mut found: Vec<(u16, Vec<u8>)> = Vec::new();
    for word in words {
        let (text, value) = match word.raw.split_once('=') {
            Some((text, value)) => (text, Some(value)),
            None => (word.raw.as_str(), None),
        };
        let key = key(text).ok_or_else(|| {
            format!(
                "`{text}` is no service parameter; the names are {}, or keyNNNNN",
                KEYS.join(", ")
            )
        })?;
        if found.iter().any(|(known, _)| *known == key) {
            return Err(format!("`{text}` is given twice"));
        }
        let encoded = encode(key, value.unwrap_or_default()).map_err(|why| format!("{text}: {why}"))?;
        found.push((key, encoded));
    }
    found.sort_unstable_by_key(|(key, _)| *key);
    let has = |wanted: u16| found.iter().any(|(key, _)| *key == wanted);
    if let Some((_, list)) = found.iter().find(|(key, _)| *key == MANDATORY) {
        for pair in list.chunks_exact(2) {
            let wanted = pair
                .iter()
                .fold(0, |number, octet| number << 8 | u16::from(*octet));
            if wanted == MANDATORY || !has(wanted) {
                return Err(format!("mandatory: `{}` is not among the others", name(wanted)));
            }
        }
    }
    if has(NO_DEFAULT_ALPN) && !has(ALPN) {
        return Err("no-default-alpn without alpn leaves no protocol at all".to_owned());
    }
    for (key, value) in found {
        wire.extend_from_slice(&key.to_be_bytes());
        let length = u16::try_from(value.len()).map_err(|_| format!("{}: is too long", name(key)))?;
        wire.extend_from_slice(&length.to_be_bytes());
        wire.extend(value);
    }
    Ok(())
}

fn encode(key: u16, raw: &str) -> Result<Vec<u8>, String> {
    let list = || raw.split(',').map(str::trim);
    if raw.is_empty() && matches!(key, MANDATORY | ALPN | PORT | IPV4_HINT | ECH | IPV6_HINT) {
        return Err("must have a value".to_owned());
    }
    match key {
        MANDATORY => {
            let keys: Option<Vec<u16>> = list().map(self::key).collect();
            let mut keys = keys.ok_or_else(|| format!("`{raw}` is no list of parameters"))?;
            keys.sort_unstable();
            let count = keys.len();
            keys.dedup();
            if keys.len() != count {
                return Err("names a parameter twice".to_owned());
            }
            Ok(keys.into_iter().flat_map(u16::to_be_bytes).collect())
        }
        ALPN => {
            let mut wire = Vec::new();
            for id in split_list(&octets(raw)?) {
                let length = u8::try_from(id.len()).ok().filter(|length| *length > 0);
                wire.push(length.ok_or("a protocol has 1 to 255 octets")?);
                wire.extend(id);
            }
            Ok(wire)
        }
        NO_DEFAULT_ALPN if raw.is_empty() => Ok(Vec::new()),
        NO_DEFAULT_ALPN => Err("has no value".to_owned()),
        PORT => {
            let port = Some(raw).filter(|raw| raw.bytes().all(|b| b.is_ascii_digit()));
            let port: Option<u16> = port.and_then(|raw| raw.parse().ok());
            Ok(port
                .ok_or_else(|| format!("`{raw}` is no port"))?
                .to_be_bytes()
                .to_vec())
        }
        IPV4_HINT => {
            let addresses: Result<Vec<Ipv4Addr>, _> = list().map(str::parse).collect();
            let addresses = addresses.map_err(|_| format!("`{raw}` is no list of IPv4 addresses"))?;
            Ok(addresses.into_iter().flat_map(|a| a.octets()).collect())
        }
        IPV6_HINT => {
            let addresses: Result<Vec<Ipv6Addr>, _> = list().map(str::parse).collect();
            let addresses = addresses.map_err(|_| format!("`{raw}` is no list of IPv6 addresses"))?;
            Ok(addresses.into_iter().flat_map(|a| a.octets()).collect())
        }
        ECH => base64(raw),
        _ => octets(raw),
    }
}

/// Splits a list at its commas; in it `\,` and `\\` stand for the characters themselves (RFC 9460 appendix A.1). The
/// escapes of character strings are gone already.
fn split_list(octets: &[u8]) -> Vec<Vec<u8>> {
    let mut items = vec![Vec::new()];
    let mut escaped = false;
    for octet in octets {
        if !escaped && *octet == b'\\' {
            escaped = true;
            continue;
        }
        if !escaped && *octet == b',' {
            items.push(Vec::new());
        } else if let Some(item) = items.last_mut() {
            item.push(*octet);
        }
        escaped = false;
    }
    items
}

/// One parameter after another, with its key, from wire form; `None` when they do not fit.
pub(super) fn each<'a>(mut wire: &'a [u8]) -> Option<Vec<(u16, &'a [u8])>> {
    let mut found: Vec<(u16, &'a [u8])> = Vec::new();
    while !wire.is_empty() {
        let key = u16::try_from(number(&mut wire, 2)?).ok()?;
        let length = usize::try_from(number(&mut wire, 2)?).ok()?;
        let value = take(&mut wire, length)?;
        if found.last().is_some_and(|(last, _)| *last >= key) {
            return None;
        }
        found.push((key, value));
    }
    Some(found)
}

/// The parameters with these addresses in the hints that are there. A hint without an address goes, also from the list
/// of what is mandatory; `None` when the parameters do not fit.
pub(super) fn with_hints(wire: &[u8], addresses: &[IpAddr]) -> Option<Vec<u8>> {
    let mut found: Vec<(u16, Vec<u8>)> = Vec::new();
    for (key, value) in each(wire)? {
        let octets = match key {
            IPV4_HINT => addresses
                .iter()
                .filter_map(|ip| match ip {
                    IpAddr::V4(v4) => Some(v4.octets()),
                    IpAddr::V6(_) => None,
                })
                .flatten()
                .collect(),
            IPV6_HINT => addresses
                .iter()
                .filter_map(|ip| match ip {
                    IpAddr::V6(v6) => Some(v6.octets()),
                    IpAddr::V4(_) => None,
                })
                .flatten()
                .collect(),
            _ => value.to_vec(),
        };
        if !(octets.is_empty() && matches!(key, IPV4_HINT | IPV6_HINT)) {
            found.push((key, octets));
        }
    }
    let keys: Vec<[u8; 2]> = found.iter().map(|(key, _)| key.to_be_bytes()).collect();
    if let Some((_, list)) = found.first_mut().filter(|(key, _)| *key == MANDATORY) {
        *list = list
            .chunks_exact(2)
            .filter(|key| keys.iter().any(|known| known == key))
            .flatten()
            .copied()
            .collect();
    }
    found.retain(|(key, value)| *key != MANDATORY || !value.is_empty());
    let mut wire = Vec::new();
    for (key, value) in found {
        wire.extend_from_slice(&key.to_be_bytes());
        wire.extend_from_slice(&u16::try_from(value.len()).ok()?.to_be_bytes());
        wire.extend(value);
    }
    Some(wire)
}

/// Appends the text form, each parameter with a space behind it.
pub(super) fn show(text: &mut String, wire: &[u8]) -> Option<()> {
    for (key, mut value) in each(wire)? {
        text.push_str(&name(key));
        let mut items = Vec::new();
        match key {
            MANDATORY => {
                while !value.is_empty() {
                    items.push(name(u16::try_from(number(&mut value, 2)?).ok()?));
                }
            }
            ALPN => {
                let mut list = Vec::new();
                while !value.is_empty() {
                    let length = usize::try_from(number(&mut value, 1)?).ok()?;
                    let mut item = Vec::new();
                    for octet in take(&mut value, length)? {
                        if matches!(octet, b',' | b'\\') {
                            item.push(b'\\');
                        }
                        item.push(*octet);
                    }
                    list.push(item);
                }
                let joined = list.join(&b',');
                let mut shown = String::new();
                if joined
                    .iter()
                    .all(|octet| octet.is_ascii_graphic() && !b"\"\\();".contains(octet))
                {
                    joined
                        .iter()
                        .for_each(|octet| push_octet(&mut shown, *octet, b""));
                } else {
                    push_quoted(&mut shown, &joined);
                }
                items.push(shown);
            }
            NO_DEFAULT_ALPN => {
                if !value.is_empty() {
                    return None;
                }
            }
            PORT => items.push(number(&mut value, 2).filter(|_| value.is_empty())?.to_string()),
            IPV4_HINT => {
                while !value.is_empty() {
                    items.push(Ipv4Addr::from(<[u8; 4]>::try_from(take(&mut value, 4)?).ok()?).to_string());
                }
            }
            IPV6_HINT => {
                while !value.is_empty() {
                    items.push(Ipv6Addr::from(<[u8; 16]>::try_from(take(&mut value, 16)?).ok()?).to_string());
                }
            }
            ECH => {
                let mut shown = String::new();
                push_base64(&mut shown, value);
                items.push(shown);
            }
            _ => {
                let mut shown = String::new();
                push_quoted(&mut shown, value);
                items.push(shown);
            }
        }
        let joined = items.join(",");
        // An empty value of a key without a name of its own is no value.
        if !joined.is_empty() && joined != "\"\"" {
            text.push('=');
            text.push_str(&joined);
        }
        text.push(' ');
    }
    Some(())
}
