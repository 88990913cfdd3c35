//! RFC 2308, Negative caching: NODATA, NXDOMAIN, and the SOA that bounds how long they are kept.

use crate::support::Server;
use crate::support::ask::{A, AAAA, Ask, DS, HINFO, MX, NS, SOA, TXT};

#[test]
fn s2_1_a_name_that_does_not_exist() {
    let server = Server::start();
    for qtype in [A, AAAA, SOA, NS, MX, DS, 65280] {
        let reply = server.both(&Ask::new("nope.gslb.test.", qtype));
        assert_eq!((reply.rcode(), reply.aa()), (3, true), "type {qtype}");
        assert_eq!(reply.answers(), []);
        assert_eq!(reply.negative_soa(), Some(("gslb.test.".into(), 60)));
    }
}

#[test]
fn s2_1_a_disabled_service_does_not_exist() {
    let server = Server::start();
    let reply = server.both(&Ask::new("off.gslb.test.", A));
    assert_eq!(
        (reply.rcode(), reply.negative_soa()),
        (3, Some(("gslb.test.".into(), 60)))
    );
}

#[test]
fn s2_2_other_types_at_a_service_are_nodata() {
    let server = Server::start();
    for qtype in [MX, TXT, HINFO, DS, SOA, NS, 5, 33, 65, 127, 256, 65280, 65535] {
        let reply = server.both(&Ask::new("www.gslb.test.", qtype));
        assert_eq!((reply.rcode(), reply.aa()), (0, true), "type {qtype}");
        assert_eq!(reply.answers(), []);
        assert_eq!(reply.negative_soa(), Some(("gslb.test.".into(), 60)));
    }
}

#[test]
fn s2_2_the_family_that_a_pool_lacks_is_nodata() {
    // A stack that got NXDOMAIN for AAAA would not use the A record it has (RFC 4074 §4.2).
    let server = Server::start();
    let reply = server.both(&Ask::new("v4.gslb.test.", AAAA));
    assert_eq!((reply.rcode(), reply.aa(), reply.answers().len()), (0, true, 0));
    assert_eq!(reply.negative_soa(), Some(("gslb.test.".into(), 30)));
}

#[test]
fn s2_2_a_country_with_members_of_the_other_family_only_is_no_reason_for_nodata() {
    let server = Server::start();
    // Germany has a v6 member only: who asks for A from there gets the one of elsewhere.
    let reply = server.both(&Ask::new("six.gslb.test.", A).ecs("203.0.113.0/24"));
    assert_eq!(
        reply.addresses(),
        ["192.0.2.10".parse::<std::net::IpAddr>().unwrap()]
    );
    let v6 = server.both(&Ask::new("six.gslb.test.", AAAA).ecs("203.0.113.0/24"));
    assert_eq!(
        v6.addresses(),
        ["2001:db8::10".parse::<std::net::IpAddr>().unwrap()]
    );
}

#[test]
fn s2_2_nobody_there_is_nodata_and_short() {
    let server = Server::start();
    // The smallest of SOA TTL, MINIMUM and the service's TTL.
    for (name, zone, ttl) in [
        ("down.gslb.test.", "gslb.test.", 30),
        ("down5.gslb.test.", "gslb.test.", 5),
        ("gate.gslb.test.", "gslb.test.", 30),
        ("www.short.test.", "short.test.", 30),
    ] {
        let reply = server.both(&Ask::new(name, A));
        assert_eq!(
            (reply.rcode(), reply.aa(), reply.answers().len()),
            (0, true, 0),
            "{name}"
        );
        assert_eq!(reply.negative_soa(), Some((zone.into(), ttl)), "{name}");
    }
    assert_eq!(
        server.both(&Ask::new("mixed.gslb.test.", A)).addresses().len(),
        1,
        "other pools are untouched"
    );
}

#[test]
fn s3_ttl_of_the_soa_is_the_smaller_of_its_own_and_minimum() {
    let server = Server::start();
    for (name, owner, ttl) in [
        ("nope.gslb.test.", "gslb.test.", 60),
        ("nope.short.test.", "short.test.", 30),
    ] {
        let reply = server.both(&Ask::new(name, A));
        assert_eq!(reply.negative_soa(), Some((owner.into(), ttl)));
    }
    for (name, owner, ttl) in [
        ("gslb.test.", "gslb.test.", 60),
        ("www.short.test.", "short.test.", 30),
    ] {
        let reply = server.both(&Ask::new(name, TXT));
        assert_eq!(
            (reply.rcode(), reply.negative_soa()),
            (0, Some((owner.into(), ttl)))
        );
    }
}

#[test]
fn s3_the_soa_is_that_of_the_closest_zone() {
    let server = Server::start();
    let soa = |name: &str, qtype| server.both(&Ask::new(name, qtype)).negative_soa();
    let (outer, inner) = (
        Some(("gslb.test.".into(), 60)),
        Some(("inner.gslb.test.".into(), 20)),
    );
    assert_eq!(soa("nope.inner.gslb.test.", A), inner);
    assert_eq!(soa("www.inner.gslb.test.", TXT), inner);
    assert_eq!(soa("inner.gslb.test.", TXT), inner);
    assert_eq!(soa("ininner.gslb.test.", A), outer);
    // DS is data of the zone above (RFC 4035 §3.1.4.1), unless that one is somewhere else.
    assert_eq!(soa("inner.gslb.test.", DS), outer);
    assert_eq!(soa("gslb.test.", DS), outer);
    assert_eq!(server.both(&Ask::new("inner.gslb.test.", SOA)).answers().len(), 1);
}

#[test]
fn s5_a_cache_may_keep_a_reply_as_long_as_its_shortest_record() {
    let server = Server::start();
    let of = |ask: Ask| gslb_dns::smallest_ttl(&server.tcp(&ask).raw);
    let negative = server.tcp(&Ask::new("nope.gslb.test.", A).edns());
    assert_eq!(
        of(Ask::new("nope.gslb.test.", A).edns()),
        negative.negative_soa().map(|soa| soa.1)
    );
    let positive = server.tcp(&Ask::new("www.gslb.test.", A));
    assert_eq!(
        of(Ask::new("www.gslb.test.", A).edns()),
        Some(positive.answers()[0].ttl)
    );
    assert_eq!(of(Ask::new("elsewhere.test.", A).edns()), None, "nothing but OPT");
    assert_eq!(gslb_dns::smallest_ttl(&negative.raw[..40]), None);
}
