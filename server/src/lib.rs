//! Nexus GSLB's daemon: authoritative DNS with filter chains, health probes, REST API and web console in one process.
//!
//! The crates below do the work; here they are put together: [`daemon`] starts and stops everything, [`api`] and [`web`] are
//! the two faces of the same use cases, [`views`] is what both show.

#![forbid(unsafe_code)]

pub mod api;
pub mod backtraces;
pub mod cli;
pub mod daemon;
pub mod demo;
mod license_cli;
mod logging;
mod rate;
mod shares;
pub mod state;
mod user_cli;
mod views;
pub mod web;

use cli::{Cli, Command};
use gslb_core::config::Sources;
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

/// Exit code for a configuration that is wrong (`EX_USAGE` of sysexits).
pub const EXIT_CONFIG: u8 = 64;

/// Runs the program and returns its exit code: 0 after an orderly stop, 64 for a wrong configuration, 1 otherwise.
#[must_use]
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let Cli { run, command } = cli::parse(args);
    let result = match command {
        Some(Command::License(command)) => {
            license_cli::run(command, &mut std::io::stdout().lock()).map(|()| ExitCode::SUCCESS)
        }
        Some(Command::User(command)) => user_cli::run(
            command,
            &mut std::io::stdin().lock(),
            &mut std::io::stdout().lock(),
        ),
        Some(Command::Openapi) => print_openapi(),
        Some(Command::DemoBackend { listen, name }) => demo_backend(listen, name),
        None if run.check_config => return check_config(&run),
        None => {
            // Before there is any other thread: they inherit it, and so do the workers for scripts.
            gslb_dns::take_turns_often();
            daemon::run(run)
        }
    };
    result.unwrap_or_else(|error| {
        // There may be no subscriber yet, and a person is waiting for the answer.
        let _ = writeln!(std::io::stderr(), "gslbd: {error:#}");
        ExitCode::FAILURE
    })
}

fn print_openapi() -> anyhow::Result<ExitCode> {
    writeln!(std::io::stdout(), "{}", api::openapi().to_pretty_json()?)?;
    Ok(ExitCode::SUCCESS)
}

fn demo_backend(listen: std::net::SocketAddr, name: String) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(demo::backend::run(listen, name))?;
    Ok(ExitCode::SUCCESS)
}

fn check_config(args: &cli::RunArgs) -> ExitCode {
    let loaded = Sources::of_process(args.config.as_deref())
        .and_then(|sources| daemon::with_ports(sources, args).check());
    match loaded {
        Ok(settings) => {
            let _ = write!(std::io::stdout(), "{}", settings.report());
            let problems = daemon::tls_problems(&settings);
            for problem in &problems {
                let _ = writeln!(std::io::stderr(), "gslbd: {problem}");
            }
            if problems.is_empty() {
                ExitCode::SUCCESS
            } else {
                ExitCode::from(EXIT_CONFIG)
            }
        }
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "gslbd: {error}");
            ExitCode::from(EXIT_CONFIG)
        }
    }
}
