//! Licences: `base64url(JSON payload).base64url(Ed25519 signature)`, verified offline.
//!
//! The tier in force is a pure function of the licence text, the public keys and the time.

mod keys;

pub use keys::{KeyError, PrivateKey, PublicKey, keygen};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ed25519_dalek::Signature;
use gslb_api_types::LicenseView;
use gslb_engine::model::Tier;
use serde::{Deserialize, Serialize};
use std::path::Path;
use time::OffsetDateTime;

/// What a licence says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Payload {
    /// The tier.
    pub tier: Tier,
    /// Issued at, Unix seconds: not valid before.
    pub iat: u64,
    /// Expires at, Unix seconds: not valid from then on.
    pub exp: u64,
    /// Id of the licence.
    pub id: String,
    /// Whom it was issued to.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub customer: String,
    /// Queries a second; absent is no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_rps: Option<u64>,
}

/// Why a text is no good licence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LicenseError {
    /// Not of the form `payload.signature`, or the payload is no licence.
    #[error("the licence is malformed: {0}")]
    Malformed(&'static str),
    /// No configured key has signed this payload.
    #[error("the licence was not signed by any key that this installation trusts")]
    Signature,
    /// There is no public key to check with.
    #[error("no public key is configured (license.publicKeys)")]
    NoKeys,
}

/// Whether the licence is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LicenseState {
    /// In force.
    Valid,
    /// There is none.
    Missing,
    /// Was good until its end.
    Expired,
    /// Will be good from its begin.
    NotYetValid,
    /// Malformed, tampered with, or signed by a stranger.
    Invalid,
}

impl LicenseState {
    /// Name in the API.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Missing => "missing",
            Self::Expired => "expired",
            Self::NotYetValid => "notYetValid",
            Self::Invalid => "invalid",
        }
    }
}

/// What is in force now, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LicenseStatus {
    /// Tier in force: that of a valid licence, else free.
    pub tier: Tier,
    /// Whether the licence is good.
    pub state: LicenseState,
    /// Why, in a sentence.
    pub message: String,
    /// What the licence says, once its signature holds.
    pub payload: Option<Payload>,
}

impl LicenseStatus {
    /// Queries a second that the licence in force allows; `None` is no limit.
    #[must_use]
    pub fn max_rps(&self) -> Option<u64> {
        self.payload
            .as_ref()
            .filter(|_| self.state == LicenseState::Valid)
            .and_then(|p| p.max_rps)
    }

    /// The next moment at which this answer may change, Unix seconds.
    #[must_use]
    pub fn changes_at(&self) -> Option<u64> {
        let payload = self.payload.as_ref()?;
        match self.state {
            LicenseState::Valid => Some(payload.exp),
            LicenseState::NotYetValid => Some(payload.iat),
            LicenseState::Missing | LicenseState::Expired | LicenseState::Invalid => None,
        }
    }

    /// The API's view.
    #[must_use]
    pub fn view(&self) -> LicenseView {
        let payload = self.payload.as_ref();
        LicenseView {
            tier: self.tier,
            state: self.state.as_str().to_owned(),
            message: self.message.clone(),
            id: payload.map(|p| p.id.clone()),
            customer: payload.map(|p| p.customer.clone()).filter(|c| !c.is_empty()),
            issued_at: payload.map(|p| p.iat),
            expires_at: payload.map(|p| p.exp),
            max_rps: payload.and_then(|p| p.max_rps),
        }
    }
}

