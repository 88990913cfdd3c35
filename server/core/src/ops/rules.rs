//! What a draft may say that its form allows and that could only do harm: addresses nobody can reach, names that look
//! like others, request headers that a probe sets itself, fields without effect.

use gslb_engine::model::{
    ErrorCode, FallbackText, FilterName, HealthCheckDraft, MemberDraft, PoolDraft, ServiceDraft,
    ValidationError, ZoneDraft,
};
use serde_json::Value;
use std::net::IpAddr;

/// Longest text that an HTTP check looks for, bytes.
const MAX_CONTAINS: usize = 64 << 10;
/// Most request headers of an HTTP check.
const MAX_HEADERS: usize = 64;
/// Longest path, host or header value of an HTTP check, bytes.
const MAX_LINE: usize = 4096;
/// Headers that a probe sets itself, or that say how its request is framed (RFC 9110 §7.6.1, RFC 9112 §6).
const OWN_HEADERS: [&str; 9] = [
    "host",
    "connection",
    "content-length",
    "transfer-encoding",
    "upgrade",
    "keep-alive",
    "te",
    "trailer",
    "proxy-connection",
];

type Problems = Vec<ValidationError>;

fn invalid(problems: &mut Problems, field: impl Into<String>, message: impl Into<String>) {
    problems.push(ValidationError::new(field, ErrorCode::Invalid, message));
}

/// A character that shows nothing, or that changes the order in which the text around it is shown: with it two names
/// can look the same (Unicode TR 36, and the Trojan Source attack).
fn is_deceptive(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Checks a text that people tell things apart by.
pub(super) fn visible(problems: &mut Problems, field: &str, text: Option<&str>) {
    if let Some(bad) = text.and_then(|text| text.chars().find(|c| is_deceptive(*c))) {
        let code = u32::from(bad);
        invalid(
            problems,
            field,
            format!("contains the invisible character U+{code:04X}; use characters that can be seen"),
        );
    }
}

/// A label that claims to be an encoded international one must be one (RFC 5891 §4.2).
fn domain(problems: &mut Problems, field: &str, text: Option<&str>) {
    let bad = text.and_then(|text| {
        text.trim().split('.').find(|label| {
            label
                .get(..4)
                .is_some_and(|head| head.eq_ignore_ascii_case("xn--"))
                && idna::domain_to_ascii(label).is_err()
        })
    });
    if let Some(label) = bad {
        invalid(
            problems,
            field,
            format!("the label `{label}` begins with xn-- and encodes no international name"),
        );
    }
}

/// An address that an answer may carry.
fn address(problems: &mut Problems, field: impl Into<String>, text: &str) {
    let Ok(ip) = text.trim().parse::<IpAddr>() else {
        return;
    };
    let bad = match ip.to_canonical() {
        IpAddr::V4(v4) => v4.octets().first() == Some(&0) || v4.is_multicast() || v4.is_broadcast(),
        IpAddr::V6(v6) => v6.is_unspecified() || v6.is_multicast(),
    };
    if bad {
        invalid(
            problems,
            field,
            format!("{ip} is no address that a client could connect to"),
        );
    }
}

/// Problems of a service.
pub(super) fn service(draft: &ServiceDraft) -> Problems {
    let mut problems = Vec::new();
    visible(&mut problems, "name", draft.name.as_deref());
    domain(&mut problems, "domain", draft.domain.as_deref());
    let chain = draft.filter_chain.as_deref().unwrap_or_default();
    if let Some(text) = draft.algorithm.as_deref()
        && !chain.is_empty()
        && !text.is_empty()
        && FilterName::parse_algorithm(text).is_none()
    {
        problems.push(ValidationError::new(
            "algorithm",
            ErrorCode::Unknown,
            format!(
                "{}; beside a chain it is ignored, and may be left out",
                FilterName::unknown_algorithm(text)
            ),
        ));
    }
    if let Some(FallbackText::List(list)) = &draft.fallback {
        for (index, text) in list.iter().enumerate() {
            address(&mut problems, format!("fallback[{index}]"), text);
        }
    }
    problems
}

/// Problems of a member.
pub(super) fn member(draft: &MemberDraft) -> Problems {
    let mut problems = Vec::new();
    address(
        &mut problems,
        "ipAddress",
        draft.ip_address.as_deref().unwrap_or_default(),
    );
    domain(&mut problems, "hostname", draft.hostname.as_deref());
    visible(&mut problems, "region", draft.region.as_deref());
    visible(&mut problems, "zone", draft.zone.as_deref());
    problems
}

/// Problems of a pool with its members and check.
pub(super) fn pool(draft: &PoolDraft) -> Problems {
    let mut problems = Vec::new();
    visible(&mut problems, "name", draft.name.as_deref());
    for (index, draft) in draft.members.iter().flatten().enumerate() {
        let prefix = format!("members[{index}]");
        problems.extend(member(draft).into_iter().map(|e| e.within(&prefix)));
    }
    if let Some(draft) = &draft.health_check {
        problems.extend(check(draft).into_iter().map(|e| e.within("healthCheck")));
    }
    problems
}

/// Problems of a zone.
pub(super) fn zone(draft: &ZoneDraft) -> Problems {
    let mut problems = Vec::new();
    domain(&mut problems, "name", draft.name.as_deref());
    domain(&mut problems, "mname", draft.mname.as_deref());
    domain(&mut problems, "rname", draft.rname.as_deref());
    for (index, text) in draft.name_servers.iter().flatten().enumerate() {
        domain(&mut problems, &format!("nameServers[{index}]"), Some(text));
    }
    problems
}

/// The fields of an HTTP check that are set.
fn http_fields(draft: &HealthCheckDraft) -> Vec<&'static str> {
    [
        ("path", draft.path.is_some()),
        ("host", draft.host.is_some()),
        ("method", draft.method.is_some()),
        ("headers", draft.headers.is_some()),
        ("expectedStatus", draft.expected_status.is_some()),
        ("contains", draft.contains.is_some()),
        ("tls", draft.tls.is_some()),
        ("insecureSkipVerify", draft.insecure_skip_verify.is_some()),
    ]
    .into_iter()
    .filter(|(_, set)| *set)
    .map(|(name, _)| name)
    .collect()
}

