//! Zone files, read and written.

use super::data::GOOD;
use super::*;

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
