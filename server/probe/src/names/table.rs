//! The names, when each is due, and what is known of it: plain data, time comes in as values.

use super::Host;
use super::lookup::{Answer, Part};
use gslb_engine::host::HostAddresses;
use gslb_engine::model::DomainName;
use gslb_engine::query::Family;
use gslb_engine::slots::MemberSlot;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Shortest and longest time to live, seconds: nobody is asked more often, and a change is seen within the hour.
const TTL: (u32, u32) = (5, 3600);
/// Seconds from a failure to the next look-up: doubled each time, from the one to the other.
const RETRY: (u32, u32) = (5, 60);

#[derive(Debug)]
struct Entry {
    slots: Vec<Arc<MemberSlot>>,
    known: Option<Arc<HostAddresses>>,
    /// When the next look-up begins; none while one is on its way.
    due: Option<Instant>,
    failures: u32,
}

/// Every name that is kept fresh.
#[derive(Debug, Default)]
pub(super) struct Table {
    entries: HashMap<DomainName, Entry>,
    queue: BTreeSet<(Instant, DomainName)>,
}

fn number(items: usize) -> u64 {
    u64::try_from(items).unwrap_or(u64::MAX)
}

impl Table {
    /// Makes `hosts` the set. New names are due at once.
    pub(super) fn replace(&mut self, hosts: Vec<Host>, now: Instant) {
        let mut old = std::mem::take(&mut self.entries);
        for entry in old.values_mut() {
            entry.slots.clear();
        }
        for Host { name, slot } in hosts {
            let queue = &mut self.queue;
            let entry = self.entries.entry(name).or_insert_with_key(|name| {
                old.remove(name).unwrap_or_else(|| {
                    queue.insert((now, name.clone()));
                    Entry {
                        slots: Vec::new(),
                        known: None,
                        due: Some(now),
                        failures: 0,
                    }
                })
            });
            // The member may have had another name before.
            slot.set_addresses(entry.known.clone());
            entry.slots.push(slot);
        }
        for (name, entry) in old {
            if let Some(due) = entry.due {
                self.queue.remove(&(due, name));
            }
        }
    }

    /// A name whose look-up begins now.
    pub(super) fn take_due(&mut self, now: Instant) -> Option<DomainName> {
        self.queue.first().filter(|(due, _)| *due <= now)?;
        let (_, name) = self.queue.pop_first()?;
        if let Some(entry) = self.entries.get_mut(&name) {
            entry.due = None;
        }
        Some(name)
    }

    /// When the next look-up begins.
    pub(super) fn first_due(&self) -> Option<Instant> {
        self.queue.first().map(|(due, _)| *due)
    }

    /// Names.
    pub(super) fn len(&self) -> u64 {
        number(self.entries.len())
    }

    /// Names whose last look-up failed.
    pub(super) fn stale(&self) -> u64 {
        number(self.entries.values().filter(|entry| entry.failures > 0).count())
    }

    /// Takes in the answer to a look-up, at `unix` seconds. Whether something has become another by it.
    pub(super) fn done(&mut self, name: &DomainName, answer: Answer, now: Instant, unix: u64) -> bool {
        // It may be gone by now, or gone and come again.
        let Some(entry) = self.entries.get_mut(name).filter(|entry| entry.due.is_none()) else {
            return false;
        };
        let new = Arc::new(merge(answer, entry.known.as_deref(), unix));
        let seconds = if new.failure.is_some() {
            let doubled = RETRY.0 << entry.failures.min(8);
            entry.failures = entry.failures.saturating_add(1);
            doubled.min(RETRY.1)
        } else {
            entry.failures = 0;
            new.ttl()
        };
        let due = now + Duration::from_secs(seconds.into());
        entry.due = Some(due);
        self.queue.insert((due, name.clone()));
        let changed = entry.known.as_deref().is_none_or(|old| {
            let why = |known: &HostAddresses| known.failure.as_ref().map(|failure| failure.message.clone());
            old.all() != new.all() || why(old) != why(&new)
        });
        if changed {
            tell(name, &new);
        }
        for slot in &entry.slots {
            slot.set_addresses(Some(Arc::clone(&new)));
        }
        entry.known = Some(new);
        changed
    }
}

fn tell(name: &DomainName, known: &HostAddresses) {
    let addresses = known.all().len();
    match &known.failure {
        Some(failure) => tracing::warn!(
            %name, addresses, error = failure.message,
            "a host name cannot be looked up; what was known of it stays"
        ),
        None if addresses == 0 => tracing::warn!(%name, "a host name has no addresses"),
        None => tracing::debug!(%name, addresses, "a host name leads to other addresses"),
    }
}

/// What is known after an answer: of a family that failed what was known before.
fn merge(answer: Answer, before: Option<&HostAddresses>, unix: u64) -> HostAddresses {
    let empty = HostAddresses::default();
    let before = before.unwrap_or(&empty);
    let failure = answer.failure().map(str::to_owned);
    let (mut addresses, mut ttl, mut answered) = (Vec::new(), u32::MAX, false);
    for (family, part) in [(Family::V4, answer.v4), (Family::V6, answer.v6)] {
        match part {
            Part::Known(known, seconds) => {
                answered = true;
                ttl = ttl.min(seconds);
                addresses.extend(known);
            }
            Part::Failed(_) => addresses.extend_from_slice(before.of(family)),
        }
    }
    if let (false, Some(why)) = (answered, &failure) {
        return before.failed(unix, why.clone());
    }
    let mut after = HostAddresses::new(addresses, ttl.clamp(TTL.0, TTL.1), unix);
    if let Some(why) = failure {
        after.failure.clone_from(&before.failure);
        after = after.failed(unix, why);
    }
    after
}

