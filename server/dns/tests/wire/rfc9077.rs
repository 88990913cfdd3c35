//! RFC 9077: an NSEC record is kept no longer than the negative answer that it proves.

use crate::support::ask::{A, Ask, NSEC, TXT};
use crate::support::dnssec::{self, Validator};
use gslb_dnssec::Algorithm;

#[test]
fn s3_the_ttl_is_that_of_the_negative_answer() {
    let server = dnssec::server(Algorithm::P256, false);
    let mut validator = Validator::new(&server);
    for (name, qtype, ttl) in [
        ("nope.gslb.test.", A, 60),
        ("www.gslb.test.", TXT, 60),
        ("nope.inner.gslb.test.", A, 20),
        // Recovery must be seen soon: the service's own TTL is shorter.
        ("down5.gslb.test.", A, 5),
    ] {
        let reply = validator.verified(&Ask::new(name, qtype).dnssec_ok());
        assert_eq!(
            reply.message.authorities.len(),
            4,
            "{name}: SOA, NSEC and their signatures"
        );
        for record in &reply.message.authorities {
            assert_eq!(record.ttl, ttl, "{record}");
        }
    }
    let reply = validator.ask("www.gslb.test.", NSEC);
    assert!(reply.answers().iter().all(|record| record.ttl == 60));
}
