//! The limits of a service.

use super::*;

/// Fields that are wrong in a draft that differs from a good one.
fn wrong(change: impl FnOnce(&mut ServiceDraft)) -> Vec<String> {
    let id = TenantId::DEFAULT.0;
    let mut draft = ServiceDraft {
        name: Some("www".to_owned()),
        domain: Some("www.example.com".to_owned()),
        pool_id: Some(PoolId(id).to_string()),
        ..ServiceDraft::default()
    };
    change(&mut draft);
    let checked = draft.validate(ServiceId(id), TenantId::DEFAULT, FilterName::RoundRobin);
    let errors = checked.err().unwrap_or_default();
    errors.into_iter().map(|error| error.field).collect()
}

#[test]
fn a_chain_has_sixteen_steps_at_most() {
    let steps = |count: usize| vec!["geo-ip".to_owned(); count];
    for count in [0, 1, MAX_STEPS] {
        assert_eq!(wrong(|draft| draft.filter_chain = Some(steps(count))), [""; 0]);
    }
    assert_eq!(
        wrong(|draft| draft.filter_chain = Some(steps(MAX_STEPS + 1))),
        ["filterChain"]
    );
}

#[test]
fn an_answer_has_one_to_sixty_four_members() {
    for count in [1, 64] {
        assert_eq!(wrong(|draft| draft.max_answers = Some(count)), [""; 0]);
    }
    for count in [-1, 0, 65, 256] {
        assert_eq!(
            wrong(|draft| draft.max_answers = Some(count)),
            ["maxAnswers"],
            "{count}"
        );
    }
}

#[test]
fn a_chain_wins_over_an_algorithm_and_what_is_empty_is_not_given() {
    let parse = |algorithm, chain: &[&str]| {
        let chain: Vec<String> = chain.iter().map(|step| (*step).to_owned()).collect();
        Routing::parse(algorithm, &chain, FilterName::Latency)
    };
    let chain = |steps: &[FilterName]| {
        Ok(Routing::Chain(
            steps.iter().map(|n| FilterStep::Builtin(*n)).collect(),
        ))
    };
    assert_eq!(parse(Some("random"), &["sticky"]), chain(&[FilterName::Sticky]));
    // Even over one that is no algorithm: nobody looks at it.
    assert_eq!(parse(Some("nonsense"), &["sticky"]), chain(&[FilterName::Sticky]));
    assert_eq!(
        parse(Some("random"), &[]),
        Ok(Routing::Algorithm(FilterName::Random))
    );
    for nothing in [None, Some("")] {
        assert_eq!(parse(nothing, &[]), Ok(Routing::Algorithm(FilterName::Latency)));
    }
    for (alias, name) in [
        ("wrr", FilterName::WeightedRoundRobin),
        ("weighted_rr", FilterName::WeightedRoundRobin),
    ] {
        assert_eq!(parse(Some(alias), &[]), Ok(Routing::Algorithm(name)));
        assert!(parse(None, &[alias]).is_err());
    }
    // Names match exactly.
    for wrong in ["Sticky", " sticky", "sticky ", "geo_ip", ""] {
        assert!(parse(None, &[wrong]).is_err(), "{wrong}");
    }
}

#[test]
fn every_filter_without_a_parameter_is_an_algorithm() {
    for info in super::super::FILTERS {
        let parsed = Routing::parse(Some(info.name.as_str()), &[], FilterName::Random);
        let wanted = info.parameter.is_none().then_some(Routing::Algorithm(info.name));
        assert_eq!(parsed.ok(), wanted, "{}", info.name);
    }
}
