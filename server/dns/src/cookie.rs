//! DNS cookies (RFC 7873) in the form that servers of all makes share (RFC 9018): a client that sends one back has its
//! address for its own.

use siphasher::sip::SipHasher24;
use std::fmt;
use std::net::IpAddr;

/// Octets of a client cookie.
const CLIENT: usize = 8;
/// Octets of a server cookie as we make it: version, reserved, timestamp, hash.
const SERVER: usize = 16;
/// Version of the form (RFC 9018 §4).
const VERSION: u8 = 1;
/// Seconds that a cookie is accepted for (RFC 9018 §4.3).
const LIFE: u32 = 3600;
/// Seconds that a cookie may come from the future, where another server made it.
const AHEAD: u32 = 300;
/// Seconds after which a client gets a new one.
const RENEW: u32 = 1800;

/// What goes back to a client: its own cookie and ours.
pub(crate) type WholeCookie = [u8; CLIENT + SERVER];

/// A secret of 128 bits that server cookies are made with. All servers behind one address have the same.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CookieSecret([u8; 16]);

impl CookieSecret {
    /// Octets of a secret.
    pub const LEN: usize = 16;

    /// The secret of these octets.
    #[must_use]
    pub const fn new(octets: [u8; Self::LEN]) -> Self {
        Self(octets)
    }
}

impl fmt::Debug for CookieSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CookieSecret")
    }
}

/// The COOKIE option of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CookieOption {
    client: [u8; CLIENT],
    /// The server cookie, unless it has a length that none of ours has.
    server: Option<[u8; SERVER]>,
    /// Whether there was a server cookie of any length.
    pub(crate) has_server: bool,
}

impl CookieOption {
    /// Reads OPTION-DATA. `None`: malformed, the query gets FORMERR (RFC 7873 §5.2.2).
    pub(crate) fn read(data: &[u8]) -> Option<Self> {
        let (client, rest) = data.split_first_chunk()?;
        if !matches!(rest.len(), 0 | 8..=32) {
            return None;
        }
        Some(Self {
            client: *client,
            server: rest.try_into().ok(),
            has_server: !rest.is_empty(),
        })
    }
}

/// What a query's cookie is worth, and what goes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Checked {
    /// The server cookie is ours, for this address, and not too old.
    pub(crate) valid: bool,
    /// For the reply.
    pub(crate) reply: WholeCookie,
}

/// Makes and checks server cookies.
#[derive(Debug, Clone)]
pub(crate) struct Cookies {
    /// Makes.
    first: SipHasher24,
    /// Were first before, and are accepted.
    others: Box<[SipHasher24]>,
}

impl Cookies {
    /// The first secret makes cookies, all are accepted. Without any, one is made up that nobody else has.
    pub(crate) fn new(secrets: &[CookieSecret]) -> Self {
        let hasher = |secret: &CookieSecret| SipHasher24::new_with_key(&secret.0);
        let mut hashers = secrets.iter().map(hasher);
        let first = hashers
            .next()
            .unwrap_or_else(|| hasher(&CookieSecret(rand_octets())));
        Self {
            first,
            others: hashers.collect(),
        }
    }

    /// Checks the cookie of a query from `ip`. `now` is Unix time, seconds.
    #[inline]
    pub(crate) fn check(&self, option: &CookieOption, ip: IpAddr, now: u64) -> Checked {
        // Serial number arithmetic (RFC 1982): only the difference matters.
        let now = now as u32;
        let mut valid = false;
        if let Some(server) = option.server {
            let [head @ .., _, _, _, _, _, _, _, _] = server;
            let [version, _, _, _, time @ ..] = head;
            let age = now.wrapping_sub(u32::from_be_bytes(time)).cast_signed();
            let fresh = version == VERSION && age <= LIFE.cast_signed() && age >= -AHEAD.cast_signed();
            let is_of = |hasher: &SipHasher24| whole(hasher, option.client, head, ip);
            if fresh {
                let asked = join(option.client, server);
                let made_by_first = is_of(&self.first);
                if made_by_first == asked && age <= RENEW.cast_signed() {
                    return Checked {
                        valid: true,
                        reply: asked,
                    };
                }
                valid = made_by_first == asked || self.others.iter().any(|other| is_of(other) == asked);
            }
        }
        let [t0, t1, t2, t3] = now.to_be_bytes();
        let head = [VERSION, 0, 0, 0, t0, t1, t2, t3];
        Checked {
            valid,
            reply: whole(&self.first, option.client, head, ip),
        }
    }
}

/// Puts octets at a place. Whole arrays are a few instructions; octet by octet they are hundreds.
#[inline]
fn put<const N: usize>(to: &mut [u8], at: usize, octets: [u8; N]) {
    if let Some(place) = to.get_mut(at..).and_then(<[u8]>::first_chunk_mut) {
        *place = octets;
    }
}

#[inline]
fn join(client: [u8; CLIENT], server: [u8; SERVER]) -> WholeCookie {
    let mut joined = [0; CLIENT + SERVER];
    put(&mut joined, 0, client);
    put(&mut joined, CLIENT, server);
    joined
}

/// The cookie with its hash (RFC 9018 §4.4).
#[inline]
fn whole(hasher: &SipHasher24, client: [u8; CLIENT], head: [u8; 8], ip: IpAddr) -> WholeCookie {
    let mut input = [0; CLIENT + 8 + 16];
    put(&mut input, 0, client);
    put(&mut input, CLIENT, head);
    let length = match ip {
        IpAddr::V4(v4) => {
            put(&mut input, CLIENT + 8, v4.octets());
            20
        }
        IpAddr::V6(v6) => {
            put(&mut input, CLIENT + 8, v6.octets());
            32
        }
    };
    let hash = hasher.hash(input.get(..length).unwrap_or_default());
    let mut cookie = [0; CLIENT + SERVER];
    put(&mut cookie, 0, client);
    put(&mut cookie, CLIENT, head);
    put(&mut cookie, CLIENT + 8, hash.to_le_bytes());
    cookie
}

