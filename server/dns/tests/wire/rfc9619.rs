//! RFC 9619, In the DNS, QDCOUNT is (usually) one.

use crate::support::Server;
use crate::support::ask::{A, Ask, Opt, message};
use crate::support::reply::Reply;

#[test]
fn s4_any_other_number_is_an_error() {
    let server = Server::start();
    let question = Ask::new("www.gslb.test.", A).question();
    let opt = Opt {
        payload: 1232,
        ..Opt::default()
    }
    .octets();
    for questions in [vec![], vec![question.clone(); 2], vec![question.clone(); 9]] {
        for additionals in [vec![], vec![opt.clone()]] {
            let octets = message(5, 0x0100, &questions, &additionals);
            let reply = Reply::new(server.udp_octets(&octets).unwrap());
            assert_eq!((reply.rcode(), reply.flags()), (1, 0x8101));
            assert_eq!(reply.opt.is_some(), !additionals.is_empty());
            assert_eq!(reply.field(2), 0);
        }
    }
}

#[test]
fn s4_a_count_without_the_question_is_an_error() {
    let server = Server::start();
    for count in [1, 2, 0xffff] {
        let mut octets = message(5, 0, &[], &[]);
        octets[4..6].copy_from_slice(&u16::to_be_bytes(count));
        assert_eq!(Reply::new(server.udp_octets(&octets).unwrap()).rcode(), 1);
    }
}
