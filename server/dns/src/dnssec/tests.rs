//! Against the examples of the RFCs.

use super::*;
use gslb_engine::model::{Origin, Rdata, RecordName, RecordType};
use gslb_engine::snapshot::{SIGNATURE, SignData, SigningKey};
use ring::signature::{ECDSA_P256_SHA256_FIXED, ED25519, UnparsedPublicKey, VerificationAlgorithm};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

const EXAMPLE_NET: &[u8] = b"\x07example\x03net\0";
const EXAMPLE_COM: &[u8] = b"\x07example\x03com\0";

fn rdata(rtype: RecordType, text: &str) -> Rdata {
    Rdata::parse(rtype, text, Origin::File(&RecordName::root())).unwrap()
}

/// Whether the key of the DNSKEY verifies this signature of the set.
fn verifies(
    how: &'static dyn VerificationAlgorithm,
    dnskey: &str,
    set: Set<'_>,
    (tag, window, signer): (u16, Window, &[u8]),
    signature: &str,
) -> bool {
    let dnskey = rdata(RecordType::DNSKEY, dnskey);
    let (_, public) = dnskey.as_wire().split_at(4);
    let algorithm = dnskey.as_wire()[3];
    let public = if algorithm == 13 {
        [&[4], public].concat()
    } else {
        public.to_vec()
    };
    let mut signed = Vec::new();
    to_be_signed(set, algorithm, tag, window, signer, &mut signed);
    // DNSKEY data is the shortest way to read base64 here.
    let signature = rdata(RecordType::DNSKEY, &format!("0 0 0 {signature}"));
    UnparsedPublicKey::new(how, public)
        .verify(&signed, &signature.as_wire()[4..])
        .is_ok()
}

#[test]
fn rfc_6605_s6_1_signature_of_p256() {
    let dnskey =
        "257 3 13 GojIhhXUN/u4v54ZQqGSnyhWJwaubCvTmeexv7bR6edbkrSqQpF64cYbcB7wNcP+e+MAnLr+Wi9xMWyQLc8NAA==";
    let signature =
        "qx6wLYqmh+l9oCKTN6qIc+bw6ya+KJ8oMz0YP107epXAyGmt+3SNruPFKG7tZoLBLlUzGGus7ZwmwWep666VCw==";
    let set = Set {
        owner: b"\x03www\x07example\x03net\0",
        rtype: code::A,
        ttl: 3600,
        data: &[&[192, 0, 2, 1]],
    };
    // 2010-08-12 10:04:39 and 2010-09-09 10:04:39.
    let window = Window {
        inception: 1_281_607_479,
        expiration: 1_284_026_679,
    };
    let how = &ECDSA_P256_SHA256_FIXED;
    assert!(verifies(
        how,
        dnskey,
        set,
        (55648, window, EXAMPLE_NET),
        signature
    ));
    let other = Set { ttl: 3599, ..set };
    assert!(!verifies(
        how,
        dnskey,
        other,
        (55648, window, EXAMPLE_NET),
        signature
    ));
}

#[test]
fn rfc_8080_s6_1_signature_of_ed25519() {
    let dnskey = "257 3 15 l02Woi0iS8Aa25FQkUd9RMzZHJpBoRQwAQEX1SxZJA4=";
    let signature =
        "oL9krJun7xfBOIWcGHi7mag5/hdZrKWw15jPGrHpjQeRAvTdszaPD+QLs3fx8A4M3e23mRZ9VrbpMngwcrqNAg==";
    let set = Set {
        owner: EXAMPLE_COM,
        rtype: code::MX,
        ttl: 3600,
        data: &[b"\x00\x0a\x04mail\x07example\x03com\0"],
    };
    let window = Window {
        inception: 1_438_207_200,
        expiration: 1_440_021_600,
    };
    assert!(verifies(
        &ED25519,
        dnskey,
        set,
        (3613, window, EXAMPLE_COM),
        signature
    ));
}

