//! Keys of zones that come and go, and keys that are in files.

use crate::support::{World, admin, conflict, fields};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gslb_api_types::{DnssecDraft, DnssecKeyDraft, DnssecView, KeyRole, KeyState};
use gslb_core::OpError;
use gslb_dnssec::Algorithm;
use gslb_engine::model::{RecordType, Tier, ZoneDraft, ZoneId};
use gslb_engine::snapshot::SignedZone;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

async fn zone(world: &World) -> ZoneId {
    let draft = ZoneDraft {
        name: Some("example.com".to_owned()),
        soa_ttl: Some(3600),
        ..ZoneDraft::default()
    };
    world.ops.create_zone(&admin(), &draft).await.unwrap().value.id
}

fn draft(mode: &str) -> DnssecDraft {
    DnssecDraft {
        mode: Some(mode.to_owned()),
        ..DnssecDraft::default()
    }
}

fn role(role: &str) -> DnssecKeyDraft {
    DnssecKeyDraft {
        role: Some(role.to_owned()),
    }
}

/// Tags of the keys of a role, by state.
fn tags(view: &DnssecView, role: KeyRole, state: KeyState) -> Vec<u16> {
    let keys = view
        .keys
        .iter()
        .filter(|key| key.role == role && key.state == state);
    keys.map(|key| key.tag).collect()
}

