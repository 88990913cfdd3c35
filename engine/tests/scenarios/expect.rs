//! Runs one case and tells what differs.

use super::format::{Case, Expect, Scenario, StepRow};
use gslb_engine::chain::{Decision, NoTrace, Scratch, evaluate, trace};
use gslb_engine::query::{ClientSubnet, QueryContext};
use gslb_engine::snapshot::{CompiledZone, Found, RoutedService, Snapshot};
use gslb_engine::testing::{entropy, wire};
use gslb_engine::trace::{StepTrace, Trace};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::net::IpAddr;

/// Chi-square bounds that a right distribution passes 9,999 times of 10,000, for 1 to 9 degrees of freedom.
const CHI_SQUARE: [f64; 9] = [15.14, 18.42, 21.11, 23.51, 25.74, 27.86, 29.88, 31.83, 33.72];

struct Check {
    failures: Vec<String>,
}

impl Check {
    fn equal<T: PartialEq + Debug>(&mut self, what: &str, wanted: Option<&T>, got: &T) {
        if let Some(wanted) = wanted.filter(|wanted| *wanted != got) {
            self.failures
                .push(format!("{what}: wanted {wanted:?}, got {got:?}"));
        }
    }

    fn fail(&mut self, text: String) {
        self.failures.push(text);
    }
}

/// Everything that differs from what the case expects.
pub fn run(scenario: &Scenario, case: &Case) -> Vec<String> {
    let mut check = Check { failures: Vec::new() };
    if let Err(error) = run_into(scenario, case, &mut check) {
        check.fail(error);
    }
    check.failures
}

fn subnet(text: &str) -> Result<ClientSubnet, String> {
    let (address, source) = text.split_once('/').ok_or_else(|| format!("ecs: {text}"))?;
    Ok(ClientSubnet {
        address: address.parse().map_err(|e| format!("ecs: {text}: {e}"))?,
        source: source.parse().map_err(|e| format!("ecs: {text}: {e}"))?,
    })
}

fn run_into(scenario: &Scenario, case: &Case, check: &mut Check) -> Result<(), String> {
    let (snapshot, _slots) = scenario.build(case)?;
    let qname = wire(&case.query.name);
    let ctx = QueryContext {
        qname: &qname,
        family: case.query.family,
        source: case.query.source,
        subnet: case.query.ecs.as_deref().map(subnet).transpose()?,
        now: case.query.now,
        entropy: entropy(case.query.entropy),
    };
    let (found, service) = find(&snapshot, &qname);
    let wanted = case.expect.found.as_deref().unwrap_or("service");
    let matches = if wanted.contains(' ') {
        found == wanted
    } else {
        found.split(' ').next() == Some(wanted)
    };
    if !matches {
        return Err(format!("found: wanted {wanted:?}, got {found:?}"));
    }
    if let Some((service, zone)) = service {
        check.equal(
            "negativeTtl",
            case.expect.negative_ttl.as_ref(),
            &service.negative_ttl(zone),
        );
        decide(&snapshot, service, &ctx, case, check);
    }
    Ok(())
}

fn find<'a>(snapshot: &'a Snapshot, qname: &[u8]) -> (String, Option<(RoutedService<'a>, &'a CompiledZone)>) {
    match snapshot.find(qname) {
        Found::Service { service, zone, .. } => (format!("service {}", zone.name), Some((service, zone))),
        Found::Apex { zone, .. } => (format!("apex {}", zone.name), None),
        Found::Records { zone, .. } => (format!("records {}", zone.name), None),
        Found::Delegated { zone, .. } => (format!("delegated {}", zone.name), None),
        Found::Empty(zone) => (format!("empty {}", zone.name), None),
        Found::Missing(zone) => (format!("missing {}", zone.name), None),
        Found::Outside => ("outside".to_owned(), None),
    }
}

fn decide(
    snapshot: &Snapshot,
    service: RoutedService<'_>,
    ctx: &QueryContext<'_>,
    case: &Case,
    check: &mut Check,
) {
    let expect = &case.expect;
    let mut ticks = 0;
    let traced = trace(snapshot, service, ctx, None, || {
        ticks += 1000;
        ticks
    });
    let mut scratch = Scratch::new();
    let decision = evaluate(snapshot, service, ctx, &mut scratch, &mut NoTrace);
    let names: Vec<String> = if service.is_alias() && scratch.answers().is_empty() {
        let members = scratch.chosen().map(|index| &service.pool.members[index]);
        members.map(|member| member.stored.endpoint.to_string()).collect()
    } else {
        Vec::new()
    };
    agree(&traced, &decision, scratch.answers(), &names, check);
    check.equal("names", expect.names.as_ref(), &names);

    check.equal(
        "outcome",
        expect.outcome.as_ref(),
        &decision.outcome.as_str().to_owned(),
    );
    check.equal("answers", expect.answers.as_ref(), &scratch.answers().to_vec());
    check.equal("ttl", expect.ttl.as_ref(), &decision.ttl);
    check.equal("scope", expect.scope.as_ref(), &decision.ecs_scope);
    check.equal("steered", expect.steered.as_ref(), &decision.steered);
    check.equal("blind", expect.blind.as_ref(), &decision.blind);
    let excluded = traced
        .excluded
        .iter()
        .map(|d| (d.name.clone(), d.value.clone()))
        .collect();
    check.equal("excluded", expect.excluded.as_ref(), &excluded);
    for note in expect.notes.iter().flatten() {
        if !traced.notes.iter().any(|text| text.contains(note)) {
            check.fail(format!("notes: {note:?} is not in {:?}", traced.notes));
        }
    }
    if let Some(steps) = &expect.steps {
        check.equal("number of steps", Some(&steps.len()), &traced.steps.len());
        for (index, (wanted, got)) in steps.iter().zip(&traced.steps).enumerate() {
            step(index, wanted, got, check);
        }
    }
    many(
        snapshot,
        service,
        ctx,
        case.query.draws,
        expect,
        &mut scratch,
        check,
    );
}

