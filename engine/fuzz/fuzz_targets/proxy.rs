//! Datagrams of a proxy, which names the client in front of the message.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gslb_dns::fuzzing::proxied(data));
