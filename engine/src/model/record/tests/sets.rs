//! A set of records alone: its name, its type, its TTL.

use super::*;

#[test]
fn a_set_is_named_in_full_or_below_its_zone() {
    for (name, full) in [
        ("@", "example.com."),
        ("www", "www.example.com."),
        ("_sip._tcp", "_sip._tcp.example.com."),
        ("www.example.com", "www.example.com."),
        ("WWW.Example.COM.", "www.example.com."),
        ("*.a", "*.a.example.com."),
        ("example.com", "example.com."),
    ] {
        assert_eq!(set(name, "TXT", &["x"]).unwrap().name.to_string(), full);
    }
    let stored = set("www", "A", &["192.0.2.1"]).unwrap();
    let again = RecordDraft::from(&stored).validate(stored.id, &zone()).unwrap();
    assert_eq!((again.ttl, &again), (3600, &stored));
}

fn fields(result: Result<RecordSet, Vec<ValidationError>>) -> Vec<(String, ErrorCode)> {
    result
        .unwrap_err()
        .into_iter()
        .map(|e| (e.field, e.code))
        .collect()
}

#[test]
fn every_problem_at_once() {
    use ErrorCode::*;
    let bad = RecordDraft {
        name: Some("www.example.net.".to_owned()),
        rtype: Some("NONSENSE".to_owned()),
        ttl: Some(-1),
        data: None,
    };
    let problems = bad.validate(RecordId(Uuid::from_u128(2)), &zone());
    let found: Vec<_> = fields(problems);
    let wanted = [
        ("name", Invalid),
        ("type", Unknown),
        ("ttl", OutOfRange),
        ("data", Required),
    ];
    assert_eq!(found, wanted.map(|(field, code)| (field.to_owned(), code)));
    for (name, rtype, data, field, code) in [
        ("@", "SOA", "a. b. 1 2 3 4 5", "type", Unsupported),
        ("@", "NS", "ns1", "type", Conflict),
        ("@", "CNAME", "www", "type", Conflict),
        ("@", "DS", "1 8 2 aa", "type", Conflict),
        ("*", "NS", "ns1", "type", Conflict),
        ("a", "ANY", "x", "type", Unknown),
        ("a", "TYPE255", "\\# 0", "type", Unsupported),
        ("a", "RRSIG", "00", "type", Unsupported),
        ("a", "CNAME", "a", "data[0]", Conflict),
        ("a", "MX", "10 mail.example", "data[0]", Invalid),
    ] {
        assert_eq!(
            fields(set(name, rtype, &[data])),
            [(field.to_owned(), code)],
            "{name} {rtype}"
        );
    }
    assert_eq!(
        fields(set("a", "CNAME", &["b", "c"])),
        [("data".to_owned(), Conflict)]
    );
    assert_eq!(
        fields(set("a", "MX", &["10 b", "10 B.example.com."])),
        [("data[1]".to_owned(), Duplicate)]
    );
    let many: Vec<String> = (0..250).map(|n| format!("\"{n}{}\"", "x".repeat(250))).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(fields(set("a", "TXT", &many)), [("data".to_owned(), OutOfRange)]);
}
