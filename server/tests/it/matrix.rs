//! Every operation of the API's document, for every kind of caller: nobody, one of another tenant, one who may do
//! everything but what it takes, one who may do that alone, one below the tier.
//!
//! What an operation takes follows from its path and method; one for which that is not so stands in [`need`]. An
//! operation that is new fails here until it fits, or is told of.

use crate::harness::{Answer, PASSWORD, TestDaemon, send};
use gslb_engine::model::{Permission, Role};
use http::{Method, StatusCode};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Everything of the first tenant is called so: no other may ever read it.
const SECRET_NAME: &str = "hidden";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Need {
    /// Nothing, not even a log-in.
    Nothing,
    /// A log-in and no more.
    Login,
    /// An account: a token has none.
    Account,
    /// These permissions; the first is the one that is missed first.
    All(&'static [Permission]),
}

#[derive(Debug, Clone)]
struct Operation {
    id: String,
    method: Method,
    path: String,
    /// Name of the body's schema, or its media type.
    body: Option<String>,
}

impl Operation {
    fn resource(&self) -> &str {
        self.path.split('/').nth(3).unwrap()
    }

    fn has_id(&self) -> bool {
        self.path.contains('{')
    }
}

fn operations() -> Vec<Operation> {
    let document = serde_json::to_value(gslbd::api::openapi()).unwrap();
    let mut found = Vec::new();
    let mut ids = BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let Some(id) = operation["operationId"].as_str() else {
                continue;
            };
            assert!(ids.insert(id.to_owned()), "two operations are called {id}");
            let content = operation["requestBody"]["content"].as_object();
            let body = content
                .and_then(|content| content.iter().next())
                .map(|(kind, body)| {
                    let schema = body["schema"]["$ref"].as_str();
                    schema
                        .map_or(kind.as_str(), |s| s.rsplit('/').next().unwrap())
                        .to_owned()
                });
            found.push(Operation {
                id: id.to_owned(),
                method: Method::from_bytes(method.to_uppercase().as_bytes()).unwrap(),
                path: path.clone(),
                body,
            });
        }
    }
    assert!(found.len() > 70, "only {} operations were found", found.len());
    found
}

/// What it takes to call an operation.
fn need(operation: &Operation) -> Need {
    use Permission as P;
    let reads = operation.method == Method::GET;
    let either = |read, write| Need::All(if reads { read } else { write });
    match operation.id.as_str() {
        "login" | "logout" => return Need::Nothing,
        "getSession" | "listFilters" => return Need::Login,
        "changePassword" | "pickTenant" | "listSessions" => return Need::Account,
        "listPoolEvents" => return Need::All(&[P::EventsRead]),
        "endSession" => return Need::All(&[P::UsersWrite]),
        "trace" => return Need::All(&[P::TraceRead]),
        "previewService" => return Need::All(&[P::ServicesRead, P::TraceRead]),
        "getDashboard" => return Need::All(&[P::ServicesRead, P::EventsRead, P::ZonesRead]),
        _ => {}
    }
    match operation.resource() {
        "zones" | "tsig-keys" => either(&[P::ZonesRead], &[P::ZonesWrite]),
        "pools" | "members" => either(&[P::PoolsRead], &[P::PoolsWrite]),
        "services" => either(&[P::ServicesRead], &[P::ServicesWrite]),
        "signals" => Need::All(&[P::SignalsRead]),
        "events" => Need::All(&[P::EventsRead]),
        "users" | "roles" => either(&[P::UsersRead], &[P::UsersWrite]),
        "tokens" => either(&[P::TokensRead], &[P::TokensWrite]),
        "tenants" => either(&[P::TenantsRead], &[P::TenantsWrite]),
        "audit" => Need::All(&[P::AuditRead]),
        "license" => either(&[P::LicenseRead], &[P::LicenseWrite]),
        "settings" => Need::All(&[P::SettingsRead]),
        "config" => either(
            &[P::ZonesRead, P::PoolsRead, P::ServicesRead],
            &[P::ZonesWrite, P::PoolsWrite, P::ServicesWrite],
        ),
        other => panic!("{}: what does it take to call {other}? Tell `need`", operation.id),
    }
}

/// A stream has no end to wait for; its callers are tested where streams are.
fn is_stream(operation: &Operation) -> bool {
    operation.id == "streamEvents"
}

struct World {
    d: TestDaemon,
    count: std::cell::Cell<u32>,
}

impl World {
    fn name(&self) -> String {
        self.count.set(self.count.get() + 1);
        format!("{SECRET_NAME}{}", self.count.get())
    }