/// A trace and a query with the same random bits must come to the same decision.
fn agree(traced: &Trace, decision: &Decision, answers: &[IpAddr], names: &[String], check: &mut Check) {
    let answers = answers.iter().map(ToString::to_string);
    let answers: Vec<String> = answers.chain(names.iter().cloned()).collect();
    check.equal("trace: answers", Some(&answers), &traced.answers);
    check.equal("trace: outcome", Some(&decision.outcome), &traced.outcome);
    check.equal("trace: ttl", Some(&decision.ttl), &traced.ttl);
    check.equal("trace: scope", Some(&decision.ecs_scope), &traced.ecs_scope);
}

fn step(index: usize, wanted: &StepRow, got: &StepTrace, check: &mut Check) {
    let addresses = |list: &[gslb_engine::trace::TraceCandidate]| -> Vec<String> {
        list.iter().map(|candidate| candidate.address.clone()).collect()
    };
    let action = serde_json::to_value(got.action).unwrap();
    check.equal(
        &format!("steps[{index}].action"),
        Some(&wanted.action.clone().into()),
        &action,
    );
    check.equal(&format!("steps[{index}].step"), wanted.step.as_ref(), &got.step);
    check.equal(
        &format!("steps[{index}].before"),
        wanted.before.as_ref(),
        &addresses(&got.before),
    );
    check.equal(
        &format!("steps[{index}].after"),
        wanted.after.as_ref(),
        &addresses(&got.after),
    );
    if let Some(reason) = wanted
        .reason
        .as_ref()
        .filter(|reason| !got.reason.contains(*reason))
    {
        check.fail(format!(
            "steps[{index}].reason: {reason:?} is not in {:?}",
            got.reason
        ));
    }
    for (name, value) in &wanted.details {
        if !got
            .details
            .iter()
            .any(|detail| detail.name == *name && detail.value == *value)
        {
            check.fail(format!(
                "steps[{index}].details: no {name}: {value} in {:?}",
                got.details
            ));
        }
    }
}

/// Expectations about many queries.
fn many(
    snapshot: &Snapshot,
    service: RoutedService<'_>,
    ctx: &QueryContext<'_>,
    draws: Option<u64>,
    expect: &Expect,
    scratch: &mut Scratch,
    check: &mut Check,
) {
    let mut first_of = |n: u64| {
        let ctx = QueryContext {
            entropy: entropy(n),
            ..*ctx
        };
        evaluate(snapshot, service, &ctx, scratch, &mut NoTrace);
        scratch.answers().first().copied()
    };
    if let Some(turns) = &expect.turns {
        let got: Vec<_> = (0..3 * turns.len() as u64).filter_map(&mut first_of).collect();
        let start = turns.iter().position(|ip| Some(ip) == got.first()).unwrap_or(0);
        let wanted: Vec<_> = turns
            .iter()
            .cycle()
            .skip(start)
            .take(3 * turns.len())
            .copied()
            .collect();
        check.equal("turns", Some(&wanted), &got);
    }
    if expect.any_of.is_none() && expect.shares.is_none() {
        return;
    }
    let draws = draws.unwrap_or(4000);
    let mut counts: BTreeMap<IpAddr, u64> = BTreeMap::new();
    for ip in (0..draws).filter_map(&mut first_of) {
        *counts.entry(ip).or_default() += 1;
    }
    if let Some(any_of) = &expect.any_of {
        let mut wanted = any_of.clone();
        wanted.sort();
        check.equal("anyOf", Some(&wanted), &counts.keys().copied().collect());
    }
    if let Some(shares) = &expect.shares {
        let answered: u64 = counts.values().sum();
        check.equal("shares: answered queries", Some(&draws), &answered);
        let mut chi_square = 0.0;
        for ip in shares
            .keys()
            .chain(counts.keys().filter(|ip| !shares.contains_key(*ip)))
        {
            let wanted = shares.get(ip).copied().unwrap_or(0.0) * draws as f64;
            let got = counts.get(ip).copied().unwrap_or(0) as f64;
            if wanted == 0.0 {
                check.equal(&format!("shares: answers with {ip}"), Some(&0.0), &got);
            } else {
                chi_square += (got - wanted).powi(2) / wanted;
            }
        }
        let freedom = shares
            .values()
            .filter(|share| **share > 0.0)
            .count()
            .saturating_sub(1);
        if freedom > 0 && chi_square > CHI_SQUARE[freedom - 1] {
            check.fail(format!(
                "shares: chi-square {chi_square:.1}: wanted {shares:?} of {draws}, got {counts:?}"
            ));
        }
    }
}
