//! What the fuzz target of zone files does with its input.

use crate::model::{
    DomainName, RecordId, RecordSet, TenantId, Zone, ZoneDraft, ZoneFile, ZoneId, write_zone_file,
};
use std::collections::BTreeSet;
use uuid::Uuid;

/// Most problems that are told.
const PROBLEMS: usize = 100;

fn zone() -> Option<Zone> {
    let draft = ZoneDraft {
        name: Some("example.com.".to_owned()),
        name_servers: Some(vec!["ns1.example.com.".to_owned()]),
        ..ZoneDraft::default()
    };
    draft.validate(ZoneId(Uuid::nil()), TenantId::DEFAULT, 1).ok()
}

/// The sets and the head of a file as they would be stored.
fn stored(file: &ZoneFile, zone: &Zone) -> (Zone, Vec<RecordSet>) {
    let mut zone = zone.clone();
    if let Some((soa, serial)) = &file.soa {
        zone.soa = soa.clone();
        zone.serial = *serial;
    }
    if let Some((servers, ttl)) = &file.name_servers {
        zone.name_servers.clone_from(servers);
        zone.ns_ttl = *ttl;
    }
    let sets = file.sets.iter().map(|set| RecordSet {
        id: RecordId(Uuid::nil()),
        tenant_id: zone.tenant_id,
        zone_id: zone.id,
        name: set.name.clone(),
        rtype: set.rtype,
        ttl: set.ttl,
        data: set.data.iter().map(|data| data.to_text(set.rtype)).collect(),
    });
    let sets = sets.collect();
    (zone, sets)
}

/// Any text as a zone file: what is accepted is a set for each name and type, inside the zone, and reads back to the same
/// when it is written; what is not accepted is told line by line.
///
/// # Panics
/// It is not so.
pub fn zone_file(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Some(zone) = zone() else {
        unreachable!("the zone is no zone")
    };
    let file = match ZoneFile::parse(&text, &zone) {
        Ok(file) => file,
        Err(problems) => {
            assert!((1..=PROBLEMS).contains(&problems.len()), "{}", problems.len());
            for problem in &problems {
                let line = problem.field.strip_prefix("line ").and_then(|n| n.parse().ok());
                assert!(
                    line.is_some_and(|line| (1..=text.lines().count()).contains(&line)),
                    "{problem}"
                );
                assert!(!problem.message.is_empty());
            }
            return;
        }
    };
    let mut seen = BTreeSet::new();
    for set in &file.sets {
        assert!(!set.data.is_empty(), "a set without records");
        assert!(
            seen.insert((set.name.to_string(), set.rtype.to_string())),
            "{} {} twice",
            set.name,
            set.rtype
        );
        let texts: BTreeSet<String> = set.data.iter().map(|data| data.to_text(set.rtype)).collect();
        assert_eq!(texts.len(), set.data.len(), "a record twice");
    }
    let (zone, sets) = stored(&file, &zone);
    let written = write_zone_file(&zone, &sets, &Vec::<DomainName>::new());
    let again = match ZoneFile::parse(&written, &zone) {
        Ok(again) => again,
        Err(problems) => unreachable!("{problems:?} in\n{written}"),
    };
    assert_eq!(again.soa, Some((zone.soa.clone(), zone.serial)), "{written}");
    assert_eq!(
        again.name_servers.as_ref().map(|(servers, _)| servers),
        Some(&zone.name_servers),
        "{written}"
    );
    assert_eq!(stored(&again, &zone).1, sets, "{written}");
    assert!(again.left_out.is_empty());
}
