//! Against the examples of the RFCs.

use super::*;
use crate::{Algorithm, generate};
use gslb_engine::model::{Origin, RecordName};
use gslb_engine::snapshot::SignData;

/// Signs nothing: only the public half of the example is known to the test.
#[derive(Debug)]
struct Public;

impl SignData for Public {
    fn sign(&self, _: &[u8]) -> Option<[u8; 64]> {
        None
    }
}

/// The tag and the DS of a DNSKEY in text form.
fn of_text(apex: &str, text: &str) -> (u16, String) {
    let origin = RecordName::root();
    let dnskey = Rdata::parse(RecordType::DNSKEY, text, Origin::File(&origin)).unwrap();
    let key = SigningKey {
        algorithm: dnskey.as_wire()[3],
        tag: key_tag(dnskey.as_wire()),
        dnskey,
        signer: Arc::new(Public),
    };
    let apex = DomainName::parse("name", apex).unwrap();
    let ds = Rdata::from_wire(RecordType::DS, &ds(&apex, &key)).unwrap();
    (key.tag, ds.to_text(RecordType::DS).to_lowercase())
}

#[test]
fn rfc_6605_s6_1_tag_and_ds_of_p256() {
    let key =
        "257 3 13 GojIhhXUN/u4v54ZQqGSnyhWJwaubCvTmeexv7bR6edbkrSqQpF64cYbcB7wNcP+e+MAnLr+Wi9xMWyQLc8NAA==";
    let ds = "55648 13 2 b4c8c1fe2e7477127b27115656ad6256f424625bf5c1e2770ce6d6e37df61d17";
    assert_eq!(of_text("example.net.", key), (55648, ds.to_owned()));
}

#[test]
fn rfc_8080_s6_1_tag_and_ds_of_ed25519() {
    let key = "257 3 15 l02Woi0iS8Aa25FQkUd9RMzZHJpBoRQwAQEX1SxZJA4=";
    let ds = "3613 15 2 3aa5ab37efce57f737fc1627013fee07bdf241bd10f3b1964ab55c78e79a304b";
    assert_eq!(of_text("example.com.", key), (3613, ds.to_owned()));
}

#[test]
fn made_keys_can_be_read_and_verify_what_they_sign() {
    use ring::signature::{ECDSA_P256_SHA256_FIXED, ED25519, UnparsedPublicKey, VerificationAlgorithm};
    for algorithm in [Algorithm::P256, Algorithm::Ed25519] {
        let der = generate(algorithm).unwrap();
        let key = PrivateKey::from_pkcs8(&der).unwrap();
        assert_eq!(key.algorithm(), algorithm);
        let (how, public): (&dyn VerificationAlgorithm, Vec<u8>) = match algorithm {
            Algorithm::P256 => (&ECDSA_P256_SHA256_FIXED, [&[4], key.public()].concat()),
            Algorithm::Ed25519 => (&ED25519, key.public().to_vec()),
        };
        let signature = key.sign(b"data").unwrap();
        UnparsedPublicKey::new(how, public)
            .verify(b"data", &signature)
            .unwrap();
        // The private part must not be printed.
        assert_eq!(format!("{key:?}"), format!("PrivateKey({algorithm:?})"));
    }
}

#[test]
fn keys_of_openssl_can_be_read() {
    // `openssl genpkey -algorithm ed25519`, and `-algorithm EC -pkeyopt ec_paramgen_curve:P-256`.
    let ed25519 = "-----BEGIN PRIVATE KEY-----\n\
        MC4CAQAwBQYDK2VwBCIEIDgyMjYwMzg0NjI4MDgwMTIyNjQ1MTkwMjA0MTQyMjYy\n\
        -----END PRIVATE KEY-----\n";
    let key = signing_key(PrivateKey::from_pem(ed25519).unwrap(), Role::KeySigning).unwrap();
    // The seed is the one of RFC 8080 §6.1.
    assert_eq!(key.tag, 3613);
    assert_eq!(PrivateKey::from_pem("nothing").unwrap_err(), KeyError::NoPem);
    let other = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2Vw\n-----END PRIVATE KEY-----\n";
    assert_eq!(PrivateKey::from_pem(other).unwrap_err(), KeyError::NoKey);
}

#[test]
fn one_key_for_all_is_in_the_set_once() {
    let apex = DomainName::parse("name", "example.com.").unwrap();
    let made = || PrivateKey::from_pkcs8(&generate(Algorithm::P256).unwrap()).unwrap();
    let one = zone_keys(&apex, made(), None).unwrap();
    assert_eq!(one.ksk, one.zsk);
    let two = zone_keys(&apex, made(), Some(made())).unwrap();
    assert_eq!(two.zsk.dnskey.as_wire().get(..4), Some(&[1, 0, 3, 13][..]));
    assert_eq!(two.ksk.dnskey.as_wire().get(..4), Some(&[1, 1, 3, 13][..]));
}
