//! The fast path: see [`fast`](crate::fast).

use super::{Bridge, Handled, Moment, Place};
use crate::decide::{Answer, Asker, address};
use crate::fast::Plain;
use crate::rate::{Kind, Verdict};
use crate::stats::Slot;
use crate::wire::parse;
use gslb_engine::chain::Scratch;
use gslb_engine::snapshot::Found;
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};

impl Bridge {
    /// As [`answer`](Self::answer), but most replies are written where the message is, which takes less time. Those are
    /// counted with [`count`](Self::count).
    pub(crate) fn answer_in_place(
        &mut self,
        moment: Moment<'_>,
        mut place: Place<'_>,
        client: IpAddr,
        out: &mut Vec<u8>,
    ) -> Handled {
        // A defect in the code below must cost one query, not a thread.
        let result = catch_unwind(AssertUnwindSafe(|| self.plain(moment, &mut place, client, out)));
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

    /// Adds what was answered in place to the counters: once for a batch, because that too takes time.
    pub(crate) fn count(&mut self, slot: &Slot) {
        slot.batch(self.transport, &mut self.tally);
    }

    /// Answers a query for the addresses of a service. `None`: it is another query, and nothing has been done.
    #[inline]
    fn plain(
        &mut self,
        moment: Moment<'_>,
        place: &mut Place<'_>,
        client: IpAddr,
        out: &mut Vec<u8>,
    ) -> Option<Handled> {
        let snapshot = moment.snapshot;
        let plain = Plain::read(place.message(), &mut self.name)?;
        let Found::Service { service, zone, .. } = snapshot.find(plain.question(&self.name).name) else {
            return None;
        };
        if service.has_slow_script() || !self.stats.limit.is_open() {
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
        };
        let question = plain.question(&self.name);
        let plan = address(snapshot, service, zone, question, asker, &mut self.scratch);
        self.report(snapshot, question, asker, &plan);
        let option = plain.edns.as_ref().and_then(|edns| edns.cookie.as_ref());
        let cookie = self.policy.check(option, client, moment.now);
        if let Answer::Addresses { ttl } = plan.answer
            && plan.ede == [None; 2]
        {
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
                .map(|edns| policy.edns(edns, cookie.as_ref(), plan.scope));
            let most = policy.most_over_udp(cookie.as_ref());
            let answers = self.scratch.answers();
            if let Some(length) = plain.reply(place.buffer, most, ttl, answers, edns.as_ref()) {
                self.tally.answer();
                return Some(Handled::InPlace(length));
            }
            // Too long: what follows says so. It was let through.
            let query = parse(place.message()).ok()?;
            let reply = self.write(moment, &query, &plan, cookie.as_ref(), out);
            self.sent(moment, &query, reply, client, out);
        } else {
            let query = parse(place.message()).ok()?;
            let reply = self.write(moment, &query, &plan, cookie.as_ref(), out);
            self.deliver(moment, &query, reply, cookie.as_ref(), client, out);
        }
        Some(Handled::Done)
    }
}
