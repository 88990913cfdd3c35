//! RFC 3597, Types that the server does not know.

use crate::support::Server;
use crate::support::ask::Ask;

#[test]
fn s3_unknown_types_are_answered_as_they_are() {
    let server = Server::start();
    // As octets: a record without data is one that hickory-proto does not read.
    let ask = Ask::new("host.static.test.", 65280);
    let reply = server.udp_octets(&ask.octets()).unwrap();
    assert_eq!(reply[2..8], [0x84, 0, 0, 1, 0, 2]);
    let head = b"\xc0\x0c\xff\x00\x00\x01\x00\x00\x01\x2c";
    let tail = [&head[..], b"\x00\x04\x0a\x00\x00\x01", head, b"\x00\x00"].concat();
    assert!(reply.ends_with(&tail), "{reply:02x?}");
    let reply = server.both(&Ask::new("host.static.test.", 65281));
    assert_eq!(
        (reply.rcode(), reply.negative_soa()),
        (0, Some(("static.test.".into(), 60)))
    );
}
