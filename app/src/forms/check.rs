//! The form of a health check.

use crate::form::{Form, given, ticked, whole_number};
use gslb_api_types::model::{ErrorCode, ExpectedStatus, HealthCheckDraft, ValidationError};
use gslb_api_types::{PoolView, Stored};
use serde::{Deserialize, Serialize};

/// A health check.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CheckForm {
    /// The pool.
    pub pool: String,
    /// The revision of the pool that the form was made from.
    pub revision: String,
    /// `none`, `tcp`, `http`, `https`.
    pub r#type: String,
    /// Number.
    pub port: String,
    /// Milliseconds.
    pub interval_ms: String,
    /// Milliseconds.
    pub timeout_ms: String,
    /// Number.
    pub rise: String,
    /// Number.
    pub fall: String,
    /// Number.
    pub score_window: String,
    /// Path of the request.
    pub path: String,
    /// `Host` header.
    pub host: String,
    /// Request method.
    pub method: String,
    /// `Name: value`, one a line.
    pub headers: String,
    /// Codes and ranges.
    pub expected_status: String,
    /// Text in the body.
    pub contains: String,
    /// Ticked or empty.
    pub insecure_skip_verify: String,
}

impl CheckForm {
    /// The form of a pool's check.
    #[must_use]
    pub fn of(pool: &Stored<PoolView>) -> Self {
        let base = Self {
            pool: pool.value.id.to_string(),
            revision: pool.revision.to_string(),
            r#type: "none".to_owned(),
            ..Self::default()
        };
        let Some(check) = &pool.value.health_check else {
            return base;
        };
        let number = |value: Option<i64>| value.map(|n| n.to_string()).unwrap_or_default();
        let text = |value: &Option<String>| value.clone().unwrap_or_default();
        let lines = |list: &[(String, String)]| {
            list.iter()
                .map(|(name, value)| format!("{name}: {value}"))
                .collect::<Vec<_>>()
                .join("\n")
        };
        Self {
            r#type: if check.tls == Some(true) {
                "https".to_owned()
            } else {
                text(&check.kind)
            },
            port: number(check.port),
            interval_ms: number(check.interval_ms),
            timeout_ms: number(check.timeout_ms),
            rise: number(check.rise),
            fall: number(check.fall),
            score_window: number(check.score_window),
            path: text(&check.path),
            host: text(&check.host),
            method: text(&check.method),
            headers: lines(check.headers.as_deref().unwrap_or_default()),
            expected_status: match &check.expected_status {
                Some(ExpectedStatus::Text(text)) => text.clone(),
                Some(ExpectedStatus::Code(code)) => code.to_string(),
                None => String::new(),
            },
            contains: text(&check.contains),
            insecure_skip_verify: if check.insecure_skip_verify == Some(true) {
                "on"
            } else {
                ""
            }
            .to_owned(),
            ..base
        }
    }

    /// Whether the fields of HTTP count.
    fn is_http(&self) -> bool {
        matches!(self.r#type.as_str(), "http" | "https")
    }

    /// The draft (none: no check), and what is no number or header line.
    #[must_use]
    pub fn draft(&self) -> (Option<HealthCheckDraft>, Vec<ValidationError>) {
        let mut problems = Vec::new();
        if self.r#type == "none" {
            return (None, problems);
        }
        let mut headers = Vec::new();
        for line in self
            .headers
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
        {
            match line.split_once(':') {
                Some((name, value)) => headers.push((name.trim().to_owned(), value.trim().to_owned())),
                None => problems.push(ValidationError::new(
                    "headers",
                    ErrorCode::Invalid,
                    format!("`{line}` is not of the form `Name: value`"),
                )),
            }
        }
        let mut number = |field: &str, text: &str| whole_number(&mut problems, field, text);
        let mut draft = HealthCheckDraft {
            kind: given(&self.r#type),
            port: number("port", &self.port),
            interval_ms: number("intervalMs", &self.interval_ms),
            timeout_ms: number("timeoutMs", &self.timeout_ms),
            rise: number("rise", &self.rise),
            fall: number("fall", &self.fall),
            score_window: number("scoreWindow", &self.score_window),
            ..HealthCheckDraft::default()
        };
        if self.is_http() {
            draft.path = given(&self.path);
            draft.host = given(&self.host);
            draft.method = given(&self.method);
            draft.headers = Some(headers);
            draft.expected_status = given(&self.expected_status).map(ExpectedStatus::Text);
            draft.contains = given(&self.contains);
            draft.insecure_skip_verify = Some(ticked(&self.insecure_skip_verify));
        }
        (Some(draft), problems)
    }
}

impl Form for CheckForm {
    const PARAM: &'static str = "check";

    fn problems(&self) -> Vec<ValidationError> {
        let (draft, mut problems) = self.draft();
        if let Some(Err(list)) = draft.map(|draft| draft.validate()) {
            problems.extend(list.into_iter().map(|mut problem| {
                // The form has all headers in one field.
                if problem.field.starts_with("headers[") {
                    problem.field = "headers".to_owned();
                }
                problem
            }));
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_check_needs_nothing_and_a_bad_one_tells_why() {
        let none = CheckForm {
            r#type: "none".to_owned(),
            timeout_ms: "x".to_owned(),
            ..CheckForm::default()
        };
        assert_eq!(none.problems(), []);
        let bad = CheckForm {
            r#type: "http".to_owned(),
            interval_ms: "1000".to_owned(),
            timeout_ms: "5000".to_owned(),
            headers: "no colon".to_owned(),
            expected_status: "ok".to_owned(),
            ..CheckForm::default()
        };
        let problems = bad.problems();
        for field in ["timeoutMs", "headers", "expectedStatus"] {
            assert!(problems.iter().any(|p| p.field == field), "{field}: {problems:?}");
        }
    }
}
