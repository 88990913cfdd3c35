//! RFC 8020, NXDOMAIN: there is nothing underneath. So a name with something underneath must not be NXDOMAIN.

use crate::support::Server;
use crate::support::ask::{A, ANY, Ask, NS};

#[test]
fn s2_names_above_a_service_exist() {
    // A resolver that minimises query names (RFC 9156) asks its way down and stops at the first NXDOMAIN.
    let server = Server::start();
    for (name, qtype) in [
        ("c.gslb.test.", A),
        ("b.c.gslb.test.", NS),
        ("b.c.gslb.test.", A),
        ("c.gslb.test.", NS),
    ] {
        let reply = server.both(&Ask::new(name, qtype));
        assert_eq!((reply.rcode(), reply.answers().len()), (0, 0), "{name}");
        assert!(reply.negative_soa().is_some());
    }
    assert_eq!(server.both(&Ask::new("a.b.c.gslb.test.", A)).addresses().len(), 1);
}

#[test]
fn s2_names_below_a_service_do_not_exist() {
    let server = Server::start();
    for name in [
        "x.www.gslb.test.",
        "y.x.www.gslb.test.",
        "x.a.b.c.gslb.test.",
        "x.lonely.example.",
    ] {
        let reply = server.both(&Ask::new(name, A));
        assert_eq!((reply.rcode(), reply.aa()), (3, true), "{name}");
    }
}

#[test]
fn s2_names_above_a_static_record_exist() {
    let server = Server::start();
    for name in ["b.c.static.test.", "c.static.test.", "_tcp.static.test."] {
        for qtype in [A, NS, ANY] {
            let reply = server.both(&Ask::new(name, qtype));
            assert_eq!(
                (reply.rcode(), reply.aa(), reply.answers().len()),
                (0, true, 0),
                "{name} {qtype}"
            );
        }
    }
    assert_eq!(server.both(&Ask::new("x.c.static.test.", A)).rcode(), 3);
}
