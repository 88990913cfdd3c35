//! RFC 1035, Domain names: header, answers, limits of names and of UDP.

use crate::support::Server;
use crate::support::ask::{A, AAAA, ANY, Ask, MX, NS, SOA, TXT, message, wire};
use crate::support::records::{HEAP, heap_target};
use crate::support::reply::Reply;
use crate::support::world::longest_name;
use gslb_dns::Unanswered;
use hickory_proto::rr::RData;
use std::collections::HashSet;

#[test]
fn s4_1_1_an_answer_is_authoritative_and_recursion_is_not_available() {
    let server = Server::start();
    for rd in [0, 0x0100] {
        let reply = server.both(&Ask::new("www.gslb.test.", A).flags(rd));
        assert_eq!(reply.flags(), 0x8400 | rd, "QR, AA, RD as asked, nothing else");
        assert_eq!(
            reply.addresses(),
            ["192.0.2.1".parse::<std::net::IpAddr>().unwrap()]
        );
        assert_eq!(
            (reply.field(2), reply.field(3), reply.field(4), reply.field(5)),
            (1, 1, 0, 0)
        );
    }
}

#[test]
fn s4_1_1_the_id_comes_back() {
    let server = Server::start();
    for id in [0, 1, 0x00ff, 0xff00, 0xffff] {
        let mut ask = Ask::new("www.gslb.test.", A);
        ask.id = id;
        assert_eq!(server.both(&ask).id(), id);
    }
}

#[test]
fn s4_1_1_ad_cd_z_ra_tc_and_aa_of_the_query_do_not_come_back() {
    let server = Server::start();
    for bit in [0x0400, 0x0200, 0x0080, 0x0040, 0x0020, 0x0010] {
        let reply = server.both(&Ask::new("www.gslb.test.", A).flags(bit));
        assert_eq!(reply.flags(), 0x8400, "bit {bit:04x}");
    }
}

#[test]
fn s4_1_1_what_is_no_query_gets_no_answer() {
    let server = Server::start();
    let response = Ask::new("www.gslb.test.", A).flags(0x8000).octets();
    assert_eq!(
        server.udp_octets(&response),
        None,
        "answering responses would let two servers talk for ever"
    );
    for length in 0..12 {
        assert_eq!(server.udp_octets(&response[..length]), None, "{length} octets");
    }
    assert_eq!(server.counts().unanswered_for(Unanswered::NoQuery), 13);
}

#[test]
fn s3_2_both_families_come_from_the_pool() {
    let server = Server::start();
    let v6 = server.both(&Ask::new("www.gslb.test.", AAAA));
    assert_eq!(
        v6.addresses(),
        ["2001:db8::3".parse::<std::net::IpAddr>().unwrap()]
    );
    assert_eq!(v6.answers()[0].ttl, 30);
    let all = server.both(&Ask::new("crowd.gslb.test.", A).payload(4096));
    let unique: HashSet<_> = all.addresses().into_iter().collect();
    assert_eq!(unique.len(), 64);
    assert!(unique.iter().all(std::net::IpAddr::is_ipv4));
}

#[test]
fn s3_2_1_ttl_of_the_service() {
    let server = Server::start();
    for (name, ttl) in [("zero.gslb.test.", 0), ("long.gslb.test.", 0x7fff_ffff)] {
        assert_eq!(server.both(&Ask::new(name, A)).answers()[0].ttl, ttl);
    }
}

