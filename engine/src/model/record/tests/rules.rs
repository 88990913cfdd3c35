//! What may stand beside what.

use super::*;

/// Messages about records and services that collide.
fn collisions(sets: &[(&str, &str, &str)], services: &[&str], zones: &[&str]) -> Vec<String> {
    let sets: Vec<RecordSet> = sets
        .iter()
        .map(|(name, rtype, data)| set(name, rtype, &[data]).unwrap())
        .collect();
    let names = |list: &[&str]| {
        list.iter()
            .map(|text| RecordName::parse(text, Some(&RecordName::from(&zone().name))).unwrap())
            .collect()
    };
    let around = Surroundings {
        apex: Some(RecordName::from(&zone().name)),
        records: sets.iter().collect(),
        aliases: Vec::new(),
        services: names(services),
        zones: names(zones),
    };
    around
        .problems()
        .into_iter()
        .map(|problem| match problem.subject {
            Subject::Record(set) => format!(
                "{} {}",
                set.name.relative_to(&RecordName::from(&zone().name)),
                set.rtype
            ),
            Subject::Service(name) | Subject::Zone(name) => name.to_string(),
        })
        .collect()
}

#[test]
fn a_cname_stands_alone() {
    assert_eq!(
        collisions(&[("a", "CNAME", "b"), ("b", "A", "192.0.2.1")], &[], &[]),
        [""; 0]
    );
    assert_eq!(
        collisions(&[("a", "CNAME", "b"), ("a", "TXT", "x")], &[], &[]),
        ["a CNAME"]
    );
    assert_eq!(
        collisions(&[("a", "A", "192.0.2.1"), ("a", "A", "192.0.2.2")], &[], &[]).len(),
        2
    );
}

#[test]
fn a_service_answers_for_the_addresses_of_its_name() {
    for (rtype, data) in [("A", "192.0.2.1"), ("AAAA", "2001:db8::1"), ("CNAME", "x")] {
        assert_eq!(
            collisions(&[("a", rtype, data)], &["a"], &[]),
            [format!("a {rtype}")]
        );
    }
    assert_eq!(
        collisions(&[("a", "TXT", "x"), ("a", "MX", "0 .")], &["a"], &[]),
        [""; 0]
    );
    assert_eq!(collisions(&[("*.a", "CNAME", "x")], &["*.a"], &[]), ["*.a CNAME"]);
}

#[test]
fn below_a_delegation_is_glue_and_nothing_else() {
    let cut = ("sub", "NS", "ns.sub.example.com.");
    assert_eq!(
        collisions(
            &[
                cut,
                ("ns.sub", "A", "192.0.2.1"),
                ("sub", "A", "192.0.2.2"),
                ("sub", "DS", "1 8 2 aa")
            ],
            &[],
            &[]
        ),
        [""; 0]
    );
    assert_eq!(collisions(&[cut, ("x.sub", "TXT", "x")], &[], &[]), ["x.sub TXT"]);
    assert_eq!(collisions(&[cut, ("sub", "MX", "0 .")], &[], &[]), ["sub MX"]);
    assert_eq!(collisions(&[cut, ("x.sub", "NS", "ns")], &[], &[]), ["x.sub NS"]);
    assert_eq!(collisions(&[("sub", "DS", "1 8 2 aa")], &[], &[]), ["sub DS"]);
    assert_eq!(
        collisions(&[cut], &["www.sub", "sub", "www"], &[]),
        ["www.sub.example.com.", "sub.example.com."]
    );
}

#[test]
fn records_belong_into_the_closest_zone() {
    assert_eq!(collisions(&[("x.sub", "TXT", "x")], &[], &["sub"]), ["x.sub TXT"]);
    assert_eq!(collisions(&[("sub", "A", "192.0.2.1")], &[], &["sub"]), ["sub A"]);
    let cut = ("sub", "NS", "ns.sub.example.com.");
    assert_eq!(
        collisions(
            &[cut, ("ns.sub", "A", "192.0.2.1"), ("sub", "DS", "1 8 2 aa")],
            &["www.sub"],
            &["sub"]
        ),
        [""; 0]
    );
}

#[test]
fn rfc_9460_7_3_hints_are_those_of_the_client() {
    let hints: Vec<std::net::IpAddr> = ["192.0.2.9", "2001:db8::9", "192.0.2.8"]
        .map(|ip| ip.parse().unwrap())
        .to_vec();
    let shown = |text: &str, hints: &[std::net::IpAddr]| {
        let rdata = parse("HTTPS", text).unwrap();
        rdata.with_hints(hints).to_text(RecordType::HTTPS)
    };
    let both = "1 . mandatory=alpn,ipv4hint alpn=h2 ipv4hint=192.0.2.1 ipv6hint=2001:db8::1";
    assert_eq!(
        shown(both, &hints),
        "1 . mandatory=alpn,ipv4hint alpn=h2 ipv4hint=192.0.2.9,192.0.2.8 ipv6hint=2001:db8::9"
    );
    assert_eq!(shown(both, &[]), "1 . mandatory=alpn alpn=h2");
    assert_eq!(shown("1 a. mandatory=ipv4hint ipv4hint=192.0.2.1", &[]), "1 a.");
    assert_eq!(shown("1 . alpn=h2", &hints), "1 . alpn=h2");
    assert_eq!(parse("HTTPS", both).unwrap().hints(), [true, true]);
    assert_eq!(parse("HTTPS", "1 . ipv6hint=::1").unwrap().hints(), [false, true]);
    assert_eq!(parse("HTTPS", "0 a").unwrap().hints(), [false, false]);
}
