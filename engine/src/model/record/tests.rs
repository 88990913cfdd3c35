//! Record data of every type there and back, and the rules of a set.

use super::*;
use crate::model::{ZoneDraft, ZoneId};
use uuid::Uuid;

fn zone() -> Zone {
    let draft = ZoneDraft {
        name: Some("example.com".to_owned()),
        ..ZoneDraft::default()
    };
    draft
        .validate(ZoneId(Uuid::from_u128(1)), TenantId::DEFAULT, 1)
        .unwrap()
}

fn set(name: &str, rtype: &str, data: &[&str]) -> Result<RecordSet, Vec<ValidationError>> {
    let draft = RecordDraft {
        name: Some(name.to_owned()),
        rtype: Some(rtype.to_owned()),
        ttl: None,
        data: Some(data.iter().map(|text| (*text).to_owned()).collect()),
    };
    draft.validate(RecordId(Uuid::from_u128(2)), &zone())
}

fn parse(rtype: &str, text: &str) -> Result<Rdata, String> {
    let origin = RecordName::parse("example.com.", None).unwrap();
    Rdata::parse(RecordType::parse(rtype).unwrap(), text, Origin::File(&origin))
}

/// Type, text as written, text as stored (empty: the same).
const GOOD: &[(&str, &str, &str)] = &[
    ("A", "192.0.2.1", ""),
    ("AAAA", "2001:DB8:0::1", "2001:db8::1"),
    ("NS", "ns1", "ns1.example.com."),
    ("CNAME", "@", "example.com."),
    ("PTR", "Host.Example.NET.", "host.example.net."),
    ("HINFO", "INTEL \"Li nux\"", "\"INTEL\" \"Li nux\""),
    ("MX", "10 mail", "10 mail.example.com."),
    ("MX", "0 .", ""),
    (
        "TXT",
        "plain \"two words\" \"q\\\"uo\\\\te\" \"\" \"\\195\\188\"",
        "\"plain\" \"two words\" \"q\\\"uo\\\\te\" \"\" \"\\195\\188\"",
    ),
    ("TXT", "\"v=DKIM1; k=rsa\"", ""),
    ("RP", "admin.example.com. .", ""),
    ("AFSDB", "1 afs.example.com.", ""),
    ("SRV", "0 5 5060 sip.example.com.", ""),
    (
        "NAPTR",
        "100 10 \"u\" \"E2U+sip\" \"!^.*$!sip:x@example.com!\" .",
        "",
    ),
    (
        "NAPTR",
        "1 1 S SIP+D2U \"\" _sip._udp",
        "1 1 \"S\" \"SIP+D2U\" \"\" _sip._udp.example.com.",
    ),
    ("CERT", "1 0 0 Zm9v YmFy", "1 0 0 Zm9vYmFy"),
    (
        "DS",
        "60485 5 1 2BB183AF 5F22588179A53B0A98631FAD1A292118",
        "60485 5 1 2bb183af5f22588179a53b0a98631fad1a292118",
    ),
    ("SSHFP", "2 1 123456789abcdef67890123456789abcdef67890", ""),
    (
        "TLSA",
        "3 1 1 d2abde240d7cd3ee6b4b28c54df034b97983a1d16e8a410e4561cb106618e971",
        "",
    ),
    ("SMIMEA", "3 0 0 00ff", ""),
    ("OPENPGPKEY", "Zg==", ""),
    ("CSYNC", "66 3 A NS AAAA TYPE1234", ""),
    ("SPF", "\"v=spf1 -all\"", ""),
    ("URI", "10 1 \"ftp://ftp1.example.com/public\"", ""),
    ("CAA", "0 issue \"ca.example.net; policy=ev\"", ""),
    ("CAA", "128 TBS Unknown", "128 tbs \"Unknown\""),
    ("CAA", "0 issue \";\"", ""),
    ("CAA", "0 issuewild \"\"", ""),
    ("DHCID", "AAIBY2/AuCccgoJbsaxcQc9TUapptP69lOjxfNuVAA2kjEA=", ""),
    ("KX", "1 kx.example.com.", ""),
    // RFC 9460 appendix D.
    ("HTTPS", "0 foo.example.com.", ""),
    ("SVCB", "1 .", ""),
    ("SVCB", "16 foo.example.com. port=53", ""),
    (
        "SVCB",
        "1 foo.example.com. key667=hello",
        "1 foo.example.com. key667=\"hello\"",
    ),
    ("SVCB", "1 foo.example.com. key667=\"hello\\210qoo\"", ""),
    (
        "SVCB",
        "1 foo.example.com. ipv6hint=\"2001:db8::1,2001:db8::53:1\"",
        "1 foo.example.com. ipv6hint=2001:db8::1,2001:db8::53:1",
    ),
    (
        "SVCB",
        "16 foo.example.org. alpn=h2,h3-19 mandatory=ipv4hint,alpn ipv4hint=192.0.2.1",
        "16 foo.example.org. mandatory=alpn,ipv4hint alpn=h2,h3-19 ipv4hint=192.0.2.1",
    ),
    ("SVCB", "16 foo.example.org. alpn=\"f\\\\\\\\oo\\\\,bar,h2\"", ""),
    (
        "SVCB",
        "16 foo.example.org. alpn=f\\\\\\092oo\\092,bar,h2",
        "16 foo.example.org. alpn=\"f\\\\\\\\oo\\\\,bar,h2\"",
    ),
    (
        "HTTPS",
        "1 . alpn=h3 no-default-alpn ech=Zm9v dohpath=\"/dns-query{?dns}\" key65534",
        "1 . alpn=h3 no-default-alpn ech=Zm9v dohpath=\"/dns-query{?dns}\" key65534",
    ),
    // RFC 3597 §5.
    ("TYPE65280", "\\# 4 0A000001", "\\# 4 0a000001"),
    ("TYPE65280", "\\# 0", ""),
    ("A", "\\# 4 0A0000 01", "10.0.0.1"),
    ("MX", "\\# 6 000a 03 41 61 61 00", "0"),
];

