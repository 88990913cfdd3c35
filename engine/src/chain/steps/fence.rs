//! `asn-fence` and `prefix-fence`: leave out the members that are for other clients. A member without a fence is for
//! everybody; a client whose AS is unknown is inside no fence of AS numbers.

use crate::chain::sink::Sink;
use crate::chain::{Reason, Report, Run, Scratch};
use crate::snapshot::MemberSet;
use crate::trace::{Detail, StepAction};

pub(super) fn asn<S: Sink>(run: &mut Run<'_>, scratch: &mut Scratch, sink: &mut S) -> Report {
    if scratch.set.len() <= 1 {
        return Report::skipped(Reason::NothingToChoose);
    }
    let fences = run
        .pool
        .facts
        .as_ref()
        .and_then(|facts| facts.asn_fences.as_ref());
    let Some(fences) = fences.filter(|fences| any(scratch, &fences.fenced)) else {
        return Report::skipped(Reason::NobodyHas("fenceAsns"));
    };
    let asn = run.client.asn().map_or(0, |info| info.number);
    sink.detail(|| Detail {
        name: "client".to_owned(),
        value: match asn {
            0 => "AS unknown: outside every fence".to_owned(),
            asn => format!("AS{asn}"),
        },
    });
    leave_out(scratch, &fences.fenced, &fences.open_to(asn))
}

pub(super) fn prefix<S: Sink>(run: &mut Run<'_>, scratch: &mut Scratch, sink: &mut S) -> Report {
    if scratch.set.len() <= 1 {
        return Report::skipped(Reason::NothingToChoose);
    }
    let fences = run
        .pool
        .facts
        .as_ref()
        .and_then(|facts| facts.prefix_fences.as_ref());
    let Some(fences) = fences.filter(|fences| any(scratch, &fences.fenced)) else {
        return Report::skipped(Reason::NobodyHas("fencePrefixes"));
    };
    let client = run.client.effective();
    let (open, prefix) = fences.open_to(client);
    run.client.depends_on(prefix);
    sink.detail(|| Detail {
        name: "client".to_owned(),
        value: client.to_string(),
    });
    leave_out(scratch, &fences.fenced, &open)
}

fn any(scratch: &Scratch, members: &MemberSet) -> bool {
    scratch.set.iter().any(|candidate| members.has(candidate.index))
}

#[inline]
fn leave_out(scratch: &mut Scratch, fenced: &MemberSet, open: &MemberSet) -> Report {
    let before = scratch.set.len();
    match scratch.narrow(|candidate| !fenced.has(candidate.index) || open.has(candidate.index)) {
        0 => Report::new(StepAction::Passthrough, Reason::AllFenced),
        kept => Report::new(
            StepAction::Narrowed,
            Reason::Fenced {
                removed: before - kept,
            },
        ),
    }
}