#[cfg(test)]
mod tests {
    use super::*;
    use gslb_engine::model::MemberId;
    use std::net::IpAddr;
    use uuid::Uuid;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn slot(id: u128) -> Arc<MemberSlot> {
        Arc::new(MemberSlot::new(MemberId(Uuid::from_u128(id))))
    }

    fn host(name: &str, slot: &Arc<MemberSlot>) -> Host {
        Host {
            name: DomainName::parse("name", name).unwrap(),
            slot: Arc::clone(slot),
        }
    }

    fn answer(v4: Result<&[&str], &str>, v6: Result<&[&str], &str>, ttl: u32) -> Answer {
        let part = |part: Result<&[&str], &str>| match part {
            Ok(list) => Part::Known(list.iter().map(|text| ip(text)).collect(), ttl),
            Err(why) => Part::Failed(why.to_owned()),
        };
        Answer {
            v4: part(v4),
            v6: part(v6),
        }
    }

    fn known(slot: &MemberSlot) -> Vec<IpAddr> {
        let known = slot.addresses();
        known.as_ref().map_or_else(Vec::new, |known| known.all().to_vec())
    }

    #[test]
    fn a_name_is_looked_up_when_its_ttl_has_passed_and_sooner_after_failures() {
        let (slot, mut table, start) = (slot(1), Table::default(), Instant::now());
        table.replace(vec![host("a.test", &slot)], start);
        let name = table.take_due(start).unwrap();
        assert_eq!((table.take_due(start), table.first_due()), (None, None));
        // Below the floor, in between and above the ceiling.
        for (ttl, seconds) in [(0, 5), (60, 60), (u32::MAX, 3600)] {
            table.done(&name, answer(Ok(&["192.0.2.1"]), Ok(&[]), ttl), start, 1000);
            let due = start + Duration::from_secs(seconds);
            assert_eq!(table.first_due(), Some(due));
            assert_eq!(table.take_due(due), Some(name.clone()));
        }
        for seconds in [5, 10, 20, 40, 60, 60] {
            table.done(&name, answer(Err("SERVFAIL"), Err("SERVFAIL"), 0), start, 2000);
            let due = start + Duration::from_secs(seconds);
            assert_eq!(table.first_due(), Some(due));
            table.take_due(due);
            assert_eq!((known(&slot), table.stale()), (vec![ip("192.0.2.1")], 1));
        }
        assert_eq!(slot.addresses().as_ref().unwrap().resolved_at, 1000);
    }

    #[test]
    fn a_family_that_fails_keeps_what_it_had_and_one_that_is_gone_does_not() {
        let (slot, mut table, start) = (slot(1), Table::default(), Instant::now());
        table.replace(vec![host("a.test", &slot)], start);
        let name = table.take_due(start).unwrap();
        let mut ask = |v4, v6, ttl| {
            let changed = table.done(&name, answer(v4, v6, ttl), start, 1000);
            table.take_due(start + Duration::from_secs(7200));
            (changed, known(&slot))
        };
        let (a, b, c) = (ip("192.0.2.1"), ip("192.0.2.2"), ip("2001:db8::1"));
        let v6: Result<&[&str], &str> = Ok(&["2001:db8::1"]);
        assert_eq!(ask(Ok(&["192.0.2.1"]), v6, 9), (true, vec![a, c]));
        assert_eq!(ask(Ok(&["192.0.2.1"]), v6, 8), (false, vec![a, c]));
        assert_eq!(ask(Ok(&["192.0.2.2"]), Err("timeout"), 9), (true, vec![b, c]));
        assert_eq!(ask(Ok(&["192.0.2.2"]), Ok(&[]), 9), (true, vec![b]));
        assert_eq!(ask(Ok(&[]), Ok(&[]), 9), (true, vec![]));
    }

    #[test]
    fn a_member_that_gets_another_name_forgets_the_addresses_of_the_old_one() {
        let (first, second) = (slot(1), slot(2));
        let (mut table, start) = (Table::default(), Instant::now());
        table.replace(vec![host("a.test", &first)], start);
        let name = table.take_due(start).unwrap();
        table.done(&name, answer(Ok(&["192.0.2.1"]), Ok(&[]), 60), start, 1000);
        // What stays is not asked for again; a second member with the name knows it at once.
        table.replace(vec![host("a.test", &first), host("a.test", &second)], start);
        assert_eq!((table.take_due(start), known(&second).len()), (None, 1));
        table.replace(vec![host("b.test", &first)], start);
        assert_eq!(known(&first), Vec::<IpAddr>::new());
        assert_eq!(table.take_due(start).unwrap().as_str(), "b.test.");
        // An answer for a name that nobody wants any more.
        let late = answer(Ok(&["192.0.2.9"]), Ok(&[]), 60);
        assert!(!table.done(&name, late, start, 1000));
        assert_eq!((known(&first), table.len()), (vec![], 1));
    }
}
