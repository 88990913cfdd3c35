//! Who is asking: passwords, tokens, and the actor they make.

mod limiter;
pub(crate) mod password;
pub(crate) mod secret;

pub use secret::TOKEN_PREFIX;

use crate::clock::{Clock, to_millis};
use crate::config::Secret;
use crate::error::{Chain, OpError};
use crate::store::{Action, Audit, Change, ConfigLog, Document, RoleRef, Store, UserRecord};
use gslb_engine::model::{Actor, ActorKind, Permission, Role, TenantId, TokenId, UserId};
use limiter::{Limiter, Who};
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use subtle::ConstantTimeEq as _;
use uuid::Uuid;

/// Name of the account that the first start makes.
pub const ADMIN: &str = "admin";

/// Why a log-in is refused. Does not say which of name and password was wrong.
#[derive(Debug, thiserror::Error)]
pub enum LoginError {
    /// Name or password is wrong.
    #[error("the name or the password is wrong")]
    Refused,
    /// Too many failures: wait.
    #[error("too many failed attempts; try again in {} s", .wait.as_secs())]
    TooMany {
        /// For how long.
        wait: Duration,
    },
    /// A fault.
    #[error(transparent)]
    Fault(#[from] OpError),
}

/// The administrator that the first start made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstAdmin {
    /// Log-in name.
    pub name: String,
    /// The password, when it was made up here and must be shown, this once; `None` when it was configured.
    pub password: Option<String>,
}

/// Accounts and tokens.
#[derive(Debug)]
pub struct Auth {
    store: Store,
    clock: Clock,
    limiter: Limiter,
    /// SHA-256 of the bootstrap token.
    bootstrap: Option<String>,
    /// The minute in which each token's use was noted last.
    noted: Mutex<HashMap<TokenId, i64>>,
}

impl Auth {
    /// Accounts in a database; `bootstrap` is the token of the system administrator, if there is one.
    #[must_use]
    pub fn new(store: Store, clock: Clock, bootstrap: Option<&Secret>) -> Self {
        Self {
            store,
            clock,
            limiter: Limiter::default(),
            bootstrap: bootstrap.map(|secret| secret::token_hash(secret.expose())),
            noted: Mutex::default(),
        }
    }

    /// Makes the administrator if there is no account at all.
    ///
    /// # Errors
    /// The database fails, or there is no randomness.
    pub async fn first_start(
        &self,
        log: &ConfigLog,
        configured: Option<&Secret>,
    ) -> Result<Option<FirstAdmin>, OpError> {
        if !self.store.all::<UserRecord>().await?.is_empty() {
            return Ok(None);
        }
        let made_up = match configured {
            Some(_) => None,
            None => Some(secret::new_password().map_err(OpError::internal)?),
        };
        let password = configured
            .map(Secret::expose)
            .or(made_up.as_deref())
            .unwrap_or_default();
        let user = UserRecord {
            id: UserId(Uuid::now_v7()),
            tenant_id: TenantId::DEFAULT,
            name: ADMIN.to_owned(),
            role: RoleRef::BuiltIn(Role::SystemAdmin),
            enabled: true,
            password_hash: password::hash(password).await.map_err(OpError::internal)?,
        };
        let document = Document::User(user);
        let audit = Audit {
            actor: Actor::system(),
            time: self.clock.now(),
            action: "created",
            before: None,
            after: Some(document.to_audit()),
        };
        let change = Change {
            tenant_id: TenantId::DEFAULT,
            expected: None,
            action: Action::Put(document),
            audit,
        };
        log.commit(change).await?;
        Ok(Some(FirstAdmin {
            name: ADMIN.to_owned(),
            password: made_up,
        }))
    }

    /// Checks name and password. An unknown name costs as much time as a wrong password.
    ///
    /// # Errors
    /// [`LoginError::Refused`] for either, [`LoginError::TooMany`] after too many failures.
    pub async fn login(&self, name: &str, password: &str, from: IpAddr) -> Result<Actor, LoginError> {
        self.login_with_mark(name, password, from, None).await
    }

