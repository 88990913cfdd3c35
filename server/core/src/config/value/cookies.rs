//! The secrets of DNS cookies.

use super::{FromNode, SettingValue};
use crate::config::yaml::Node;
use std::fmt;

/// Digits of a secret.
const DIGITS: usize = 32;

/// Secrets of 128 bits, the one in use first.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct CookieSecrets(pub Vec<[u8; DIGITS / 2]>);

impl fmt::Debug for CookieSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CookieSecrets({})", self.0.len())
    }
}

/// Reads one secret.
///
/// # Errors
/// It has another form. The text itself is not repeated.
pub(crate) fn secret(text: &str) -> Result<[u8; DIGITS / 2], String> {
    let wrong = || format!("a secret must have {DIGITS} hexadecimal digits");
    if text.len() != DIGITS || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err(wrong());
    }
    u128::from_str_radix(text, 16)
        .map(u128::to_be_bytes)
        .map_err(|_| wrong())
}

impl SettingValue for CookieSecrets {
    fn from_text(text: &str) -> Result<Self, String> {
        let texts = text.split(',').map(str::trim).filter(|text| !text.is_empty());
        texts.map(secret).collect::<Result<_, _>>().map(Self)
    }

    fn absent() -> Result<Self, String> {
        Ok(Self::default())
    }

    fn show(&self) -> String {
        match self.0.len() {
            0 => "none".to_owned(),
            _ => "(secret)".to_owned(),
        }
    }
}

impl FromNode for CookieSecrets {
    fn from_node(node: &Node) -> Result<Self, String> {
        match node {
            Node::Scalar(text) => Self::from_text(text),
            Node::List(list) => {
                let each = list.iter().map(|item| match item {
                    Node::Scalar(text) => secret(text),
                    other => Err(format!("an entry is {}, and must be a secret", other.kind())),
                });
                each.collect::<Result<_, _>>().map(Self)
            }
            other => Err(format!("is {}, and must be a list of secrets", other.kind())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_read_and_never_shown() {
        let text = "e5e973e5a6b2a43f48e7dc849e37bfcf, 445536BCD2513298075A5D379663C962";
        let secrets = CookieSecrets::from_text(text).unwrap();
        assert_eq!(secrets.0.len(), 2);
        assert_eq!((secrets.0[0][0], secrets.0[1][15]), (0xe5, 0x62));
        assert_eq!(secrets.show(), "(secret)");
        assert!(!format!("{secrets:?}").contains("e5"));
        let node = Node::List(text.split(", ").map(|s| Node::Scalar(s.to_owned())).collect());
        assert_eq!(CookieSecrets::from_node(&node), Ok(secrets));
    }

    #[test]
    fn other_forms_are_refused_without_repeating_them() {
        for text in [
            "e5e973",
            "g5e973e5a6b2a43f48e7dc849e37bfcf",
            "+5e973e5a6b2a43f48e7dc849e37bfcf",
        ] {
            let error = CookieSecrets::from_text(text).unwrap_err();
            assert!(
                error.contains("32 hexadecimal digits") && !error.contains(text),
                "{error}"
            );
        }
    }
}