    async fn made(&self, path: &str, body: Value) -> String {
        let made = self.d.post(path, body).await;
        assert!(made.status.is_success(), "{path}: {}", made.text());
        made.json()["id"].as_str().unwrap().to_owned()
    }

    async fn zone(&self) -> String {
        self.made("/zones", json!({"name": format!("{}.example", self.name())}))
            .await
    }

    async fn pool(&self) -> (String, String) {
        let body = json!({"name": self.name(), "members": [{"ipAddress": "192.0.2.1", "port": 80}],
                          "healthCheck": {"type": "tcp", "intervalMs": 60000}});
        let pool = self.made("/pools", body).await;
        let members = self.d.get(&format!("/pools/{pool}/members")).await.json();
        let member = members["items"][0]["id"].as_str().unwrap().to_owned();
        (pool, member)
    }

    async fn service(&self) -> String {
        let name = self.name();
        let (pool, _) = self.pool().await;
        let domain = format!("{name}.example.com");
        self.made(
            "/services",
            json!({"name": name, "domain": domain, "poolId": pool}),
        )
        .await
    }

    async fn user(&self) -> (String, String) {
        let name = self.name();
        let body = json!({"name": name, "password": PASSWORD, "role": "viewer"});
        (self.made("/users", body).await, name)
    }

    async fn session(&self) -> String {
        let (user, name) = self.user().await;
        let login = json!({"username": name, "password": PASSWORD}).to_string();
        let login = send(self.d.api, Method::POST, "/api/v1/session", &[], &login).await;
        assert_eq!(login.status, StatusCode::OK, "{}", login.text());
        let sessions = self.d.get(&format!("/sessions?user={user}")).await.json();
        sessions[0]["id"].as_str().unwrap().to_owned()
    }

    /// The path of an operation with the ids of objects that were made for it.
    async fn path(&self, operation: &Operation) -> String {
        let mut path = operation.path.clone();
        if !operation.has_id() {
            return path;
        }
        let id = match operation.resource() {
            "zones" => {
                let zone = self.zone().await;
                let record = json!({"name": "www", "type": "TXT", "data": ["\"x\""]});
                let record = self.made(&format!("/zones/{zone}/records"), record).await;
                path = path.replace("{record}", &record);
                if path.contains("/dnssec") {
                    let dnssec = format!("/zones/{zone}/dnssec");
                    let signed = self.d.call(Method::PUT, &dnssec, json!({})).await;
                    assert!(signed.status.is_success(), "{}", signed.text());
                    // A key on its way in, which can be activated or removed.
                    if path.contains("{tag}") {
                        let added = self.d.post(&format!("{dnssec}/keys"), json!({})).await.json();
                        let keys = added["keys"].as_array().unwrap();
                        let new = keys.iter().find(|key| key["state"] == "published").unwrap();
                        path = path.replace("{tag}", &new["tag"].to_string());
                    }
                }
                zone
            }
            "pools" => {
                let (pool, member) = self.pool().await;
                path = path.replace("{member}", &member);
                pool
            }
            "members" => self.pool().await.1,
            "services" => self.service().await,
            "users" => self.user().await.0,
            "roles" => {
                let body = json!({"name": self.name(), "permissions": [Permission::UsersWrite]});
                self.made("/roles", body).await
            }
            "tokens" => {
                let body = json!({"name": self.name(), "permissions": ["pools:read"]});
                self.made("/tokens", body).await
            }
            "tsig-keys" => self.made("/tsig-keys", json!({"name": self.name()})).await,
            "tenants" => self.made("/tenants", json!({"name": self.name()})).await,
            "sessions" => self.session().await,
            other => panic!("{}: make an object of {other} for it", operation.id),
        };
        let mut path = path.replace("{id}", &id);
        if operation.id == "deletePool" {
            path.push_str("?cascade=true");
        }
        assert!(!path.contains('{'), "{path}: what stands there?");
        path
    }

