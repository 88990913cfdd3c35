//! The fast path: see [`fast`](crate::fast).

use super::{Bridge, Handled, Moment, Place};
use crate::decide::{Addresses, Asker, ede_of, family_of, plan_of, steer};
use crate::fast::Plain;
use crate::rate::{Kind, Verdict};
use crate::stats::Slot;
use crate::wire::{MAX_NAME, parse};
use gslb_engine::chain::{NoTrace, Scratch};
use gslb_engine::slots::MemberSlot;
use gslb_engine::snapshot::{CompiledService, CompiledZone};
use std::hint::black_box;
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Messages that can be looked at ahead.
pub(crate) const AHEAD: usize = 16;

/// A message that was read, as far as it has the form for that.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) plain: Option<Plain>,
    /// Its name in lower case.
    name: [u8; MAX_NAME],
    /// Hash of that name.
    hash: u64,
}

impl Row {
    /// The question, if the message has the form.
    pub(super) fn question(&self) -> Option<Addresses<'_>> {
        self.plain.as_ref().map(|plain| plain.question(&self.name))
    }

    /// The client subnet, if the client is looked for by it. (Transport sources are few, and in the cache.)
    #[inline]
    fn subnet(&self) -> Option<IpAddr> {
        let option = self.plain.as_ref()?.edns.as_ref()?.subnet?;
        (option.subnet.source > 0).then_some(option.subnet.address)
    }

    /// Memory for the messages of a batch.
    pub(super) fn batch() -> Box<[Self]> {
        let row = Self {
            plain: None,
            name: [0; MAX_NAME],
            hash: 0,
        };
        vec![row; AHEAD].into()
    }
}

/// What was found for messages that came together.
#[derive(Debug)]
pub(crate) struct Ahead<'s> {
    /// The service that each asks for.
    found: [Option<(&'s CompiledService, &'s CompiledZone)>; AHEAD],
    /// The member that each was answered with, not counted yet: to wait for these counters one by one takes as long as the
    /// decisions themselves.
    chosen: [Option<&'s MemberSlot>; AHEAD],
}

impl Ahead<'_> {
    /// Whether a service was found for the message at `index`.
    pub(super) fn has_found(&self, index: usize) -> bool {
        self.found.get(index).is_some_and(Option::is_some)
    }
}

