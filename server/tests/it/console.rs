//! The console as a browser without scripts sees it: pages whole in the HTML, forms as plain posts, security headers.

use crate::harness::{PASSWORD, TestDaemon, send};
use http::{Method, StatusCode};
use serde_json::{Value, json};

async fn cookie(d: &TestDaemon) -> String {
    let body = json!({"username": "admin", "password": PASSWORD}).to_string();
    let answer = send(d.api, Method::POST, "/api/v1/session", &[], &body).await;
    answer.headers["set-cookie"]
        .to_str()
        .unwrap()
        .split(';')
        .next()
        .unwrap()
        .to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn strangers_are_sent_to_the_login_and_back() {
    let d = TestDaemon::plain().await;
    let answer = send(d.api, Method::GET, "/services?search=x", &[], "").await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    assert_eq!(answer.headers["location"], "/login?next=/services%3Fsearch%3Dx");
    let page = send(d.api, Method::GET, "/login", &[], "").await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(page.text().contains("type=\"password\""), "{}", page.text());
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_hold_their_data_without_scripts() {
    let d = TestDaemon::enterprise("signals:\n  static:\n    eu-west: 120\n").await;
    let pool = d
        .pool(
            "web",
            json!([{"ipAddress": "192.0.2.1", "port": 80, "region": "DE"}]),
            Value::Null,
        )
        .await;
    let chain = json!(["geo-ip", "weighted-round-robin"]);
    let body = json!({"name": "www", "domain": "www.example.com", "poolId": pool, "filterChain": chain});
    let service = d.service(body).await;
    let cookie = cookie(&d).await;
    let pool_page = format!("/pools/{pool}");
    let (detail, edit) = (
        format!("/services/{service}"),
        format!("/services/{service}/edit"),
    );
    for (path, expected) in [
        ("/", "1"),
        ("/services", "www.example.com."),
        (detail.as_str(), "www.example.com."),
        (edit.as_str(), "Weighted Round Robin"),
        ("/services/new", "Geo IP"),
        ("/pools", "web"),
        (pool_page.as_str(), "192.0.2.1"),
        ("/signals", "eu-west"),
        ("/trace?domain=www.example.com&client=192.0.2.200", "192.0.2.1"),
        ("/zones", "example.com."),
        ("/users", "system-admin"),
        ("/tokens", "New token"),
        ("/tenants", "acting here"),
        ("/sessions", "this one"),
        ("/audit", "www"),
        ("/settings", "dns.port"),
        ("/settings/licence", "Filter chains of any steps"),
        ("/settings/configuration", "/api/v1/config/export"),
        ("/settings/password", "New password, again"),
        ("/users/roles/viewer", "It is built in, and cannot change."),
        ("/tenants/00000000-0000-0000-0000-000000000001", "Name"),
    ] {
        let page = send(d.api, Method::GET, path, &[("cookie", &cookie)], "").await;
        assert_eq!(page.status, StatusCode::OK, "{path}");
        assert!(
            page.text().contains(expected),
            "{path} lacks {expected}:\n{}",
            page.text()
        );
        let policy = page.headers["content-security-policy"].to_str().unwrap();
        assert!(
            policy.contains("'nonce-") && !policy.contains("script-src 'self' 'unsafe-inline'"),
            "{policy}"
        );
        assert_eq!(page.headers["cache-control"], "no-store");
    }
    let missing = send(d.api, Method::GET, "/no/such/page", &[("cookie", &cookie)], "").await;
    assert_eq!(missing.status, StatusCode::NOT_FOUND);
    assert!(
        missing.headers["content-type"]
            .to_str()
            .unwrap()
            .starts_with("text/html")
    );
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_api_answers_in_its_own_form_where_nothing_is() {
    let d = TestDaemon::plain().await;
    let missing = d.get("/nonsense").await;
    assert_eq!(missing.status, StatusCode::NOT_FOUND);
    assert_eq!(missing.json()["error"]["code"], "not_found");
    let method = d.call(Method::PUT, "/services", json!({})).await;
    assert_eq!(method.status, StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(method.json()["error"]["code"], "method_not_allowed");
    let malformed = send(
        d.api,
        Method::POST,
        "/api/v1/pools",
        &[("authorization", &format!("Bearer {}", crate::harness::TOKEN))],
        "{\"name\":",
    )
    .await;
    assert_eq!(malformed.status, StatusCode::BAD_REQUEST);
    assert!(malformed.headers.contains_key("x-request-id"));
    let docs = send(d.api, Method::GET, "/docs", &[], "").await;
    assert!(docs.text().contains("/api/v1/services"));
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_form_logs_in_without_scripts() {
    let d = TestDaemon::plain().await;
    let headers = [
        ("content-type", "application/x-www-form-urlencoded"),
        ("accept", "text/html"),
        ("sec-fetch-site", "same-origin"),
    ];
    let form = "form%5Busername%5D=admin&form%5Bpassword%5D=correct+horse+battery&form%5Bnext%5D=%2Fpools";
    let answer = send(d.api, Method::POST, "/rpc/login", &headers, form).await;
    assert_eq!(answer.status, StatusCode::FOUND, "{}", answer.text());
    assert_eq!(answer.headers["location"], "/pools");
    assert!(answer.headers.contains_key("set-cookie"));
    let wrong = "form%5Busername%5D=admin&form%5Bpassword%5D=wrong&form%5Bnext%5D=%2Fpools";
    let answer = send(d.api, Method::POST, "/rpc/login", &headers, wrong).await;
    assert!(
        answer.headers["location"]
            .to_str()
            .unwrap()
            .starts_with("/login?failed=")
    );
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_does_not_fit_is_a_page_that_helps() {
    let d = TestDaemon::plain().await;
    let cookie = cookie(&d).await;
    for list in ["/services", "/pools", "/zones", "/audit"] {
        let path = format!("{list}?cursor=bogus");
        let page = send(d.api, Method::GET, &path, &[("cookie", &cookie)], "").await;
        assert_eq!(page.status, StatusCode::BAD_REQUEST, "{path}");
        let text = page.text();
        assert!(text.contains("cursor"), "{text}");
        assert!(text.contains(&format!("href=\"{list}\"")), "{text}");
    }
    let page = send(
        d.api,
        Method::GET,
        "/services?sort=bogus",
        &[("cookie", &cookie)],
        "",
    )
    .await;
    assert_eq!(page.status, StatusCode::BAD_REQUEST);
    d.stop().await;
}