    /// A body that is right, if the operation has one.
    async fn body(&self, operation: &Operation, path: &str) -> String {
        let Some(schema) = operation.body.as_deref() else {
            return String::new();
        };
        let body = match schema {
            "ZoneDraft" if operation.has_id() => self.d.get(&path["/api/v1".len()..]).await.json(),
            "ZoneDraft" => json!({"name": format!("{}.example", self.name())}),
            "RecordDraft" => json!({"name": "api", "type": "TXT", "data": ["\"y\""]}),
            "PoolDraft" => json!({"name": self.name()}),
            "MemberDraft" => json!({"ipAddress": "192.0.2.7", "port": 80}),
            "HealthCheckDraft" => json!({"type": "tcp", "intervalMs": 60000}),
            "LoadDraft" => json!({"value": 0.5}),
            "ServiceDraft" => {
                let name = self.name();
                json!({"name": name, "domain": format!("{name}.example.com"), "poolId": self.pool().await.0})
            }
            "DnssecDraft" => json!({}),
            "DnssecKeyDraft" => json!({"role": "csk"}),
            "TsigKeyDraft" => json!({"name": self.name()}),
            "UserDraft" if operation.has_id() => json!({"enabled": false}),
            "UserDraft" => json!({"name": self.name(), "password": PASSWORD, "role": "viewer"}),
            // What is given must be one's own.
            "RoleDraft" => json!({"name": self.name(), "permissions": [Permission::UsersWrite]}),
            "TokenDraft" => json!({"name": self.name(), "permissions": [Permission::TokensWrite]}),
            "TenantDraft" => json!({"name": self.name()}),
            "TenantChoice" => json!({"tenant": "default"}),
            "PasswordChange" => json!({"current": "x", "new": PASSWORD}),
            "LicenseDraft" => json!({"license": "no.licence"}),
            "PreviewRequest" => json!({"algorithm": "random"}),
            "TraceRequest" => json!({"domain": "www.example.com", "client": "192.0.2.1"}),
            "application/json" => json!([{"ipAddress": "192.0.2.8", "port": 80}]),
            "ConfigDocument" => return self.d.get("/config/export").await.text(),
            "text/dns" => return "@ 300 IN TXT \"z\"\n".to_owned(),
            other => panic!("{}: what is a right {other}? Tell `body`", operation.id),
        };
        body.to_string()
    }

    /// A bearer with these permissions in a tenant.
    async fn bearer(&self, tenant: &str, permissions: &[Permission]) -> String {
        self.count.set(self.count.get() + 1);
        let name = format!("bearer{}", self.count.get());
        let body = json!({"name": name, "permissions": permissions});
        let made = self
            .d
            .call_with(Method::POST, "/tokens", &[("x-gslb-tenant", tenant)], body)
            .await;
        format!("Bearer {}", made.json()["secret"].as_str().unwrap())
    }

    async fn call(&self, operation: &Operation, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut all = headers.to_vec();
        if operation.body.as_deref() == Some("text/dns") {
            all.push(("content-type", "text/dns"));
        }
        send(self.d.api, operation.method.clone(), path, &all, body).await
    }
}

