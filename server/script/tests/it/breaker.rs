//! Scripts that keep failing are switched off, for a while.

use crate::support::{Hand, NOT_QUICK, candidates, input, patient, run, with_clock};
use gslb_engine::model::ServiceId;
use gslb_engine::query::Family;
use gslb_engine::script::{Place, ScriptFailure, Scripts};
use gslb_script::{ERRORS_IN_A_ROW, OFF_FOR};
use std::time::Duration;

fn id(number: u8) -> Option<ServiceId> {
    format!("00000000-0000-0000-0000-0000000000{number:02}")
        .parse()
        .ok()
}

fn service(number: u8) -> Place {
    Place::Service(id(number).unwrap())
}

#[test]
fn errors_in_a_row_switch_a_script_off_and_a_success_on_again() {
    let hand = Hand::default();
    let workers = with_clock(patient(), &hand);
    let candidates = candidates(&["eu"]);
    for prefix in ["", NOT_QUICK] {
        let body = format!("{prefix}result = ['192.0.2.1'] if qtype == 'AAAA' else fail('no')");
        let script = workers.compile(&body, service(1)).unwrap();
        let mut asked = input(&candidates);
        for _ in 0..ERRORS_IN_A_ROW {
            assert!(matches!(run(&*script, &asked), Err(ScriptFailure::Failed(_))));
        }
        let off = ScriptFailure::SwitchedOff {
            errors: ERRORS_IN_A_ROW,
        };
        assert_eq!(run(&*script, &asked), Err(off.clone()));
        let stats = |body: &str| {
            workers
                .stats()
                .into_iter()
                .find(|stats| &*stats.body == body && stats.service == id(1))
                .unwrap()
        };
        assert_eq!(stats(&body).off_for, Some(OFF_FOR));
        assert_eq!((stats(&body).runs, stats(&body).errors), (5, 5));

        asked.qtype = Family::V6;
        assert_eq!(run(&*script, &asked), Err(off), "off is off, whatever the query");
        hand.forward(OFF_FOR);
        assert_eq!(run(&*script, &asked), Ok(vec![0]));
        assert_eq!(stats(&body).off_for, None);
        hand.forward(Duration::from_secs(1));
    }
}

#[test]
fn nobody_named_is_no_reason_to_switch_off() {
    let workers = with_clock(patient(), &Hand::default());
    let script = workers.compile("result = []", Place::Trial).unwrap();
    for _ in 0..20 {
        assert_eq!(
            run(&*script, &input(&candidates(&["eu"]))),
            Err(ScriptFailure::NamesNobody)
        );
    }
}

#[test]
fn what_fails_in_one_service_is_not_switched_off_in_another() {
    let workers = with_clock(patient(), &Hand::default());
    let candidates = candidates(&["eu"]);
    for prefix in ["", NOT_QUICK] {
        let body = format!("{prefix}result = ['192.0.2.1'] if qtype == 'AAAA' else fail('no')");
        let [first, second] = [1, 2].map(|number| workers.compile(&body, service(number)).unwrap());
        let trial = workers.compile(&body, Place::Trial).unwrap();
        let (odd, mut good) = (input(&candidates), input(&candidates));
        good.qtype = Family::V6;
        for _ in 0..ERRORS_IN_A_ROW {
            assert!(matches!(run(&*first, &odd), Err(ScriptFailure::Failed(_))));
        }
        let off = ScriptFailure::SwitchedOff {
            errors: ERRORS_IN_A_ROW,
        };
        assert_eq!(run(&*first, &good), Err(off.clone()));
        assert_eq!(run(&*second, &good), Ok(vec![0]), "the same text elsewhere");
        assert_eq!(run(&*trial, &good), Ok(vec![0]), "or tried");
        assert_eq!(workers.texts(), 1, "compiled once");
        // A snapshot later it is the same script in the same place.
        let again = workers.compile(&body, service(1)).unwrap();
        assert_eq!(run(&*again, &good), Err(off));
        let mut stats: Vec<_> = workers.stats().into_iter().filter(|s| *s.body == *body).collect();
        stats.sort_by_key(|stats| stats.service);
        let told: Vec<_> = stats.iter().map(|s| (s.service, s.off_for, s.errors)).collect();
        assert_eq!(
            told,
            [
                (id(1), Some(OFF_FOR), u64::from(ERRORS_IN_A_ROW)),
                (id(2), None, 0)
            ]
        );
    }
}
