//! Settings that hold more than one value: the signal table, the public keys.

use super::{FromNode, SettingValue, number};
use crate::config::yaml::Node;
use crate::license::PublicKey;
use std::collections::BTreeMap;

/// Signal zones with their values. In the environment: `us-east=450,eu-west=120`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SignalTable(pub BTreeMap<String, f64>);

impl SignalTable {
    fn add(&mut self, zone: &str, value: &str) -> Result<(), String> {
        let count = zone.chars().count();
        if !(1..=64).contains(&count) || zone.chars().any(char::is_control) {
            return Err(format!(
                "the zone `{zone}` must have 1 to 64 printable characters"
            ));
        }
        let value = number(value).map_err(|error| format!("zone `{zone}`: {error}"))?;
        match self.0.insert(zone.to_owned(), value) {
            None => Ok(()),
            Some(_) => Err(format!("the zone `{zone}` is there twice")),
        }
    }
}

impl SettingValue for SignalTable {
    fn from_text(text: &str) -> Result<Self, String> {
        let mut table = Self::default();
        for part in text.split(',').map(str::trim).filter(|p| !p.is_empty()) {
            let (zone, value) = part
                .split_once('=')
                .ok_or_else(|| format!("`{part}` is not of the form `zone=value`"))?;
            table.add(zone.trim(), value)?;
        }
        Ok(table)
    }

    fn absent() -> Result<Self, String> {
        Ok(Self::default())
    }

    fn show(&self) -> String {
        if self.0.is_empty() {
            return "none".to_owned();
        }
        self.0
            .iter()
            .map(|(zone, value)| format!("{zone}={value}"))
            .collect::<Vec<_>>()
            .join(",")
    }
}

impl FromNode for SignalTable {
    fn from_node(node: &Node) -> Result<Self, String> {
        let Node::Map(entries) = node else {
            return Err(format!(
                "is {}, and must be a mapping of zones to values",
                node.kind()
            ));
        };
        let mut table = Self::default();
        let mut errors = Vec::new();
        for entry in entries {
            let Node::Scalar(value) = &entry.value else {
                errors.push(format!(
                    "zone `{}` (line {}): must be a number",
                    entry.key, entry.line
                ));
                continue;
            };
            if let Err(error) = table.add(&entry.key, value) {
                errors.push(format!("{error} (line {})", entry.line));
            }
        }
        if errors.is_empty() {
            Ok(table)
        } else {
            Err(errors.join("; "))
        }
    }
}

/// Keys that licences may be signed with. In the environment: separated by commas.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PublicKeys(Vec<PublicKey>);

impl PublicKeys {
    /// The keys.
    #[must_use]
    pub fn keys(&self) -> Vec<PublicKey> {
        self.0.clone()
    }
}

impl SettingValue for PublicKeys {
    fn from_text(text: &str) -> Result<Self, String> {
        let parts = text.split(',').map(str::trim).filter(|p| !p.is_empty());
        parts
            .map(|part| PublicKey::parse(part).map_err(|error| format!("`{part}`: {error}")))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    fn absent() -> Result<Self, String> {
        Ok(Self::default())
    }

    fn show(&self) -> String {
        if self.0.is_empty() {
            return "none".to_owned();
        }
        self.0
            .iter()
            .map(PublicKey::to_text)
            .collect::<Vec<_>>()
            .join(",")
    }
}

impl FromNode for PublicKeys {
    fn from_node(node: &Node) -> Result<Self, String> {
        match node {
            Node::Scalar(text) => Self::from_text(text),
            Node::List(list) => {
                let texts: Result<Vec<&str>, String> = list
                    .iter()
                    .map(|item| match item {
                        Node::Scalar(text) => Ok(text.as_str()),
                        other => Err(format!("an entry is {}, and must be a key", other.kind())),
                    })
                    .collect();
                Self::from_text(&texts?.join(","))
            }
            other => Err(format!("is {}, and must be a list of keys", other.kind())),
        }
    }
}