/// Signs a payload: the licence text.
#[must_use]
pub fn issue(key: &PrivateKey, payload: &Payload) -> String {
    let json = serde_json::to_vec(payload).unwrap_or_default();
    let body = BASE64_URL_SAFE_NO_PAD.encode(json);
    let signature = key.sign(body.as_bytes());
    format!("{body}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature.to_bytes()))
}

/// Reads the payload without checking the signature, for `gslbd license show`.
///
/// # Errors
/// The text is no licence.
pub fn show(text: &str) -> Result<Payload, LicenseError> {
    split(text).map(|(_, payload, _)| payload)
}

/// Checks the signature; whether the time is right is another question.
///
/// # Errors
/// The text is no licence, or none of the keys has signed it.
pub fn verify(text: &str, keys: &[PublicKey]) -> Result<Payload, LicenseError> {
    let (body, payload, signature) = split(text)?;
    if keys.is_empty() {
        return Err(LicenseError::NoKeys);
    }
    if keys.iter().any(|key| key.verifies(body.as_bytes(), &signature)) {
        Ok(payload)
    } else {
        Err(LicenseError::Signature)
    }
}

fn split(text: &str) -> Result<(&str, Payload, Signature), LicenseError> {
    let text = text.trim();
    let (body, signature) = text.split_once('.').ok_or(LicenseError::Malformed(
        "it has no dot between payload and signature",
    ))?;
    let json = BASE64_URL_SAFE_NO_PAD
        .decode(body)
        .map_err(|_| LicenseError::Malformed("the payload is not base64url"))?;
    let signature = BASE64_URL_SAFE_NO_PAD
        .decode(signature)
        .ok()
        .and_then(|bytes| Signature::from_slice(&bytes).ok())
        .ok_or(LicenseError::Malformed(
            "the signature is not 64 bytes in base64url",
        ))?;
    let payload = serde_json::from_slice(&json)
        .map_err(|_| LicenseError::Malformed("the payload lacks tier, iat, exp or id"))?;
    Ok((body, payload, signature))
}

/// A licence file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{0}; a licence file holds one line, `payload.signature`, as `gslbd license issue` prints it")]
pub struct FileError(String);

/// The text of a licence file.
///
/// # Errors
/// It cannot be read, or there is nothing in it, as while it is being written.
pub fn read(path: &Path) -> Result<String, FileError> {
    let shown = path.display();
    let unreadable = |error: std::io::Error| FileError(format!("cannot read {shown}: {error}"));
    if !std::fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(FileError(format!("{shown} is no file")));
    }
    let text = std::fs::read_to_string(path).map_err(unreadable)?;
    if text.trim().is_empty() {
        return Err(FileError(format!("{shown} is empty")));
    }
    Ok(text)
}

/// The tier in force.
#[must_use]
pub fn evaluate(text: Option<&str>, keys: &[PublicKey], now: OffsetDateTime) -> LicenseStatus {
    let Some(text) = text.map(str::trim).filter(|t| !t.is_empty()) else {
        return LicenseStatus {
            tier: Tier::Free,
            state: LicenseState::Missing,
            message: "There is no licence: the free tier is in force.".to_owned(),
            payload: None,
        };
    };
    let payload = match verify(text, keys) {
        Ok(payload) => payload,
        Err(error) => {
            return LicenseStatus {
                tier: Tier::Free,
                state: LicenseState::Invalid,
                message: format!("The free tier is in force: {error}."),
                payload: None,
            };
        }
    };
    let seconds = u64::try_from(now.unix_timestamp()).unwrap_or_default();
    let (tier, state, message) = if seconds < payload.iat {
        let from = date(payload.iat);
        (
            Tier::Free,
            LicenseState::NotYetValid,
            format!("The licence is not valid before {from}: the free tier is in force."),
        )
    } else if seconds >= payload.exp {
        let at = date(payload.exp);
        (
            Tier::Free,
            LicenseState::Expired,
            format!("The licence expired on {at}: the free tier is in force."),
        )
    } else {
        let until = date(payload.exp);
        (
            payload.tier,
            LicenseState::Valid,
            format!("The licence is valid until {until}."),
        )
    };
    LicenseStatus {
        tier,
        state,
        message,
        payload: Some(payload),
    }
}

fn date(seconds: u64) -> String {
    i64::try_from(seconds)
        .ok()
        .and_then(|s| OffsetDateTime::from_unix_timestamp(s).ok())
        .map_or_else(|| "the end of time".to_owned(), |t| format!("{} (UTC)", t.date()))
}
