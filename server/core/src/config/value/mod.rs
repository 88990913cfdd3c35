//! Types of settings: each reads text (environment, scalars) and, if it is more than a scalar, YAML.

mod collection;
mod cookies;
mod networks;
mod resolvers;

pub use collection::{PublicKeys, SignalTable};
pub use cookies::CookieSecrets;
pub(crate) use cookies::secret as cookie_secret;
pub use networks::Networks;
pub use resolvers::Resolvers;

use crate::config::yaml::Node;
use gslb_engine::model::{DomainName, FilterName};
use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;

/// A type that a setting can have.
pub trait SettingValue: Sized {
    /// Reads the form that stands in the environment. An empty text never gets here: it counts as not set.
    ///
    /// # Errors
    /// What is wrong, in words.
    fn from_text(text: &str) -> Result<Self, String>;

    /// The value of a setting that nothing sets and that has no default.
    ///
    /// # Errors
    /// The setting must be given.
    fn absent() -> Result<Self, String> {
        Err("must be given".to_owned())
    }

    /// The value as people read it.
    fn show(&self) -> String;
}

/// As [`SettingValue::from_text`] for a value of the file.
pub(in crate::config) fn from_node<T: FromNode>(node: &Node) -> Result<T, String> {
    T::from_node(node)
}

/// A setting's type as it stands in the file.
pub(in crate::config) trait FromNode: SettingValue {
    fn from_node(node: &Node) -> Result<Self, String> {
        match node {
            Node::Scalar(text) if text.is_empty() => Self::absent(),
            Node::Scalar(text) => Self::from_text(text),
            other => Err(format!("is {}, and must be a single value", other.kind())),
        }
    }
}

macro_rules! parsed {
    ($($type:ty, $what:literal;)+) => {
        $(
            impl SettingValue for $type {
                fn from_text(text: &str) -> Result<Self, String> {
                    text.trim().parse().map_err(|_| format!("`{text}` is no {}", $what))
                }

                fn show(&self) -> String {
                    self.to_string()
                }
            }

            impl FromNode for $type {}
        )+
    };
}

parsed! {
    IpAddr, "IPv4 or IPv6 address";
    u32, "whole number from 0 on";
    bool, "`true` or `false`";
}

impl SettingValue for String {
    fn from_text(text: &str) -> Result<Self, String> {
        Ok(text.to_owned())
    }

    fn show(&self) -> String {
        self.clone()
    }
}

impl FromNode for String {}

impl SettingValue for PathBuf {
    fn from_text(text: &str) -> Result<Self, String> {
        Ok(Self::from(text))
    }

    fn show(&self) -> String {
        self.display().to_string()
    }
}

impl FromNode for PathBuf {}

impl<T: SettingValue> SettingValue for Option<T> {
    fn from_text(text: &str) -> Result<Self, String> {
        T::from_text(text).map(Some)
    }

    fn absent() -> Result<Self, String> {
        Ok(None)
    }

    fn show(&self) -> String {
        self.as_ref().map_or_else(|| "none".to_owned(), T::show)
    }
}

impl<T: FromNode> FromNode for Option<T> {}

/// A port; 0 lets the operating system choose a free one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Port(pub u16);

impl SettingValue for Port {
    fn from_text(text: &str) -> Result<Self, String> {
        text.trim()
            .parse()
            .map(Self)
            .map_err(|_| format!("`{text}` is no port between 0 and 65535"))
    }

    fn show(&self) -> String {
        self.0.to_string()
    }
}

impl FromNode for Port {}

/// A port, or `off`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortOrOff(pub Option<u16>);

impl SettingValue for PortOrOff {
    fn from_text(text: &str) -> Result<Self, String> {
        match text.trim() {
            // `off` is a truth value in YAML.
            "off" | "false" => Ok(Self(None)),
            number => match number.parse() {
                Ok(port) => Ok(Self(Some(port))),
                Err(_) => Err(format!(
                    "`{text}` is neither a port between 0 and 65535 nor `off`"
                )),
            },
        }
    }

    fn show(&self) -> String {
        self.0.map_or_else(|| "off".to_owned(), |port| port.to_string())
    }
}

