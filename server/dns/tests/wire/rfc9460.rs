//! RFC 9460, Service bindings: hints must not contradict the address records of the same client.

use crate::support::Server;
use crate::support::ask::{A, AAAA, Ask, HTTPS};

/// `key: addresses` of the hints in the one answer.
fn hints(reply: &crate::support::reply::Reply) -> String {
    let [.., answer] = &reply.shown_answers()[..] else {
        panic!("no answer")
    };
    answer
        .split_whitespace()
        .filter(|word| word.contains("hint"))
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn s7_3_hints_of_a_service_are_what_the_client_would_get() {
    let server = Server::start();
    for name in ["both.gslb.test.", "bind.static.test.", "tobind.static.test."] {
        for subnet in ["198.51.100.0/24", "203.0.113.0/24", "2001:db8:1::/48"] {
            let reply = server.both(&Ask::new(name, HTTPS).ecs(subnet));
            let v4 = server.both(&Ask::new("both.gslb.test.", A).ecs(subnet));
            let v6 = server.both(&Ask::new("both.gslb.test.", AAAA).ecs(subnet));
            let expected = format!("ipv4hint={} ipv6hint={}", v4.addresses()[0], v6.addresses()[0]);
            assert_eq!(
                hints(&reply).replace(',', ""),
                expected,
                "{name} {subnet}: {:?}",
                reply.shown_answers()
            );
            assert_eq!(reply.scope(), v4.scope(), "{name} {subnet}");
            // No longer than the service's own answers.
            assert_eq!(reply.answers().last().unwrap().ttl, 30);
        }
    }
    // Behind an alias, with one hint of the two.
    let reply = server.both(&Ask::new("bindalias.static.test.", HTTPS).ecs("203.0.113.0/24"));
    assert_eq!(hints(&reply).replace(',', ""), "ipv4hint=192.0.2.2");
}

#[test]
fn s7_3_without_members_there_is_no_hint() {
    let server = Server::start();
    let reply = server.both(&Ask::new("gone.gslb.test.", HTTPS));
    assert_eq!(
        (reply.rcode(), reply.answers().len(), hints(&reply)),
        (0, 1, String::new())
    );
    assert!(
        !reply.shown_answers()[0].contains("mandatory"),
        "{:?}",
        reply.shown_answers()
    );
}

#[test]
fn s4_1_fixed_hints_stay_and_the_target_comes_along() {
    let server = Server::start();
    let reply = server.both(&Ask::new("web.static.test.", HTTPS));
    assert_eq!(hints(&reply).replace(',', ""), "ipv4hint=192.0.2.21");
    assert_eq!(
        (reply.answers()[0].ttl, reply.message.additionals.len()),
        (300, 3)
    );
}
