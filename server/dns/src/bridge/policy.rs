//! What holds for every reply, whatever it says: identifier, cookies, limits.

use crate::cookie::{Checked, CookieOption, Cookies};
use crate::rate::{Kind, ResponseRate, Verdict};
use crate::settings::DnsSettings;
use crate::stats::Transport;
use crate::wire::{EdnsQuery, MAX_PAYLOAD, PLAIN_PAYLOAD, ReplyEdns};
use std::net::IpAddr;
use std::time::Duration;

/// The settings of the server, as its threads use them.
#[derive(Debug)]
pub(crate) struct Policy {
    nsid: Option<Vec<u8>>,
    cookies: Cookies,
    payload_without_cookie: u16,
    rate: Option<ResponseRate>,
    idle: Duration,
}

impl Policy {
    pub(crate) fn new(settings: &DnsSettings) -> Self {
        Self {
            nsid: settings.nsid.clone(),
            cookies: Cookies::new(&settings.cookies),
            payload_without_cookie: settings.payload_without_cookie.clamp(PLAIN_PAYLOAD, MAX_PAYLOAD),
            rate: ResponseRate::new(&settings.rate),
            idle: settings.tcp.idle,
        }
    }

    /// For how long a connection may be idle.
    pub(super) fn idle(&self) -> Duration {
        self.idle
    }

    /// Checks the cookie of a query, if it has one.
    #[inline]
    pub(super) fn check(&self, option: Option<&CookieOption>, client: IpAddr, now: u64) -> Option<Checked> {
        option.map(|option| self.cookies.check(option, client, now))
    }

    /// Octets of a reply over UDP, at most, apart from what the client can take.
    #[inline]
    pub(super) fn most_over_udp(&self, cookie: Option<&Checked>) -> u16 {
        if is_valid(cookie) {
            MAX_PAYLOAD
        } else {
            self.payload_without_cookie
        }
    }

    /// Decides whether a reply may go out. TCP and a valid cookie show that the client is where it says.
    #[inline]
    pub(super) fn judge(
        &self,
        transport: Transport,
        client: IpAddr,
        cookie: Option<&Checked>,
        kind: Kind,
        micros: u64,
        limited: &mut u32,
    ) -> Verdict {
        match &self.rate {
            Some(rate) if transport == Transport::Udp && !is_valid(cookie) => {
                rate.judge(client, kind, micros, limited)
            }
            _ => Verdict::Send,
        }
    }

    /// Decides whether a query that came with so many others that some will be lost is looked at at all; `cookie` tells
    /// whether it has a valid one, and is only asked if that matters.
    pub(super) fn judge_query(
        &self,
        client: IpAddr,
        micros: u64,
        limited: &mut u32,
        cookie: impl FnOnce() -> bool,
    ) -> Verdict {
        let Some(rate) = &self.rate else {
            return Verdict::Send;
        };
        match rate.judge_query(client, micros, limited) {
            Verdict::Send => Verdict::Send,
            _ if cookie() => Verdict::Send,
            verdict => verdict,
        }
    }

    /// The OPT record of a reply, but for what it says about the answer.
    #[inline]
    pub(super) fn edns(&self, edns: &EdnsQuery, cookie: Option<&Checked>, scope: u8) -> ReplyEdns<'_> {
        ReplyEdns {
            dnssec_ok: edns.dnssec_ok,
            compact_ok: edns.compact_ok,
            subnet: edns
                .subnet
                .map(|subnet| (subnet, scope.min(subnet.subnet.source))),
            ede: [None; 2],
            cookie: cookie.map(|checked| checked.reply),
            nsid: self.nsid.as_deref().filter(|_| edns.nsid),
        }
    }
}

pub(super) fn is_valid(cookie: Option<&Checked>) -> bool {
    cookie.is_some_and(|checked| checked.valid)
}