#[test]
fn s3_3_soa_and_ns_at_the_apex() {
    let server = Server::start();
    for apex in ["gslb.test.", "apex.test."] {
        let soa = server.both(&Ask::new(apex, SOA));
        assert!(soa.aa());
        let record = &soa.answers()[0];
        let RData::SOA(data) = &record.data else {
            panic!("{record:?}")
        };
        assert_eq!((record.ttl, data.serial, data.minimum), (3600, 2024, 60));
        assert_eq!((data.refresh, data.retry, data.expire), (7200, 900, 1_209_600));
        assert_eq!(data.mname.to_ascii(), format!("ns1.{apex}"));
        assert_eq!(data.rname.to_ascii(), format!("hostmaster.{apex}"));
        assert_eq!(soa.message.authorities.len(), 0);

        let ns = server.both(&Ask::new(apex, NS));
        assert!(ns.aa());
        let targets: Vec<_> = ns.answers().iter().map(|r| (r.ttl, r.data.to_string())).collect();
        assert_eq!(
            targets,
            [(7200, format!("ns1.{apex}")), (7200, format!("ns2.{apex}"))]
        );
    }
    assert_eq!(
        server.both(&Ask::new("apex.test.", A)).addresses().len(),
        1,
        "a service may be at the apex"
    );
}

#[test]
fn s3_3_a_service_outside_every_zone_has_an_soa_of_its_own() {
    let server = Server::start();
    assert_eq!(server.both(&Ask::new("lonely.example.", A)).addresses().len(), 1);
    let soa = server.both(&Ask::new("lonely.example.", SOA));
    assert_eq!(soa.answers().len(), 1);
    let none = server.both(&Ask::new("lonely.example.", NS));
    assert_eq!(none.negative_soa(), Some(("lonely.example.".into(), 60)));
    assert_eq!(server.both(&Ask::new("example.", A)).rcode(), 5);
    assert_eq!(server.both(&Ask::new("other.example.", A)).rcode(), 5);
}

#[test]
fn s2_3_4_limits_of_names() {
    let server = Server::start();
    let longest = Ask::new(&longest_name(), A);
    assert_eq!(longest.name.len(), 255);
    let reply = server.both(&longest);
    assert_eq!((reply.rcode(), reply.addresses().len()), (0, 1));

    let mut over = longest.clone();
    over.name.splice(0..1, [1, b'x', 63]);
    let mut long_label = Ask::new("www.gslb.test.", A);
    long_label
        .name
        .splice(0..1, [[64].as_slice(), &[b'y'; 61]].concat());
    let mut reserved = Ask::new("www.gslb.test.", A);
    reserved.name[0] = 0x80;
    for ask in [over, long_label, reserved] {
        let reply = server.both(&ask);
        assert_eq!(reply.rcode(), 1, "{:?}", ask.name);
        assert_eq!(reply.field(2), 0, "a question that cannot be read is not echoed");
    }
}

#[test]
fn s4_1_4_compression_loops_end() {
    let server = Server::start();
    let mut chain = vec![1, b'a'];
    for n in 0..127_u16 {
        chain.extend((0xc000 + 14 + 2 * n).to_be_bytes());
    }
    let names: [&[u8]; 7] = [
        &[0xc0, 0x0c],
        &[0xc0, 0x0e, 0xc0, 0x0c],
        &[0xc0, 0x00],
        &[0xc0, 0x20],
        &[0x01, b'a', 0xc0, 0x0c],
        &[0xc0],
        &chain,
    ];
    for name in names {
        let question = [name, &[0, 1, 0, 1]].concat();
        let reply = server
            .udp_octets(&message(7, 0, &[question], &[]))
            .map(Reply::new);
        assert_eq!(reply.map(|r| r.rcode()), Some(1), "{name:02x?}");
    }
    // A loop in the name of a record, where pointers are allowed, leads nowhere either.
    let looped = [&[0xc0, 0x1d][..], &[0, 1, 0, 1, 0, 0, 0, 0, 0, 0]].concat();
    let octets = message(8, 0, &[Ask::new("www.gslb.test.", A).question()], &[looped]);
    assert!(server.udp_octets(&octets).is_some());
}

