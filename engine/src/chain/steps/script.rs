//! `script:<body>`: asks a script which candidates to keep, and in which order. When it fails, all are kept.

use crate::chain::name::write_name;
use crate::chain::sink::Sink;
use crate::chain::{Client, Reason, Report, Run, Scratch};
use crate::model::MAX_MEMBERS;
use crate::script::{
    Place, Script, ScriptCandidate, ScriptError, ScriptFailure, ScriptInput, ScriptReads, Scripts,
};
use crate::trace::{Detail, StepAction};
use std::fmt;
use std::sync::Arc;

/// A script, compiled when its snapshot was built.
#[derive(Debug)]
pub struct CompiledScript {
    body: Arc<str>,
    compiled: Result<Arc<dyn Script>, ScriptError>,
    reads: ScriptReads,
}

impl CompiledScript {
    pub(super) fn new(body: &Arc<str>, scripts: &dyn Scripts, place: Place) -> Self {
        let compiled = scripts.compile(body, place);
        Self {
            body: Arc::clone(body),
            reads: compiled.as_ref().map(|script| script.reads()).unwrap_or_default(),
            compiled,
        }
    }

    pub(super) fn is_slow(&self, candidates: usize) -> bool {
        self.compiled
            .as_ref()
            .is_ok_and(|script| !script.is_quick(candidates))
    }

    // Kept out of the dispatch, where the steps that take nanoseconds are.
    #[inline(never)]
    pub(super) fn run<S: Sink>(&self, run: &mut Run<'_>, scratch: &mut Scratch, sink: &mut S) -> Report {
        let before = scratch.set.len();
        if before <= 1 {
            return Report::skipped(Reason::NothingToChoose);
        }
        let result = self.order(run, scratch, sink).and_then(|()| apply(scratch));
        match result {
            Ok(changed) => {
                let removed = before - scratch.set.len();
                let action = if removed > 0 {
                    StepAction::Narrowed
                } else {
                    StepAction::Reordered
                };
                Report::new(action, Reason::ByScript { removed, changed })
            }
            Err(failure) => {
                sink.failed(&failure);
                run.script_errors = run.script_errors.saturating_add(1);
                scratch.script.failure = Some(failure);
                Report::new(StepAction::Error, Reason::ScriptFailed)
            }
        }
    }

    /// Runs the script; `scratch.script.order` is what it wants.
    fn order<S: Sink>(
        &self,
        run: &mut Run<'_>,
        scratch: &mut Scratch,
        sink: &mut S,
    ) -> Result<(), ScriptFailure> {
        let script = self
            .compiled
            .as_ref()
            .map_err(|error| ScriptFailure::NotCompiled(error.clone()))?;
        if scratch.script.skip_slow && !script.is_quick(scratch.set.len()) {
            return Err(ScriptFailure::Busy);
        }
        sink.detail(|| Detail {
            name: "reads".to_owned(),
            value: told(self.reads),
        });
        write_name(run.ctx.qname, &mut scratch.script.qname);
        let mut candidates = recycled(std::mem::take(&mut scratch.script.candidates));
        let pool = run.pool;
        candidates.extend(scratch.set.iter().filter_map(|candidate| {
            let member = candidate.member(pool)?;
            Some(ScriptCandidate {
                ip: match member.ip {
                    Some(ip) => ip,
                    None if run.service.flatten => {
                        let known = member.slot.addresses();
                        *known.as_ref()?.of(run.ctx.family).first()?
                    }
                    None => return None,
                },
                port: member.stored.port,
                region: member.stored.region.as_str(),
                weight: member.stored.weight,
                priority: member.stored.priority,
                asn: member.asn.number,
                health_score: candidate.score.into(),
                rtt_ms: member.slot.routing_rtt_ns().map(|ns| ns as f64 / 1e6),
            })
        }));
        if candidates.len() != scratch.set.len() {
            scratch.script.candidates = recycled(candidates);
            return Err(ScriptFailure::Failed(
                "the candidates are host names, and scripts know addresses: the service needs `flatten`"
                    .to_owned(),
            ));
        }
        let input = ScriptInput {
            qname: &scratch.script.qname,
            qtype: run.ctx.family,
            client_ip: client_ip(&mut run.client, self.reads),
            // What the script does not mention is not looked up, and does not narrow the answer's scope.
            client_country: self.reads.client_country.then(|| run.client.country()).flatten(),
            client_asn: if self.reads.client_asn {
                run.client.asn().map_or(0, |info| info.number)
            } else {
                0
            },
            now: run.ctx.now,
            service: &run.service.name,
            candidates: &candidates,
            arrived: scratch.script.arrived,
        };
        scratch.script.order.clear();
        sink.begin();
        let result = script.run(&input, &mut scratch.script.order);
        sink.end("script time");
        scratch.script.candidates = recycled(candidates);
        result
    }
}

impl fmt::Display for CompiledScript {
    /// As it stands in the chain.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "script:{}", self.body)
    }
}

/// The effective client. A script that mentions it may look at every bit.
fn client_ip(client: &mut Client<'_>, reads: ScriptReads) -> std::net::IpAddr {
    if reads.client_ip {
        client.depends_on(u8::MAX);
    }
    client.effective()
}

/// Puts the candidates in the order that the script wants; whether the order of those kept changed.
fn apply(scratch: &mut Scratch) -> Result<bool, ScriptFailure> {
    let mut seen = [0_u64; MAX_MEMBERS.div_ceil(64)];
    let mut changed = false;
    let mut last = 0;
    scratch.spare.clear();
    for position in &scratch.script.order {
        let Some(candidate) = scratch.set.get(usize::from(*position)) else {
            continue;
        };
        let bit = 1_u64 << (position & 63);
        match seen.get_mut(usize::from(position >> 6)) {
            Some(word) if *word & bit == 0 => *word |= bit,
            _ => continue,
        }
        changed |= *position < last;
        last = *position;
        scratch.spare.push(*candidate);
    }
    if scratch.spare.is_empty() {
        return Err(ScriptFailure::NamesNobody);
    }
    std::mem::swap(&mut scratch.set, &mut scratch.spare);
    Ok(changed)
}

/// The same memory, empty, for candidates that borrow from something else. The standard library collects in place.
fn recycled<'a>(mut candidates: Vec<ScriptCandidate<'_>>) -> Vec<ScriptCandidate<'a>> {
    candidates.clear();
    candidates.into_iter().map_while(|_| None).collect()
}

fn told(reads: ScriptReads) -> String {
    let each = [
        (reads.client_ip, "client_ip"),
        (reads.client_country, "client_country"),
        (reads.client_asn, "client_asn"),
    ];
    let named: Vec<&str> = each
        .iter()
        .filter(|(read, _)| *read)
        .map(|(_, name)| *name)
        .collect();
    if named.is_empty() {
        "nothing of the client".to_owned()
    } else {
        named.join(", ")
    }
}