/// Number of published keys, tags of those that sign the key set, and of those that sign the rest.
fn on_the_wire(world: &World, zone: ZoneId) -> (usize, Vec<u16>, Vec<u16>) {
    let snapshot = world.snapshot.load_full();
    let signed: &SignedZone = snapshot.zone(zone).unwrap().signed.as_ref().unwrap();
    let tags = |rtype: RecordType| signed.keys(rtype.0).map(|key| key.tag).collect();
    let published = signed.get(RecordType::DNSKEY.0).unwrap().data.len();
    (published, tags(RecordType::DNSKEY), tags(RecordType::A))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_zsk_is_published_before_it_signs_and_kept_until_nobody_needs_it() {
    let world = World::new(Tier::Free).await;
    let (id, ops, admin) = (zone(&world).await, &world.ops, admin());
    let made = ops
        .put_dnssec(&admin, id, None, &draft("ksk-zsk"))
        .await
        .unwrap()
        .value;
    let [ksk, old] = [made.keys[0].tag, made.keys[1].tag];
    for wrong in [role("csk"), DnssecKeyDraft::default()] {
        assert_eq!(fields(ops.add_key(&admin, id, None, &wrong).await), ["role"]);
    }
    let view = ops.add_key(&admin, id, None, &role("zsk")).await.unwrap().value;
    let new = tags(&view, KeyRole::Zsk, KeyState::Published)[0];
    assert_eq!(on_the_wire(&world, id), (3, vec![ksk], vec![old]));
    assert!(
        conflict(ops.add_key(&admin, id, None, &role("zsk")).await)
            .1
            .contains("under way")
    );
    let key = view.keys.last().unwrap();
    assert_eq!(key.safe_at, key.since.map(|since| since + 3_600_000));
    // The key set is in caches for an hour.
    world.clock.advance(3599);
    let (_, message) = conflict(ops.activate_key(&admin, id, &new.to_string(), None, false).await);
    assert!(message.contains("safe in 1 s"), "{message}");
    world.clock.advance(1);
    let view = ops
        .activate_key(&admin, id, &new.to_string(), None, false)
        .await
        .unwrap()
        .value;
    assert_eq!(tags(&view, KeyRole::Zsk, KeyState::Active), [new]);
    assert_eq!(tags(&view, KeyRole::Zsk, KeyState::Retired), [old]);
    assert_eq!(on_the_wire(&world, id), (3, vec![ksk], vec![new]));
    assert_eq!(view.ds, made.ds);
    let (_, message) = conflict(ops.remove_key(&admin, id, &old.to_string(), None, false).await);
    assert!(message.contains("too early"), "{message}");
    for tag in [new, ksk].map(|tag| tag.to_string()) {
        let (_, message) = conflict(ops.remove_key(&admin, id, &tag, None, true).await);
        assert!(message.contains("is active: activate another"), "{message}");
        let (_, message) = conflict(ops.activate_key(&admin, id, &tag, None, true).await);
        assert!(message.contains("is active already"), "{message}");
    }
    let nobody = (0..).find(|tag| ![new, old, ksk].contains(tag)).unwrap();
    for tag in [nobody.to_string(), "x".to_owned()] {
        let missing = ops.remove_key(&admin, id, &tag, None, true).await;
        assert!(
            matches!(missing, Err(OpError::NotFound { .. })),
            "{tag}: {missing:?}"
        );
    }
    world.clock.advance(86_400);
    ops.remove_key(&admin, id, &old.to_string(), None, false)
        .await
        .unwrap();
    assert_eq!(on_the_wire(&world, id), (2, vec![ksk], vec![new]));
    let world = world.restart(Tier::Free).await;
    assert_eq!(on_the_wire(&world, id), (2, vec![ksk], vec![new]));
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn both_ksks_sign_the_key_set_while_the_ds_changes() {
    let world = World::new(Tier::Free).await;
    let (id, ops, admin) = (zone(&world).await, &world.ops, admin());
    let made = ops
        .put_dnssec(&admin, id, None, &draft("ksk-zsk"))
        .await
        .unwrap()
        .value;
    let [old, zsk] = [made.keys[0].tag, made.keys[1].tag];
    let view = ops.add_key(&admin, id, None, &role("ksk")).await.unwrap().value;
    let new = tags(&view, KeyRole::Ksk, KeyState::Published)[0];
    assert_eq!(on_the_wire(&world, id), (3, vec![old, new], vec![zsk]));
    assert_eq!(view.ds, made.ds);
    // For those who cannot wait.
    let view = ops
        .activate_key(&admin, id, &new.to_string(), None, true)
        .await
        .unwrap()
        .value;
    assert_ne!(view.ds, made.ds);
    assert!(
        view.ds.starts_with(&format!("example.com. IN DS {new} ")),
        "{}",
        view.ds
    );
    assert_eq!(on_the_wire(&world, id), (3, vec![new, old], vec![zsk]));
    let snapshot = world.snapshot.load_full();
    let signed = snapshot.zone(id).unwrap().signed.as_ref().unwrap();
    let cds = signed.get(RecordType::CDS.0).unwrap().data[0].to_text(RecordType::CDS);
    assert!(cds.starts_with(&new.to_string()), "{cds}");
    let (_, message) = conflict(ops.remove_key(&admin, id, &old.to_string(), None, false).await);
    assert!(message.contains("too early"), "{message}");
    ops.remove_key(&admin, id, &old.to_string(), None, true)
        .await
        .unwrap();
    assert_eq!(on_the_wire(&world, id), (2, vec![new], vec![zsk]));
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_key_for_all_is_rolled_over_too_and_no_private_key_is_shown() {
    let world = World::new(Tier::Free).await;
    let (id, ops, admin) = (zone(&world).await, &world.ops, admin());
    let made = ops
        .put_dnssec(&admin, id, None, &draft("csk"))
        .await
        .unwrap()
        .value;
    let old = made.keys[0].tag;
    let view = ops
        .add_key(&admin, id, None, &DnssecKeyDraft::default())
        .await
        .unwrap();
    let new = tags(&view.value, KeyRole::Csk, KeyState::Published)[0];
    assert_eq!(on_the_wire(&world, id), (2, vec![old, new], vec![old]));
    // A published key that is not wanted after all goes at once.
    ops.remove_key(&admin, id, &new.to_string(), Some(view.revision), false)
        .await
        .unwrap();
    assert_eq!(on_the_wire(&world, id), (1, vec![old], vec![old]));
    let view = ops
        .add_key(&admin, id, None, &DnssecKeyDraft::default())
        .await
        .unwrap()
        .value;
    let new = tags(&view, KeyRole::Csk, KeyState::Published)[0];
    world.clock.advance(3600);
    ops.activate_key(&admin, id, &new.to_string(), None, false)
        .await
        .unwrap();
    assert_eq!(on_the_wire(&world, id), (2, vec![new, old], vec![new]));
    let audit = ops.list_audit(&admin, &Default::default()).await.unwrap();
    let audit = serde_json::to_string(&audit).unwrap();
    assert!(audit.contains("retired"), "{audit}");
    for secret in ["\"key\"", "\"ksk\"", "MIGH"] {
        assert!(!audit.contains(secret), "{secret} in {audit}");
    }
    world.stop().await;
}

/// Writes a new P-256 key.
fn write(path: &Path, mode: u32) {
    let key = STANDARD.encode(gslb_dnssec::generate(Algorithm::P256).unwrap());
    let pem = format!("-----BEGIN PRIVATE KEY-----\n{key}\n-----END PRIVATE KEY-----\n");
    fs::write(path, pem).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn files(world: &World) -> PathBuf {
    let keys = world.folder.path().join("db/keys");
    fs::create_dir_all(&keys).unwrap();
    keys
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_in_files_are_read_at_the_start_and_again_and_problems_are_told() {
    let world = World::new(Tier::Free).await;
    let (id, ops, admin) = (zone(&world).await, &world.ops, admin());
    let keys = files(&world);
    write(&keys.join("ksk.pem"), 0o600);
    write(&keys.join("zsk.pem"), 0o600);
    write(&keys.join("open.pem"), 0o644);
    fs::write(keys.join("none.pem"), "no key").unwrap();
    fs::set_permissions(keys.join("none.pem"), fs::Permissions::from_mode(0o600)).unwrap();
    // To read it would take for ever.
    let pipe = std::process::Command::new("mkfifo")
        .args(["-m", "600"])
        .arg(keys.join("pipe.pem"))
        .status();
    assert!(pipe.unwrap().success());
    fs::copy(keys.join("ksk.pem"), keys.join("copy.pem")).unwrap();
    let with = |ksk: &str, zsk: &str| DnssecDraft {
        ksk_file: Some(ksk.to_owned()),
        zsk_file: Some(zsk.to_owned()),
        ..draft("ksk-zsk")
    };
    for (file, part) in [
        ("keys/missing.pem", "cannot be read"),
        ("keys/open.pem", "chmod 600"),
        ("keys", "no file"),
        ("keys/pipe.pem", "no file"),
        ("keys/none.pem", "BEGIN PRIVATE KEY"),
        ("../keys/ksk.pem", "no path below"),
        ("/etc/passwd", "no path below"),
    ] {
        match ops
            .put_dnssec(&admin, id, None, &with(file, "keys/zsk.pem"))
            .await
        {
            Err(OpError::Invalid(errors)) => {
                assert_eq!(errors[0].field, "kskFile");
                assert!(errors[0].message.contains(part), "{file}: {}", errors[0].message);
            }
            other => panic!("{file}: {other:?}"),
        }
    }
    let other = DnssecDraft {
        algorithm: Some(15),
        ..with("keys/ksk.pem", "keys/zsk.pem")
    };
    assert_eq!(
        fields(ops.put_dnssec(&admin, id, None, &other).await),
        ["kskFile", "zskFile"]
    );
    let one = DnssecDraft {
        zsk_file: Some("keys/zsk.pem".to_owned()),
        ..draft("csk")
    };
    assert_eq!(fields(ops.put_dnssec(&admin, id, None, &one).await), ["zskFile"]);
    for same in ["keys/ksk.pem", "keys/./ksk.pem", "keys/copy.pem"] {
        let twice = ops
            .put_dnssec(&admin, id, None, &with("keys/ksk.pem", same))
            .await;
        assert_eq!(fields(twice), ["zskFile"], "{same}");
    }
    let good = with("keys/ksk.pem", "keys/zsk.pem");
    let view = ops.put_dnssec(&admin, id, None, &good).await.unwrap().value;
    assert_eq!(view.keys[1].file.as_deref(), Some("keys/zsk.pem"));
    let [ksk, zsk] = [view.keys[0].tag, view.keys[1].tag];
    assert_eq!(on_the_wire(&world, id), (2, vec![ksk], vec![zsk]));
    assert!(
        conflict(ops.add_key(&admin, id, None, &role("zsk")).await)
            .1
            .contains("in the file")
    );
    // Another key in the file counts from the next reload on.
    write(&keys.join("zsk.pem"), 0o600);
    let settings = world.settings.load_full();
    let generation = world.reconciler.status().generation;
    world.reconciler.settings(settings);
    let mut status = world.reconciler.watch();
    status
        .wait_for(|status| status.generation > generation)
        .await
        .unwrap();
    let (_, ksks, zsks) = on_the_wire(&world, id);
    assert!(ksks == [ksk] && zsks != [zsk], "{ksks:?} {zsks:?}");
    // One that has gone leaves the zone unsigned, and the server not ready.
    fs::remove_file(keys.join("zsk.pem")).unwrap();
    let world = world.restart(Tier::Free).await;
    assert!(world.snapshot.load_full().zone(id).unwrap().signed.is_none());
    let status = world.reconciler.status();
    assert!(!status.is_ready());
    assert!(
        status.key_errors[0].contains("example.com. is not signed: `keys/zsk.pem`"),
        "{status:?}"
    );
    world.stop().await;
}
