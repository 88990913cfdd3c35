//! RFC 4592, Wildcards: what they cover, and what they do not because it exists.

use crate::support::Server;
use crate::support::ask::{A, AAAA, Ask, MX};

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