#[test]
fn every_type_there_and_back() {
    for (rtype, text, stored) in GOOD {
        let (code, stored) = (
            RecordType::parse(rtype).unwrap(),
            if stored.is_empty() { text } else { stored },
        );
        let read = match parse(rtype, text) {
            Ok(read) => read,
            // The one with a name that does not end.
            Err(_) if *stored == "0" => continue,
            Err(why) => panic!("{rtype} {text}: {why}"),
        };
        assert_eq!(read.to_text(code), *stored, "{rtype}");
        assert_eq!(parse(rtype, stored).as_ref(), Ok(&read), "{rtype} {stored}");
        assert_eq!(
            Rdata::from_wire(code, read.as_wire()).as_ref(),
            Ok(&read),
            "{rtype} {stored}"
        );
        // The form without knowledge of the type means the same.
        let digits: String = read
            .as_wire()
            .iter()
            .map(|octet| format!("{octet:02x}"))
            .collect();
        let generic = format!("\\# {} {digits}", read.as_wire().len());
        assert_eq!(parse(rtype, &generic).as_ref(), Ok(&read), "{rtype} {generic}");
    }
}

#[test]
fn rfc_9460_appendix_d_wire_forms() {
    for (text, wire) in [
        (
            "16 foo.example.com. port=53",
            &b"\x00\x10\x03foo\x07example\x03com\x00\x00\x03\x00\x02\x00\x35"[..],
        ),
        (
            "1 foo.example.com. key667=\"hello\\210qoo\"",
            &b"\x00\x01\x03foo\x07example\x03com\x00\x02\x9b\x00\x09hello\xd2qoo"[..],
        ),
        (
            "16 foo.example.org. alpn=\"f\\\\\\\\oo\\\\,bar,h2\"",
            &b"\x00\x10\x03foo\x07example\x03org\x00\x00\x01\x00\x0c\x08f\\oo,bar\x02h2"[..],
        ),
    ] {
        assert_eq!(parse("SVCB", text).unwrap().as_wire(), wire, "{text}");
    }
}

