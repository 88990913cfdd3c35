//! Counters of the DNS server: slots of atomics that threads write alone and a scrape sums up.
//!
//! A UDP thread counts in a slot of its own, so that no cache line is shared on the way of a query; TCP connections share
//! one. Slots live as long as the [`DnsStats`], also through a restart of the listeners: counters never go back.

use crate::limit::QueryLimit;
use crate::proxy::ProxyFault;
use crate::rate::Verdict;
use crate::recent::RecentQueries;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How a query came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Transport {
    /// Datagrams.
    Udp = 0,
    /// Streams (RFC 7766).
    Tcp = 1,
    /// DNS over TLS (RFC 7858).
    Tls = 2,
    /// DNS over HTTPS (RFC 8484).
    Https = 3,
    /// DNS over QUIC (RFC 9250).
    Quic = 4,
}

impl Transport {
    /// Every transport.
    pub const ALL: [Self; 5] = [Self::Udp, Self::Tcp, Self::Tls, Self::Https, Self::Quic];

    /// Whether nobody on the way can read it.
    #[must_use]
    pub const fn is_encrypted(self) -> bool {
        matches!(self, Self::Tls | Self::Https | Self::Quic)
    }

    /// Label in metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Udp => "udp",
            Self::Tcp => "tcp",
            Self::Tls => "tls",
            Self::Https => "https",
            Self::Quic => "quic",
        }
    }
}

/// Response codes that are counted apart.
pub const RCODES: [&str; 8] = [
    "NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED", "BADVERS", "OTHER",
];

/// Query types that are counted apart, as far as the question could be read.
pub const QTYPES: [&str; 12] = [
    "A", "AAAA", "SOA", "NS", "CNAME", "MX", "TXT", "PTR", "SRV", "HTTPS", "ANY", "OTHER",
];

/// Upper bounds of the latency buckets, nanoseconds; one more bucket takes the rest.
pub const LATENCY_BOUNDS: [u64; 12] = [
    5_000,
    10_000,
    25_000,
    50_000,
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    25_000_000,
    100_000_000,
];

const fn rcode_index(rcode: u16) -> usize {
    match rcode {
        0..=5 => rcode as usize,
        16 => 6,
        _ => 7,
    }
}

const fn qtype_index(qtype: u16) -> usize {
    match qtype {
        1 => 0,
        28 => 1,
        6 => 2,
        2 => 3,
        5 => 4,
        15 => 5,
        16 => 6,
        12 => 7,
        33 => 8,
        65 => 9,
        255 => 10,
        _ => 11,
    }
}

type Counter = AtomicU64;

fn add(counter: Option<&Counter>, by: u64) {
    if let Some(counter) = counter {
        counter.fetch_add(by, Ordering::Relaxed);
    }
}

/// Why a datagram or message gets no reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unanswered {
    /// It is no query: shorter than a header, or itself a response.
    NoQuery = 0,
    /// Its PROXY header is broken, or of version 1.
    Proxy = 1,
    /// The thread is overloaded, and the client's network has had its share.
    Share = 2,
    /// The thread is overloaded, and it asks for nothing that exists.
    Scarce = 3,
}

impl Unanswered {
    /// Every reason.
    pub const ALL: [Self; 4] = [Self::NoQuery, Self::Proxy, Self::Share, Self::Scarce];

    /// Label in metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoQuery => "no-query",
            Self::Proxy => "proxy",
            Self::Share => "share",
            Self::Scarce => "scarce",
        }
    }
}

/// What a thread has done in one batch and not counted yet: answers with addresses, which are nearly all.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tally {
    /// Questions for A and for AAAA.
    questions: [u64; 2],
    /// Answers with NOERROR.
    answers: u64,
}

impl Tally {
    /// `qtype` is A or AAAA.
    #[inline]
    pub(crate) fn question(&mut self, qtype: u16) {
        let [v4, v6] = &mut self.questions;
        *(if qtype == 1 { v4 } else { v6 }) += 1;
    }

    #[inline]
    pub(crate) fn answer(&mut self) {
        self.answers += 1;
    }
}

/// Counters of one thread.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    responses: [[Counter; RCODES.len()]; Transport::ALL.len()],
    qtypes: [Counter; QTYPES.len()],
    latency: [Counter; LATENCY_BOUNDS.len() + 1],
    latency_ns: Counter,
    no_data: Counter,
    unanswered: [Counter; Unanswered::ALL.len()],
    truncated: Counter,
    limited_dropped: Counter,
    limited_slipped: Counter,
    panics: Counter,
    send_errors: Counter,
}

