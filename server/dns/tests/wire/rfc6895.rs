//! RFC 6895 §3.1: types that are none of data.

use crate::support::Server;
use crate::support::ask::{A, ANY, AXFR, Ask, IXFR, NXNAME, OPT};

/// TKEY, TSIG, MAILB, MAILA.
const KNOWN: [u16; 4] = [249, 250, 253, 254];

/// Nothing can have them, so that "no such data" would be true, but it would not say that nothing was done: NOTIMP
/// (RFC 8906 §3.1.2), whether the name exists or not.
#[test]
fn s3_1_meta_types_that_are_not_implemented() {
    let server = Server::start();
    let all = (NXNAME + 1..=ANY).chain([0, OPT]);
    for qtype in all.filter(|qtype| ![AXFR, IXFR, ANY].contains(qtype)) {
        for name in [
            "www.gslb.test.",
            "host.static.test.",
            "nope.gslb.test.",
            "sub.static.test.",
        ] {
            let reply = server.both(&Ask::new(name, qtype).edns().ecs("198.51.100.0/24"));
            assert_eq!((reply.rcode(), reply.aa()), (4, false), "{name} {qtype}");
            assert!(reply.answers().is_empty() && reply.message.authorities.is_empty());
            assert_eq!(
                reply.option(15).map(|data| &data[..2]),
                Some(&[0, 21][..]),
                "{qtype}"
            );
            assert_eq!(reply.scope(), Some(0));
        }
    }
    for qtype in KNOWN {
        let reply = server.both(&Ask::new("www.gslb.test.", qtype));
        assert_eq!((reply.rcode(), reply.opt), (4, None));
    }
}

/// The types of data around them can be asked for, registered or not.
#[test]
fn s3_1_types_of_data_are_data() {
    let server = Server::start();
    for qtype in [24, 40, 42, 103, 127, 256, 0x7fff, 0xff00, 0xffff] {
        let reply = server.both(&Ask::new("www.gslb.test.", qtype));
        assert_eq!((reply.rcode(), reply.aa()), (0, true), "{qtype}");
        assert!(reply.negative_soa().is_some(), "{qtype}");
    }
    assert_eq!(server.both(&Ask::new("www.gslb.test.", A)).rcode(), 0);
}
