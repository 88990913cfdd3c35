//! Scripts that keep failing are switched off, for a while.

use crate::support::{Hand, NOT_QUICK, candidates, input, patient, run, with_clock};
use gslb_engine::script::{ScriptFailure, Scripts};
use gslb_script::{ERRORS_IN_A_ROW, OFF_FOR};
use std::time::Duration;

#[test]
fn errors_in_a_row_switch_a_script_off_and_a_success_on_again() {
    let hand = Hand::default();
    let workers = with_clock(patient(), &hand);
    let candidates = candidates(&["eu"]);
    for prefix in ["", NOT_QUICK] {
        let body = format!("{prefix}result = ['192.0.2.1'] if qtype == 'AAAA' else fail('no')");
        let script = workers.compile(&body).unwrap();
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
                .find(|stats| &*stats.body == body)
                .unwrap()
        };
        assert_eq!(stats(&body).off_for, Some(OFF_FOR));
        assert_eq!((stats(&body).runs, stats(&body).errors), (5, 5));

        asked.qtype = gslb_engine::query::Family::V6;
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
    let script = workers.compile("result = []").unwrap();
    for _ in 0..20 {
        assert_eq!(
            run(&*script, &input(&candidates(&["eu"]))),
            Err(ScriptFailure::NamesNobody)
        );
    }
}
