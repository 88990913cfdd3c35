use super::*;
use gslb_api_types::{LoginRequest, TraceRequest};
use gslb_engine::model::{ErrorCode, MemberDraft, PoolDraft, ServiceDraft, ZoneDraft};
use serde_json::json;

fn problems<D: Draft>(body: Value) -> Vec<(String, String)> {
    let list = match read::<D>(body) {
        Ok(proposal) => proposal.problems,
        Err(problems) => problems,
    };
    list.into_iter().map(|p| (p.field, p.message)).collect()
}

#[test]
fn everything_that_does_not_fit_is_told_at_once() {
    let body = json!({
        "name": 7, "minHealthy": "two", "nmae": "x",
        "members": [
            {"ipAddress": "192.0.2.1", "port": "80", "wieght": 1},
            "192.0.2.2",
            ["x", "192.0.2.1", 80],
            {"id": "nonsense", "adminState": "sleep", "enabled": "yes"},
        ],
        "healthCheck": {"type": "http", "headers": [["a"], "b"], "expectedStatus": {}},
    });
    let mut found = problems::<PoolDraft>(body);
    found.sort();
    let fields: Vec<_> = found.iter().map(|(field, _)| field.as_str()).collect();
    assert_eq!(
        fields,
        [
            "healthCheck.expectedStatus",
            "healthCheck.headers[0]",
            "healthCheck.headers[1]",
            "members[0].port",
            "members[0].wieght",
            "members[1]",
            "members[2]",
            "members[3].adminState",
            "members[3].enabled",
            "members[3].id",
            "minHealthy",
            "name",
            "nmae",
        ]
    );
    for (field, message) in &found {
        for word in [
            "i64",
            "u32",
            "struct",
            "variant",
            "expected",
            "invalid type",
            "sequence",
            "UUID",
        ] {
            assert!(!message.contains(word), "{field}: {message}");
        }
    }
}

#[test]
fn messages_say_what_would_be_right() {
    let one = |body| problems::<ServiceDraft>(body).remove(0);
    let text = |body| one(body).1;
    assert_eq!(
        text(json!({"ttl": "soon"})),
        "must be a whole number, not the text `soon`"
    );
    assert_eq!(
        text(json!({"ttl": 1.5})),
        "must be a whole number, not the number 1.5"
    );
    assert_eq!(
        text(json!({"enabled": 1})),
        "must be true or false, not the number 1"
    );
    assert_eq!(
        text(json!({"filterChain": "geo-ip"})),
        "must be a list, not the text `geo-ip`"
    );
    assert_eq!(
        text(json!({"fallback": 3})),
        "must be `none`, `all` or a list of addresses, not the number 3"
    );
    assert_eq!(
        one(json!({"naem": 1})),
        ("naem".into(), "there is no such field; is `name` meant?".into())
    );
    let members = problems::<MemberDraft>(json!({"adminState": "sleep"}));
    assert_eq!(
        members[0].1,
        "must be one of `auto`, `up`, `down`, `drain`, not the text `sleep`"
    );
    let trace = problems::<TraceRequest>(json!({"at": -1}));
    assert_eq!(trace[0].1, "must be a whole number from 0 up, not the number -1");
}

#[test]
fn a_body_of_another_kind_is_told_without_panic() {
    for body in [json!(null), json!([]), json!("x"), json!(3), json!([[]])] {
        let found = problems::<ServiceDraft>(body.clone());
        assert_eq!(found.len(), 1, "{body}: {found:?}");
        assert!(found[0].1.starts_with("must be an object"), "{found:?}");
    }
    let found = problems::<Vec<MemberDraft>>(json!({"a": 1}));
    assert_eq!(found[0].1, "must be a list, not an object");
}

#[test]
fn what_is_required_is_told_once() {
    let found = problems::<LoginRequest>(json!({}));
    let fields: Vec<_> = found.iter().map(|(field, _)| field.as_str()).collect();
    assert_eq!(fields, ["username", "password"]);
    let found = problems::<LoginRequest>(json!({"username": 1, "password": "x"}));
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn the_soa_is_taken_as_get_gives_it() {
    let soa = json!({"mname": "ns9.example.", "rname": "a.example.", "refresh": 1, "retry": 2, "expire": 3, "minimum": 4, "ttl": 5});
    let proposal =
        read::<ZoneDraft>(json!({"name": "example.", "soa": soa, "serial": 9, "id": "x"})).unwrap();
    assert_eq!(proposal.problems, []);
    assert_eq!(proposal.draft.soa_ttl, Some(5));
    assert_eq!(proposal.draft.mname.as_deref(), Some("ns9.example."));
    let found = problems::<ZoneDraft>(json!({"soa": {"ttl": 5, "nmame": 1}, "soaTtl": 6}));
    let fields: Vec<_> = found.iter().map(|(field, _)| field.as_str()).collect();
    assert_eq!(fields, ["soa.nmame", "soaTtl"]);
}

#[test]
fn a_page_of_members_is_the_members_in_it() {
    let all = json!({"items": [{"ipAddress": "192.0.2.1", "port": 80}], "total": 1});
    assert_eq!(read::<Vec<MemberDraft>>(all).unwrap().draft.len(), 1);
    let some = json!({"items": [{"ipAddress": "192.0.2.1", "port": 80}], "total": 2, "nextCursor": "x"});
    assert_eq!(problems::<Vec<MemberDraft>>(some).len(), 1);
}

#[test]
fn a_part_that_does_not_fit_is_not_missing_too() {
    let proposal = read::<ServiceDraft>(json!({"name": 5})).unwrap();
    let found = vec![
        ValidationError::new("name", ErrorCode::Required, "must be given"),
        ValidationError::new("nameServers", ErrorCode::Required, "must be given"),
    ];
    let fields: Vec<_> = proposal.with(found).into_iter().map(|e| e.field).collect();
    assert_eq!(fields, ["name", "nameServers"]);
}

#[test]
fn a_name_twice_in_an_object_is_no_json_here() {
    assert!(parse(br#"{"a": 1, "a": 2}"#).is_err());
    assert!(parse(br#"{"a": {"b": 1}, "b": 2}"#).is_ok());
    assert!(parse(b"{} x").is_err());
}

#[test]
fn many_problems_are_cut() {
    let body: Map<String, Value> = (0..500).map(|n| (format!("f{n}"), n.into())).collect();
    assert_eq!(problems::<ServiceDraft>(Value::Object(body)).len(), MAX_PROBLEMS);
}