/// Where the names in a message point to: offset of the pointer, and of what it points at.
fn pointers(reply: &Reply) -> Vec<(usize, usize)> {
    let raw = &reply.raw;
    let mut found = Vec::new();
    let mut name = |mut at: usize| loop {
        match raw[at] {
            0 => return at + 1,
            high @ 0xc0.. => {
                let to = usize::from(high & 0x3f) << 8 | usize::from(raw[at + 1]);
                found.push((at, to));
                return at + 2;
            }
            length => at += 1 + usize::from(length),
        }
    };
    let mut at = 12 + reply.question().len();
    for _ in 0..reply.field(3) + reply.field(4) + reply.field(5) {
        at = name(at);
        let (kind, length) = (
            raw[at + 1],
            usize::from(raw[at + 8]) << 8 | usize::from(raw[at + 9]),
        );
        at += 10;
        if kind == 15 {
            assert_eq!(name(at + 2), at + length);
        }
        at += length;
    }
    assert_eq!(at, raw.len());
    found
}

#[test]
fn s4_1_4_pointers_reach_no_further_than_they_can() {
    let server = Server::start();
    let ask = Ask::new("Heap.static.test.", MX);
    let reply = server.tcp(&ask);
    assert_eq!((reply.rcode(), reply.answers().len()), (0, HEAP));
    assert!(reply.raw.len() > 0x4000, "{} octets", reply.raw.len());
    let found = pointers(&reply);
    assert!(found.len() > 2 * HEAP, "owner and target of each are compressed");
    for (at, to) in found {
        assert!(to >= 12 && to < at, "{at} to {to}");
    }
    for (n, answer) in reply.shown_answers().iter().enumerate() {
        let target = format!("{}.static.test.", heap_target(n + 1));
        assert_eq!(*answer, format!("Heap.static.test. MX 300 {} {target}", n + 1));
    }
    // The owner in the additional section is a target of the answer.
    let target = heap_target(1);
    assert_eq!(
        reply.shown_additionals(),
        [format!("{target}.static.test. A 300 192.0.2.77")]
    );
    assert!(server.udp(&ask).tc());
}

#[test]
fn s4_2_1_without_edns_512_octets_are_the_limit() {
    let server = Server::start();
    for name in ["crowd.gslb.test.", "few.gslb.test."] {
        let ask = Ask::new(name, AAAA);
        let reply = server.udp(&ask);
        assert!(reply.tc() && reply.raw.len() <= 512, "{} octets", reply.raw.len());
        assert_eq!(reply.question(), ask.question());
        assert_eq!(reply.opt, None);
        assert!(reply.aa());
        let whole = server.tcp(&ask);
        assert!(!whole.tc());
        assert_eq!(
            whole.addresses().len(),
            if name.starts_with("crowd") { 64 } else { 30 }
        );
    }
    assert_eq!(server.counts().truncated, 2);
}

#[test]
fn s4_2_1_what_fits_512_octets_is_not_truncated() {
    let server = Server::start();
    let reply = server.udp(&Ask::new("few.gslb.test.", A));
    assert!(!reply.tc());
    assert_eq!(reply.addresses().len(), 30);
    assert_eq!(
        reply.raw.len(),
        12 + 19 + 30 * 16,
        "each owner is a pointer to the question"
    );
}

#[test]
fn odd_labels_are_octets_like_others() {
    let server = Server::start();
    for label in [&b"a\0b"[..], b"a.b", b"\xff", b" ", b"\\", b"*"] {
        let mut ask = Ask::new("gslb.test.", A);
        ask.name
            .splice(0..0, [&[u8::try_from(label.len()).unwrap()], label].concat());
        let reply = server.both(&ask);
        assert_eq!(reply.rcode(), 3, "{label:?}");
        assert_eq!(reply.question(), ask.question());
    }
}

#[test]
fn the_root_is_refused() {
    let server = Server::start();
    for qtype in [A, NS, SOA, ANY, TXT] {
        let reply = server.both(&Ask::new(".", qtype));
        assert_eq!((reply.rcode(), reply.aa()), (5, false));
        assert_eq!(reply.question()[..1], wire(".")[..]);
    }
}
