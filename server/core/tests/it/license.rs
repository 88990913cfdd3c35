//! Licences: what is accepted, what is not, and what is in force when.

use crate::support::{BEGIN, World, admin, chain, licence, service};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use gslb_api_types::{EventKind, LicenseDraft};
use gslb_core::OpError;
use gslb_core::license::{
    LicenseError, LicenseState, PrivateKey, PublicKey, evaluate, keygen, read, show, verify,
};
use gslb_engine::model::Tier;
use std::time::Duration;
use time::OffsetDateTime;

fn at(seconds: i64) -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp(BEGIN + seconds).unwrap()
}

#[test]
fn a_licence_is_good_between_begin_and_end() {
    let key = keygen().unwrap();
    let keys = [keygen().unwrap().public(), key.public()];
    let text = licence(&key, Tier::Enterprise, 1);
    for (seconds, tier, state) in [
        (-1, Tier::Free, LicenseState::NotYetValid),
        (0, Tier::Enterprise, LicenseState::Valid),
        (86_399, Tier::Enterprise, LicenseState::Valid),
        (86_400, Tier::Free, LicenseState::Expired),
    ] {
        let status = evaluate(Some(&format!(" {text}\n")), &keys, at(seconds));
        assert_eq!((status.tier, status.state), (tier, state), "at {seconds}");
    }
    let status = evaluate(None, &keys, at(0));
    assert_eq!((status.tier, status.state), (Tier::Free, LicenseState::Missing));
    assert_eq!(show(&text).unwrap().customer, "Example");
}

#[test]
fn a_file_that_is_no_licence_is_named_and_told_what_it_should_be() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty.licence");
    std::fs::write(&empty, " \n").unwrap();
    let missing = folder.path().join("missing.licence");
    for (path, why) in [
        (empty.as_path(), "is empty"),
        (missing.as_path(), "cannot read"),
        (folder.path(), "is no file"),
    ] {
        let told = read(path).unwrap_err().to_string();
        assert!(
            told.contains(why) && told.contains(path.to_str().unwrap()) && told.contains("payload.signature"),
            "{told}"
        );
    }
}

#[test]
fn every_changed_character_is_noticed() {
    let key = keygen().unwrap();
    let text = licence(&key, Tier::Pro, 1);
    assert!(verify(&text, &[key.public()]).is_ok());
    for index in 0..text.len() {
        let mut bytes = text.clone().into_bytes();
        bytes[index] = if bytes[index] == b'A' { b'B' } else { b'A' };
        let changed = String::from_utf8(bytes).unwrap();
        if changed != text {
            assert!(verify(&changed, &[key.public()]).is_err(), "character {index}");
        }
    }
}

#[test]
fn another_payload_another_key_and_no_licence_at_all_are_refused() {
    let key = keygen().unwrap();
    let text = licence(&key, Tier::Pro, 1);
    let (payload, signature) = text.split_once('.').unwrap();
    let raised = String::from_utf8(BASE64_URL_SAFE_NO_PAD.decode(payload).unwrap()).unwrap();
    let raised = BASE64_URL_SAFE_NO_PAD.encode(raised.replace("pro", "enterprise"));
    assert_eq!(
        verify(&format!("{raised}.{signature}"), &[key.public()]),
        Err(LicenseError::Signature)
    );
    assert_eq!(
        verify(&text, &[keygen().unwrap().public()]),
        Err(LicenseError::Signature)
    );
    assert_eq!(verify(&text, &[]), Err(LicenseError::NoKeys));
    for junk in [
        "",
        ".",
        "a.b",
        "abc",
        &format!("{payload}."),
        &format!("{text}."),
        &format!("{payload}.{payload}"),
    ] {
        assert!(
            matches!(verify(junk, &[key.public()]), Err(LicenseError::Malformed(_))),
            "{junk}"
        );
    }
}

#[test]
fn keys_survive_their_text_form() {
    let key = keygen().unwrap();
    let text = licence(
        &PrivateKey::parse(&format!("{}\n", key.to_text())).unwrap(),
        Tier::Pro,
        1,
    );
    assert!(verify(&text, &[PublicKey::parse(&key.public().to_text()).unwrap()]).is_ok());
    assert!(PublicKey::parse("short").is_err());
    // The neutral element: a key under which anyone can sign.
    let mut weak = [0; 32];
    weak[0] = 1;
    assert!(PublicKey::parse(&BASE64_URL_SAFE_NO_PAD.encode(weak)).is_err());
    assert!(!format!("{key:?}").contains(&key.to_text()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stored_licence_comes_into_force_at_once_and_goes_with_its_deletion() {
    let world = World::new(Tier::Free).await;
    let pool = world.pool("web").await;
    let draft = chain(
        service("www", "www.example.com", &pool),
        &["geo-ip", "round-robin"],
    );
    assert!(world.ops.create_service(&admin(), &draft).await.is_err());
    let text = licence(&world.key, Tier::Pro, 1);
    let view = world
        .ops
        .put_license(
            &admin(),
            &LicenseDraft {
                license: text.clone(),
            },
        )
        .await
        .unwrap()
        .value;
    assert_eq!((view.tier, view.state.as_str()), (Tier::Pro, "valid"));
    assert_eq!(world.snapshot.load().tier(), Tier::Pro);
    let id = world.ops.create_service(&admin(), &draft).await.unwrap().value.id;
    assert!(!world.snapshot.load().service(id).unwrap().licence_fallback);

    let entries = world
        .ops
        .list_audit(&admin(), &Default::default())
        .await
        .unwrap()
        .items;
    let row = entries.iter().find(|e| e.object == "license").unwrap();
    let signature = text.split_once('.').unwrap().1;
    assert!(
        !row.after.as_ref().unwrap().to_string().contains(signature),
        "{row:?}"
    );

    world.ops.delete_license(&admin()).await.unwrap();
    assert_eq!(world.ops.tier(), Tier::Free);
    assert!(world.snapshot.load().service(id).unwrap().licence_fallback);
    let rows = world
        .ops
        .service_rows(&admin(), &Default::default())
        .await
        .unwrap();
    assert!(rows.items[0].license_fallback);
    assert!(matches!(
        world.ops.delete_license(&admin()).await,
        Err(OpError::NotFound { .. })
    ));
    // The chain was stored all the time, and is back with a licence.
    world
        .ops
        .put_license(&admin(), &LicenseDraft { license: text })
        .await
        .unwrap();
    let snapshot = world.snapshot.load();
    let back = snapshot.service(id).unwrap();
    assert!(!back.licence_fallback);
    assert_eq!(back.routing.summary(), "geo-ip→round-robin");
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_untrusted_licence_is_not_stored() {
    let world = World::new(Tier::Free).await;
    let text = licence(&keygen().unwrap(), Tier::Enterprise, 1);
    let fields = crate::support::fields(
        world
            .ops
            .put_license(&admin(), &LicenseDraft { license: text })
            .await,
    );
    assert_eq!(fields, ["license"]);
    assert_eq!(world.ops.tier(), Tier::Free);
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_licence_is_noticed_without_a_change() {
    let world = World::new(Tier::Pro).await;
    let mut events = world.events.subscribe();
    assert_eq!(world.ops.tier(), Tier::Pro);
    world.clock.advance(31 * 86_400);
    let event = tokio::time::timeout(Duration::from_secs(20), events.recv())
        .await
        .unwrap()
        .unwrap();
    assert!(
        matches!(event.kind, EventKind::License { tier: Tier::Free, .. }),
        "{event:?}"
    );
    assert_eq!(world.ops.get_license(&admin()).unwrap().state, "expired");
    world.stop().await;
}
