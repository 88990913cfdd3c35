//! RFC 4035 §3.1.4.1: DS records belong to the zone above the delegation.

use crate::support::Server;
use crate::support::ask::{A, Ask, DS};

#[test]
fn s3_1_4_1_the_parent_answers_for_ds() {
    let server = Server::start();
    for name in ["signed.static.test.", "kid.static.test."] {
        let reply = server.both(&Ask::new(name, DS));
        assert_eq!(
            (reply.rcode(), reply.aa(), reply.answers().len()),
            (0, true, 1),
            "{name}"
        );
    }
    // A delegation that is not signed: there is no DS, and the zone above says so.
    let reply = server.both(&Ask::new("sub.static.test.", DS));
    assert_eq!((reply.rcode(), reply.aa(), reply.answers().len()), (0, true, 0));
    assert_eq!(reply.negative_soa(), Some(("static.test.".into(), 60)));
    // At the service's name, and at the topmost zone that is here.
    for (name, soa) in [
        ("svc.static.test.", "static.test."),
        ("static.test.", "static.test."),
    ] {
        assert_eq!(
            server.both(&Ask::new(name, DS)).negative_soa(),
            Some((soa.into(), 60))
        );
    }
    let reply = server.both(&Ask::new("signed.static.test.", A));
    assert_eq!((reply.aa(), reply.message.authorities.len()), (false, 1));
}
