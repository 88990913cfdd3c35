//! RFC 6604: the response code is that of the last name of a chain.

use crate::support::Server;
use crate::support::ask::{A, Ask, TXT};

#[test]
fn s3_an_alias_of_a_missing_name_is_nxdomain() {
    let server = Server::start();
    let reply = server.both(&Ask::new("al.static.test.", A));
    assert_eq!((reply.rcode(), reply.aa()), (3, true));
    assert_eq!(
        reply.shown_answers(),
        ["al.static.test. CNAME 100 nope.static.test."]
    );
    assert_eq!(reply.negative_soa(), Some(("static.test.".into(), 60)));
}

#[test]
fn s3_an_alias_of_a_name_without_the_type_is_nodata() {
    let server = Server::start();
    let reply = server.both(&Ask::new("a1.static.test.", TXT));
    assert_eq!((reply.rcode(), reply.answers().len()), (0, 2));
    assert_eq!(reply.negative_soa(), Some(("static.test.".into(), 60)));
}