fn all_but(missing: Permission) -> Vec<Permission> {
    Permission::ALL
        .iter()
        .copied()
        .filter(|p| *p != missing && Some(*p) != missing.comes_with())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_operation_for_every_kind_of_caller() {
    let world = World {
        d: TestDaemon::plain().await,
        count: std::cell::Cell::new(0),
    };
    world.service().await;
    let other = world.d.post("/tenants", json!({"name": "other"})).await;
    assert_eq!(other.status, StatusCode::CREATED);
    let of_tenant: Vec<_> = Permission::ALL
        .iter()
        .copied()
        .filter(|p| !p.is_for_installation())
        .collect();
    let foreign = world.bearer("other", &of_tenant).await;
    let everything = world.bearer("default", Permission::ALL).await;
    for operation in operations() {
        let (id, needed) = (operation.id.as_str(), need(&operation));
        if needed == Need::Nothing {
            continue;
        }
        let path = world.path(&operation).await;
        let body = world.body(&operation, &path).await;
        let stranger = world.call(&operation, &path, &[], &body).await;
        assert_eq!(
            stranger.status,
            StatusCode::UNAUTHORIZED,
            "{id}: {}",
            stranger.text()
        );

        let needed = match needed {
            Need::All(needed) => needed,
            Need::Account => {
                let bearer = [("authorization", everything.as_str())];
                let token = world.call(&operation, &path, &bearer, &body).await;
                assert_eq!(token.status, StatusCode::FORBIDDEN, "{id}: {}", token.text());
                continue;
            }
            Need::Login | Need::Nothing => {
                let bearer = [("authorization", everything.as_str())];
                assert_eq!(
                    world.call(&operation, &path, &bearer, &body).await.status,
                    StatusCode::OK
                );
                continue;
            }
        };
        for missing in needed {
            let bearer = world.bearer("default", &all_but(*missing)).await;
            let poor = world
                .call(&operation, &path, &[("authorization", &bearer)], &body)
                .await;
            assert_eq!(
                poor.status,
                StatusCode::FORBIDDEN,
                "{id} without {missing}: {}",
                poor.text()
            );
            assert!(poor.text().contains(missing.as_str()), "{id}: {}", poor.text());
        }
        if is_stream(&operation) {
            continue;
        }
        strangers_of_another_tenant(&world, &operation, &path, &body, needed, [&foreign, &everything]).await;

        let mut enough = needed.to_vec();
        if matches!(operation.resource(), "users" | "roles" | "sessions") {
            // Nobody gives what he has not, or touches an account that may do more.
            enough.extend(Role::Viewer.permissions());
        }
        let bearer = world.bearer("default", &enough).await;
        let right = world
            .call(&operation, &path, &[("authorization", &bearer)], &body)
            .await;
        // The rules of the resource come behind: what they say is tested elsewhere.
        let fine = right.status.is_success() || matches!(right.status.as_u16(), 409 | 422);
        assert!(
            fine,
            "{id} with {needed:?} alone: {} {}",
            right.status,
            right.text()
        );
        assert!(
            right.status.is_success() || matches!(operation.resource(), "license" | "trace" | "zones"),
            "{id}: {}",
            right.text()
        );
    }
    world.d.stop().await;
}

/// Somebody of another tenant, and a system administrator who has picked it, learn nothing of what is here.
async fn strangers_of_another_tenant(
    world: &World,
    operation: &Operation,
    path: &str,
    body: &str,
    needed: &[Permission],
    [foreign, admin]: [&str; 2],
) {
    let id = operation.id.as_str();
    let installation = needed.iter().any(|permission| permission.is_for_installation());
    let picked = vec![("authorization", admin), ("x-gslb-tenant", "other")];
    for headers in [vec![("authorization", foreign)], picked] {
        let is_admin = headers.len() == 2;
        if installation && is_admin {
            continue;
        }
        if installation {
            let refused = world.call(operation, path, &headers, body).await;
            assert_eq!(refused.status, StatusCode::FORBIDDEN, "{id}: {}", refused.text());
            continue;
        }
        if !operation.has_id() {
            if operation.method == Method::GET {
                let list = world.call(operation, path, &headers, "").await;
                assert_eq!(list.status, StatusCode::OK, "{id}: {}", list.text());
                let told = list.text().contains(SECRET_NAME);
                assert!(!told, "{id} tells of another tenant: {}", list.text());
            }
            continue;
        }
        let theirs = world.call(operation, path, &headers, body).await;
        assert_eq!(theirs.status, StatusCode::NOT_FOUND, "{id}: {}", theirs.text());
        // The same words as for what is not there at all.
        let nothing = "01890000-0000-7000-8000-000000000000";
        let object = path.split(['/', '?']).nth(4).unwrap();
        let missing = world
            .call(operation, &path.replace(object, nothing), &headers, body)
            .await;
        assert_eq!(
            theirs.text().replace(object, nothing),
            missing.text(),
            "{id} tells what there is from what there is not"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_above_the_tier_is_refused_as_such() {
    let world = World {
        d: TestDaemon::plain().await,
        count: std::cell::Cell::new(0),
    };
    let service = world.service().await;
    let (pool, _) = world.pool().await;
    let chain = json!(["geo-ip", "weighted-round-robin"]);
    let whole = json!({"name": "x", "domain": "x.example.com", "poolId": pool, "filterChain": chain});
    let path = format!("/services/{service}");
    let preview = format!("{path}/preview");
    let trace = json!({"domain": "hidden1.example.com", "client": "192.0.2.1", "chain": chain});
    for (method, path, body) in [
        (Method::POST, "/services", whole.clone()),
        (Method::PUT, path.as_str(), whole),
        (Method::PATCH, path.as_str(), json!({"filterChain": chain})),
        (Method::POST, "/trace", trace),
        (Method::POST, preview.as_str(), json!({"filterChain": chain})),
    ] {
        let refused = world.d.call(method, path, body).await;
        assert_eq!(
            refused.status,
            StatusCode::FORBIDDEN,
            "{path}: {}",
            refused.text()
        );
        let error = &refused.json()["error"];
        assert_eq!(
            (&error["code"], &error["tier"]),
            (&json!("license_required"), &json!("pro"))
        );
    }
    // Who may not at all hears of that first.
    let bearer = world.bearer("default", &all_but(Permission::ServicesWrite)).await;
    let body = json!({"filterChain": chain}).to_string();
    let full = format!("/api/v1{path}");
    let poor = send(
        world.d.api,
        Method::PATCH,
        &full,
        &[("authorization", &bearer)],
        &body,
    )
    .await;
    assert_eq!(poor.json()["error"]["code"], "forbidden");
    world.d.stop().await;
}