impl Slot {
    pub(crate) fn response(&self, transport: Transport, rcode: u16) {
        add(
            self.responses
                .get(transport as usize)
                .and_then(|row| row.get(rcode_index(rcode))),
            1,
        );
    }

    /// Counts what a batch has brought, and empties the tally.
    pub(crate) fn batch(&self, transport: Transport, tally: &mut Tally) {
        let Tally { questions, answers } = std::mem::take(tally);
        for (qtype, questions) in [1, 28].into_iter().zip(questions) {
            if questions > 0 {
                add(self.qtypes.get(qtype_index(qtype)), questions);
            }
        }
        if answers > 0 {
            let row = self.responses.get(transport as usize);
            add(row.and_then(|row| row.get(rcode_index(0))), answers);
        }
    }

    pub(crate) fn question(&self, qtype: u16) {
        add(self.qtypes.get(qtype_index(qtype)), 1);
    }

    /// Counts `queries` that took `time` each: a batch is measured as a whole.
    pub(crate) fn latency(&self, queries: u64, time: Duration) {
        let ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let bucket = LATENCY_BOUNDS.partition_point(|bound| *bound < ns);
        add(self.latency.get(bucket), queries);
        add(Some(&self.latency_ns), ns.saturating_mul(queries));
    }

    pub(crate) fn no_data(&self) {
        add(Some(&self.no_data), 1);
    }

    pub(crate) fn unanswered(&self, reason: Unanswered) {
        add(self.unanswered.get(reason as usize), 1);
    }

    pub(crate) fn truncated(&self) {
        add(Some(&self.truncated), 1);
    }

    /// Counts a reply that response rate limiting has held back.
    pub(crate) fn rate_limited(&self, verdict: Verdict) {
        match verdict {
            Verdict::Send => {}
            Verdict::Slip => add(Some(&self.limited_slipped), 1),
            Verdict::Drop => add(Some(&self.limited_dropped), 1),
        }
    }

    pub(crate) fn panicked(&self) {
        add(Some(&self.panics), 1);
    }

    pub(crate) fn send_errors(&self, replies: usize) {
        add(
            Some(&self.send_errors),
            u64::try_from(replies).unwrap_or(u64::MAX),
        );
    }
}

/// All counters of the DNS server. Shared by the server that counts and the exporter that reads.
#[derive(Debug, Default)]
pub struct DnsStats {
    /// The licence's limit of queries a second; none unless it is set.
    pub limit: QueryLimit,
    /// Some of the latest queries; none unless there is room for them.
    pub recent: RecentQueries,
    slots: Mutex<Vec<Arc<Slot>>>,
    tcp_accepted: Counter,
    tcp_refused: Counter,
    tcp_open: Counter,
    tcp_replaced: Counter,
    private_client_ip: Counter,
    proxy_refused: Counter,
    /// Unix time of the last warning about a proxy.
    warned_of_proxy: AtomicU64,
    transfers: [Counter; 2],
    transfers_refused: Counter,
    transfers_broken: Counter,
    tsig_errors: Counter,
    /// Unix time of the last warning about a refused transfer.
    warned_of_transfer: AtomicU64,
    /// Unix time of the last warning about a client that no database can place.
    warned: AtomicU64,
    /// Unix time of the last warning about a failed script.
    warned_of_script: AtomicU64,
}

/// Whether a minute has passed since the time in `last`, which then becomes `now`. A clock set back is taken for a new
/// minute: better one line too many than silence for as long.
fn once_a_minute(last: &AtomicU64, now: u64) -> bool {
    let before = last.load(Ordering::Relaxed);
    let due = before == 0 || now.abs_diff(before) >= 60;
    due && last
        .compare_exchange(before, now, Ordering::Relaxed, Ordering::Relaxed)
        .is_ok()
}

impl DnsStats {
    /// All counters at zero.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A new slot, for a thread.
    pub(crate) fn slot(&self) -> Arc<Slot> {
        let slot = Arc::new(Slot::default());
        self.slots
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(Arc::clone(&slot));
        slot
    }

    pub(crate) fn tcp_opened(&self) {
        add(Some(&self.tcp_accepted), 1);
        add(Some(&self.tcp_open), 1);
    }

    pub(crate) fn tcp_closed(&self) {
        self.tcp_open.fetch_sub(1, Ordering::Relaxed);
    }

    pub(crate) fn tcp_replaced(&self) {
        add(Some(&self.tcp_replaced), 1);
    }

