//! Accounts over HTTP: tenants that are picked by header or session, accounts that are disabled, sessions that are ended.

use crate::harness::{Answer, PASSWORD, TestDaemon, send};
use http::{Method, StatusCode};
use serde_json::{Value, json};

pub const SECRET: &str = "is long enough";

/// A browser: its session, and requests as its own pages send them.
pub struct Browser<'a> {
    daemon: &'a TestDaemon,
    pub cookie: String,
}

impl<'a> Browser<'a> {
    pub async fn log_in(daemon: &'a TestDaemon, name: &str, password: &str) -> Self {
        let answer = try_login(daemon, name, password).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text());
        let value = answer.headers["set-cookie"].to_str().unwrap();
        let cookie = value.split(';').next().unwrap().to_owned();
        Self { daemon, cookie }
    }

    pub async fn call(&self, method: Method, path: &str, headers: &[(&str, &str)], body: Value) -> Answer {
        let mut all = vec![
            ("cookie", self.cookie.as_str()),
            ("sec-fetch-site", "same-origin"),
        ];
        all.extend_from_slice(headers);
        let text = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        send(self.daemon.api, method, &format!("/api/v1{path}"), &all, &text).await
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.call(Method::GET, path, &[], Value::Null).await
    }
}

async fn try_login(d: &TestDaemon, name: &str, password: &str) -> Answer {
    let body = json!({"username": name, "password": password}).to_string();
    let agent = [("user-agent", "a test")];
    send(d.api, Method::POST, "/api/v1/session", &agent, &body).await
}

pub fn id(answer: &Answer) -> String {
    assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.text());
    answer.json()["id"].as_str().unwrap().to_owned()
}