#[test]
fn data_that_does_not_fit_its_type() {
    for (rtype, text) in [
        ("A", "192.0.2"),
        ("A", "192.0.2.1 192.0.2.2"),
        ("A", "\\# 3 0a0000"),
        ("A", "\\# 5 0a000001"),
        ("AAAA", "192.0.2.1"),
        ("MX", "mail.example.com."),
        ("MX", "65536 mail"),
        ("MX", "+1 mail"),
        ("MX", "10"),
        ("TXT", ""),
        ("SRV", "0 0 0"),
        ("CAA", "256 issue x"),
        ("CAA", "0 is-sue x"),
        ("TLSA", "3 1 1 abc"),
        ("TLSA", "3 1 1"),
        ("DS", "1 2 3 xyz"),
        ("OPENPGPKEY", "Z"),
        ("LOC", "1"),
        ("TYPE65280", "hello"),
        ("TYPE65280", "\\# 2 0a"),
        ("TYPE65280", "\\#"),
        ("CNAME", "a..b"),
        ("MX", "\\# 6 000a 03 41 61 61"),
        // RFC 9460 appendix D.3.
        ("SVCB", "1 foo.example.com. key123=abc key123=def"),
        ("SVCB", "1 foo.example.com. mandatory"),
        ("SVCB", "1 foo.example.com. alpn"),
        ("SVCB", "1 foo.example.com. port"),
        ("SVCB", "1 foo.example.com. ipv4hint"),
        ("SVCB", "1 foo.example.com. ipv6hint"),
        ("SVCB", "1 foo.example.com. no-default-alpn=abc"),
        ("SVCB", "1 foo.example.com. mandatory=key123"),
        ("SVCB", "1 foo.example.com. mandatory=mandatory"),
        ("SVCB", "1 foo.example.com. mandatory=key123,key123 key123=abc"),
        ("SVCB", "1 . no-default-alpn"),
        ("SVCB", "1 . nonsense=1"),
        ("SVCB", "1 . key01=x"),
    ] {
        let Some(_) = RecordType::parse(rtype) else {
            continue;
        };
        assert!(parse(rtype, text).is_err(), "{rtype} {text}");
    }
}

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

/// A file with what files have: directives, comments, parentheses, names of every kind, TTLs with units.
const FILE: &str = r#"
$ORIGIN example.com.
$TTL 1h
@   IN SOA ns1 first\.last (
        2024010101 ; serial
        2h 900 1209600 60 )   ; the rest
    IN NS ns1
    IN NS ns2.example.net.
    300 IN MX 10 mail
ns1 IN 600 A 192.0.2.53
    AAAA 2001:db8::53
txt TXT ( "a;b" "two (words)" ) ; gone
  1d TXT third
$ORIGIN sub.example.com.
www CNAME host
host A 192.0.2.1
     A 192.0.2.2
     A 192.0.2.1
*    TYPE65280 \# 4 0a000001
@   RRSIG A 13 2 300 20240101000000 20230101000000 1 example.com. AAAA
"#;

