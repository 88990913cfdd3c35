//! RFC 8914, Extended errors: why an answer is not the usual one.

use crate::support::ask::{A, AAAA, Ask, TXT};
use crate::support::{Server, world};
use gslb_engine::model::Tier;
use gslb_engine::script::ScriptFailure;
use gslb_engine::testing::{FakeScript, FakeScripts};
use std::sync::Arc;

#[test]
fn s2_told_to_those_who_speak_edns() {
    let server = Server::start();
    for (name, count, text) in [
        ("down.gslb.test.", 0, "all members down"),
        ("gate.gslb.test.", 0, "below minHealthy"),
        ("saved.gslb.test.", 1, "fallback used"),
        ("open.gslb.test.", 1, "fallback used"),
    ] {
        let reply = server.both(&Ask::new(name, A).edns());
        assert_eq!((reply.rcode(), reply.addresses().len()), (0, count), "{name}");
        assert_eq!(reply.ede(), [text], "{name}");
        assert_eq!(server.both(&Ask::new(name, A)).opt, None);
        assert_eq!(
            server.both(&Ask::new(name, TXT).edns()).ede(),
            [""; 0],
            "{name}: TXT has nothing to do with it"
        );
    }
}

#[test]
fn s2_nothing_to_tell_about_usual_answers() {
    let server = Server::start();
    for (name, qtype) in [
        ("www.gslb.test.", A),
        ("mixed.gslb.test.", A),
        ("v4.gslb.test.", AAAA),
        ("nope.gslb.test.", A),
    ] {
        assert_eq!(
            server.both(&Ask::new(name, qtype).edns()).ede(),
            [""; 0],
            "{name}"
        );
    }
}

#[test]
fn s2_a_chain_without_its_licence_says_so() {
    let server = Server::with(Tier::Free, |_| {});
    let reply = server.udp(&Ask::new("geo.gslb.test.", A).ecs("198.51.100.0/24"));
    assert_eq!(reply.addresses().len(), 1);
    assert_eq!(reply.ede(), ["licence fallback: round-robin"]);
    assert_eq!(reply.scope(), Some(0), "round-robin does not look at the client");
    assert_eq!(server.udp(&Ask::new("www.gslb.test.", A).edns()).ede(), [""; 0]);
}

#[test]
fn s2_a_script_that_fails_open_says_so() {
    let busy = FakeScript::failing(ScriptFailure::Busy).quick_up_to(0);
    let scripts = FakeScripts::new()
        .with("quick", FakeScript::order(&[1]))
        .with("slow", busy)
        .with("broken", FakeScript::failing(ScriptFailure::NamesNobody));
    let server = Server::start();
    server.cell.store(Arc::new(world::scripted(Arc::new(scripts))));
    for (name, told) in [
        ("quick.gslb.test.", &[][..]),
        ("slow.gslb.test.", &["script failed open"]),
        ("broken.gslb.test.", &["script failed open"]),
    ] {
        // Over TCP: over UDP whatever is asked meanwhile overtakes a slow script.
        let reply = server.tcp(&Ask::new(name, A).edns());
        assert_eq!((reply.rcode(), reply.addresses().len()), (0, 1), "{name}");
        assert_eq!(reply.ede(), told, "{name}");
        assert_eq!(server.tcp(&Ask::new(name, A)).opt, None, "{name}");
    }
}
