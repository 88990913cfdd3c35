//! `gslbd user list | reset`.

use crate::cli::UserCommand;
use anyhow::Context;
use gslb_core::clock::Clock;
use gslb_core::config::Sources;
use gslb_core::recovery::Recovery;
use std::io::{BufRead, Write};
use std::path::Path;
use std::process::ExitCode;

/// Runs one of the commands; what it has to say goes to `out`.
///
/// # Errors
/// The configuration is wrong, there is no database, the account is not known, the password is weak.
pub fn run(command: UserCommand, input: &mut impl BufRead, out: &mut impl Write) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    match command {
        UserCommand::List { config } => runtime.block_on(list(config.as_deref(), out))?,
        UserCommand::Reset {
            name,
            password_stdin,
            config,
        } => {
            let password = match password_stdin {
                true => Some(first_line(input)?),
                false => None,
            };
            runtime.block_on(reset(config.as_deref(), &name, password.as_deref(), out))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn first_line(input: &mut impl BufRead) -> anyhow::Result<String> {
    let mut line = String::new();
    input
        .read_line(&mut line)
        .context("reading the password from standard input")?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

async fn open(config: Option<&Path>) -> anyhow::Result<Recovery> {
    let settings = Sources::of_process(config)?.load()?;
    let path = &settings.database.path;
    Recovery::open(path, Clock::system())
        .await
        .with_context(|| format!("opening the database {}", path.display()))
}

async fn list(config: Option<&Path>, out: &mut impl Write) -> anyhow::Result<()> {
    let recovery = open(config).await?;
    let accounts = recovery.accounts().await?;
    recovery.close().await;
    let width = |column: fn(&gslb_core::recovery::Account) -> &str, title: &str| {
        let widths = accounts.iter().map(|account| column(account).chars().count());
        widths.max().unwrap_or_default().max(title.len())
    };
    let (name, role) = (width(|a| &a.name, "NAME"), width(|a| &a.role, "ROLE"));
    let tenant = width(|a| &a.tenant, "TENANT");
    writeln!(
        out,
        "{:name$}  {:role$}  {:tenant$}  STATE",
        "NAME", "ROLE", "TENANT"
    )?;
    for account in &accounts {
        let state = if account.enabled { "enabled" } else { "disabled" };
        writeln!(
            out,
            "{:name$}  {:role$}  {:tenant$}  {state}",
            account.name, account.role, account.tenant
        )?;
    }
    Ok(())
}

async fn reset(
    config: Option<&Path>,
    name: &str,
    password: Option<&str>,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let recovery = open(config).await?;
    let result = recovery.reset(name, password).await;
    recovery.close().await;
    match result? {
        Some(made_up) => writeln!(
            out,
            "`{name}` can log in with the password {made_up}\nIt is shown this once: change it in the console."
        )?,
        None => writeln!(out, "`{name}` can log in with the new password.")?,
    }
    Ok(())
}