/// Bits that nobody can guess: the standard library's hash keys come from the operating system.
fn rand_octets() -> [u8; 16] {
    use std::hash::{BuildHasher as _, RandomState};
    let half = || RandomState::new().hash_one(0).to_ne_bytes();
    let (one, two) = (half(), half());
    let mut octets = [0; 16];
    for (to, from) in octets.iter_mut().zip(one.into_iter().chain(two)) {
        *to = from;
    }
    octets
}

#[cfg(test)]
mod tests {
    use super::*;

    fn octets<const N: usize>(hex: &str) -> [u8; N] {
        let bytes: Vec<u8> = (0..hex.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
            .collect();
        bytes.try_into().unwrap()
    }

    fn cookies(secrets: &[&str]) -> Cookies {
        let secrets: Vec<_> = secrets.iter().map(|hex| CookieSecret::new(octets(hex))).collect();
        Cookies::new(&secrets)
    }

    fn check(cookies: &Cookies, hex: &str, ip: &str, now: u64) -> Checked {
        let data: Vec<u8> = (0..hex.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
            .collect();
        cookies.check(&CookieOption::read(&data).unwrap(), ip.parse().unwrap(), now)
    }

    const SECRET: &str = "e5e973e5a6b2a43f48e7dc849e37bfcf";

    #[test]
    fn rfc_9018_a1_a_new_cookie() {
        let got = check(
            &cookies(&[SECRET]),
            "2464c4abcf10c957",
            "198.51.100.100",
            0x5cf7_9f11,
        );
        assert!(!got.valid);
        assert_eq!(
            got.reply,
            octets("2464c4abcf10c957010000005cf79f111f8130c3eee29480")
        );
    }

    #[test]
    fn rfc_9018_a2_an_old_cookie_is_renewed() {
        let sent = "2464c4abcf10c957010000005cf79f111f8130c3eee29480";
        let got = check(&cookies(&[SECRET]), sent, "198.51.100.100", 0x5cf7_a871);
        assert!(got.valid);
        assert_eq!(
            got.reply,
            octets("2464c4abcf10c957010000005cf7a871d4a564a1442aca77")
        );
    }

    #[test]
    fn rfc_9018_a3_reserved_octets_are_hashed_as_they_come() {
        let sent = "fc93fc62807ddb8601abcdef5cf78f71a314227b6679ebf5";
        let got = check(&cookies(&[SECRET]), sent, "203.0.113.203", 0x5cf7_a9ac);
        assert!(!got.valid, "older than an hour");
        assert_eq!(
            got.reply,
            octets("fc93fc62807ddb86010000005cf7a9acf73a7810aca2381e")
        );
        let got = check(&cookies(&[SECRET]), sent, "203.0.113.203", 0x5cf7_8f71 + 60);
        assert!(got.valid);
        assert_eq!(got.reply, octets(sent), "young enough to stay");
    }

    #[test]
    fn rfc_9018_a4_a_secret_of_before_is_accepted() {
        let secrets = [
            "445536bcd2513298075a5d379663c962",
            "dd3bdf9344b678b185a6f5cb60fca715",
        ];
        let sent = "22681ab97d52c298010000005cf7c57926556bd0934c72f8";
        let ip = "2001:db8:220:1:59de:d0f4:8769:82b8";
        let got = check(&cookies(&secrets), sent, ip, 0x5cf7_c609);
        assert!(got.valid);
        assert_eq!(
            got.reply,
            octets("22681ab97d52c298010000005cf7c609a6bb79d16625507a")
        );
        let got = check(&cookies(&secrets[..1]), sent, ip, 0x5cf7_c609);
        assert!(!got.valid);
    }

    #[test]
    fn a_cookie_is_for_one_address_and_one_client_cookie_and_one_hour() {
        let ours = "2464c4abcf10c957010000005cf79f111f8130c3eee29480";
        let made = 0x5cf7_9f11;
        let cookies = cookies(&[SECRET]);
        let valid = |sent: &str, ip, now| check(&cookies, sent, ip, now).valid;
        assert!(valid(ours, "198.51.100.100", made));
        assert!(valid(ours, "198.51.100.100", made + 3600));
        assert!(!valid(ours, "198.51.100.100", made + 3601));
        assert!(valid(ours, "198.51.100.100", made - 300));
        assert!(!valid(ours, "198.51.100.100", made - 301));
        assert!(!valid(ours, "198.51.100.101", made));
        assert!(!valid(&ours.replace("2464", "2465"), "198.51.100.100", made));
        assert!(!valid(&ours.replace("9480", "9481"), "198.51.100.100", made));
    }

    #[test]
    fn rfc_7873_5_2_2_lengths() {
        for length in 0..=45_usize {
            let read = CookieOption::read(&vec![7; length]);
            let right = length == 8 || (16..=40).contains(&length);
            assert_eq!(read.is_some(), right, "{length}");
            assert_eq!(read.is_some_and(|option| option.has_server), right && length > 8);
        }
    }

    #[test]
    fn without_secrets_everybody_has_another() {
        let option = CookieOption::read(&[7; 8]).unwrap();
        let ip = "192.0.2.1".parse().unwrap();
        let one = Cookies::new(&[]).check(&option, ip, 9).reply;
        assert_ne!(one, Cookies::new(&[]).check(&option, ip, 9).reply);
    }
}