pub async fn user(d: &TestDaemon, tenant: &str, name: &str, role: &str) -> String {
    let body = json!({"name": name, "password": SECRET, "role": role});
    let made = d
        .call_with(Method::POST, "/users", &[("x-gslb-tenant", tenant)], body)
        .await;
    id(&made)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tenant_is_named_in_the_request_or_picked_for_the_session() {
    let d = TestDaemon::plain().await;
    let acme = id(&d.post("/tenants", json!({"name": "acme"})).await);
    for named in ["acme", acme.as_str()] {
        let header = [("x-gslb-tenant", named)];
        let session = d.call_with(Method::GET, "/session", &header, Value::Null).await;
        assert_eq!(session.json()["tenantId"], acme.as_str());
        assert_eq!(session.json()["tenant"], "acme");
        let made = d
            .call_with(
                Method::POST,
                "/pools",
                &header,
                json!({"name": named, "members": []}),
            )
            .await;
        assert_eq!(made.json()["tenantId"], acme.as_str(), "{}", made.text());
    }
    assert_eq!(
        d.get("/pools").await.json()["total"],
        0,
        "nothing of it is in the first tenant"
    );
    let missing = [("x-gslb-tenant", "nobody")];
    let answer = d.call_with(Method::GET, "/pools", &missing, Value::Null).await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND);

    let admin = Browser::log_in(&d, "admin", PASSWORD).await;
    let pick = |tenant: &str| admin.call(Method::PUT, "/session/tenant", &[], json!({"tenant": tenant}));
    assert_eq!(pick("nobody").await.status, StatusCode::NOT_FOUND);
    let picked = pick("acme").await;
    assert_eq!(
        (picked.status, picked.json()["tenant"].as_str()),
        (StatusCode::OK, Some("acme"))
    );
    assert_eq!(admin.get("/pools").await.json()["total"], 2);
    // The header of a request comes before what the session remembers.
    let home = admin
        .call(
            Method::GET,
            "/pools",
            &[("x-gslb-tenant", "default")],
            Value::Null,
        )
        .await;
    assert_eq!(home.json()["total"], 0);
    // One's password is one's own, wherever one is acting.
    let weak = json!({"current": PASSWORD, "new": "adminadminadmin"});
    let refused = admin.call(Method::PUT, "/session/password", &[], weak).await;
    assert_eq!(refused.fields(), ["new"]);
    for pool in admin.get("/pools").await.json()["items"].as_array().unwrap() {
        let path = format!("/pools/{}", pool["id"].as_str().unwrap());
        let gone = admin.call(Method::DELETE, &path, &[], Value::Null).await;
        assert_eq!(gone.status, StatusCode::NO_CONTENT, "{}", gone.text());
    }
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_in_one_tenant_only_picks_none() {
    let d = TestDaemon::plain().await;
    id(&d.post("/tenants", json!({"name": "acme"})).await);
    user(&d, "acme", "bob", "tenant-admin").await;
    let bob = Browser::log_in(&d, "bob", SECRET).await;
    let named = |tenant: &'static str| {
        let bob = &bob;
        async move {
            bob.call(Method::GET, "/pools", &[("x-gslb-tenant", tenant)], Value::Null)
                .await
        }
    };
    let (there, missing) = (named("default").await, named("no-such-tenant").await);
    assert_eq!(there.status, StatusCode::FORBIDDEN);
    assert_eq!(
        there.bytes, missing.bytes,
        "the answer tells which tenants there are"
    );
    let pick = bob
        .call(Method::PUT, "/session/tenant", &[], json!({"tenant": "default"}))
        .await;
    assert_eq!(pick.status, StatusCode::FORBIDDEN);
    assert_eq!(bob.get("/tenants").await.status, StatusCode::FORBIDDEN);
    let own = bob
        .call(Method::GET, "/pools", &[("x-gslb-tenant", "acme")], Value::Null)
        .await;
    assert_eq!(own.status, StatusCode::OK);
    // Nobody becomes more than he is.
    for role in ["system-admin", "nonsense"] {
        let body = json!({"name": "eve", "password": SECRET, "role": role});
        let refused = bob.call(Method::POST, "/users", &[], body).await;
        assert_eq!(
            (refused.status.as_u16(), refused.fields()),
            (422, vec!["role".to_owned()])
        );
    }
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disabled_account_is_out_at_once() {
    let d = TestDaemon::plain().await;
    let bob_id = user(&d, "default", "bob", "operator").await;
    let bob = Browser::log_in(&d, "bob", SECRET).await;
    assert_eq!(bob.get("/pools").await.status, StatusCode::OK);
    let path = format!("/users/{bob_id}");
    let read = d.get(&path).await;
    let tag = read.headers["etag"].to_str().unwrap().to_owned();
    let off = d
        .call_with(
            Method::PATCH,
            &path,
            &[("if-match", &tag)],
            json!({"enabled": false}),
        )
        .await;
    assert_eq!(
        (off.status, &off.json()["enabled"]),
        (StatusCode::OK, &json!(false))
    );
    assert_eq!(bob.get("/pools").await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(
        try_login(&d, "bob", SECRET).await.status,
        StatusCode::UNAUTHORIZED
    );
    let stale = d
        .call_with(
            Method::PATCH,
            &path,
            &[("if-match", &tag)],
            json!({"enabled": true}),
        )
        .await;
    assert_eq!(stale.status, StatusCode::PRECONDITION_FAILED);
    // What was read can be sent back.
    let on = d.call(Method::PUT, &path, read.json()).await;
    assert_eq!(
        (on.status, &on.json()["enabled"]),
        (StatusCode::OK, &json!(true)),
        "{}",
        on.text()
    );
    assert_eq!(
        bob.get("/pools").await.status,
        StatusCode::UNAUTHORIZED,
        "the session has come back to life"
    );
    Browser::log_in(&d, "bob", SECRET).await;
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_are_seen_and_ended() {
    let d = TestDaemon::plain().await;
    let bob_id = user(&d, "default", "bob", "viewer").await;
    let (one, two) = (
        Browser::log_in(&d, "bob", SECRET).await,
        Browser::log_in(&d, "bob", SECRET).await,
    );
    let listed = one.get("/sessions").await.json();
    let listed = listed.as_array().unwrap();
    assert_eq!(listed.len(), 2);
    let of = |current: bool| {
        let session = listed
            .iter()
            .find(|session| session["current"] == current)
            .unwrap();
        session["id"].as_str().unwrap().to_owned()
    };
    assert_eq!(listed[0]["agent"], "a test");
    assert_eq!(listed[0]["from"], "127.0.0.1");
    let id_in_cookie = one.cookie.split('=').nth(1).unwrap();
    assert!(
        !listed.iter().any(|s| s["id"] == id_in_cookie),
        "a list of sessions opens none"
    );
    let ended = one
        .call(
            Method::DELETE,
            &format!("/sessions/{}", of(false)),
            &[],
            Value::Null,
        )
        .await;
    assert_eq!(ended.status, StatusCode::NO_CONTENT);
    assert_eq!(two.get("/session").await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(one.get("/session").await.status, StatusCode::OK);
    let seen = d.get(&format!("/sessions?user={bob_id}")).await.json();
    assert_eq!(seen.as_array().unwrap().len(), 1);
    let ended = d
        .call(Method::DELETE, &format!("/sessions/{}", of(true)), Value::Null)
        .await;
    assert_eq!(ended.status, StatusCode::NO_CONTENT, "{}", ended.text());
    assert_eq!(one.get("/session").await.status, StatusCode::UNAUTHORIZED);
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_audit_trail_is_filtered_and_exported_as_lines() {
    let d = TestDaemon::plain().await;
    for number in 0..4 {
        let made = d
            .post("/pools", json!({"name": format!("p{number}"), "members": []}))
            .await;
        assert_eq!(made.status, StatusCode::CREATED);
    }
    user(&d, "default", "bob", "viewer").await;
    let total = |query: &str| {
        let (d, path) = (&d, format!("/audit?{query}"));
        async move { d.get(&path).await.json()["total"].as_u64().unwrap() }
    };
    assert_eq!(total("object=pool").await, 4);
    assert_eq!(total("object=pool&action=deleted").await, 0);
    assert_eq!(total("actor=bootstrap%20token&object=user").await, 1);
    assert_eq!(total("to=2020-01-01").await, 0);
    assert_eq!(total("from=2020-01-01&object=pool&search=p2").await, 1);
    assert_eq!(total("search=P2").await, 1);
    assert_eq!(total("search=created%20pool%20p2").await, 1);
    assert_eq!(total("search=%25").await, 0);
    let lines = d.get("/audit?format=jsonl&object=pool").await;
    assert_eq!(lines.headers["content-type"], "application/x-ndjson");
    let text = lines.text();
    let rows: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(rows.len(), 4);
    assert!(
        rows.iter()
            .all(|row| row["object"] == "pool" && row["after"]["name"].is_string())
    );
    let all = d.get("/audit?format=jsonl").await.text();
    assert!(
        !all.contains("argon2") && !all.contains(SECRET),
        "a secret is in the trail"
    );
    for wrong in ["from=yesterday", "objectId=7", "format=xml"] {
        let refused = d.get(&format!("/audit?{wrong}")).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{wrong}");
    }
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_configuration_is_written_compared_and_taken_over() {
    let from = TestDaemon::enterprise("").await;
    let members = json!([{"ipAddress": "192.0.2.1", "port": 80, "region": "NO"}]);
    let pool = from.pool("web", members, Value::Null).await;
    let chain = json!(["geo-ip", "weighted-round-robin"]);
    let www = json!({"name": "www", "domain": "www.example.com", "poolId": pool, "filterChain": chain});
    from.service(www).await;
    let written = from.get("/config/export").await;
    assert_eq!(written.headers["content-type"], "application/yaml");
    let to = TestDaemon::enterprise("").await;
    let yaml = [("content-type", "application/yaml")];
    let told = to
        .call_raw(Method::POST, "/config/import", &yaml, &written.text())
        .await;
    assert_eq!(told.status, StatusCode::OK, "{}", told.text());
    assert_eq!(told.json()["applied"], false);
    assert_eq!(to.get("/services").await.json()["total"], 0);
    let tag = told.headers["etag"].to_str().unwrap().to_owned();
    let mut headers = yaml.to_vec();
    headers.push(("if-match", tag.as_str()));
    let apply = "/config/import?apply=true";
    let done = to.call_raw(Method::POST, apply, &headers, &written.text()).await;
    assert_eq!(done.status, StatusCode::OK, "{}", done.text());
    assert!(
        to.get("/config/export")
            .await
            .text()
            .contains(done.json()["hash"].as_str().unwrap())
    );
    assert!(
        written.text().contains(done.json()["hash"].as_str().unwrap()),
        "the two nodes differ"
    );
    let (_, addresses) = to.dig("www.example.com.", None).await;
    assert_eq!(addresses.len(), 1, "it is answered");
    let stale = to.call_raw(Method::POST, apply, &headers, "format: 1\n").await;
    assert_eq!(stale.status, StatusCode::PRECONDITION_FAILED);
    from.stop().await;
    to.stop().await;
}