    pub(crate) fn tcp_refused(&self) {
        add(Some(&self.tcp_refused), 1);
    }

    /// Counts a query whose private client no database could place; `true` at most once a minute: then it is logged.
    pub(crate) fn private_client(&self, now: u64) -> bool {
        add(Some(&self.private_client_ip), 1);
        once_a_minute(&self.warned, now)
    }

    /// Counts a datagram or connection of a proxy that does not say whom it speaks for, and logs it at most once a minute.
    pub(crate) fn proxy_refused(&self, proxy: IpAddr, fault: ProxyFault, now: u64) {
        add(Some(&self.proxy_refused), 1);
        if once_a_minute(&self.warned_of_proxy, now) {
            tracing::warn!(%proxy, "a proxy does not say whom it speaks for: {}", fault.as_str());
        }
    }

    /// Counts a transfer that was begun.
    pub(crate) fn transfer(&self, incremental: bool) {
        add(self.transfers.get(usize::from(incremental)), 1);
    }

    /// Counts a transfer that was refused; `true` at most once a minute: then it is logged.
    pub(crate) fn transfer_refused(&self, now: u64) -> bool {
        add(Some(&self.transfers_refused), 1);
        once_a_minute(&self.warned_of_transfer, now)
    }

    /// Counts a transfer that was begun and not finished.
    pub(crate) fn transfer_broken(&self) {
        add(Some(&self.transfers_broken), 1);
    }

    /// Counts a message whose signature was not good.
    pub(crate) fn tsig_error(&self) {
        add(Some(&self.tsig_errors), 1);
    }

    /// `true` at most once a minute for each service, and once a second for all of them: then a failed script is logged.
    /// The engine counts them, by service. `logged` is when that last happened for the service.
    pub(crate) fn script_failed(&self, logged: &AtomicU64, now: u64) -> bool {
        self.warned_of_script.load(Ordering::Relaxed) != now
            && once_a_minute(logged, now)
            && self.warned_of_script.swap(now, Ordering::Relaxed) != now
    }

    /// The sums of this moment.
    #[must_use]
    pub fn snapshot(&self) -> DnsCounts {
        let load = |counter: &Counter| counter.load(Ordering::Relaxed);
        let mut counts = DnsCounts {
            tcp_accepted: load(&self.tcp_accepted),
            tcp_refused: load(&self.tcp_refused),
            tcp_open: load(&self.tcp_open),
            tcp_replaced: load(&self.tcp_replaced),
            private_client_ip: load(&self.private_client_ip),
            proxy_refused: load(&self.proxy_refused),
            transfers: self.transfers.each_ref().map(load),
            transfers_refused: load(&self.transfers_refused),
            transfers_broken: load(&self.transfers_broken),
            tsig_errors: load(&self.tsig_errors),
            over_limit: self.limit.refused(),
            ..DnsCounts::default()
        };
        let sum = |to: &mut [u64], from: &[Counter]| {
            to.iter_mut().zip(from).for_each(|(to, from)| *to += load(from));
        };
        for slot in self.slots.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            for (to, from) in counts.responses.iter_mut().zip(&slot.responses) {
                sum(to, from);
            }
            sum(&mut counts.qtypes, &slot.qtypes);
            sum(&mut counts.latency, &slot.latency);
            counts.latency_ns += load(&slot.latency_ns);
            counts.no_data += load(&slot.no_data);
            sum(&mut counts.unanswered, &slot.unanswered);
            counts.truncated += load(&slot.truncated);
            counts.limited_dropped += load(&slot.limited_dropped);
            counts.limited_slipped += load(&slot.limited_slipped);
            counts.panics += load(&slot.panics);
            counts.send_errors += load(&slot.send_errors);
        }
        counts
    }
}