    /// As [`login`](Self::login), for a browser that may show the [mark](Self::device_mark) of an earlier log-in.
    ///
    /// # Errors
    /// As for [`login`](Self::login).
    pub async fn login_with_mark(
        &self,
        name: &str,
        password: &str,
        from: IpAddr,
        mark: Option<&str>,
    ) -> Result<Actor, LoginError> {
        let name = name.trim();
        let now = self.clock.now();
        let user = self.store.user_by_name(name).await.map_err(OpError::from)?;
        let good = |mark: &&str| user.as_ref().is_some_and(|row| is_mark_of(&row.value, mark));
        let who = Who {
            account: name,
            from,
            device: mark.filter(good),
        };
        if let Some(wait) = self.limiter.attempt(who, now) {
            return Err(LoginError::TooMany { wait });
        }
        let too_long = password.len() > crate::ops::MAX_PASSWORD;
        let offered = if too_long { "" } else { password };
        let hash = user.as_ref().map(|row| row.value.password_hash.as_str());
        let right = password::verify(offered, hash).await && !too_long;
        match user {
            // Disabled is told as nothing else is: who does not know the password learns nothing about the account.
            Some(row) if right && row.value.enabled => {
                self.limiter.succeeded(who);
                if let Err(error) = self.store.note_login(row.value.id, to_millis(now)).await {
                    tracing::warn!(error = %Chain(&error), "a log-in could not be noted");
                }
                Ok(self.actor(&row.value, Some(from)).await?)
            }
            _ => Err(LoginError::Refused),
        }
    }

    /// Whether the account may try its password now, where it is asked for after log-in: who has taken a session over is
    /// not to find the password by it. Counted apart from log-ins, which this does not hold up. Counts as a failure until
    /// [`password_was_right`](Self::password_was_right).
    ///
    /// # Errors
    /// [`LoginError::TooMany`].
    pub fn try_password(&self, id: UserId) -> Result<(), LoginError> {
        let device = format!("password of {id}");
        let wait = self.limiter.attempt(by_session(&device), self.clock.now());
        wait.map_or(Ok(()), |wait| Err(LoginError::TooMany { wait }))
    }

    /// Forgets the failures that [`try_password`](Self::try_password) has counted.
    pub fn password_was_right(&self, id: UserId) {
        let device = format!("password of {id}");
        self.limiter.succeeded(by_session(&device));
    }

    /// A mark for the browser of an account that has just logged in: it opens nothing, and only lets the next log-in
    /// from there be counted apart from what strangers try. It is void when the password changes.
    ///
    /// # Errors
    /// The database fails, or there is no randomness.
    pub async fn device_mark(&self, id: UserId) -> Result<Option<String>, OpError> {
        let Some(row) = self.store.user_by_id(id.0).await? else {
            return Ok(None);
        };
        let number = Uuid::new_v4().simple().to_string();
        let seal = mark_seal(&row.value, &number);
        Ok(Some(format!("{number}{seal}")))
    }

    /// The actor of an account, with the rights that it has now; `None` when it is gone or disabled.
    ///
    /// # Errors
    /// The database fails.
    pub async fn actor_of_user(&self, id: UserId, from: Option<IpAddr>) -> Result<Option<Actor>, OpError> {
        match self.store.user_by_id(id.0).await? {
            Some(row) if row.value.enabled => self.actor(&row.value, from).await.map(Some),
            _ => Ok(None),
        }
    }

    /// As [`actor_of_user`](Self::actor_of_user), for a session that began with the password of this
    /// [stamp](Self::password_stamp).
    ///
    /// # Errors
    /// The database fails.
    pub async fn actor_of_session(
        &self,
        id: UserId,
        stamp: &str,
        from: Option<IpAddr>,
    ) -> Result<Option<Actor>, OpError> {
        match self.store.user_by_id(id.0).await? {
            Some(row) if row.value.enabled && stamp_of(&row.value) == stamp => {
                self.actor(&row.value, from).await.map(Some)
            }
            _ => Ok(None),
        }
    }