#[test]
fn rfc_4034_s3_1_3_labels() {
    assert_eq!(labels(b"\0"), 0);
    assert_eq!(labels(EXAMPLE_COM), 2);
    assert_eq!(labels(b"\x01*\x07example\x03com\0"), 2);
    assert_eq!(labels(b"\x01a\x01*\x03com\0"), 3);
}

#[test]
fn rfc_4034_s6_3_records_are_in_order_and_each_once() {
    let signed = |data: &[&[u8]]| {
        let set = Set {
            owner: b"\x01a\0",
            rtype: code::A,
            ttl: 5,
            data,
        };
        let mut out = Vec::new();
        to_be_signed(set, 13, 1, Window::new(0, b"", 1), b"\0", &mut out);
        out
    };
    let (a, b): (&[u8], &[u8]) = (&[10, 0, 0, 1], &[10, 0, 0, 2]);
    assert_eq!(signed(&[b, a, b, a]), signed(&[a, b]));
    assert_ne!(signed(&[a]), signed(&[a, b]));
}

#[test]
fn a_window_lasts_a_day_and_leaves_a_week() {
    let now = 1_700_000_000;
    let mut changes = 0;
    let mut last = Window::new(now, EXAMPLE_COM, 1);
    for hour in 0..240 {
        let at = now + hour * 3600;
        let window = Window::new(at, EXAMPLE_COM, 1);
        assert!(window.inception <= at - SKEW && window.inception > at - SKEW - PERIOD);
        assert!(window.expiration > at + VALIDITY);
        changes += u32::from(window != last);
        last = window;
    }
    assert_eq!(changes, 10);
    // Another name changes at another time, and the end of 32 bits is no end.
    assert_ne!(Window::new(now, EXAMPLE_COM, 1), Window::new(now, EXAMPLE_NET, 1));
    let late = Window::new(u32::MAX, EXAMPLE_COM, 1);
    assert!(late.expiration.wrapping_sub(late.inception) == PERIOD + VALIDITY + SKEW);
}

/// Counts what it signs; fails while told to.
#[derive(Debug, Default)]
struct Counter {
    signed: AtomicU8,
    failing: std::sync::atomic::AtomicBool,
}

impl SignData for Counter {
    fn sign(&self, _: &[u8]) -> Option<[u8; SIGNATURE]> {
        if self.failing.load(Ordering::Relaxed) {
            return None;
        }
        Some([self.signed.fetch_add(1, Ordering::Relaxed); SIGNATURE])
    }
}

fn counting(dnskey: &str) -> (SigningKey, Arc<Counter>) {
    let counter = Arc::new(Counter::default());
    let key = SigningKey {
        algorithm: 15,
        tag: 7,
        dnskey: rdata(RecordType::DNSKEY, dnskey),
        signer: counter.clone(),
    };
    (key, counter)
}

#[test]
fn signatures_are_kept_by_what_they_sign() {
    let (key, counter) = counting("256 3 15 AAAA");
    let (other, _) = counting("256 3 15 AAAB");
    let mut signatures = Signatures::default();
    let first = signatures.of(&key, b"one").unwrap();
    assert_eq!(signatures.of(&key, b"one"), Some(first));
    assert_ne!(signatures.of(&key, b"two"), Some(first));
    assert_eq!(counter.signed.load(Ordering::Relaxed), 2);
    // The same octets with another key are something else.
    signatures.of(&other, b"one").unwrap();
    assert_eq!(signatures.len(), 3);
    // What is asked for stays, however much else comes.
    for n in 0..20_000_u32 {
        signatures.of(&key, &n.to_be_bytes()).unwrap();
        if n % 1000 == 0 {
            assert_eq!(signatures.of(&key, b"one"), Some(first));
        }
    }
    assert!(signatures.len() <= 4097);
}

#[test]
fn a_failure_is_not_kept() {
    let (key, counter) = counting("256 3 15 AAAA");
    let mut signatures = Signatures::default();
    counter.failing.store(true, Ordering::Relaxed);
    assert_eq!(signatures.of(&key, b"one"), None);
    counter.failing.store(false, Ordering::Relaxed);
    assert!(signatures.of(&key, b"one").is_some());
}
