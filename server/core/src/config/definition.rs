//! What is known about a setting without its value.

use super::table::TABLE;
use std::fmt::Write as _;

/// One row of the table of settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Definition {
    /// `section.key`, spelt as the documentation spells it.
    pub name: &'static str,
    /// Default as it would stand in the environment; empty is "none".
    pub default: &'static str,
    /// Whether SIGHUP applies a new value.
    pub reloads: bool,
    /// Whether the value is a secret, and masked wherever it is shown.
    pub secret: bool,
    /// What it is.
    pub help: &'static str,
}

impl Definition {
    /// The environment variable: `GSLB_<SECTION>_<KEY>`.
    #[must_use]
    pub fn variable(&self) -> String {
        format!("GSLB_{}", self.name.replace('.', "_").to_ascii_uppercase())
    }
}

/// The reference page of all settings, as a Markdown table.
#[must_use]
pub fn reference() -> String {
    let mut text =
        String::from("| setting | default | environment | reload | what it is |\n|---|---|---|---|---|\n");
    for row in TABLE {
        let default = if row.default.is_empty() {
            "none".to_owned()
        } else {
            format!("`{}`", row.default)
        };
        let reload = if row.reloads { "yes" } else { "restart" };
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "| `{}` | {default} | `{}` | {reload} | {} |",
            row.name,
            row.variable(),
            row.help
        );
    }
    text
}