    /// A value that changes with the account's password: a session that holds an older one is over.
    ///
    /// # Errors
    /// The database fails.
    pub async fn password_stamp(&self, id: UserId) -> Result<Option<String>, OpError> {
        let row = self.store.user_by_id(id.0).await?;
        Ok(row.map(|row| stamp_of(&row.value)))
    }

    async fn actor(&self, user: &UserRecord, from: Option<IpAddr>) -> Result<Actor, OpError> {
        Ok(Actor {
            kind: ActorKind::User(user.id),
            name: user.name.clone(),
            tenant_id: user.tenant_id,
            permissions: self.store.permissions_of(user).await?,
            from,
        })
    }

    /// The actor behind a bearer token; `None` for an unknown, expired or deleted one, and for one whose account is
    /// gone or disabled. It may do what that account may now, and no more. Its use is noted, once a minute.
    ///
    /// # Errors
    /// The database fails.
    pub async fn actor_of_token(&self, token: &str, from: Option<IpAddr>) -> Result<Option<Actor>, OpError> {
        let hash = secret::token_hash(token);
        if let Some(bootstrap) = &self.bootstrap
            && bool::from(bootstrap.as_bytes().ct_eq(hash.as_bytes()))
        {
            return Ok(Some(Actor {
                kind: ActorKind::Bootstrap,
                name: "bootstrap token".to_owned(),
                tenant_id: TenantId::DEFAULT,
                permissions: Permission::ALL.to_vec(),
                from,
            }));
        }
        if !token.starts_with(TOKEN_PREFIX) {
            return Ok(None);
        }
        // The database compares hashes, not secrets: how long that takes tells nothing about a secret.
        let Some(row) = self.store.token_by_hash(&hash).await? else {
            return Ok(None);
        };
        let record = row.value;
        let now = self.clock.now();
        if record.expires_at.is_some_and(|end| end <= now) {
            return Ok(None);
        }
        let mut permissions = record.permissions;
        if let Some(owner) = record.owner {
            let Some(row) = self
                .store
                .user_by_id(owner.0)
                .await?
                .filter(|row| row.value.enabled)
            else {
                return Ok(None);
            };
            let allowed = self.store.permissions_of(&row.value).await?;
            // Made in a tenant that the account had picked: it holds for as long as the account may act there.
            if row.value.tenant_id != record.tenant_id && !allowed.contains(&Permission::TenantsRead) {
                return Ok(None);
            }
            permissions.retain(|permission| allowed.contains(permission));
        }
        self.note_use(record.id, to_millis(now)).await;
        Ok(Some(Actor {
            kind: ActorKind::Token(record.id),
            name: format!("token {}", record.name),
            tenant_id: record.tenant_id,
            permissions,
            from,
        }))
    }

    /// A use that cannot be noted is a use all the same: reading goes on when the disk is full.
    async fn note_use(&self, id: TokenId, now: i64) {
        let minute = now - now.rem_euclid(60_000);
        {
            let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
            if noted.insert(id, minute) == Some(minute) {
                return;
            }
        }
        if let Err(error) = self.store.note_token_use(id, minute).await {
            tracing::warn!(error = %Chain(&error), "the use of a token could not be noted");
        }
    }
}

/// One who is logged in, whatever the address.
fn by_session(device: &str) -> Who<'_> {
    Who {
        account: "",
        from: IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        device: Some(device),
    }
}

/// Length of the random number that a mark begins with.
const MARK_NUMBER: usize = 32;

/// What proves that this server made a mark: only it knows the password's hash. The number has a fixed length, so that
/// nothing can be appended to it.
fn mark_seal(user: &UserRecord, number: &str) -> String {
    secret::token_hash(&format!("device {} {} {number}", user.id, user.password_hash))
}

fn is_mark_of(user: &UserRecord, mark: &str) -> bool {
    let Some((number, seal)) = mark.split_at_checked(MARK_NUMBER) else {
        return false;
    };
    bool::from(mark_seal(user, number).as_bytes().ct_eq(seal.as_bytes()))
}

fn stamp_of(user: &UserRecord) -> String {
    secret::token_hash(&user.password_hash)
}