impl FromNode for PortOrOff {}

fn number(text: &str) -> Result<f64, String> {
    let number: f64 = text
        .trim()
        .parse()
        .map_err(|_| format!("`{text}` is no number"))?;
    if !number.is_finite() {
        return Err(format!("`{text}` is not finite"));
    }
    if number < 0.0 {
        return Err(format!("{number} is negative"));
    }
    Ok(number)
}

/// A share: 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weight(pub f64);

impl SettingValue for Weight {
    fn from_text(text: &str) -> Result<Self, String> {
        match number(text)? {
            value if value <= 1.0 => Ok(Self(value)),
            value => Err(format!("{value} is not between 0 and 1")),
        }
    }

    fn show(&self) -> String {
        self.0.to_string()
    }
}

impl FromNode for Weight {}

/// A finite number from 0 on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Multiplier(pub f64);

impl SettingValue for Multiplier {
    fn from_text(text: &str) -> Result<Self, String> {
        number(text).map(Self)
    }

    fn show(&self) -> String {
        self.0.to_string()
    }
}

impl FromNode for Multiplier {}

/// Name of a cluster or node: 1 to 64 of `A-Z a-z 0-9 _ -`, so that it can stand in names of subjects and buckets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Id(pub String);

impl Id {
    /// The nearest id to a host name.
    pub(in crate::config) fn from_host(host: &str) -> String {
        let host = host.trim();
        let short = host.split('.').next().unwrap_or(host);
        let id: String = short
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') {
                    c
                } else {
                    '-'
                }
            })
            .take(64)
            .collect();
        if id.is_empty() { "node".to_owned() } else { id }
    }
}

impl SettingValue for Id {
    fn from_text(text: &str) -> Result<Self, String> {
        let ok = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if (1..=64).contains(&text.len()) && text.chars().all(ok) {
            Ok(Self(text.to_owned()))
        } else {
            Err(format!(
                "`{text}` must have 1 to 64 characters out of A-Z a-z 0-9 _ -"
            ))
        }
    }

    fn show(&self) -> String {
        self.0.clone()
    }
}

impl FromNode for Id {}

/// A text that is never shown. An empty one does not exist.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// The text.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl SettingValue for Secret {
    fn from_text(text: &str) -> Result<Self, String> {
        Ok(Self(text.to_owned()))
    }

    fn show(&self) -> String {
        "(secret)".to_owned()
    }
}

impl FromNode for Secret {}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $word:literal),+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name { $($(#[$vdoc])* $variant),+ }

        impl $name {
            /// The word that stands in the configuration.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl SettingValue for $name {
            fn from_text(text: &str) -> Result<Self, String> {
                match text.trim().to_ascii_lowercase().as_str() {
                    $($word => Ok(Self::$variant),)+
                    _ => Err(format!("`{text}` is none of {}", [$($word),+].join(", "))),
                }
            }

            fn show(&self) -> String {
                self.as_str().to_owned()
            }
        }

        impl FromNode for $name {}
    };
}

words! {
    /// How much is logged.
    LogLevel {
        /// Only failures.
        Error = "error",
        /// And what may become one.
        Warn = "warn",
        /// And what happens.
        Info = "info",
        /// And why.
        Debug = "debug",
        /// Everything.
        Trace = "trace"
    }
}

words! {
    /// Form of log lines.
    LogFormat {
        /// For people.
        Text = "text",
        /// For programs: one JSON object a line.
        Json = "json"
    }
}

impl SettingValue for FilterName {
    fn from_text(text: &str) -> Result<Self, String> {
        Self::parse_algorithm(text.trim()).ok_or_else(|| Self::unknown_algorithm(text))
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl FromNode for FilterName {}

impl SettingValue for DomainName {
    fn from_text(text: &str) -> Result<Self, String> {
        match Self::parse("", text) {
            Ok(name) if name.is_wildcard() => Err(format!("`{text}` is a wildcard, which no zone can be")),
            Ok(name) => Ok(name),
            Err(error) => Err(error.message),
        }
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl FromNode for DomainName {}
