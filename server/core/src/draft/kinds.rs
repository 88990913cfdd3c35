//! The bodies that the API reads, and what each ignores or also takes.

use super::Draft;
use gslb_api_types::{
    DnssecDraft, DnssecKeyDraft, LicenseDraft, LoadDraft, LoginRequest, PasswordChange, PreviewRequest,
    RoleDraft, TenantChoice, TenantDraft, TokenDraft, TraceRequest, TsigKeyDraft, UserDraft,
};
use gslb_engine::model::{
    ErrorCode, HealthCheckDraft, MemberDraft, PoolDraft, RecordDraft, ServiceDraft, ValidationError,
    ZoneDraft,
};
use serde_json::{Map, Value};

impl Draft for ServiceDraft {
    const READ_ONLY: &'static [&'static str] = &[
        "id",
        "tenantId",
        "revision",
        "createdAt",
        "updatedAt",
        "warnings",
        "poolName",
        "licenseFallback",
    ];
}

impl Draft for PoolDraft {
    const READ_ONLY: &'static [&'static str] =
        &["id", "tenantId", "revision", "createdAt", "updatedAt", "warnings"];
}

impl Draft for MemberDraft {
    // `id` says which member is meant.
    const READ_ONLY: &'static [&'static str] = &["revision", "createdAt", "updatedAt", "warnings"];
}

impl Draft for HealthCheckDraft {
    const READ_ONLY: &'static [&'static str] = &["revision", "createdAt", "updatedAt", "warnings"];
}

impl Draft for Vec<MemberDraft> {
    /// A page of members is taken for the members in it, when it is all of them.
    fn prepare(body: &mut Value, problems: &mut Vec<ValidationError>) {
        let Value::Object(page) = body else { return };
        let Some(Value::Array(items)) = page.get_mut("items") else {
            return;
        };
        let items = std::mem::take(items);
        let partial = page.get("nextCursor").is_some_and(|cursor| !cursor.is_null())
            || page
                .get("total")
                .and_then(Value::as_u64)
                .is_some_and(|total| total != items.len() as u64);
        if partial {
            problems.push(ValidationError::new(
                "",
                ErrorCode::Conflict,
                "this is one page of the members; the whole set is replaced, so all of them must be sent",
            ));
        }
        *body = Value::Array(items);
    }
}

impl Draft for LoadDraft {}

impl Draft for DnssecKeyDraft {}

impl Draft for DnssecDraft {
    const READ_ONLY: &'static [&'static str] = &[
        "zoneId",
        "keys",
        "ds",
        "revision",
        "createdAt",
        "updatedAt",
        "warnings",
    ];
}

/// Fields of the SOA record as GET gives them below `soa`, and as a draft names them.
const SOA: [(&str, &str); 7] = [
    ("mname", "mname"),
    ("rname", "rname"),
    ("refresh", "refresh"),
    ("retry", "retry"),
    ("expire", "expire"),
    ("minimum", "minimum"),
    ("ttl", "soaTtl"),
];

impl Draft for ZoneDraft {
    const READ_ONLY: &'static [&'static str] = &[
        "id",
        "tenantId",
        "revision",
        "createdAt",
        "updatedAt",
        "warnings",
        "serial",
    ];

    /// Takes the SOA also in the form in which GET gives it.
    fn prepare(body: &mut Value, problems: &mut Vec<ValidationError>) {
        let Value::Object(fields) = body else { return };
        let soa = match fields.remove("soa") {
            None => return,
            // In a merge patch null takes each back to its default.
            Some(Value::Null) => SOA
                .iter()
                .map(|(name, _)| ((*name).to_owned(), Value::Null))
                .collect(),
            Some(Value::Object(soa)) => soa,
            Some(other) => {
                let message = format!("must be an object, not {}", super::words::given(Some(&other)));
                problems.push(ValidationError::new("soa", ErrorCode::Invalid, message));
                Map::new()
            }
        };
        for (name, value) in soa {
            let Some((_, flat)) = SOA.iter().find(|(inner, _)| *inner == name) else {
                let names: Vec<_> = SOA.iter().map(|(inner, _)| *inner).collect();
                let message = format!("there is no such field; the fields are {}", names.join(", "));
                problems.push(ValidationError::new(
                    format!("soa.{name}"),
                    ErrorCode::Unknown,
                    message,
                ));
                continue;
            };
            match fields.get(*flat) {
                Some(other) if *other != value => problems.push(ValidationError::new(
                    *flat,
                    ErrorCode::Conflict,
                    format!("differs from soa.{name}; send one of the two"),
                )),
                _ => {
                    fields.insert((*flat).to_owned(), value);
                }
            }
        }
    }
}

impl Draft for RecordDraft {
    const READ_ONLY: &'static [&'static str] = &[
        "id",
        "tenantId",
        "zoneId",
        "revision",
        "createdAt",
        "updatedAt",
        "warnings",
    ];
}

impl Draft for UserDraft {
    const READ_ONLY: &'static [&'static str] = &[
        "id",
        "tenantId",
        "revision",
        "createdAt",
        "updatedAt",
        "warnings",
        "lastLogin",
        "roleId",
    ];
}

impl Draft for RoleDraft {
    const READ_ONLY: &'static [&'static str] = &[
        "id",
        "tenantId",
        "revision",
        "createdAt",
        "updatedAt",
        "warnings",
        "builtIn",
    ];
}

impl Draft for TenantDraft {
    const READ_ONLY: &'static [&'static str] = &["id", "revision", "createdAt", "updatedAt", "warnings"];
}

impl Draft for TenantChoice {}

impl Draft for TokenDraft {}

impl Draft for TsigKeyDraft {}

impl Draft for LicenseDraft {}

impl Draft for LoginRequest {}

impl Draft for PasswordChange {}

impl Draft for TraceRequest {}

impl Draft for PreviewRequest {}
