//! Tells secondaries that a zone has changed (NOTIFY, RFC 1996).
//!
//! Each target gets a message when the serial of a zone differs from the one it was told last, and again until it answers,
//! less and less often. A newer serial takes the place of an older one that is still being told.

use crate::bridge::unix_now;
use crate::tsig::Tsig;
use crate::wire::{HEADER, Reader, code, flag, skip};
use crate::writer::Writer;
use gslb_engine::model::{NotifyTarget, ZoneId};
use gslb_engine::snapshot::{SnapshotCell, TsigKey, ZoneRecord};
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio::task::AbortHandle;
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

/// Attempts, and seconds that the first waits for an answer; each waits twice as long as the one before (RFC 1996 §3.6).
const ATTEMPTS: u32 = 6;
const FIRST_WAIT: u64 = 2;
/// Octets of an answer, at most.
const ANSWER: usize = 1232;

/// Tells the targets of all zones.
#[derive(Debug)]
pub struct Notifier {
    cell: Arc<SnapshotCell>,
    /// Addresses that messages leave from, as far as the server listens on certain ones.
    sources: Vec<IpAddr>,
    told: HashMap<(ZoneId, NotifyTarget), (u32, AbortHandle)>,
    tasks: TaskTracker,
}

/// One message to one target.
#[derive(Debug)]
struct News {
    zone: String,
    soa: ZoneRecord,
    serial: u32,
    target: NotifyTarget,
    key: Option<Arc<TsigKey>>,
    source: IpAddr,
}

impl Notifier {
    /// Follows the snapshots of a server that listens on these addresses. Nobody was told anything yet.
    #[must_use]
    pub fn new(cell: Arc<SnapshotCell>, listen: &[SocketAddr]) -> Self {
        Self {
            cell,
            sources: listen.iter().map(SocketAddr::ip).collect(),
            told: HashMap::new(),
            tasks: TaskTracker::new(),
        }
    }

    /// Looks at the snapshot in force, and begins to tell what is new in it. Must be called inside a tokio runtime; does
    /// not wait.
    pub fn look(&mut self) {
        let snapshot = self.cell.load_full();
        let mut told = HashMap::new();
        for zone in snapshot.zones() {
            let Some(id) = zone.id else { continue };
            for target in &zone.transfer.notify {
                let place = (id, target.clone());
                if let Some((serial, task)) = self.told.remove(&place) {
                    if serial == zone.serial {
                        told.insert(place, (serial, task));
                        continue;
                    }
                    task.abort();
                }
                let Some(soa) = zone.soa_record() else { continue };
                let key = target.key.as_ref();
                let news = News {
                    zone: zone.name.to_string(),
                    soa,
                    serial: zone.serial,
                    key: key.and_then(|name| snapshot.tsig_key(name.as_wire())).cloned(),
                    source: self.source(target.address.ip()),
                    target: target.clone(),
                };
                let task = self.tasks.spawn(news.tell()).abort_handle();
                told.insert(place, (zone.serial, task));
            }
        }
        // Targets that are no more.
        self.told.values().for_each(|(_, task)| task.abort());
        self.told = told;
    }

    /// Where a message to an address leaves from: secondaries look at that.
    fn source(&self, target: IpAddr) -> IpAddr {
        let any: IpAddr = match target {
            IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        let fits =
            |ip: &&IpAddr| ip.is_ipv4() == target.is_ipv4() && ip.is_loopback() == target.is_loopback();
        let own = self.sources.iter().find(fits).copied();
        own.filter(|ip| !ip.is_unspecified()).unwrap_or(any)
    }
}

impl Drop for Notifier {
    fn drop(&mut self) {
        self.told.values().for_each(|(_, task)| task.abort());
    }
}

impl News {
    /// Sends the message until it is answered.
    async fn tell(self) {
        for attempt in 0..ATTEMPTS {
            let wait = Duration::from_secs(FIRST_WAIT << attempt);
            match self.attempt(wait).await {
                Ok(Some(0)) => {
                    tracing::debug!(zone = %self.zone, serial = self.serial, target = %self.target.address, "notified");
                    return;
                }
                Ok(Some(rcode)) => {
                    tracing::warn!(
                        zone = %self.zone, target = %self.target.address, rcode,
                        "a target of NOTIFY does not want it"
                    );
                    return;
                }
                Ok(None) => {}
                Err(error) => {
                    tracing::debug!(zone = %self.zone, target = %self.target.address, %error, "NOTIFY failed");
                    tokio::time::sleep(wait).await;
                }
            }
        }
        tracing::warn!(
            zone = %self.zone, serial = self.serial, target = %self.target.address,
            "a target of NOTIFY does not answer: it will find the change by itself when its refresh interval is over"
        );
    }

