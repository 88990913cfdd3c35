//! Messages that a DNS server gets.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gslb_dns::fuzzing::packet(data));
