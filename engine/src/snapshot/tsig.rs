//! Keys that messages are signed with (TSIG, RFC 8945), as a snapshot has them. The arithmetic is not here.

use crate::model::{RecordName, TsigAlgorithm};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// A key that this server shares with somebody.
#[derive(Clone, PartialEq, Eq)]
pub struct TsigKey {
    /// Its name: both sides have the same.
    pub name: RecordName,
    /// What signatures are made with.
    pub algorithm: TsigAlgorithm,
    secret: Box<[u8]>,
}

impl TsigKey {
    /// A key with this secret.
    #[must_use]
    pub fn new(name: RecordName, algorithm: TsigAlgorithm, secret: &[u8]) -> Self {
        Self {
            name,
            algorithm,
            secret: secret.into(),
        }
    }

    /// The secret, for whoever signs with it.
    #[must_use]
    pub fn secret(&self) -> &[u8] {
        &self.secret
    }
}

impl fmt::Debug for TsigKey {
    /// Without the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TsigKey")
            .field("name", &self.name)
            .field("algorithm", &self.algorithm)
            .finish_non_exhaustive()
    }
}

/// Keys by their names in lower-case wire form.
#[derive(Debug, Clone, Default)]
pub struct TsigKeys(HashMap<Box<[u8]>, Arc<TsigKey>>);

impl TsigKeys {
    /// The key of a name.
    #[must_use]
    pub fn get(&self, name: &[u8]) -> Option<&Arc<TsigKey>> {
        self.0.get(name)
    }
}

impl FromIterator<TsigKey> for TsigKeys {
    fn from_iter<I: IntoIterator<Item = TsigKey>>(keys: I) -> Self {
        let by_name = |key: TsigKey| (key.name.as_wire().into(), Arc::new(key));
        Self(keys.into_iter().map(by_name).collect())
    }
}
