//! Health checks: how a pool's members are probed.

use super::error::{ErrorCode, ValidationError};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A pool's health check, always complete.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct HealthCheck {
    /// What a probe does.
    #[serde(flatten)]
    pub kind: CheckKind,
    /// Port; the member's when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub port: Option<u16>,
    /// Time from the start of one probe to the next, milliseconds.
    pub interval_ms: u32,
    /// A probe that takes longer has failed, milliseconds.
    pub timeout_ms: u32,
    /// Consecutive successes that bring a member up.
    pub rise: u32,
    /// Consecutive failures that take a member down.
    pub fall: u32,
    /// 0: the score is 1 or 0. Else the share of successes over this many last probes.
    pub score_window: u32,
}

/// What a probe does, by `type`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum CheckKind {
    /// Connects.
    Tcp,
    /// Sends an HTTP request and judges the answer.
    Http(HttpCheck),
}

impl CheckKind {
    /// The `type` of the API.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Http(_) => "http",
        }
    }
}

/// An HTTP probe.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct HttpCheck {
    /// Path with query, begins with `/`.
    pub path: String,
    /// `Host` header and server name of TLS; the member's address when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub host: Option<String>,
    /// Method, upper case.
    pub method: String,
    /// More request headers, in order.
    pub headers: Vec<(String, String)>,
    /// Accepted status codes; empty accepts every one.
    pub expected_status: Vec<StatusRange>,
    /// Text that the first megabyte of the body must contain.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub contains: Option<String>,
    /// Speaks TLS.
    pub tls: bool,
    /// Accepts any certificate.
    pub insecure_skip_verify: bool,
}

/// Inclusive range of HTTP status codes; text form `200` or `200-399`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct StatusRange {
    /// First code.
    pub from: u16,
    /// Last code.
    pub to: u16,
}

impl fmt::Display for StatusRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.from == self.to {
            write!(f, "{}", self.from)
        } else {
            write!(f, "{}-{}", self.from, self.to)
        }
    }
}

/// A health check as it arrives from outside: flat, as the API has it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HealthCheckDraft {
    /// `tcp`, `http`, `https` (http with `tls`). Required.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// Default: the member's port.
    pub port: Option<i64>,
    /// Default 10000.
    pub interval_ms: Option<i64>,
    /// Default 2000; at most the interval.
    pub timeout_ms: Option<i64>,
    /// Default 1.
    pub rise: Option<i64>,
    /// Default 1.
    pub fall: Option<i64>,
    /// Default 0, at most 100.
    pub score_window: Option<i64>,
    /// Default `/`.
    pub path: Option<String>,
    /// Default: the member's address.
    pub host: Option<String>,
    /// Default `GET`.
    pub method: Option<String>,
    /// `Name: value` pairs.
    pub headers: Option<Vec<(String, String)>>,
    /// `200`, `200-399`, comma-separated list of these, or `0` for any. Default `200-399`.
    pub expected_status: Option<ExpectedStatus>,
    /// Text that the body must contain.
    pub contains: Option<String>,
    /// Default false (true for `https`).
    pub tls: Option<bool>,
    /// Default false.
    pub insecure_skip_verify: Option<bool>,
}

/// `expectedStatus` may be a number or a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum ExpectedStatus {
    /// One code, or 0 for any.
    Code(i64),
    /// List of codes and ranges.
    Text(String),
}

impl ExpectedStatus {
    fn parse(&self) -> Result<Vec<StatusRange>, ValidationError> {
        let text = match self {
            Self::Code(code) => code.to_string(),
            Self::Text(text) => text.clone(),
        };
        if text.trim() == "0" {
            return Ok(Vec::new());
        }
        let code = |part: &str| {
            part.trim()
                .parse::<u16>()
                .ok()
                .filter(|c| (100..=599).contains(c))
        };
        text.split(',')
            .map(|part| {
                let (from, to) = part.split_once('-').unwrap_or((part, part));
                match (code(from), code(to)) {
                    (Some(from), Some(to)) if from <= to => Ok(StatusRange { from, to }),
                    _ => Err(ValidationError::new(
                        "expectedStatus",
                        ErrorCode::Invalid,
                        format!(
                            "`{}` is no status between 100 and 599, no range such as 200-399",
                            part.trim()
                        ),
                    )),
                }
            })
            .collect()
    }
}

/// Whether `text` can stand in an HTTP request head without ending the line.
fn is_header_text(text: &str) -> bool {
    text.bytes().all(|b| b == b'\t' || (b' '..=b'~').contains(&b))
}

/// Whether `text` is a token of RFC 9110 §5.6.2.
fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

