//! RFC 9471: a referral has all glue that is needed to follow it, or says that it is cut.

use crate::support::Server;
use crate::support::ask::{A, Ask};

#[test]
fn s3_1_glue_that_does_not_fit_sets_tc() {
    let server = Server::start();
    let small = server.udp(&Ask::new("x.wide.static.test.", A));
    assert!(small.tc() && small.message.authorities.is_empty() && small.message.additionals.is_empty());
    let over_tcp = server.tcp(&Ask::new("x.wide.static.test.", A));
    assert_eq!(
        (
            over_tcp.tc(),
            over_tcp.message.authorities.len(),
            over_tcp.message.additionals.len()
        ),
        (false, 8, 48)
    );
}

#[test]
fn s1_other_addresses_are_left_out_without_tc() {
    // `signed` is served by a host outside of it: its addresses help, and are not needed.
    let server = Server::start();
    let reply = server.both(&Ask::new("x.signed.static.test.", A));
    assert_eq!((reply.tc(), reply.message.additionals.len()), (false, 3));
}
