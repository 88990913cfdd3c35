//! The daemon as a program: where its settings come from, what signals do, what a person is told.

use super::Daemon;
use super::signals::{Signals, Wish};
use crate::EXIT_CONFIG;
use crate::cli::RunArgs;
use crate::demo::{self, Demo};
use crate::logging::{self, LogLevel};
use gslb_core::config::{ConfigError, Sources};
use gslb_script::WorkerProgram;
use std::io::Write;
use std::process::ExitCode;

/// Puts the ports of the command line over those of file and environment.
#[must_use]
pub fn with_ports(mut sources: Sources, args: &RunArgs) -> Sources {
    let ports = [
        ("dns.port", args.dns_port, "--dns-port"),
        ("api.port", args.api_port, "--api-port"),
        ("metrics.port", args.metrics_port, "--metrics-port"),
    ];
    for (setting, port, what) in ports {
        if let Some(port) = port {
            sources = sources.with(setting, port, what);
        }
    }
    sources
}

/// Settings come from here, at the start and at each reload.
fn sources_of(args: &RunArgs, demo: Option<&Demo>) -> anyhow::Result<Sources> {
    let sources = match demo {
        Some(demo) => demo.sources()?,
        None => Sources::of_process(args.config.as_deref())?,
    };
    Ok(with_ports(sources, args))
}

/// Runs the daemon until it is told to stop.
///
/// # Errors
/// It cannot start.
pub fn run(args: RunArgs) -> anyhow::Result<ExitCode> {
    let demo = args
        .demo
        .then(|| Demo::prepare(args.data.as_deref()))
        .transpose()?;
    let settings = match sources_of(&args, demo.as_ref()).and_then(|s| Ok(s.load()?)) {
        Ok(settings) => settings,
        Err(error) if error.is::<ConfigError>() => {
            // Logging is itself configured: there is none yet.
            let _ = writeln!(std::io::stderr(), "gslbd: {error}");
            return Ok(ExitCode::from(EXIT_CONFIG));
        }
        Err(error) => return Err(error),
    };
    let level = logging::init(settings.log.level.as_str(), settings.log.format)?;
    let mut args = args;
    if demo.is_some() {
        // The demo must start on any machine: a taken port gives way.
        let loopback = settings.dns.listen_addr;
        args.dns_port = Some(demo::or_free("DNS", loopback, settings.dns.port.0));
        args.api_port = Some(demo::or_free("the API", loopback, settings.api.port.0));
        args.metrics_port = Some(demo::or_free("metrics", loopback, settings.metrics.port.0));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(serve(&args, demo.as_ref(), level))?;
    Ok(ExitCode::SUCCESS)
}

async fn serve(args: &RunArgs, demo: Option<&Demo>, level: LogLevel) -> anyhow::Result<()> {
    let mut signals = Signals::new()?;
    let sources = sources_of(args, demo)?;
    let daemon = Daemon::start(sources.clone(), Some(level), WorkerProgram::this()).await?;
    if let Some(demo) = demo {
        demo.furnish(&daemon.core.ops).await?;
    }
    announce(&daemon, demo);
    loop {
        match signals.next().await {
            Wish::Stop => break,
            // The demo's licence is made at its start: only the file is read again.
            Wish::Reload if demo.is_some() => daemon.reload(reread(&sources, args)).await,
            Wish::Reload => {
                let sources = Sources::of_process(args.config.as_deref()).map(|s| with_ports(s, args));
                daemon.reload(sources).await;
            }
        }
    }
    daemon.stop().await;
    Ok(())
}

/// The same sources with the file's text of now.
fn reread(sources: &Sources, args: &RunArgs) -> Result<Sources, ConfigError> {
    let path = sources.file.as_ref().map(|(path, _)| path.clone());
    let mut fresh = Sources::of_process(path.as_deref().or(args.config.as_deref()))?;
    fresh.overrides.clone_from(&sources.overrides);
    Ok(fresh)
}

/// Tells a person what to do next. A first start's password is shown this once, and only on the terminal.
fn announce(daemon: &Daemon, demo: Option<&Demo>) {
    let first = daemon.core.first_admin.as_ref();
    let mut out = std::io::stdout().lock();
    // A closed standard output is no reason to stop.
    let _ = match demo {
        Some(demo) => {
            let configured = daemon.core.settings.load().admin.password.clone();
            let password =
                first.and_then(|f| f.password.clone().or(configured.map(|s| s.expose().to_owned())));
            let text = demo.greeting(
                &daemon.console(),
                daemon.dns_addr(),
                daemon.metrics_addr(),
                password.as_deref(),
            );
            writeln!(out, "{text}")
        }
        None => match first.and_then(|f| Some((&f.name, f.password.as_ref()?))) {
            Some((name, password)) => writeln!(
                out,
                "First start. Log in at {} as {name} with the password {password}\nIt is shown this once: change it there.",
                daemon.console()
            ),
            None => Ok(()),
        },
    };
}