impl Bridge {
    /// Reads messages that came together, and finds the services that they ask for: what is far away in memory is
    /// fetched for all of them at the same time. Messages past [`AHEAD`] have to wait for the next time.
    #[inline]
    pub(crate) fn look_ahead<'s, 'p>(
        &mut self,
        moment: Moment<'s>,
        messages: impl Iterator<Item = &'p [u8]>,
    ) -> Ahead<'s> {
        let snapshot = moment.snapshot;
        // A defect in the code below must cost one query, not a thread: `answer_in_place` will meet it again.
        let result = catch_unwind(AssertUnwindSafe(|| {
            let (mut count, mut sum) = (0, 0);
            for (row, message) in self.rows.iter_mut().zip(messages) {
                count += 1;
                row.plain = Plain::read(message, &mut row.name);
                if let Some(plain) = &row.plain {
                    row.hash = snapshot.hash_of(plain.question(&row.name).name);
                    sum ^= snapshot.approach(row.hash);
                }
            }
            let rows = self.rows.get(..count).unwrap_or_default();
            let mut found = [None; AHEAD];
            for (row, found) in rows.iter().zip(&mut found) {
                if let Some(plain) = &row.plain {
                    *found = snapshot.service_at(plain.question(&row.name).name, row.hash);
                }
            }
            let services = || found.iter().take(count).flatten().map(|(service, _)| *service);
            sum ^= services().fold(0, |sum, service| sum ^ snapshot.approach_pool(service));
            sum ^= services().fold(0, |sum, service| sum ^ snapshot.approach_members(service));
            for (row, found) in rows.iter().zip(&found) {
                if let (Some(subnet), Some((service, _))) = (row.subnet(), found) {
                    sum ^= snapshot.approach_client(service, subnet);
                }
            }
            black_box(sum);
            found
        }));
        Ahead {
            found: result.unwrap_or_default(),
            chosen: [None; AHEAD],
        }
    }

    /// As [`answer`](Self::answer) for one of the messages that were looked at [ahead](Self::look_ahead), but most replies
    /// are written where the message is, which takes less time. Those are counted with [`count`](Self::count).
    pub(crate) fn answer_in_place<'s>(
        &mut self,
        moment: Moment<'s>,
        ahead: &mut Ahead<'s>,
        index: usize,
        mut place: Place<'_>,
        client: IpAddr,
        out: &mut Vec<u8>,
    ) -> Handled {
        // A defect in the code below must cost one query, not a thread.
        let result = catch_unwind(AssertUnwindSafe(|| {
            self.plain(moment, ahead, index, &mut place, client, out)
        }));
        match result {
            Ok(Some(handled)) => handled,
            Ok(None) => self.answer(moment, place.message(), client, out),
            Err(_) => {
                moment.slot.panicked();
                self.scratch = Scratch::new();
                out.clear();
                if let Ok(query) = parse(place.message()) {
                    self.fail(moment, &query, client, out);
                }
                Handled::Done
            }
        }
    }

    /// What a UDP thread does with a batch of one message.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(crate) fn answer_alone(
        &mut self,
        moment: Moment<'_>,
        place: Place<'_>,
        client: IpAddr,
        out: &mut Vec<u8>,
    ) -> Handled {
        let mut ahead = self.look_ahead(moment, std::iter::once(place.message()));
        let handled = self.answer_in_place(moment, &mut ahead, 0, place, client, out);
        self.count(moment.slot, &ahead);
        handled
    }

    /// Adds what was answered in place to the counters: once for a batch, because that too takes time.
    pub(crate) fn count(&mut self, slot: &Slot, ahead: &Ahead<'_>) {
        slot.batch(self.transport, &mut self.tally);
        let chosen = || ahead.chosen.iter().flatten();
        black_box(chosen().fold(0, |sum, member| sum ^ member.answers()));
        chosen().for_each(|member| member.count_answer());
    }

    /// Answers a query for the addresses of a service. `None`: it is another query, and nothing has been done.
    #[inline]
    fn plain<'s>(
        &mut self,
        moment: Moment<'s>,
        ahead: &mut Ahead<'s>,
        index: usize,
        place: &mut Place<'_>,
        client: IpAddr,
        out: &mut Vec<u8>,
    ) -> Option<Handled> {
        let snapshot = moment.snapshot;
        let (service, zone) = (*ahead.found.get(index)?)?;
        let service = snapshot.route(service)?;
        let row = self.rows.get(index)?;
        let plain = row.plain.as_ref()?;
        // One that answers with names has more to write, and other names to look at.
        if service.has_slow_script() || service.is_alias() || !self.stats.limit.is_open() {
            return None;
        }
        // Signatures are made elsewhere.
        if plain.edns.is_some_and(|edns| edns.dnssec_ok) && zone.signed.is_some() {
            return None;
        }
        self.tally.question(plain.qtype);
        let asker = Asker {
            source: client,
            now: moment.now,
            entropy: self.random.u64(..),
            hurried: true,
            recent: &self.stats.recent,
        };
        let question = plain.question(&row.name);
        self.scratch.skip_slow_scripts(true);
        let family = family_of(plain.qtype);
        let scratch = &mut self.scratch;
        let decision = steer(snapshot, service, family, question, asker, scratch, &mut NoTrace);
        service.count_decision(&decision);
        asker.note(service, family, question);
        let mut chosen = service.chosen(&self.scratch);
        if let Some(waits) = ahead.chosen.get_mut(index) {
            *waits = chosen.next();
        }
        chosen.for_each(MemberSlot::count_answer);
        self.report(snapshot, question, asker, decision.blind);
        let option = plain.edns.as_ref().and_then(|edns| edns.cookie.as_ref());
        let cookie = self.policy.check(option, client, moment.now);
        let remark = ede_of(&decision).is_some() || service.licence_fallback;
        if !remark && !self.scratch.answers().is_empty() {
            let policy = &self.policy;
            let verdict = policy.judge(
                self.transport,
                client,
                cookie.as_ref(),
                Kind::Answer,
                moment.micros,
                &mut self.limited,
            );
            if verdict != Verdict::Send {
                if let Ok(query) = parse(place.message()) {
                    self.hold_back(moment, verdict, Kind::Answer, &query, client, out);
                }
                return Some(Handled::Done);
            }
            let edns = plain
                .edns
                .as_ref()
                .map(|edns| policy.edns(edns, cookie.as_ref(), decision.ecs_scope));
            let most = policy.most_over_udp(cookie.as_ref());
            let answers = self.scratch.answers();
            if let Some(length) = plain.reply(place.buffer, most, decision.ttl, answers, edns.as_ref()) {
                self.tally.answer();
                return Some(Handled::InPlace(length));
            }
            // Too long: what follows says so. It was let through.
            let query = parse(place.message()).ok()?;
            let plan = plan_of(&decision, service, zone, &self.scratch);
            let reply = self.write(moment, &query, &plan, cookie.as_ref(), out);
            self.sent(moment, &query, reply, client, out);
        } else {
            let query = parse(place.message()).ok()?;
            let plan = plan_of(&decision, service, zone, &self.scratch);
            let reply = self.write(moment, &query, &plan, cookie.as_ref(), out);
            self.deliver(moment, &query, reply, cookie.as_ref(), client, out);
        }
        Some(Handled::Done)
    }
}
