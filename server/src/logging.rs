//! Structured logs on standard error: text for people, JSON for collectors. The level can change while running.

use gslb_core::config::LogFormat;
use std::io::IsTerminal;
use tracing_subscriber::filter::{EnvFilter, LevelFilter};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::reload::{self, Handle};
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Registry, fmt};

/// Changes the log level of a running daemon.
#[derive(Debug, Clone)]
pub struct LogLevel(Handle<EnvFilter, Registry>);

/// Rules that hold at every level: libraries that speak once per query or request stay quiet below debug.
fn filter(level: &str) -> EnvFilter {
    let base = EnvFilter::builder().with_default_directive(LevelFilter::INFO.into());
    let quiet =
        "hickory_server=warn,hyper=warn,sqlx=warn,leptos=warn,tower_sessions=warn,tower_sessions_core=off";
    let text = if matches!(level, "debug" | "trace") {
        level.to_owned()
    } else {
        format!("{level},{quiet}")
    };
    base.parse_lossy(text)
}

/// Installs the subscriber. Call once.
///
/// # Errors
/// Another subscriber is already installed.
pub fn init(level: &str, format: LogFormat) -> anyhow::Result<LogLevel> {
    let (layer, handle) = reload::Layer::new(filter(level));
    let registry = tracing_subscriber::registry().with(layer);
    match format {
        LogFormat::Text => {
            let colours = std::io::stderr().is_terminal();
            registry
                .with(
                    fmt::layer()
                        .with_writer(std::io::stderr)
                        .with_target(false)
                        .with_ansi(colours),
                )
                .try_init()?;
        }
        LogFormat::Json => registry
            .with(fmt::layer().json().with_writer(std::io::stderr))
            .try_init()?,
    }
    Ok(LogLevel(handle))
}

impl LogLevel {
    /// Sets the level: `error`, `warn`, `info`, `debug`, `trace`.
    pub fn set(&self, level: &str) {
        if let Err(error) = self.0.reload(filter(level)) {
            tracing::warn!(%error, "the log level could not be changed");
        }
    }
}
