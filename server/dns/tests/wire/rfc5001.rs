//! RFC 5001, Name server identifier.

use crate::support::Server;
use crate::support::ask::{A, Ask, NSID};
use gslb_engine::model::Tier;

#[test]
fn s2_1_only_for_those_who_ask() {
    let server = Server::with(Tier::Enterprise, |settings| {
        settings.nsid = Some(b"node-7".to_vec());
    });
    let asked = Ask::new("www.gslb.test.", A).option(NSID, b"");
    assert_eq!(server.both(&asked).option(NSID), Some(&b"node-7"[..]));
    assert_eq!(
        server
            .both(&Ask::new("nope.gslb.test.", A).option(NSID, b""))
            .option(NSID),
        Some(&b"node-7"[..])
    );
    assert_eq!(
        server.both(&Ask::new("www.gslb.test.", A).edns()).option(NSID),
        None
    );
    assert_eq!(server.both(&Ask::new("www.gslb.test.", A)).opt, None);
}

#[test]
fn s2_2_without_an_identifier_the_option_is_left_out() {
    let server = Server::start();
    let reply = server.both(&Ask::new("www.gslb.test.", A).option(NSID, b""));
    assert_eq!((reply.rcode(), reply.addresses().len()), (0, 1));
    assert_eq!(reply.opt.unwrap().options, []);
}
