//! `map-file`: keeps the members that the longest matching rule of the map file prefers.

use crate::chain::sink::Sink;
use crate::chain::{Reason, Report, Run, Scratch};
use crate::snapshot::Target;
use crate::trace::{Detail, StepAction};

pub(super) fn run<S: Sink>(run: &mut Run<'_>, scratch: &mut Scratch, sink: &mut S) -> Report {
    let before = scratch.set.len();
    if before <= 1 {
        return Report::skipped(Reason::NothingToChoose);
    }
    let map = &run.settings.map;
    if map.is_empty() {
        return Report::skipped(Reason::NoMap);
    }
    let found = map.find(run.client.effective());
    run.client.depends_on(found.prefix);
    let Some(targets) = found.value else {
        return Report::skipped(Reason::NoRule);
    };
    sink.detail(|| Detail {
        name: "rule".to_owned(),
        value: targets.iter().map(Target::text).collect::<Vec<_>>().join(", "),
    });
    let pool = run.pool;
    for (preference, target) in (1..).zip(targets) {
        let kept = scratch.narrow(|candidate| candidate.member(pool).is_some_and(|m| target.holds(m)));
        if kept > 0 {
            let reason = Reason::ByRule {
                preference,
                removed: before - kept,
            };
            return Report::new(StepAction::Narrowed, reason);
        }
    }
    Report::new(StepAction::Passthrough, Reason::RuleNamesNobody)
}
