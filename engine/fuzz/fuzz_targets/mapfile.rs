//! Texts as map files.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gslb_engine::testing::fuzz::mapfile(data));
