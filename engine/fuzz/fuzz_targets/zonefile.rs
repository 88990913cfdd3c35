//! Texts as zone files.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gslb_engine::testing::fuzz::zone_file(data));
