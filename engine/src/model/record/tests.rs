//! Records: what they may contain, what may stand beside what, and how they are written in files.

mod data;
mod rules;
mod sets;
mod zonefile;

use super::*;
use crate::model::{ZoneDraft, ZoneId};
use uuid::Uuid;

fn zone() -> Zone {
    let draft = ZoneDraft {
        name: Some("example.com".to_owned()),
        ..ZoneDraft::default()
    };
    draft
        .validate(ZoneId(Uuid::from_u128(1)), TenantId::DEFAULT, 1)
        .unwrap()
}

fn set(name: &str, rtype: &str, data: &[&str]) -> Result<RecordSet, Vec<ValidationError>> {
    let draft = RecordDraft {
        name: Some(name.to_owned()),
        rtype: Some(rtype.to_owned()),
        ttl: None,
        data: Some(data.iter().map(|text| (*text).to_owned()).collect()),
    };
    draft.validate(RecordId(Uuid::from_u128(2)), &zone())
}

fn parse(rtype: &str, text: &str) -> Result<Rdata, String> {
    let origin = RecordName::parse("example.com.", None).unwrap();
    Rdata::parse(RecordType::parse(rtype).unwrap(), text, Origin::File(&origin))
}
