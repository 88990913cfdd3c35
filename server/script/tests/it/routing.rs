//! What scripts decide.

use crate::support::{NOT_QUICK, candidates, input, order, run, workers};
use gslb_engine::script::{Place, ScriptFailure, ScriptReads, Scripts};

#[test]
fn the_order_of_result_counts_and_strangers_and_repeats_are_dropped() {
    let workers = workers();
    for prefix in ["", NOT_QUICK] {
        let body = format!(
            "{prefix}result = [\"192.0.2.3\", \"203.0.113.9\", \"192.0.2.1\", \"192.0.2.3\", 5, \"nonsense\"]"
        );
        assert_eq!(order(&workers, &body), Ok(vec![2, 0]));
    }
}

#[test]
fn every_fact_arrives() {
    let workers = workers();
    let facts = r#"
first = candidates[0]
facts = [
    qname == "cust-42.svc.example.com.", qtype == "A", client_ip == "198.51.100.7", client_country == "NO",
    client_asn == 64501, now == 1700000000, service == "www", len(candidates) == 3,
    first["ip"] == "192.0.2.1", first["port"] == 80, first["region"] == "eu", first["weight"] == 1,
    first["priority"] == 1, first["asn"] == 64501, first["health_score"] == 1.0, first["rtt_ms"] == float("inf"),
    len(first) == 8,
]
result = ["192.0.2.2"] if all(facts) else fail(facts)
"#;
    assert_eq!(order(&workers, facts), Ok(vec![1]));
    assert_eq!(order(&workers, &format!("{NOT_QUICK}{facts}")), Ok(vec![1]));
}

#[test]
fn office_hours() {
    let workers = workers();
    let body = r#"
hour = (now // 3600) % 24
if 8 <= hour < 18:
    result = [c["ip"] for c in candidates if c["region"] == "us"]
elif 18 <= hour <= 23:
    result = [c["ip"] for c in candidates if c["region"] != "us"]
else:
    result = [c["ip"] for c in candidates]
"#;
    let script = workers.compile(body, Place::Trial).unwrap();
    let candidates = candidates(&["eu", "us", "eu"]);
    let at = |hour: u64| {
        let mut input = input(&candidates);
        input.now = 1_700_006_400 + hour * 3600;
        run(&*script, &input)
    };
    assert_eq!(at(7), Ok(vec![0, 1, 2]));
    assert_eq!(at(8), Ok(vec![1]));
    assert_eq!(at(17), Ok(vec![1]));
    assert_eq!(at(18), Ok(vec![0, 2]));
}

#[test]
fn the_nearest_first_the_unmeasured_last() {
    let workers = workers();
    let body = r#"
alive = [c for c in candidates if c["health_score"] > 0.5]
result = [c["ip"] for c in sorted(alive, key = lambda c: c["rtt_ms"])]
"#;
    let script = workers.compile(body, Place::Trial).unwrap();
    let mut candidates = candidates(&["a", "b", "c", "d"]);
    candidates[1].rtt_ms = Some(20.0);
    candidates[2].rtt_ms = Some(3.5);
    candidates[3].health_score = 0.1;
    assert_eq!(run(&*script, &input(&candidates)), Ok(vec![2, 1, 0]));
}

#[test]
fn a_label_of_the_name_decides() {
    let workers = workers();
    let body = r#"
number = int(qname.split(".")[0].split("-")[1])
wanted = "eu" if number % 2 == 0 else "us"
result = [c["ip"] for c in candidates if c["region"] == wanted] or [c["ip"] for c in candidates]
"#;
    let script = workers.compile(body, Place::Trial).unwrap();
    let candidates = candidates(&["eu", "us", "eu"]);
    let mut asked = input(&candidates);
    assert_eq!(run(&*script, &asked), Ok(vec![0, 2]));
    asked.qname = "cust-7.svc.example.com.";
    assert_eq!(run(&*script, &asked), Ok(vec![1]));
    asked.qname = "nobody.svc.example.com.";
    match run(&*script, &asked) {
        Err(ScriptFailure::Failed(why)) => assert!(why.starts_with("line 2, column 14: "), "{why}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn failures_say_what_is_wrong() {
    let workers = workers();
    for prefix in ["", NOT_QUICK] {
        let failure = |body: &str| order(&workers, &format!("{prefix}{body}")).unwrap_err();
        assert_eq!(failure("result = []"), ScriptFailure::NamesNobody);
        assert_eq!(failure("result = ['192.0.2.77']"), ScriptFailure::NamesNobody);
        let text = failure("result = '192.0.2.1'").to_string();
        assert!(text.contains("list") && text.contains("string"), "{text}");
        assert!(
            failure("if now < 5:\n    result = []")
                .to_string()
                .contains("result")
        );
        assert!(
            failure("result = [candidates[77]]")
                .to_string()
                .starts_with("line ")
        );
        assert!(
            failure("result = fail('told you')")
                .to_string()
                .contains("told you")
        );
    }
}

#[test]
fn what_is_read_of_the_client_is_known() {
    let workers = workers();
    let reads = |body: &str| workers.compile(body, Place::Trial).unwrap().reads();
    assert_eq!(
        reads("result = [c['ip'] for c in candidates]"),
        ScriptReads::default()
    );
    let all = "def f():\n    return [client_asn for x in candidates if x]\nresult = f() + [client_ip]\nprint(client_country)";
    assert_eq!(
        reads(all),
        ScriptReads {
            client_ip: true,
            client_country: true,
            client_asn: true
        }
    );
}

#[test]
fn print_goes_nowhere() {
    assert_eq!(
        order(&workers(), "print('hello')\nresult = ['192.0.2.2']"),
        Ok(vec![1])
    );
}

#[test]
fn many_candidates_run_in_a_worker() {
    let workers = workers();
    let script = workers
        .compile("result = [c['ip'] for c in reversed(candidates)]", Place::Trial)
        .unwrap();
    let regions = vec!["x"; 250];
    let candidates = candidates(&regions);
    let expected: Vec<u16> = (0..250).rev().collect();
    assert_eq!(run(&*script, &input(&candidates)), Ok(expected));
}

#[test]
fn a_number_ends_where_a_word_begins() {
    let workers = workers();
    for (condition, holds) in [
        ("h<17or h==99", true),
        ("9<=h<17or h==99", true),
        ("13<=h<17or h==99", false),
        ("1<h<17if h>2else h<3", true),
    ] {
        let body = format!("h = 12\nok = {condition}\nresult = [c[\"ip\"] for c in candidates if ok]");
        let script = workers
            .compile(&body, Place::Trial)
            .unwrap_or_else(|error| panic!("{condition}: {error}"));
        let found = run(&*script, &input(&candidates(&["eu"])));
        assert_eq!(found.is_ok(), holds, "{condition}: {found:?}");
    }
}

#[test]
fn a_script_gets_the_end_of_a_name_that_is_too_long() {
    let workers = workers();
    let body =
        "result = [c[\"ip\"] for c in candidates if len(qname) == 255 and qname.endswith(\".example.\")]";
    let script = workers.compile(body, Place::Trial).unwrap();
    let candidates = candidates(&["eu"]);
    let qname = format!("{}.example.", "\\200".repeat(200));
    let long = gslb_engine::script::ScriptInput {
        qname: &qname,
        ..input(&candidates)
    };
    assert_eq!(run(&*script, &long), Ok(vec![0]));
}
