//! What a change would do, told by real queries before it is saved.

use crate::harness::{PASSWORD, TestDaemon, send};
use http::{Method, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;

const US: &str = "198.51.100.0";
const DE: &str = "203.0.113.0";

fn members() -> Value {
    json!([
        {"ipAddress": "192.0.2.1", "port": 80, "region": "US"},
        {"ipAddress": "192.0.2.2", "port": 80, "region": "DE"},
    ])
}

/// A daemon whose map file, in a folder of its own, places two networks.
async fn mapped() -> (TestDaemon, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let map = folder.path().join("map");
    std::fs::write(&map, format!("{US}/24 US\n{DE}/24 DE\n")).unwrap();
    let d = TestDaemon::enterprise(&format!("routing:\n  mapFile: {map:?}\n")).await;
    (d, folder)
}

/// A service by failover: everybody gets the first member.
async fn service(d: &TestDaemon) -> (String, String) {
    let pool = d.pool("web", members(), Value::Null).await;
    let body = json!({"name": "www", "domain": "www.example.com", "poolId": pool, "algorithm": "failover"});
    (d.service(body).await, pool)
}

async fn ask(d: &TestDaemon, network: &str, times: usize) {
    for _ in 0..times {
        let (_, addresses) = d.dig("www.example.com.", Some((network, 24))).await;
        assert_eq!(addresses.len(), 1);
    }
}

async fn preview(d: &TestDaemon, id: &str, change: Value) -> Value {
    let told = d.post(&format!("/services/{id}/preview"), change).await;
    assert_eq!(told.status, StatusCode::OK, "{}", told.text());
    told.json()
}

/// Answers of each member, before and after.
fn shares(told: &Value) -> Vec<(&str, u64, u64)> {
    let members = told["members"].as_array().unwrap().iter();
    let one = |share: &'static str| move |member: &Value| member[share].as_u64().unwrap();
    members
        .map(|member| {
            (
                member["name"].as_str().unwrap(),
                one("before")(member),
                one("after")(member),
            )
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proposed_chain_is_tried_on_what_was_asked() {
    let (d, _map) = mapped().await;
    let (id, _) = service(&d).await;
    let none = preview(&d, &id, json!({"filterChain": ["map-file", "failover"]})).await;
    assert_eq!((&none["recording"], &none["queries"]), (&json!(true), &json!(0)));
    assert_eq!(none["members"], json!([]));
    ask(&d, US, 12).await;
    ask(&d, DE, 8).await;
    let told = preview(&d, &id, json!({"filterChain": ["map-file", "failover"]})).await;
    assert_eq!((&told["queries"], &told["differ"]), (&json!(20), &json!(8)));
    assert_eq!(shares(&told), [("192.0.2.1", 20, 12), ("192.0.2.2", 0, 8)]);
    assert_eq!(
        told["moves"],
        json!([{"client": "203.0.113.0/24", "country": null, "queries": 8, "from": ["192.0.2.1"], "to": ["192.0.2.2"]}])
    );
    let proof = &told["traces"][0];
    assert_eq!(proof["before"]["answers"], json!(["192.0.2.1"]));
    assert_eq!(proof["after"]["answers"], json!(["192.0.2.2"]));
    assert_eq!(proof["after"]["steps"][0]["action"], "narrowed");
    // Nothing was saved, counted or learnt by that.
    let unchanged = preview(&d, &id, json!({})).await;
    assert_eq!(
        (&unchanged["queries"], &unchanged["differ"]),
        (&json!(20), &json!(0))
    );
    assert_eq!(d.dig("www.example.com.", Some((DE, 24))).await.1.len(), 1);
    let read = d.get(&format!("/services/{id}")).await.json();
    assert_eq!(read["algorithm"], "failover");
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn queries_over_every_way_are_kept_and_of_clients_only_the_network() {
    let (d, _map) = mapped().await;
    let (id, _) = service(&d).await;
    // Without a client subnet the transport source counts.
    assert_eq!(d.dig("www.example.com.", None).await.1.len(), 1);
    let mut odd =
        b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x03WWW\x07example\x03com\x00\x00\x1c\x00\x01"
            .to_vec();
    odd.extend([0, 0]);
    let _ = d.ask(&odd).await;
    let told = preview(&d, &id, json!({"algorithm": "random", "maxAnswers": 2})).await;
    assert_eq!(told["queries"], 2);
    let countries = told["countries"].as_array().unwrap();
    assert_eq!(countries.len(), 1, "{told}");
    // The one for AAAA has no answer, before and after.
    assert_eq!(told["moves"][0]["client"], "127.0.0.0/24");
    assert_eq!(told["moves"][0]["to"].as_array().unwrap().len(), 2);
    let outcomes: Vec<_> = told["outcomes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|o| &o["outcome"])
        .collect();
    assert_eq!(outcomes, ["answered", "noSuchFamily"]);
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_pool_other_members_and_other_signals_can_be_tried() {
    let (d, _map) = mapped().await;
    let (id, _) = service(&d).await;
    ask(&d, US, 10).await;
    let other = d
        .pool(
            "other",
            json!([{"ipAddress": "192.0.2.9", "port": 80, "region": "JP"}]),
            Value::Null,
        )
        .await;
    let told = preview(&d, &id, json!({"poolId": other})).await;
    assert_eq!(shares(&told), [("192.0.2.1", 10, 0), ("192.0.2.9", 0, 10)]);
    let regions: Vec<_> = told["regions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| &r["name"])
        .collect();
    assert_eq!(regions, ["US", "JP"]);

    let mut changed = members();
    changed[0]["priority"] = json!(2);
    changed[1]["priority"] = json!(1);
    let told = preview(&d, &id, json!({"pool": {"members": changed}})).await;
    assert_eq!(shares(&told), [("192.0.2.1", 10, 0), ("192.0.2.2", 0, 10)]);
    let told = preview(&d, &id, json!({"pool": {"minHealthy": 3}})).await;
    assert_eq!(told["outcomes"][1]["outcome"], "belowMinHealthy");
    assert_eq!(told["differ"], 10);
    let new = json!([{"ipAddress": "192.0.2.7", "port": 80}]);
    let told = preview(&d, &id, json!({"pool": {"members": new}})).await;
    assert_eq!(shares(&told)[1], ("192.0.2.7", 0, 10));
    assert!(
        told["notes"].to_string().contains("taken for healthy"),
        "{}",
        told["notes"]
    );

    let signals = json!({"zones": {"US": 9, "DE": 1.5}, "weight": 1});
    let change = json!({"filterChain": ["signal-weight", "failover"], "signals": signals});
    let told = preview(&d, &id, change).await;
    assert_eq!(shares(&told), [("192.0.2.1", 10, 0), ("192.0.2.2", 0, 10)]);
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_a_change_is_told_by_field() {
    let (d, _map) = mapped().await;
    let (id, _) = service(&d).await;
    let path = format!("/services/{id}/preview");
    let change = json!({"filterChain": ["geo-ip", "nonsense"], "maxAnswers": 0, "signals": {"zones": {"DE": -1}, "weight": 2}});
    let wrong = d.post(&path, change).await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    let mut fields = wrong.fields();
    fields.sort_unstable();
    assert_eq!(
        fields,
        [
            "filterChain[1]",
            "maxAnswers",
            "signals.weight",
            "signals.zones.DE"
        ]
    );
    let script = d
        .post(&path, json!({"filterChain": ["script:result = [nosuch]"]}))
        .await;
    assert_eq!(script.fields(), ["filterChain[0]"], "{}", script.text());
    let nowhere = "01890000-0000-7000-8000-000000000000";
    assert_eq!(
        d.post(&path, json!({"poolId": nowhere})).await.fields(),
        ["poolId"]
    );
    let member = json!({"pool": {"members": [{"ipAddress": "300.0.0.1", "port": 80}]}});
    assert_eq!(
        d.post(&path, member).await.fields(),
        ["pool.members[0].ipAddress"]
    );
    let missing = d.post(&format!("/services/{nowhere}/preview"), json!({})).await;
    assert_eq!(missing.status, StatusCode::NOT_FOUND);
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn scripts_are_tried_and_timed_for_those_who_may_write_them() {
    let (d, _map) = mapped().await;
    let (id, _) = service(&d).await;
    ask(&d, US, 10).await;
    let chain = json!({"filterChain": ["script:result = [c[\"ip\"] for c in candidates if c[\"region\"] == \"DE\"]"]});
    let told = preview(&d, &id, chain.clone()).await;
    assert_eq!(told["scriptErrors"], 0, "{told}");
    assert_eq!(told["differ"], 10);
    assert!(told["scriptTime"]["p99Micros"].as_f64().unwrap() > 0.0);
    let failing = json!({"filterChain": ["script:result = [1 // (len(candidates) - 2)]"]});
    let told = preview(&d, &id, failing).await;
    assert_eq!((&told["scriptErrors"], &told["differ"]), (&json!(10), &json!(0)));

    let body = json!({"name": "reader", "permissions": ["services:read", "trace:read"]});
    let secret = d.post("/tokens", body).await.json()["secret"]
        .as_str()
        .unwrap()
        .to_owned();
    let bearer = format!("Bearer {secret}");
    let headers = [
        ("authorization", bearer.as_str()),
        ("content-type", "application/json"),
    ];
    let path = format!("/api/v1/services/{id}/preview");
    let refused = send(d.api, Method::POST, &path, &headers, &chain.to_string()).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    assert!(refused.text().contains("scripts:write"), "{}", refused.text());
    let plain = json!({"algorithm": "random"}).to_string();
    let allowed = send(d.api, Method::POST, &path, &headers, &plain).await;
    assert_eq!(allowed.status, StatusCode::OK, "{}", allowed.text());
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_switch_forgets_what_was_kept() {
    let d = TestDaemon::with_config("").await;
    let (id, _) = service(&d).await;
    ask(&d, US, 5).await;
    assert_eq!(preview(&d, &id, json!({})).await["queries"], 5);
    let path = d.folder.path().join("config.yaml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("dns:\n", "dns:\n  recentQueries: 0\n")).unwrap();
    d.reload().await;
    let told = preview(&d, &id, json!({})).await;
    assert_eq!((&told["recording"], &told["queries"]), (&json!(false), &json!(0)));
    ask(&d, US, 5).await;
    assert_eq!(preview(&d, &id, json!({})).await["queries"], 0);
    d.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_form_tells_what_it_changes_before_it_is_sent() {
    let (d, _map) = mapped().await;
    let (id, pool) = service(&d).await;
    let login = json!({"username": "admin", "password": PASSWORD}).to_string();
    let login = send(d.api, Method::POST, "/api/v1/session", &[], &login).await;
    let cookie = login.headers["set-cookie"].to_str().unwrap();
    let cookie = cookie.split(';').next().unwrap();
    let page = format!("/services/{id}/edit");
    let told = send(d.api, Method::GET, &page, &[("cookie", cookie)], "")
        .await
        .text();
    assert!(
        told.contains("Nobody has asked for this service lately"),
        "{told}"
    );
    ask(&d, US, 6).await;
    ask(&d, DE, 2).await;
    let told = send(d.api, Method::GET, &page, &[("cookie", cookie)], "")
        .await
        .text();
    assert!(told.contains("No answer changes, of 8 recent queries."), "{told}");
    // What the page asks as one changes the form.
    let form = json!({
        "id": id, "name": "www", "domain": "www.example.com", "pool_id": pool,
        "mode": "chain", "filter_chain": ["map-file", "failover"],
    });
    let question = json!({"form": form, "clients": ["198.51.100.0/24"]}).to_string();
    let headers = [
        ("cookie", cookie),
        ("content-type", "application/json"),
        ("sec-fetch-site", "same-origin"),
    ];
    let answer = send(d.api, Method::POST, "/rpc/try-routing", &headers, &question).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text());
    let tried = answer.json();
    assert_eq!(
        tried["verdict"],
        "25.0 % of 8 recent queries would get another answer."
    );
    let html = tried["html"].as_str().unwrap();
    for part in ["75.0 %", "203.0.113.0/24", "192.0.2.2", "As here"] {
        assert!(html.contains(part), "{part} is missing: {html}");
    }
    d.stop().await;
}
