//! RFC 7830 and 8467: padding of what is encrypted.

use crate::support::ask::{A, Ask, MX};
use crate::support::reply::Reply;
use crate::support::secure::{Pair, connect, server};
use crate::support::{receive, send};

const PADDING: u16 = 12;

#[test]
fn rfc_7830_s4_a_padded_query_gets_a_padded_reply() {
    let pair = Pair::new();
    let server = server(&pair.read());
    let mut stream = connect(&server, pair.client(b"dot"));
    let mut ask = |ask: &Ask| {
        send(&mut stream, &ask.octets());
        Reply::new(receive(&mut stream).unwrap())
    };
    // Addresses, no data, no such name, refused, and an unknown version.
    let names = [
        ("www.gslb.test.", A, 0),
        ("www.gslb.test.", MX, 0),
        ("nope.gslb.test.", A, 3),
        ("www.example.net.", A, 5),
    ];
    for (name, qtype, rcode) in names {
        for padding in [&[][..], &[0; 90]] {
            let query = Ask::new(name, qtype)
                .ecs("198.51.100.0/24")
                .option(PADDING, padding);
            let padded = ask(&query);
            assert_eq!((padded.rcode(), padded.raw.len()), (rcode, 468), "{name}");
            let zeros = padded.option(PADDING).unwrap();
            assert!(!zeros.is_empty() && zeros.iter().all(|octet| *octet == 0));
            // But for that it is the same.
            let bare = ask(&Ask::new(name, qtype).ecs("198.51.100.0/24"));
            assert_eq!(padded.addresses(), bare.addresses());
            assert_eq!(padded.scope(), bare.scope());
            assert_eq!(bare.option(PADDING), None, "who does not pad gets none");
            assert_eq!(bare.raw.len() + 4 + zeros.len(), 468);
        }
    }
}

#[test]
fn rfc_7830_s6_no_padding_in_the_clear() {
    let pair = Pair::new();
    let server = server(&pair.read());
    let query = Ask::new("www.gslb.test.", A).option(PADDING, &[0; 64]);
    for reply in [server.udp(&query), server.tcp(&query)] {
        assert_eq!(reply.addresses().len(), 1);
        assert_eq!(reply.option(PADDING), None);
    }
}
