//! Settings: one table ([`table`]) gives names, types, defaults, help, whether a reload applies them, and from it
//! come the parser, the environment, `--check-config` and the reference page.
//!
//! A value comes from the first of these that has one: command line, environment, file, default. Every setting knows
//! which that was.

mod definition;
mod error;
mod files;
mod listeners;
mod macros;
mod reload;
mod source;
mod table;
mod value;
mod yaml;

pub use definition::{Definition, reference};
pub use error::{ConfigError, Problem};
pub use reload::Reload;
pub use source::{Origin, Sources};
pub use table::{
    Admin, Api, Cluster, Database, Dns, Latency, License, LoadBalancer, Log, Metrics, Node, RateLimit,
    Routing, Settings, Signals, TABLE,
};
pub(crate) use value::cookie_secret;
pub use value::{
    CookieSecrets, Id, LogFormat, LogLevel, Multiplier, Networks, Port, PortOrOff, PublicKeys, Secret,
    SettingValue, SignalTable, Weight,
};

/// The file that is read when the command line names none; it may be absent.
pub const DEFAULT_FILE: &str = "/etc/gslb/config.yaml";