/// A merge patch that makes a check a tcp check takes away what that cannot have and the patch does not name.
pub(super) fn follow_type(check: &mut HealthCheckDraft, patch: &Value) {
    let names = |field: &str| patch.get(field).is_some_and(|value| !value.is_null());
    if check.kind.as_deref() == Some("tcp") && !http_fields(check).into_iter().any(names) {
        without_http(check);
    }
    // `tls` was true because of the type that the patch changes.
    if names("type") && !names("tls") {
        check.tls = None;
    }
}

/// Takes away what a tcp check cannot have.
fn without_http(draft: &mut HealthCheckDraft) {
    *draft = HealthCheckDraft {
        path: None,
        host: None,
        method: None,
        headers: None,
        expected_status: None,
        contains: None,
        tls: None,
        insecure_skip_verify: None,
        ..std::mem::take(draft)
    };
}

/// Problems of a health check.
pub(super) fn check(draft: &HealthCheckDraft) -> Problems {
    let mut problems = Vec::new();
    if draft.kind.as_deref() == Some("tcp") {
        for field in http_fields(draft) {
            problems.push(ValidationError::new(
                field,
                ErrorCode::Conflict,
                "a tcp check only connects; this belongs to http and https",
            ));
        }
        return problems;
    }
    if draft.kind.as_deref() == Some("https") && draft.tls == Some(false) {
        problems.push(ValidationError::new(
            "tls",
            ErrorCode::Conflict,
            "an https check speaks TLS; for none the type is http",
        ));
    }
    let mut long = |field: String, text: Option<&str>, most: usize| {
        if let Some(length) = text.map(str::len).filter(|length| *length > most) {
            problems.push(ValidationError::new(
                field,
                ErrorCode::OutOfRange,
                format!("has {length} bytes; {most} are the limit"),
            ));
        }
    };
    long("contains".to_owned(), draft.contains.as_deref(), MAX_CONTAINS);
    long("path".to_owned(), draft.path.as_deref(), MAX_LINE);
    long("host".to_owned(), draft.host.as_deref(), MAX_LINE);
    let headers = draft.headers.as_deref().unwrap_or_default();
    for (index, (_, value)) in headers.iter().enumerate() {
        long(format!("headers[{index}]"), Some(value), MAX_LINE);
    }
    if headers.len() > MAX_HEADERS {
        problems.push(ValidationError::new(
            "headers",
            ErrorCode::OutOfRange,
            format!("{} headers; {MAX_HEADERS} are the limit", headers.len()),
        ));
    }
    for (index, (name, _)) in headers.iter().enumerate() {
        if OWN_HEADERS.iter().any(|own| own.eq_ignore_ascii_case(name)) {
            let message = if name.eq_ignore_ascii_case("host") {
                "the Host header is set by `host`".to_owned()
            } else {
                format!("`{name}` is set by the probe itself")
            };
            invalid(&mut problems, format!("headers[{index}]"), message);
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(problems: Problems) -> Vec<String> {
        problems.into_iter().map(|p| p.field).collect()
    }

    #[test]
    fn addresses_that_nobody_reaches() {
        for (text, bad) in [
            ("255.255.255.255", true),
            ("0.0.0.0", true),
            ("0.1.2.3", true),
            ("224.0.0.1", true),
            ("::", true),
            ("ff02::1", true),
            ("::ffff:0.0.0.0", true),
            ("192.0.2.1", false),
            ("2001:db8::1", false),
            ("nonsense", false),
        ] {
            let mut problems = Vec::new();
            address(&mut problems, "x", text);
            assert_eq!(!problems.is_empty(), bad, "{text}");
        }
    }

    #[test]
    fn labels_that_encode_nothing() {
        for (text, bad) in [
            ("xn--a.example.com", true),
            ("www.XN--A.example.com", true),
            ("xn--.example.com", true),
            ("xn--bcher-kva.example.com.", false),
            ("_dmarc.example.com", false),
            ("*.example.com", false),
        ] {
            let mut problems = Vec::new();
            domain(&mut problems, "x", Some(text));
            assert_eq!(!problems.is_empty(), bad, "{text}");
        }
    }

    #[test]
    fn names_that_look_like_others() {
        for (text, bad) in [
            ("web\u{200b}", true),
            ("\u{202e}bew", true),
            ("a\u{feff}", true),
            ("Köln-1", false),
            ("東京", false),
        ] {
            let mut problems = Vec::new();
            visible(&mut problems, "x", Some(text));
            assert_eq!(!problems.is_empty(), bad, "{text:?}");
        }
    }

    #[test]
    fn checks_that_say_too_much() {
        let pair = |name: &str| (name.to_owned(), "x".to_owned());
        let http = HealthCheckDraft {
            kind: Some("https".to_owned()),
            tls: Some(false),
            contains: Some("x".repeat(MAX_CONTAINS + 1)),
            headers: Some(vec![
                pair("Accept"),
                pair("HOST"),
                pair("Content-Length"),
                pair("Transfer-Encoding"),
                pair("Connection"),
            ]),
            ..HealthCheckDraft::default()
        };
        assert_eq!(
            fields(check(&http)),
            [
                "tls",
                "contains",
                "headers[1]",
                "headers[2]",
                "headers[3]",
                "headers[4]"
            ]
        );
        let mut tcp = HealthCheckDraft {
            kind: Some("tcp".to_owned()),
            ..http
        };
        assert_eq!(fields(check(&tcp)), ["headers", "contains", "tls"]);
        without_http(&mut tcp);
        assert_eq!(fields(check(&tcp)), Vec::<String>::new());
        assert_eq!(tcp.kind.as_deref(), Some("tcp"));
    }
}