impl HealthCheckDraft {
    /// Checks the draft and fills in defaults.
    ///
    /// # Errors
    /// Every problem at once, by field.
    pub fn validate(&self) -> Result<HealthCheck, Vec<ValidationError>> {
        let mut errors = Vec::new();
        let mut number = |field: &str, value: Option<i64>, default: u32, low: i64, high: i64| match value {
            None => default,
            Some(n) if (low..=high).contains(&n) => u32::try_from(n).unwrap_or(default),
            Some(n) => {
                errors.push(ValidationError::new(
                    field,
                    ErrorCode::OutOfRange,
                    format!("{n} is not between {low} and {high}"),
                ));
                default
            }
        };
        let port = self.port.map(|_| number("port", self.port, 0, 1, 65_535));
        let interval_ms = number("intervalMs", self.interval_ms, 10_000, 100, 86_400_000);
        let timeout_ms = number(
            "timeoutMs",
            self.timeout_ms,
            interval_ms.min(2_000),
            10,
            86_400_000,
        );
        let rise = number("rise", self.rise, 1, 1, 100);
        let fall = number("fall", self.fall, 1, 1, 100);
        let score_window = number("scoreWindow", self.score_window, 0, 0, 100);
        if timeout_ms > interval_ms {
            errors.push(ValidationError::new(
                "timeoutMs",
                ErrorCode::Conflict,
                format!(
                    "{timeout_ms} is more than intervalMs ({interval_ms}): a probe would outlast its turn"
                ),
            ));
        }
        let kind = match self.kind.as_deref() {
            None | Some("") => {
                errors.push(ValidationError::new(
                    "type",
                    ErrorCode::Required,
                    "must be tcp, http or https",
                ));
                None
            }
            Some("tcp") => Some(CheckKind::Tcp),
            Some("http") => Some(CheckKind::Http(self.http(self.tls.unwrap_or(false), &mut errors))),
            Some("https") => Some(CheckKind::Http(self.http(true, &mut errors))),
            Some(later @ ("icmp" | "script" | "webhook" | "dns")) => {
                errors.push(ValidationError::new(
                    "type",
                    ErrorCode::Unsupported,
                    format!("`{later}` checks are not in this build yet; use tcp, http or https"),
                ));
                None
            }
            Some(other) => {
                errors.push(ValidationError::new(
                    "type",
                    ErrorCode::Unknown,
                    format!("unknown check type `{other}`; the types are tcp, http and https"),
                ));
                None
            }
        };
        match kind {
            Some(kind) if errors.is_empty() => Ok(HealthCheck {
                kind,
                port: port.and_then(|p| u16::try_from(p).ok()),
                interval_ms,
                timeout_ms,
                rise,
                fall,
                score_window,
            }),
            _ => Err(errors),
        }
    }

    fn http(&self, tls: bool, errors: &mut Vec<ValidationError>) -> HttpCheck {
        let mut invalid = |field: &str, message: String| {
            errors.push(ValidationError::new(field, ErrorCode::Invalid, message));
        };
        let path = self
            .path
            .clone()
            .filter(|p| !p.is_empty())
            .unwrap_or_else(|| "/".to_owned());
        if !path.starts_with('/') || !path.bytes().all(|b| (b'!'..=b'~').contains(&b)) {
            invalid(
                "path",
                format!("`{path}` must begin with `/` and have only printable ASCII without spaces"),
            );
        }
        let host = self.host.clone().filter(|h| !h.is_empty());
        if let Some(host) = host
            .as_deref()
            .filter(|h| !is_header_text(h) || h.contains([' ', '\t', '/']))
        {
            invalid("host", format!("`{host}` is no host name"));
        }
        let method = self.method.as_deref().unwrap_or("GET").to_ascii_uppercase();
        if !is_token(&method) {
            invalid("method", format!("`{method}` is no HTTP method"));
        }
        let headers = self.headers.clone().unwrap_or_default();
        for (index, (name, value)) in headers.iter().enumerate() {
            if !is_token(name) || !is_header_text(value) {
                invalid(
                    &format!("headers[{index}]"),
                    format!("`{name}` is no header name, or its value no text"),
                );
            }
        }
        let expected_status = match &self.expected_status {
            None => vec![StatusRange { from: 200, to: 399 }],
            Some(status) => status.parse().unwrap_or_else(|error| {
                errors.push(error);
                Vec::new()
            }),
        };
        HttpCheck {
            path,
            host,
            method,
            headers,
            expected_status,
            contains: self.contains.clone().filter(|c| !c.is_empty()),
            tls,
            insecure_skip_verify: self.insecure_skip_verify.unwrap_or(false),
        }
    }
}

impl From<&HealthCheck> for HealthCheckDraft {
    /// The draft that validates to the same check, for merge patches and as the API's answer.
    fn from(check: &HealthCheck) -> Self {
        let mut draft = Self {
            kind: Some(check.kind.name().to_owned()),
            port: check.port.map(i64::from),
            interval_ms: Some(check.interval_ms.into()),
            timeout_ms: Some(check.timeout_ms.into()),
            rise: Some(check.rise.into()),
            fall: Some(check.fall.into()),
            score_window: Some(check.score_window.into()),
            ..Self::default()
        };
        if let CheckKind::Http(http) = &check.kind {
            let status: Vec<_> = http.expected_status.iter().map(ToString::to_string).collect();
            draft.path = Some(http.path.clone());
            draft.host.clone_from(&http.host);
            draft.method = Some(http.method.clone());
            draft.headers = Some(http.headers.clone());
            draft.expected_status = Some(ExpectedStatus::Text(if status.is_empty() {
                "0".to_owned()
            } else {
                status.join(",")
            }));
            draft.contains.clone_from(&http.contains);
            draft.tls = Some(http.tls);
            draft.insecure_skip_verify = Some(http.insecure_skip_verify);
        }
        draft
    }
}
