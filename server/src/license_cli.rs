//! `gslbd license keygen | issue | show`.

use crate::cli::LicenseCommand;
use crate::state::unix_seconds;
use anyhow::Context;
use gslb_core::license::{self, Payload, PrivateKey, PublicKey};
use gslb_engine::model::Tier;
use std::io::Write;
use std::path::{Path, PathBuf};
use time::OffsetDateTime;

/// Seconds of a day.
const DAY: u64 = 86_400;

fn with_ending(prefix: &Path, ending: &str) -> PathBuf {
    let mut path = prefix.as_os_str().to_owned();
    path.push(ending);
    path.into()
}

/// Runs one of the commands; what it has to say goes to `out`.
///
/// # Errors
/// A file that cannot be read or written, a key that is none, a text that is no licence.
pub fn run(command: LicenseCommand, out: &mut impl Write) -> anyhow::Result<()> {
    match command {
        LicenseCommand::Keygen { out: prefix } => keygen(&prefix, out),
        LicenseCommand::Issue {
            key,
            tier,
            days,
            customer,
            max_rps,
        } => {
            let text = std::fs::read_to_string(&key).with_context(|| format!("reading {}", key.display()))?;
            let key =
                PrivateKey::parse(&text).with_context(|| format!("{} is no private key", key.display()))?;
            writeln!(out, "{}", issue(&key, tier, days, customer, max_rps))?;
            Ok(())
        }
        LicenseCommand::Show { license, public_key } => show(license, &public_key, out),
    }
}

/// A licence that begins now.
#[must_use]
pub fn issue(key: &PrivateKey, tier: Tier, days: u32, customer: String, max_rps: Option<u64>) -> String {
    let iat = unix_seconds();
    let exp = iat.saturating_add(u64::from(days) * DAY);
    let id = uuid::Uuid::now_v7().to_string();
    license::issue(
        key,
        &Payload {
            tier,
            iat,
            exp,
            id,
            customer,
            max_rps,
        },
    )
}

fn keygen(prefix: &Path, out: &mut impl Write) -> anyhow::Result<()> {
    let (private, public) = (with_ending(prefix, ".private"), with_ending(prefix, ".public"));
    let key = license::keygen()?;
    // Never over an existing key: the licences it has signed would die with it.
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    let mut public_file = options
        .open(&public)
        .with_context(|| format!("making {}", public.display()))?;
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut private_file = options
        .open(&private)
        .with_context(|| format!("making {}", private.display()))?;
    writeln!(private_file, "{}", key.to_text())?;
    writeln!(public_file, "{}", key.public().to_text())?;
    writeln!(out, "{}  keep it secret: it signs licences", private.display())?;
    writeln!(
        out,
        "{}  goes into license.publicKeys: {}",
        public.display(),
        key.public().to_text()
    )?;
    Ok(())
}

/// A key given as text, or as the name of a file that holds it.
fn public_key(text: &str) -> anyhow::Result<PublicKey> {
    if let Ok(key) = PublicKey::parse(text) {
        return Ok(key);
    }
    let content =
        std::fs::read_to_string(text).with_context(|| format!("`{text}` is no public key and no file"))?;
    PublicKey::parse(&content).with_context(|| format!("the file {text} holds no public key"))
}

fn show(text: Option<String>, keys: &[String], out: &mut impl Write) -> anyhow::Result<()> {
    let text = text
        .or_else(|| std::env::var("GSLB_LICENSE_KEY").ok())
        .context("no licence: give one as an argument or in GSLB_LICENSE_KEY")?;
    let payload = license::show(&text)?;
    writeln!(out, "{}", serde_json::to_string_pretty(&payload)?)?;
    if keys.is_empty() {
        writeln!(out, "signature: not checked (give --public-key)")?;
        return Ok(());
    }
    let keys = keys
        .iter()
        .map(|k| public_key(k))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let status = license::evaluate(Some(&text), &keys, OffsetDateTime::now_utc());
    writeln!(out, "{}", status.message)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(command: LicenseCommand) -> String {
        let mut out = Vec::new();
        run(command, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_licence_made_by_the_commands_verifies_with_its_key_only() {
        let folder = tempfile::tempdir().unwrap();
        let (ours, theirs) = (folder.path().join("ours"), folder.path().join("theirs"));
        said(LicenseCommand::Keygen { out: ours.clone() });
        said(LicenseCommand::Keygen { out: theirs.clone() });
        let issue = LicenseCommand::Issue {
            key: with_ending(&ours, ".private"),
            tier: Tier::Pro,
            days: 3,
            customer: "Example".to_owned(),
            max_rps: Some(7),
        };
        let licence = said(issue).trim().to_owned();
        let show = |prefix: &Path| {
            let key = with_ending(prefix, ".public").display().to_string();
            said(LicenseCommand::Show {
                license: Some(licence.clone()),
                public_key: vec![key],
            })
        };
        assert!(show(&ours).contains("\"tier\": \"pro\""));
        assert!(show(&theirs).contains("not signed by any key"));
        // A second run must not overwrite the key.
        assert!(run(LicenseCommand::Keygen { out: ours }, &mut Vec::new()).is_err());
    }
}
