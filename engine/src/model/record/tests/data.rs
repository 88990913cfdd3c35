//! Data of every type, from text to wire form and back.

use super::*;

/// Type, text as written, text as stored (empty: the same).
pub(super) const GOOD: &[(&str, &str, &str)] = &[
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
