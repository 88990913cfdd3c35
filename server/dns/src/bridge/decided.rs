//! From a query to the reply that says what was decided.

use super::{Bridge, Moment, Reply, Slow};
use crate::cookie::Checked;
use crate::decide::{Addresses, Answer, Asker, Plan, decide};
use crate::dnssec::Signer;
use crate::encode::{encode, udp_limit};
use crate::lookup::service_of;
use crate::rate::Kind;
use crate::sections::Source;
use crate::stats::Transport;
use crate::transfer::is_transfer;
use crate::wire::{Query, ReplyEdns, rcode};
use gslb_engine::snapshot::Snapshot;
use std::net::IpAddr;

impl Bridge {
    /// Decides and encodes.
    pub(super) fn reply(
        &mut self,
        moment: Moment<'_>,
        query: &Query<'_>,
        cookie: Option<&Checked>,
        client: IpAddr,
        slow: Slow,
        out: &mut Vec<u8>,
    ) -> Reply {
        if is_transfer(query) {
            return self.transfer(moment, query, cookie, client, out);
        }
        let asker = Asker {
            source: client,
            now: moment.now,
            entropy: self.random.u64(..),
            hurried: slow == Slow::Leave,
            recent: &self.stats.recent,
        };
        // A script may stop being quick after it was looked at.
        let arrived = match slow {
            Slow::Wait(arrived) => Some(arrived),
            Slow::Leave | Slow::Skip => None,
        };
        self.scratch.skip_slow_scripts(arrived.is_none());
        self.scratch.arrived(arrived);
        let plan = match decide(moment.snapshot, query, asker, &mut self.scratch) {
            Ok(plan) => plan,
            Err(service) => return Reply::Left(service),
        };
        let question = Addresses {
            name: query.name.as_wire(),
            qtype: query.qtype,
            edns: query.edns.as_ref(),
        };
        self.report(moment.snapshot, question, asker, plan.blind);
        self.write(moment, query, &plan, cookie, out)
    }

    /// Tells the operator what is wrong for this query; `blind`: a private client could not be placed by any database.
    #[inline]
    pub(super) fn report(&self, snapshot: &Snapshot, question: Addresses<'_>, asker: Asker<'_>, blind: bool) {
        if let Some(failure) = self.scratch.script_failure()
            && let Some((service, _)) = service_of(snapshot, question.name)
            && self
                .stats
                .script_failed(&service.slot.script_error_logged, asker.now)
        {
            tracing::warn!(
                service = &*service.name,
                %failure,
                "a script step failed, and all candidates were kept"
            );
        }
        if blind && self.stats.private_client(asker.now) {
            let ecs = question
                .edns
                .is_some_and(|edns| edns.subnet.is_some_and(|s| s.subnet.source > 0));
            tracing::warn!(
                ecs,
                source = %asker.source,
                "a private client address is in no geo database: geo steering is blind for this query"
            );
        }
    }

    /// Encodes.
    pub(super) fn write(
        &mut self,
        moment: Moment<'_>,
        query: &Query<'_>,
        plan: &Plan<'_>,
        cookie: Option<&Checked>,
        out: &mut Vec<u8>,
    ) -> Reply {
        let edns = query.edns.as_ref().map(|edns| ReplyEdns {
            ede: plan.ede,
            ..self.policy.edns(edns, cookie, plan.scope)
        });
        let limit = match self.transport {
            Transport::Udp => udp_limit(query).min(self.policy.most_over_udp(cookie)),
            _ => u16::MAX,
        };
        let limit = limit.saturating_sub(self.reserved());
        let wanted = query.edns.is_some_and(|edns| edns.dnssec_ok) || plan.answer == Answer::Rrsig;
        // Aliases may be in other zones than what they lead to.
        let signed = plan.aliases > 0 || plan.zone.is_some_and(|zone| zone.signed.is_some());
        let signer = (wanted && signed).then(|| Signer::new(&mut self.signatures, moment.now));
        let source = Source {
            snapshot: moment.snapshot,
            query,
            plan,
            addresses: self.scratch.answers(),
        };
        let truncated = encode(source, edns.as_ref(), limit, signer, out);
        Reply::Encoded {
            rcode: plan.rcode,
            kind: kind(plan),
            truncated,
        }
    }
}

/// What a reply counts as for the limits of replies.
fn kind(plan: &Plan<'_>) -> Kind {
    match plan.rcode {
        rcode::NOERROR if plan.negative_ttl.is_some() => Kind::NoData,
        rcode::NOERROR => Kind::Answer,
        rcode::NXDOMAIN => Kind::NoName,
        _ => Kind::Error,
    }
}