    /// Sends the message once. Returns the response code of its answer, if that comes in time.
    async fn attempt(&self, wait: Duration) -> std::io::Result<Option<u16>> {
        let socket = UdpSocket::bind((self.source, 0)).await?;
        // Only what comes from the target is received.
        socket.connect(self.target.address).await?;
        let id = fastrand::u16(..);
        let mut message = self.message(id);
        let mut tsig = self.key.as_ref().map(|key| Tsig::request(key, id));
        if let Some(tsig) = &mut tsig {
            tsig.sign(unix_now(), &mut message);
        }
        socket.send(&message).await?;
        let answer = async {
            let mut buffer = vec![0; ANSWER];
            loop {
                let length = socket.recv(&mut buffer).await?;
                let answer = buffer.get(..length).unwrap_or_default();
                if let Some(rcode) = answered(answer, id, tsig.as_ref()) {
                    return Ok(rcode);
                }
            }
        };
        match timeout(wait, answer).await {
            Ok(answer) => answer.map(Some),
            Err(_) => Ok(None),
        }
    }

    /// The message: the zone as the question, and its SOA as a hint (RFC 1996 §3.7).
    fn message(&self, id: u16) -> Vec<u8> {
        let mut out = Vec::new();
        for field in [id, flag::NOTIFY | flag::AA, 1, 1, 0, 0] {
            out.extend_from_slice(&field.to_be_bytes());
        }
        out.extend_from_slice(&self.soa.owner);
        out.extend_from_slice(&code::SOA.to_be_bytes());
        out.extend_from_slice(&code::CLASS_IN.to_be_bytes());
        let soa = &self.soa;
        Writer::new(&mut out, HEADER).record(&soa.owner, soa.rtype, soa.ttl, soa.data.as_wire());
        out
    }
}

/// The response code, if this is the answer to the message with this id, and signed as that was. One that says what was
/// wrong with the signature need not be.
fn answered(answer: &[u8], id: u16, tsig: Option<&Tsig>) -> Option<u16> {
    let mut reader = Reader::new(answer, 0);
    let (their_id, flags) = (reader.u16()?, reader.u16()?);
    if their_id != id || flags & (flag::QR | flag::OPCODE) != flag::QR | flag::NOTIFY {
        return None;
    }
    let rcode = flags & 0xf;
    match tsig {
        Some(tsig) if rcode == 0 => {
            let at = last_record(answer)?;
            tsig.answers(answer, at, unix_now()).then_some(rcode)
        }
        _ => Some(rcode),
    }
}

/// Where the last record of a message begins.
fn last_record(message: &[u8]) -> Option<usize> {
    let mut reader = Reader::new(message, 4);
    let questions = reader.u16()?;
    let records = [reader.u16()?, reader.u16()?, reader.u16()?];
    for _ in 0..questions {
        skip(&mut reader)?;
        reader.take(4)?;
    }
    let mut last = None;
    for _ in 0..records.into_iter().map(u32::from).sum() {
        last = Some(reader.at());
        skip(&mut reader)?;
        reader.take(8)?;
        let length = reader.u16()?;
        reader.take(length.into())?;
    }
    last
}