#[test]
fn a_zone_file_is_read() {
    let file = ZoneFile::parse(FILE, &zone()).unwrap();
    let (soa, serial) = file.soa.unwrap();
    assert_eq!(
        (serial, soa.ttl, soa.minimum, soa.mname.as_str()),
        (2_024_010_101, 3600, 60, "ns1.example.com.")
    );
    assert_eq!(
        (soa.refresh, soa.rname.to_string().as_str()),
        (7200, r"first\.last.example.com.")
    );
    let (servers, ttl) = file.name_servers.unwrap();
    assert_eq!((servers.len(), ttl), (2, 3600));
    let shown: Vec<String> = file
        .sets
        .iter()
        .map(|set| {
            let data: Vec<_> = set.data.iter().map(|data| data.to_text(set.rtype)).collect();
            format!(
                "{} {} {} {} {}",
                set.line,
                set.name,
                set.ttl,
                set.rtype,
                data.join(" / ")
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            "9 example.com. 300 MX 10 mail.example.com.",
            "10 ns1.example.com. 600 A 192.0.2.53",
            "11 ns1.example.com. 3600 AAAA 2001:db8::53",
            "12 txt.example.com. 3600 TXT \"a;b\" \"two (words)\" / \"third\"",
            "15 www.sub.example.com. 3600 CNAME host.sub.example.com.",
            "16 host.sub.example.com. 3600 A 192.0.2.1 / 192.0.2.2",
            "19 *.sub.example.com. 3600 TYPE65280 \\# 4 0a000001",
        ]
    );
    assert_eq!(file.left_out, [(20, RecordType::RRSIG)]);
}

#[test]
fn a_ttl_that_is_not_stated_is_the_last_one_that_was() {
    let ttls = |text: &str| -> Vec<u32> {
        let file = ZoneFile::parse(text, &zone()).unwrap();
        file.sets.iter().map(|set| set.ttl).collect()
    };
    let lines = "a A 192.0.2.1\nb 60 A 192.0.2.1\nc A 192.0.2.1\nd 1m30 IN A 192.0.2.1\ne IN A 192.0.2.1\n";
    assert_eq!(ttls(lines), [3600, 60, 60, 90, 90]);
    assert_eq!(ttls(&format!("$TTL 5\n{lines}")), [5, 60, 5, 90, 5]);
    assert_eq!(ttls("a 60 A 192.0.2.1\na 30 A 192.0.2.2\n"), [30]);
}

#[test]
fn what_is_wrong_with_a_zone_file_is_told_by_line() {
    let text = "$INCLUDE other\n$GENERATE 1-2 a A 192.0.2.$\nwww A 192.0.2\nwww.example.net. A 192.0.2.1\n a A\n\
                @ CH TXT x\n@ NONSENSE x\na..b A 192.0.2.1\n TXT orphan\nx TXT \"open\ny TXT (\n\"never\" closed\n";
    let errors = ZoneFile::parse(text, &zone()).unwrap_err();
    let lines: Vec<_> = errors.iter().map(|error| error.field.as_str()).collect();
    assert_eq!(
        lines,
        [
            "line 1", "line 2", "line 3", "line 4", "line 5", "line 6", "line 7", "line 8", "line 9",
            "line 10", "line 11"
        ]
    );
    for (text, part) in [
        ("@ CNAME www\n", "no CNAME can stand beside it"),
        ("a CNAME b\na CNAME c\n", "one CNAME at most"),
        ("a DNAME b\n", "not supported"),
        ("@ SOA a b 1 2 3 4 5\n@ SOA a b 2 2 3 4 5\n", "one SOA"),
        ("@ SOA a b 1 4294967295 3 4 5\n", "no number of seconds"),
        ("a 99999999999 A 192.0.2.1\n", "no TTL"),
        ("a A 192.0.2.1 )\n", "none is open"),
    ] {
        let errors = ZoneFile::parse(text, &zone()).unwrap_err();
        assert!(errors[0].message.contains(part), "{text}: {errors:?}");
    }
}

#[test]
fn what_is_written_reads_back_to_the_same() {
    let zone = zone();
    let mut sets: Vec<RecordSet> = GOOD
        .iter()
        .filter(|(rtype, ..)| !matches!(*rtype, "DS" | "CNAME" | "NS"))
        .enumerate()
        .filter_map(|(n, (rtype, text, _))| {
            let rdata = parse(rtype, text).ok()?;
            let rtype = RecordType::parse(rtype).unwrap();
            let text = rdata.to_text(rtype);
            let mut set = set(&format!("n{n}.\\032x\\.y"), &rtype.to_string(), &[&text]).unwrap();
            set.ttl = u32::try_from(n).unwrap();
            Some(set)
        })
        .collect();
    sets.push(set("many", "A", &["192.0.2.2", "192.0.2.1"]).unwrap());
    let text = write_zone_file(&zone, &sets, std::slice::from_ref(&zone.name));
    let file = ZoneFile::parse(&text, &zone).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    assert_eq!(file.soa, Some((zone.soa.clone(), zone.serial)));
    assert_eq!(file.name_servers, Some((zone.name_servers.clone(), zone.ns_ttl)));
    let read: Vec<_> = file
        .sets
        .iter()
        .map(|set| (&set.name, set.rtype, set.ttl, set.data.clone()))
        .collect();
    let written: Vec<_> = sets
        .iter()
        .map(|set| (&set.name, set.rtype, set.ttl, set.rdata().unwrap()))
        .collect();
    assert_eq!(read, written);
}

proptest::proptest! {
    #[test]
    fn no_text_stops_the_reader(text in "[ -~\n\t]{0,200}", odd in ".{0,60}") {
        let _ = ZoneFile::parse(&text, &zone());
        let _ = ZoneFile::parse(&odd, &zone());
        for rtype in ["TXT", "SVCB", "CAA", "MX", "CSYNC", "TYPE9"] {
            let _ = parse(rtype, &text);
        }
    }

    #[test]
    fn rfc_3597_octets_come_back(rtype in 1_u16..300, octets: Vec<u8>) {
        let rtype = RecordType(rtype);
        if let Ok(rdata) = Rdata::from_wire(rtype, &octets) {
            let origin = RecordName::root();
            let again = Rdata::parse(rtype, &rdata.to_text(rtype), Origin::File(&origin));
            proptest::prop_assert_eq!(again.as_ref(), Ok(&rdata), "{}", rdata.to_text(rtype));
            proptest::prop_assert!(rdata.as_wire().eq_ignore_ascii_case(&octets));
        }
    }
}
