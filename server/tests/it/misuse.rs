//! What somebody may try with sessions, tokens and requests that are good by themselves: each must end where it was meant
//! to, or nowhere.

use crate::accounts::{Browser, SECRET, id, user};
use crate::harness::{PASSWORD, TOKEN, TestDaemon, eventually, send};
use http::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

#[tokio::test(flavor = "multi_thread")]
async fn a_session_in_a_tenant_that_is_gone_writes_nowhere() {
    let d = TestDaemon::plain().await;
    let acme = id(&d.post("/tenants", json!({"name": "acme"})).await);
    id(&d.post("/tenants", json!({"name": "other"})).await);
    let admin = Browser::log_in(&d, "admin", PASSWORD).await;
    let pick = |tenant: &'static str| {
        let body = json!({"tenant": tenant});
        admin.call(Method::PUT, "/session/tenant", &[], body)
    };
    assert_eq!(pick("acme").await.status, StatusCode::OK);
    let gone = d
        .call(Method::DELETE, &format!("/tenants/{acme}"), Value::Null)
        .await;
    assert_eq!(gone.status, StatusCode::NO_CONTENT, "{}", gone.text());

    let before = d.get("/config/export").await.text();
    let yaml = [("content-type", "application/yaml")].as_slice();
    let none = [].as_slice();
    for (method, path, headers, body) in [
        (Method::POST, "/config/import?apply=true", yaml, json!({})),
        (Method::POST, "/pools", none, json!({"name": "stray"})),
        (Method::GET, "/pools", none, Value::Null),
        (Method::POST, "/tenants", none, json!({"name": "new"})),
        (Method::GET, "/events", none, Value::Null),
    ] {
        let refused = admin.call(method, path, headers, body).await;
        assert_eq!(refused.status, StatusCode::CONFLICT, "{path} {}", refused.text());
        let told = refused.text();
        assert!(
            told.contains(&acme) && told.contains("/session/tenant"),
            "{path} {told}"
        );
    }
    assert_eq!(d.get("/config/export").await.text(), before);
    // What concerns no tenant goes on, and says where one is.
    let session = admin.get("/session").await;
    assert_eq!(session.json()["tenantId"], acme.as_str(), "{}", session.text());
    assert_eq!(admin.get("/tenants").await.json()["total"], 2);
    // The header of a request comes first, as ever.
    let home = [("x-gslb-tenant", "default")];
    let named = admin.call(Method::GET, "/pools", &home, Value::Null).await;
    assert_eq!(named.status, StatusCode::OK);
    // The console leads to where another is picked, and shows it.
    let page = |path: &'static str| {
        let cookie = admin.cookie.clone();
        async move { send(d.api, Method::GET, path, &[("cookie", &cookie)], "").await }
    };
    let led = page("/pools").await;
    assert!(led.status.is_redirection(), "{}", led.status);
    let place = led.headers["location"].to_str().unwrap();
    assert_eq!(place, "/tenants?done=gone");
    let shown = page("/tenants?done=gone").await;
    assert_eq!(shown.status, StatusCode::OK);
    assert!(
        shown.text().contains("is gone") && shown.text().contains("Act in other"),
        "{}",
        shown.text()
    );
    assert_eq!(pick("other").await.status, StatusCode::OK);
    assert_eq!(admin.get("/pools").await.json()["total"], 0);
    assert_eq!(page("/pools").await.status, StatusCode::OK);
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_no_system_administrator_any_more_acts_in_no_other_tenant() {
    let d = TestDaemon::plain().await;
    id(&d.post("/tenants", json!({"name": "acme"})).await);
    let eve_id = user(&d, "default", "eve", "system-admin").await;
    let eve = Browser::log_in(&d, "eve", SECRET).await;
    let picked = eve
        .call(Method::PUT, "/session/tenant", &[], json!({"tenant": "acme"}))
        .await;
    assert_eq!(picked.status, StatusCode::OK);
    let token = json!({"name": "hers", "permissions": ["pools:read"]});
    let made = eve.call(Method::POST, "/tokens", &[], token).await;
    assert_eq!(
        made.json()["tenantId"],
        picked.json()["tenantId"],
        "{}",
        made.text()
    );
    let bearer = format!("Bearer {}", made.json()["secret"].as_str().unwrap());
    let by_token = || async {
        let headers = [("authorization", bearer.as_str())];
        let answer = send(d.api, Method::GET, "/api/v1/pools", &headers, "").await;
        answer.status
    };
    assert_eq!(by_token().await, StatusCode::OK);
    let less = json!({"role": "tenant-admin"});
    let changed = d.call(Method::PATCH, &format!("/users/{eve_id}"), less).await;
    assert_eq!(changed.status, StatusCode::OK, "{}", changed.text());
    assert_eq!(by_token().await, StatusCode::UNAUTHORIZED);
    // Her own tenant is not where she meant to be either.
    assert_eq!(eve.get("/pools").await.status, StatusCode::UNAUTHORIZED);
    let again = Browser::log_in(&d, "eve", SECRET).await;
    assert_eq!(again.get("/session").await.json()["tenant"], "default");
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_with_a_token_touches_no_session() {
    let d = TestDaemon::plain().await;
    id(&d.post("/tenants", json!({"name": "acme"})).await);
    let admin = Browser::log_in(&d, "admin", PASSWORD).await;
    let cookie = [("cookie", admin.cookie.as_str())];
    let pick = d
        .call_with(Method::PUT, "/session/tenant", &cookie, json!({"tenant": "acme"}))
        .await;
    assert_eq!(pick.status, StatusCode::FORBIDDEN, "{}", pick.text());
    // Nobody is let off the check of where a request comes from by a token that is none.
    for authorization in [
        "Bearer nonsense",
        "Basic YWRtaW46YWRtaW4=",
        "",
        &format!("Bearer {TOKEN}"),
    ] {
        let headers = [("authorization", authorization), cookie[0]];
        send(d.api, Method::DELETE, "/api/v1/session", &headers, "").await;
        let who = send(d.api, Method::GET, "/api/v1/session", &headers, "").await;
        assert!(
            !who.text().contains("\"admin\""),
            "{authorization}: {}",
            who.text()
        );
    }
    let session = admin.get("/session").await;
    assert_eq!(
        (session.status, session.json()["tenant"].as_str()),
        (StatusCode::OK, Some("default")),
        "the session of the cookie is as it was"
    );
    // Two tenants in one request are no tenant.
    let two = [("x-gslb-tenant", "acme"), ("x-gslb-tenant", "default")];
    let refused = d.call_with(Method::GET, "/pools", &two, Value::Null).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{}", refused.text());
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_of_a_comparison_is_no_key_of_the_change() {
    let d = TestDaemon::plain().await;
    let headers = [
        ("content-type", "application/yaml"),
        ("idempotency-key", "the same"),
    ];
    let import = |path: &'static str| d.call_raw(Method::POST, path, &headers, "format: 1\n");
    let told = import("/config/import").await;
    assert_eq!(told.status, StatusCode::OK, "{}", told.text());
    let refused = import("/config/import?apply=true").await;
    assert_eq!(
        refused.status,
        StatusCode::UNPROCESSABLE_ENTITY,
        "{}",
        refused.text()
    );
    assert_eq!(import("/config/import").await.bytes, told.bytes);
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_client_began_and_left_is_done_and_told() {
    let d = TestDaemon::plain().await;
    let pool = d
        .pool(
            "web",
            json!([{"ipAddress": "192.0.2.1", "port": 80}]),
            Value::Null,
        )
        .await;
    for number in 0..40_u64 {
        let service = json!({"name": format!("s{number}"), "domain": format!("s{number}.example.com"),
            "poolId": pool, "algorithm": "round-robin"});
        let (body, key) = (service.to_string(), format!("key {number}"));
        let mut stream = TcpStream::connect(d.api).await.unwrap();
        let head = format!(
            "POST /api/v1/services HTTP/1.1\r\nhost: test\r\nauthorization: Bearer {TOKEN}\r\nidempotency-key: {key}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        // Each leaves at another point of what is done for it.
        tokio::time::sleep(std::time::Duration::from_micros(number * 500)).await;
        drop(stream);
        let again = || {
            let headers = [("idempotency-key", key.as_str())];
            let (d, body) = (&d, service.clone());
            async move { d.call_with(Method::POST, "/services", &headers, body).await }
        };
        eventually("the first request ends", || async {
            !again().await.text().contains("still running")
        })
        .await;
        let answer = again().await;
        assert_eq!(answer.status, StatusCode::CREATED, "{number}: {}", answer.text());
        let (_, addresses) = d.dig(&format!("s{number}.example.com."), None).await;
        assert_eq!(addresses.len(), 1, "{number}: stored, and not answered");
    }
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_no_way_to_guess_the_password() {
    let d = TestDaemon::plain().await;
    let eve_id = user(&d, "default", "eve", "viewer").await;
    let eve = Browser::log_in(&d, "eve", SECRET).await;
    let change = |current: &'static str, new: &'static str| {
        let body = json!({"current": current, "new": new});
        eve.call(Method::PUT, "/session/password", &[], body)
    };
    for _ in 0..5 {
        let refused = change("a wrong password", "a good password").await;
        assert_eq!(refused.fields(), ["current"], "{}", refused.text());
    }
    let limited = change(SECRET, "a good password").await;
    assert_eq!(
        limited.status,
        StatusCode::TOO_MANY_REQUESTS,
        "{}",
        limited.text()
    );
    assert!(limited.headers.contains_key("retry-after"));
    // It keeps nobody from logging in.
    Browser::log_in(&d, "eve", SECRET).await;
    let reset = json!({"password": "another good one"});
    let done = d.call(Method::PATCH, &format!("/users/{eve_id}"), reset).await;
    assert_eq!(done.status, StatusCode::OK, "{}", done.text());
    d.stop().await;
}
