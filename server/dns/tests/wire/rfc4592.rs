//! RFC 4592, Wildcards: what they cover, and what they do not because it exists.

use crate::support::Server;
use crate::support::ask::{A, AAAA, ANY, Ask, CNAME, MX, SRV, TXT};

#[test]
fn s2_1_1_a_wildcard_answers_for_names_that_do_not_exist() {
    let server = Server::start();
    for name in [
        "x.wild.gslb.test.",
        "y.x.wild.gslb.test.",
        "a.b.c.d.wild.gslb.test.",
        "q.lonely-wild.example.",
    ] {
        let reply = server.both(&Ask::new(name, A));
        assert_eq!((reply.rcode(), reply.aa()), (0, true), "{name}");
        assert_eq!(reply.addresses().len(), 1, "{name}");
        assert_eq!(
            reply.answers()[0].name.to_ascii(),
            name,
            "the owner is the name asked for"
        );
    }
}

#[test]
fn s2_1_1_the_asterisk_label_can_be_asked_for() {
    let server = Server::start();
    let reply = server.both(&Ask::new("*.wild.gslb.test.", A));
    assert_eq!(reply.addresses().len(), 1);
    assert_eq!(reply.answers()[0].name.to_ascii(), "*.wild.gslb.test.");
}

#[test]
fn s2_2_2_empty_non_terminals_exist() {
    let server = Server::start();
    for name in [
        "c.gslb.test.",
        "b.c.gslb.test.",
        "wild.gslb.test.",
        "sub.wild.gslb.test.",
    ] {
        let reply = server.both(&Ask::new(name, A));
        assert_eq!(
            (reply.rcode(), reply.aa(), reply.answers().len()),
            (0, true, 0),
            "{name}"
        );
        assert_eq!(reply.negative_soa(), Some(("gslb.test.".into(), 60)), "{name}");
    }
}

#[test]
fn s3_3_1_an_existing_name_blocks_the_wildcard() {
    let server = Server::start();
    // Exists with other types only: NODATA, not the wildcard's records.
    let reply = server.both(&Ask::new("host.wild.gslb.test.", AAAA));
    assert_eq!((reply.rcode(), reply.answers().len()), (0, 0));
    // The closest encloser is the existing name, and it has no wildcard below it.
    let below = server.both(&Ask::new("x.host.wild.gslb.test.", A));
    assert_eq!(below.rcode(), 3);
    let below_empty = server.both(&Ask::new("z.sub.wild.gslb.test.", A));
    assert_eq!(below_empty.rcode(), 3);
}

#[test]
fn s2_2_1_other_types_at_a_wildcard_are_nodata() {
    let server = Server::start();
    let reply = server.both(&Ask::new("x.wild.gslb.test.", MX));
    assert_eq!((reply.rcode(), reply.answers().len()), (0, 0));
    assert_eq!(reply.negative_soa(), Some(("gslb.test.".into(), 60)));
}

#[test]
fn s2_2_1_the_example_zone() {
    let server = Server::start();
    let ask = |name: &str, qtype| server.both(&Ask::new(&format!("{name}.rfc4592.test."), qtype));
    // Synthesised from the wildcard.
    assert_eq!(
        ask("host3", MX).shown_answers(),
        ["host3.rfc4592.test. MX 3600 10 host1.rfc4592.test."]
    );
    assert_eq!(ask("foo.bar", TXT).shown_answers().len(), 1);
    let nodata = ask("host3", A);
    assert_eq!(
        (
            nodata.rcode(),
            nodata.answers().len(),
            nodata.negative_soa().is_some()
        ),
        (0, 0, true)
    );
    // Not synthesised: the name exists, or an empty one above it does.
    assert_eq!(
        (ask("host1", MX).rcode(), ask("host1", MX).answers().len()),
        (0, 0)
    );
    assert_eq!(ask("sub.*", MX).negative_soa().unwrap().1, 60);
    assert_eq!(ask("_telnet._tcp.host1", SRV).rcode(), 3);
    let referral = ask("host.subdel", A);
    assert_eq!((referral.aa(), referral.message.authorities.len()), (false, 2));
    // Below a `*` that exists there is no wildcard.
    assert_eq!(ask("ghost.*", MX).rcode(), 3);
    // The wildcard by its own name.
    assert_eq!(ask("*", TXT).answers().len(), 1);
}

#[test]
fn s4_9_an_empty_wildcard_is_a_source_of_synthesis() {
    let server = Server::start();
    let reply = server.both(&Ask::new("x.e.static.test.", A));
    assert_eq!((reply.rcode(), reply.answers().len()), (0, 0));
    assert_eq!(reply.negative_soa(), Some(("static.test.".into(), 60)));
    assert_eq!(server.both(&Ask::new("t.e.static.test.", A)).answers().len(), 1);
}

#[test]
fn s4_3_an_alias_from_a_wildcard_has_the_name_that_was_asked_for() {
    let server = Server::start();
    let alias = "q.cdn.static.test. CNAME 100 host.static.test.";
    let reply = server.both(&Ask::new("q.cdn.static.test.", A));
    assert_eq!(reply.shown_answers()[0], alias);
    assert_eq!(reply.addresses().len(), 2);
    for qtype in [CNAME, ANY] {
        assert_eq!(
            server
                .both(&Ask::new("q.cdn.static.test.", qtype))
                .shown_answers(),
            [alias]
        );
    }
    assert_eq!(
        server.both(&Ask::new("here.cdn.static.test.", A)).answers().len(),
        0
    );
    let steered = server.both(&Ask::new("q.cdnsvc.static.test.", A));
    assert_eq!(
        steered.shown_answers().last().unwrap(),
        "svc.static.test. A 30 192.0.2.4"
    );
    let twice = server.both(&Ask::new("towild.static.test.", A));
    assert_eq!(
        twice.shown_answers()[..2],
        [
            "towild.static.test. CNAME 100 any.cdn.static.test.",
            "any.cdn.static.test. CNAME 100 host.static.test."
        ]
    );
}