/// Values of all counters at one moment. Counted since the [`DnsStats`] was made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DnsCounts {
    /// Replies by [`Transport`] and response code ([`RCODES`]).
    pub responses: [[u64; RCODES.len()]; Transport::ALL.len()],
    /// Queries by type ([`QTYPES`]); messages whose question could not be read are in none.
    pub qtypes: [u64; QTYPES.len()],
    /// Replies by the time from receiving a batch to sending it ([`LATENCY_BOUNDS`], not cumulated).
    pub latency: [u64; LATENCY_BOUNDS.len() + 1],
    /// Sum of those times, nanoseconds.
    pub latency_ns: u64,
    /// Replies with NOERROR and an empty answer section (NODATA).
    pub no_data: u64,
    /// Messages and datagrams without a reply, by [`Unanswered`]; those that response rate limiting left out are
    /// [apart](Self::limited_dropped).
    pub unanswered: [u64; Unanswered::ALL.len()],
    /// Replies with TC.
    pub truncated: u64,
    /// Replies that response rate limiting left out.
    pub limited_dropped: u64,
    /// Replies that response rate limiting made "truncated" or BADCOOKIE, or let through as errors.
    pub limited_slipped: u64,
    /// Queries that panicked and got SERVFAIL. Anything but 0 is a defect.
    pub panics: u64,
    /// Replies over UDP that the kernel would not send.
    pub send_errors: u64,
    /// TCP connections accepted.
    pub tcp_accepted: u64,
    /// TCP connections closed at once because their client has enough.
    pub tcp_refused: u64,
    /// TCP connections that lost their place to new ones, because there were too many.
    pub tcp_replaced: u64,
    /// TCP connections open now.
    pub tcp_open: u64,
    /// Queries refused because the licence allows no more a second.
    pub over_limit: u64,
    /// Queries from private clients for which geo steering was blind.
    pub private_client_ip: u64,
    /// Datagrams and connections of trusted proxies without a PROXY header, or with a broken one.
    pub proxy_refused: u64,
    /// Transfers of zones that were begun: as a whole, and of what has changed.
    pub transfers: [u64; 2],
    /// Transfers that were refused.
    pub transfers_refused: u64,
    /// Transfers that were begun and not finished.
    pub transfers_broken: u64,
    /// Messages with a TSIG signature that was not good.
    pub tsig_errors: u64,
}

impl DnsCounts {
    /// Replies with a response code over both transports, by its name in [`RCODES`].
    #[must_use]
    pub fn responses_of(&self, rcode: &str) -> u64 {
        let at = RCODES.iter().position(|name| *name == rcode);
        self.responses.iter().filter_map(|row| row.get(at?)).sum()
    }

    /// Messages that got no reply for this reason.
    #[must_use]
    pub fn unanswered_for(&self, reason: Unanswered) -> u64 {
        self.unanswered.get(reason as usize).copied().unwrap_or(0)
    }

    /// Replies that the latency buckets hold.
    #[must_use]
    pub fn latency_count(&self) -> u64 {
        self.latency.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_summed() {
        let stats = DnsStats::new();
        let (one, two) = (stats.slot(), stats.slot());
        one.response(Transport::Udp, 0);
        two.response(Transport::Tcp, 0);
        two.response(Transport::Tcp, 16);
        two.response(Transport::Tcp, 4000);
        one.question(28);
        two.question(4711);
        let counts = stats.snapshot();
        assert_eq!(counts.responses_of("NOERROR"), 2);
        assert_eq!(counts.responses_of("BADVERS"), 1);
        assert_eq!(counts.responses_of("OTHER"), 1);
        assert_eq!(counts.responses_of("no such code"), 0);
        assert_eq!(counts.qtypes[1], 1);
        assert_eq!(counts.qtypes[11], 1);
    }

    #[test]
    fn latency_falls_into_its_bucket() {
        let stats = DnsStats::new();
        let slot = stats.slot();
        slot.latency(3, Duration::from_nanos(5_000));
        slot.latency(1, Duration::from_nanos(5_001));
        slot.latency(1, Duration::from_secs(9));
        let counts = stats.snapshot();
        assert_eq!(
            (
                counts.latency[0],
                counts.latency[1],
                counts.latency[LATENCY_BOUNDS.len()]
            ),
            (3, 1, 1)
        );
        assert_eq!(counts.latency_count(), 5);
        assert_eq!(counts.latency_ns, 20_001 + 9_000_000_000);
    }

    #[test]
    fn failed_scripts_are_logged_once_a_minute_by_service_and_once_a_second_in_all() {
        let stats = DnsStats::new();
        let (one, other) = (AtomicU64::new(0), AtomicU64::new(0));
        let logged = [
            stats.script_failed(&one, 100),
            stats.script_failed(&other, 100),
            stats.script_failed(&other, 101),
            stats.script_failed(&one, 102),
            stats.script_failed(&one, 160),
        ];
        assert_eq!(logged, [true, false, true, false, true]);
    }

    #[test]
    fn the_private_client_warning_comes_once_a_minute() {
        let stats = DnsStats::new();
        let warned: Vec<_> = [100, 101, 159, 160, 161]
            .map(|now| stats.private_client(now))
            .into();
        assert_eq!(warned, [true, false, false, true, false]);
        assert_eq!(stats.snapshot().private_client_ip, 5);
    }
}
