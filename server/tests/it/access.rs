//! Log-in, sessions, tokens, cross-site requests, and the document of the API. Who may call what: `matrix.rs`.

use crate::harness::{Answer, PASSWORD, TestDaemon, send};
use http::{Method, StatusCode};
use serde_json::{Value, json};

async fn login(d: &TestDaemon, password: &str, headers: &[(&str, &str)]) -> Answer {
    let body = json!({"username": "admin", "password": password}).to_string();
    send(d.api, Method::POST, "/api/v1/session", headers, &body).await
}

fn cookie(answer: &Answer) -> String {
    let value = answer.headers["set-cookie"].to_str().unwrap();
    value.split(';').next().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_begins_with_the_right_password_only() {
    let d = TestDaemon::plain().await;
    let wrong = login(&d, "wrong", &[]).await;
    assert_eq!(wrong.status, StatusCode::UNAUTHORIZED);
    let unknown = json!({"username": "nobody", "password": "wrong"}).to_string();
    let unknown = send(d.api, Method::POST, "/api/v1/session", &[], &unknown).await;
    assert_eq!(
        unknown.bytes, wrong.bytes,
        "the answer tells which of the two was wrong"
    );
    let right = login(&d, PASSWORD, &[]).await;
    assert_eq!(right.status, StatusCode::OK);
    let attributes = right.headers["set-cookie"].to_str().unwrap();
    assert!(
        attributes.contains("HttpOnly") && attributes.contains("SameSite=Lax"),
        "{attributes}"
    );
    let cookie = cookie(&right);
    let who = send(d.api, Method::GET, "/api/v1/session", &[("cookie", &cookie)], "").await;
    assert_eq!(who.json()["name"], "admin");
    let stored = std::fs::read(d.folder.path().join("gslbd.db")).unwrap();
    let id = cookie.split('=').nth(1).unwrap();
    assert!(
        !stored.windows(id.len()).any(|w| w == id.as_bytes()),
        "the database holds the session's secret"
    );
    let same_origin = [("cookie", cookie.as_str()), ("sec-fetch-site", "same-origin")];
    let out = send(d.api, Method::DELETE, "/api/v1/session", &same_origin, "").await;
    assert_eq!(out.status, StatusCode::NO_CONTENT);
    let who = send(d.api, Method::GET, "/api/v1/session", &[("cookie", &cookie)], "").await;
    assert_eq!(who.status, StatusCode::UNAUTHORIZED);
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_site_cannot_use_the_cookie() {
    let d = TestDaemon::plain().await;
    let cookie = cookie(&login(&d, PASSWORD, &[]).await);
    let pool = json!({"name": "p"}).to_string();
    let origin = format!("http://{}", d.api);
    let secure = format!("https://{}", d.api);
    for headers in [
        vec![("cookie", cookie.as_str())],
        vec![("cookie", cookie.as_str()), ("sec-fetch-site", "cross-site")],
        vec![("cookie", cookie.as_str()), ("sec-fetch-site", "same-site")],
        vec![("cookie", cookie.as_str()), ("origin", "http://evil.example")],
        vec![("cookie", cookie.as_str()), ("origin", secure.as_str())],
        vec![
            ("cookie", cookie.as_str()),
            ("sec-fetch-site", "same-origin"),
            ("origin", "http://evil.example"),
        ],
    ] {
        let refused = send(d.api, Method::POST, "/api/v1/pools", &headers, &pool).await;
        assert_eq!(refused.status, StatusCode::FORBIDDEN, "{headers:?}");
    }
    let refused = login(&d, PASSWORD, &[("sec-fetch-site", "cross-site")]).await;
    assert_eq!(
        refused.status,
        StatusCode::FORBIDDEN,
        "another site must not log the browser in"
    );
    let allowed = send(
        d.api,
        Method::POST,
        "/api/v1/pools",
        &[("cookie", &cookie), ("origin", &origin)],
        &pool,
    )
    .await;
    assert_eq!(allowed.status, StatusCode::CREATED);
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_guesses_waits_and_a_browser_that_was_here_does_not() {
    let d = TestDaemon::plain().await;
    let right = login(&d, PASSWORD, &[]).await;
    let cookies: Vec<_> = right.headers.get_all("set-cookie").iter().collect();
    let mark = cookies
        .iter()
        .filter_map(|value| value.to_str().ok())
        .find(|value| value.starts_with("gslb_device="))
        .unwrap();
    assert!(
        mark.contains("HttpOnly") && mark.contains("SameSite=Lax"),
        "{mark}"
    );
    let mark = mark.split(';').next().unwrap();
    let limited = loop {
        let answer = login(&d, "wrong", &[]).await;
        if answer.status != StatusCode::UNAUTHORIZED {
            break answer;
        }
    };
    assert_eq!(
        limited.status,
        StatusCode::TOO_MANY_REQUESTS,
        "{}",
        limited.text()
    );
    let seconds: u64 = limited.headers["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((1..=60).contains(&seconds), "{seconds}");
    assert_eq!(limited.json()["error"]["retryAfter"], seconds);
    let ours = [("cookie", mark), ("sec-fetch-site", "same-origin")];
    let owner = login(&d, PASSWORD, &ours).await;
    assert_eq!(owner.status, StatusCode::OK, "{}", owner.text());
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_password_ends_the_other_sessions() {
    let d = TestDaemon::plain().await;
    let (here, new) = (cookie(&login(&d, PASSWORD, &[]).await), "a new long password");
    let elsewhere = cookie(&login(&d, PASSWORD, &[]).await);
    let body = json!({"current": PASSWORD, "new": new}).to_string();
    let headers = [("cookie", here.as_str()), ("sec-fetch-site", "same-origin")];
    let changed = send(d.api, Method::PUT, "/api/v1/session/password", &headers, &body).await;
    assert_eq!(changed.status, StatusCode::NO_CONTENT, "{}", changed.text());
    let who = |cookie: String| {
        let api = d.api;
        async move {
            send(api, Method::GET, "/api/v1/session", &[("cookie", &cookie)], "")
                .await
                .status
        }
    };
    assert_eq!(who(elsewhere).await, StatusCode::UNAUTHORIZED);
    assert_eq!(
        who(here).await,
        StatusCode::UNAUTHORIZED,
        "the old id is worth nothing"
    );
    assert_eq!(
        who(cookie(&changed)).await,
        StatusCode::OK,
        "the session that asked goes on"
    );
    assert_eq!(login(&d, PASSWORD, &[]).await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(login(&d, new, &[]).await.status, StatusCode::OK);
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_does_what_it_may_and_no_more() {
    let d = TestDaemon::plain().await;
    let made = d
        .post(
            "/tokens",
            json!({"name": "reader", "permissions": ["pools:read"]}),
        )
        .await;
    assert_eq!(made.status, StatusCode::CREATED, "{}", made.text());
    let secret = made.json()["secret"].as_str().unwrap().to_owned();
    assert!(secret.starts_with("gslb_"));
    let bearer = format!("Bearer {secret}");
    let with = |method: Method, path: &'static str| {
        let (api, bearer) = (d.api, bearer.clone());
        async move {
            send(
                api,
                method,
                path,
                &[("authorization", &bearer)],
                "{\"name\":\"p\"}",
            )
            .await
            .status
        }
    };
    assert_eq!(with(Method::GET, "/api/v1/pools").await, StatusCode::OK);
    assert_eq!(with(Method::POST, "/api/v1/pools").await, StatusCode::FORBIDDEN);
    assert_eq!(with(Method::GET, "/api/v1/services").await, StatusCode::FORBIDDEN);
    let listed = d.get("/tokens").await;
    assert!(!listed.text().contains(&secret));
    let id = made.json()["id"].as_str().unwrap().to_owned();
    d.call(Method::DELETE, &format!("/tokens/{id}"), Value::Null)
        .await;
    assert_eq!(with(Method::GET, "/api/v1/pools").await, StatusCode::UNAUTHORIZED);
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_write_sees_what_is_written_and_nothing_of_another_kind() {
    let d = TestDaemon::plain().await;
    for (write, kind, body) in [
        ("zones:write", "zones", json!({"name": "own.example."})),
        ("pools:write", "pools", json!({"name": "own"})),
    ] {
        let token = json!({"name": write, "permissions": [write]});
        let made = d.post("/tokens", token).await.json();
        let bearer = format!("Bearer {}", made["secret"].as_str().unwrap());
        let with = |method: Method, path: String, body: String| {
            let (api, bearer) = (d.api, bearer.clone());
            async move { send(api, method, &path, &[("authorization", &bearer)], &body).await }
        };
        let written = with(Method::POST, format!("/api/v1/{kind}"), body.to_string()).await;
        assert_eq!(written.status, StatusCode::CREATED, "{}", written.text());
        let id = written.json()["id"].as_str().unwrap().to_owned();
        let one = format!("/api/v1/{kind}/{id}");
        let changed = with(Method::PATCH, one.clone(), "{}".to_owned()).await;
        assert_eq!(changed.status, StatusCode::OK, "{}", changed.text());
        let read = with(Method::GET, one, String::new()).await;
        assert_eq!(read.status, StatusCode::OK, "{}", read.text());
        assert_eq!(read.json(), changed.json(), "a write shows no more than a read");
        let other = with(Method::GET, "/api/v1/services".to_owned(), String::new()).await;
        assert_eq!(other.status, StatusCode::FORBIDDEN);
    }
    d.stop().await;
}

#[test]
fn the_document_is_the_one_that_was_agreed_on() {
    // As text: the numbers of a value are something else to insta when digits are kept, as scripts make it so.
    let document = serde_json::to_value(gslbd::api::openapi()).unwrap();
    insta::assert_snapshot!("openapi", serde_json::to_string_pretty(&document).unwrap());
}
