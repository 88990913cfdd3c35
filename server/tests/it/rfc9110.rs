//! HTTP semantics: media types, methods, preconditions.

use crate::harness::{TOKEN, TestDaemon, send};
use http::{Method, StatusCode};
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn bodies_of_other_types_are_refused() {
    let d = TestDaemon::plain().await;
    let pool = d.pool("web", json!([]), Value::Null).await;
    let bearer = format!("Bearer {TOKEN}");
    let path = format!("/api/v1/pools/{pool}");
    for (method, path, kind, expected) in [
        (Method::POST, "/api/v1/pools", "text/plain", 415),
        (Method::POST, "/api/v1/pools", "application/merge-patch+json", 415),
        (
            Method::POST,
            "/api/v1/session",
            "application/x-www-form-urlencoded",
            415,
        ),
        (Method::PUT, path.as_str(), "text/plain", 415),
        (Method::PATCH, path.as_str(), "text/plain", 415),
        (Method::PATCH, path.as_str(), "application/json-patch+json", 415),
        (Method::PATCH, path.as_str(), "application/merge-patch+json", 200),
        (
            Method::PATCH,
            path.as_str(),
            "application/json; charset=utf-8",
            200,
        ),
        (Method::PUT, path.as_str(), "application/json", 200),
    ] {
        let headers = [("authorization", bearer.as_str()), ("content-type", kind)];
        let answer = send(d.api, method.clone(), path, &headers, "{\"name\": \"web\"}").await;
        assert_eq!(
            answer.status.as_u16(),
            expected,
            "{method} {kind}: {}",
            answer.text()
        );
    }
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn options_says_what_an_address_knows() {
    let d = TestDaemon::plain().await;
    let bearer = format!("Bearer {TOKEN}");
    let headers = [("authorization", bearer.as_str())];
    for (path, methods) in [
        ("/api/v1/pools", &["GET", "HEAD", "POST"][..]),
        (
            "/api/v1/pools/0198c5a0-0000-7000-8000-000000000000",
            &["GET", "HEAD", "PUT", "PATCH", "DELETE"],
        ),
        ("/api/v1/openapi.json", &["GET", "HEAD"]),
        ("/healthz", &["GET", "HEAD"]),
    ] {
        let answer = send(d.api, Method::OPTIONS, path, &headers, "").await;
        assert_eq!(answer.status, StatusCode::NO_CONTENT, "{path}");
        let allow = answer.headers["allow"].to_str().unwrap();
        let mut found: Vec<_> = allow.split(',').map(str::trim).collect();
        found.sort_unstable();
        let mut expected = methods.to_vec();
        expected.sort_unstable();
        assert_eq!(found, expected, "{path}");
        assert!(!answer.headers.contains_key("access-control-allow-origin"));
    }
    let refused = send(d.api, Method::DELETE, "/api/v1/pools", &headers, "").await;
    assert_eq!(refused.status, StatusCode::METHOD_NOT_ALLOWED);
    assert!(refused.headers.contains_key("allow"));
    let missing = send(d.api, Method::OPTIONS, "/api/v1/nothing", &headers, "").await;
    assert_eq!(missing.status, StatusCode::NOT_FOUND);
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn if_match_is_a_list_of_strong_tags() {
    let d = TestDaemon::plain().await;
    let pool = d.pool("web", json!([]), Value::Null).await;
    let path = format!("/pools/{pool}");
    let tag = d.get(&path).await.headers["etag"].to_str().unwrap().to_owned();
    for (value, expected) in [
        (format!("W/{tag}"), StatusCode::PRECONDITION_FAILED),
        ("\"nonsense\"".to_owned(), StatusCode::PRECONDITION_FAILED),
        ("\"999999\", \"x,y\"".to_owned(), StatusCode::PRECONDITION_FAILED),
        (format!("\"999999\", {tag}"), StatusCode::OK),
        ("*".to_owned(), StatusCode::OK),
    ] {
        let answer = d
            .call_with(
                Method::PATCH,
                &path,
                &[("if-match", &value)],
                json!({"minHealthy": 0}),
            )
            .await;
        assert_eq!(answer.status, expected, "{value}");
        if expected == StatusCode::PRECONDITION_FAILED {
            assert_eq!(answer.headers["etag"], tag.as_str(), "the tag in force is told");
        }
    }
    d.stop().await;
}
