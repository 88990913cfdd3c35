//! Licences of all dependencies: the program is shipped as one file, so each of them must allow that.

use anyhow::{Context as _, Result};
use cargo_metadata::{Metadata, MetadataCommand};
use spdx::{Expression, LicenseReq, ParseMode};

use super::Report;
use crate::workspace::Workspace;

/// Licences that ask for nothing but notices.
const ALLOWED: [&str; 10] = [
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Zlib",
];

pub(super) fn check(workspace: &Workspace, report: &mut Report) -> Result<()> {
    let metadata = MetadataCommand::new()
        .manifest_path(workspace.root.join("Cargo.toml"))
        .other_options(vec!["--locked".to_owned()])
        .exec()
        .context("asking cargo for all dependencies")?;
    check_all(&metadata, report);
    Ok(())
}

fn check_all(metadata: &Metadata, report: &mut Report) {
    for package in &metadata.packages {
        if let Err(message) = judge(package.license.as_deref()) {
            report.problem(format!("{} {}", package.name, package.version), message);
        }
    }
}

fn is_allowed(license: &LicenseReq) -> bool {
    // An exception only gives more rights.
    license.license.id().is_some_and(|id| ALLOWED.contains(&id.name))
}

fn judge(text: Option<&str>) -> Result<(), String> {
    let text = text.ok_or_else(|| "names no licence in its manifest".to_owned())?;
    let expression = Expression::parse_mode(text, ParseMode::LAX)
        .map_err(|error| format!("its licence `{text}` cannot be read: {}", error.reason))?;
    if expression.evaluate(is_allowed) {
        return Ok(());
    }
    Err(format!(
        "its licence is `{text}`; those that may be shipped are {} (xtask/src/check/licenses.rs)",
        ALLOWED.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_a_choice_and_all_of_a_sum_must_be_allowed() {
        for (text, allowed) in [
            ("MIT", true),
            ("MIT/Apache-2.0", true),
            ("Apache-2.0 WITH LLVM-exception", true),
            ("GPL-3.0-only OR MIT", true),
            ("GPL-3.0-only AND MIT", false),
            ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
            ("AGPL-3.0-or-later", false),
            ("whatever", false),
        ] {
            assert_eq!(judge(Some(text)).is_ok(), allowed, "{text}");
        }
        assert!(judge(None).is_err());
    }
}
