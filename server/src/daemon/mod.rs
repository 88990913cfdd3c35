//! Start, run and stop, on one screen each.

mod cap;
mod doh;
mod follow;
mod http;
mod metrics;
mod signals;

use crate::cli::RunArgs;
use crate::demo::{self, Demo};
use crate::logging::{self, LogLevel};
use crate::rate::RateLog;
use crate::shares::ShareLog;
use crate::state::{AppState, Shared, unix_seconds};
use crate::web::origin::Scheme;
use crate::{EXIT_CONFIG, api, web};
use anyhow::Context;
use cap::Cap;
use gslb_core::Core;
use gslb_core::clock::Clock;
use gslb_core::config::{ConfigError, PortOrOff, Settings, Sources};
use gslb_dns::{
    Certificate, CookieSecret, DnsServer, DnsSettings, DnsStats, Encrypted, Notifier, RateLimit, TcpLimits,
    Transport,
};
use gslb_engine::model::MemberId;
use gslb_probe::{Names, Prober, ProberSettings, SystemClock, Upstream};
use gslb_script::{WorkerProgram, Workers};
use http::{HttpServers, Tls};
use signals::{Signals, Wish};
use std::collections::HashMap;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Queries that have arrived have this long to be answered at the stop.
const DNS_GRACE: Duration = Duration::from_secs(2);

/// Descriptors wanted: probes on their way (4096) and connections, with room. The hard limit may give fewer.
const NOFILE: u64 = 65_536;
/// Connections of DNS over HTTPS, each of which carries many queries.
const HTTPS_CONNECTIONS: usize = 1024;
/// Connections to the port of the metrics: a few readers that come every some seconds.
const METRICS_CONNECTIONS: usize = 64;

/// A running daemon. Stop it with [`stop`](Self::stop).
pub struct Daemon {
    core: Core,
    dns: DnsServer,
    stats: Arc<DnsStats>,
    prober: Arc<Prober>,
    names: Arc<Names>,
    http: HttpServers,
    tls: Option<Tls>,
    dns_tls: Option<Tls>,
    https_addr: Option<SocketAddr>,
    level: Option<LogLevel>,
    tasks: TaskTracker,
    stop: CancellationToken,
    api_addr: SocketAddr,
    metrics_addr: SocketAddr,
}

/// What is wrong with the certificates and keys that the settings name, for `--check-config`.
#[must_use]
pub fn tls_problems(settings: &Settings) -> Vec<String> {
    let (api, dns) = (&settings.api, &settings.dns);
    let pairs = [
        ("api.tlsCert", api.tls_cert.as_ref(), api.tls_key.as_ref()),
        ("dns.tlsCert", dns.tls_cert.as_ref(), dns.tls_key.as_ref()),
    ];
    let problem = |(name, cert, key)| {
        let error = http::certificate(cert, key).err()?;
        Some(format!("{}: `{name}`: {error}", settings.origin(name)))
    };
    pairs.into_iter().filter_map(problem).collect()
}

impl Daemon {
    /// Starts everything from these sources; `workers` runs scripts. Every port is bound before anything is announced.
    ///
    /// # Errors
    /// Wrong settings ([`ConfigError`]), a database that cannot be used, a port that is taken.
    pub async fn start(
        sources: Sources,
        level: Option<LogLevel>,
        workers: WorkerProgram,
    ) -> anyhow::Result<Self> {
        let settings = sources.load()?;
        for warning in settings.warnings() {
            tracing::warn!("{warning}");
        }
        // Two crates bring rustls; both take the process's provider. A second installation is no harm.
        let _ = rustls::crypto::ring::default_provider().install_default();
        // Every probe on its way and every connection is a descriptor, and the usual limit is a thousand.
        let descriptors = rlimit::increase_nofile_limit(NOFILE).unwrap_or_else(|error| {
            tracing::warn!(%error, "the limit of open files could not be raised");
            1024
        });
        let (api, dns) = (&settings.api, &settings.dns);
        let tls = http::certificate(api.tls_cert.as_ref(), api.tls_key.as_ref())?.map(Tls::new);
        let dns_certificate = http::certificate(dns.tls_cert.as_ref(), dns.tls_key.as_ref())?;
        http::check_plaintext(&settings, tls.is_some())?;
        let api_listener = http::bind("the API", settings.api.listen_addr, settings.api.port.0)?;
        let metrics_listener = http::bind("metrics", settings.metrics.listen_addr, settings.metrics.port.0)?;
        let https_port = dns_certificate.as_ref().and(settings.dns.https_port.0);
        // `::` takes both families here.
        let https_listener = https_port
            .map(|port| http::bind("DNS over HTTPS", settings.dns.listen_addr, port))
            .transpose()?;
        let (api_addr, metrics_addr) = (api_listener.local_addr()?, metrics_listener.local_addr()?);

        let scripts = Arc::new(Workers::in_program(workers));
        let core = Core::start(settings.clone(), Clock::system(), Arc::clone(&scripts) as Arc<_>)
            .await
            .context("starting")?;
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let watched = Arc::new(metrics::ProbeSource::default());
        let (prober, known) = Self::start_probes(&core, &settings, &tasks, &watched).await?;
        let names = Arc::new(start_names(&settings)?);
        let stats = Arc::new(DnsStats::new());
        stats.recent.resize(size(settings.dns.recent_queries));
        let dns = DnsServer::start(
            dns_settings(&settings, dns_certificate.as_ref()),
            Arc::clone(&core.snapshot),
            Arc::clone(&stats),
        )?;
        let rate = Arc::new(RateLog::default());
        let shares = Arc::new(ShareLog::default());

        let state = AppState(Arc::new(Shared {
            ops: Arc::clone(&core.ops),
            auth: Arc::clone(&core.auth),
            store: core.store.clone(),
            snapshot: Arc::clone(&core.snapshot),
            events: core.events.clone(),
            reconciler: core.reconciler.clone(),
            prober: Arc::clone(&prober),
            rate: Arc::clone(&rate),
            shares: Arc::clone(&shares),
            dns: Arc::clone(&stats),
            metrics: core.metrics(vec![
                Arc::new(metrics::DnsSource(Arc::clone(&stats))),
                Arc::new(metrics::ScriptSource(scripts)),
                watched,
                Arc::new(metrics::NameSource(names.stats())),
            ]),
            leptos: web::options(),
            node_id: settings.node.id.0.clone(),
            started: Instant::now(),
            secure: tls.is_some(),
            scheme: match (&tls, settings.api.allow_plaintext) {
                (Some(_), _) => Scheme::Https,
                (None, true) => Scheme::Either,
                (None, false) => Scheme::Http,
            },
            stop: stop.clone(),
        }));
        let mut servers = HttpServers::default();
        let connections = Cap::new(cap::share_of(descriptors));
        let dns_tls = dns_certificate.map(Tls::new);
        let https_addr = https_listener.as_ref().map(TcpListener::local_addr).transpose()?;
        if let Some(listener) = https_listener {
            let app = doh::router(dns.messages(Transport::Https));
            servers.serve(listener, dns_tls.as_ref(), Cap::new(HTTPS_CONNECTIONS), app)?;
        }
        servers.serve(api_listener, tls.as_ref(), connections, http::application(&state))?;
        servers.serve(
            metrics_listener,
            None,
            Cap::new(METRICS_CONNECTIONS),
            api::metrics_router(state),
        )?;
        tasks.spawn(follow::license(
            core.reconciler.clone(),
            Arc::clone(&core.license),
            Arc::clone(&stats),
            stop.clone(),
        ));
        tasks.spawn(
            stop.clone()
                .run_until_cancelled_owned(rate.run(Arc::clone(&stats))),
        );
        let sampling = follow::sampling(Arc::clone(&core.snapshot), Arc::clone(&stats));
        tasks.spawn(stop.clone().run_until_cancelled_owned(sampling));
        let shares = shares.run(Arc::clone(&core.snapshot));
        tasks.spawn(stop.clone().run_until_cancelled_owned(shares));
        let notifier = Notifier::new(Arc::clone(&core.snapshot), dns.local_addrs());
        tasks.spawn(follow::serials(core.reconciler.clone(), notifier, stop.clone()));
        let (reconciler, cell) = (core.reconciler.clone(), Arc::clone(&core.snapshot));
        tasks.spawn(follow::snapshots(
            reconciler,
            cell,
            Arc::clone(&prober),
            Arc::clone(&names),
            known,
            stop.clone(),
        ));

        let daemon = Self {
            core,
            dns,
            stats,
            prober,
            names,
            http: servers,
            tls,
            dns_tls,
            https_addr,
            level,
            tasks,
            stop,
            api_addr,
            metrics_addr,
        };
        tracing::info!(dns = %daemon.dns_addr(), api = %api_addr, metrics = %metrics_addr, "answering");
        for (what, addresses) in [
            ("TLS", daemon.dns.tls_addrs()),
            ("QUIC", daemon.dns.quic_addrs()),
            ("HTTPS", daemon.https_addr.as_slice()),
        ] {
            for address in addresses {
                tracing::info!(%address, "answering DNS over {what}");
            }
        }
        Ok(daemon)
    }

    async fn start_probes(
        core: &Core,
        settings: &Settings,
        tasks: &TaskTracker,
        watched: &Arc<metrics::ProbeSource>,
    ) -> anyhow::Result<(Arc<Prober>, HashMap<MemberId, bool>)> {
        let known = follow::last_known(&core.store, &core.snapshot.load_full()).await?;
        let (transitions, arrived) = mpsc::unbounded_channel();
        let probing = ProberSettings {
            rtt_threshold: rtt_threshold(settings),
            ..ProberSettings::default()
        };
        let prober = Arc::new(Prober::start(probing, Arc::new(SystemClock), transitions));
        watched.set(prober.stats());
        let (cell, bus) = (Arc::clone(&core.snapshot), core.events.clone());
        tasks.spawn(follow::transitions(arrived, cell, bus, Arc::clone(watched)));
        Ok((prober, known))
    }

    /// Where DNS listens.
    #[must_use]
    pub fn dns_addr(&self) -> SocketAddr {
        // One address is configured, and `start` has bound it.
        self.dns
            .local_addrs()
            .first()
            .copied()
            .unwrap_or_else(|| SocketAddr::from(([0, 0, 0, 0], 0)))
    }

    /// Where DNS over TLS, QUIC and HTTPS listen.
    #[must_use]
    pub fn encrypted_addrs(&self) -> [&[SocketAddr]; 3] {
        [
            self.dns.tls_addrs(),
            self.dns.quic_addrs(),
            self.https_addr.as_slice(),
        ]
    }

    /// Where API and console listen.
    #[must_use]
    pub fn api_addr(&self) -> SocketAddr {
        self.api_addr
    }

    /// Where the metrics are.
    #[must_use]
    pub fn metrics_addr(&self) -> SocketAddr {
        self.metrics_addr
    }

    /// Address of the console.
    #[must_use]
    pub fn console(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}/", self.api_addr)
    }

    /// Reads the settings again and applies what can change while running. Wrong settings leave the old ones in force.
    pub async fn reload(&self, sources: Result<Sources, ConfigError>) {
        match sources.and_then(|sources| self.core.reload(&sources)) {
            Ok(reload) => {
                let settings = self.core.settings.load();
                if let Some(level) = &self.level {
                    level.set(settings.log.level.as_str());
                }
                self.prober.set_rtt_threshold(rtt_threshold(&settings));
                self.stats.recent.resize(size(settings.dns.recent_queries));
                self.stats.recent.resume(&self.core.snapshot.load_full());
                let (applied, ignored) = (reload.applied.join(" "), reload.ignored.join(" "));
                tracing::info!(applied, needs_restart = ignored, "reloaded");
            }
            Err(error) => tracing::error!(%error, "the new settings are wrong; the old ones stay in force"),
        }
        for (tls, what) in [(&self.tls, "the API"), (&self.dns_tls, "DNS")] {
            if let Some(tls) = tls {
                tls.reload(what);
            }
        }
    }

    /// Takes nothing new, answers what has arrived, and waits until everything is done.
    pub async fn stop(self) {
        tracing::info!("stopping");
        self.stop.cancel();
        // DNS and HTTP drain at the same time; the database is the last to go.
        tokio::join!(self.dns.shutdown(DNS_GRACE), self.http.stop());
        self.prober.shutdown().await;
        self.names.shutdown().await;
        // The channel of transitions closes with its sender.
        drop(self.prober);
        self.tasks.close();
        self.tasks.wait().await;
        self.core.stop().await;
        tracing::info!("stopped");
    }
}

/// Starts what looks host names up: at the configured resolvers, those of the system, or the one that a system without a
/// list of them has (resolv.conf(5)).
fn start_names(settings: &Settings) -> anyhow::Result<Names> {
    let clock = Arc::new(SystemClock);
    let servers = &settings.dns.resolvers.0;
    if !servers.is_empty() {
        return Ok(Names::start(&Upstream::Servers(servers.clone()), clock)?);
    }
    Names::start(&Upstream::System, clock.clone()).or_else(|error| {
        tracing::warn!(%error, "host names are looked up at 127.0.0.1");
        let local = SocketAddr::from((Ipv4Addr::LOCALHOST, 53));
        Ok(Names::start(&Upstream::Servers(vec![local]), clock)?)
    })
}

fn rtt_threshold(settings: &Settings) -> Duration {
    Duration::try_from_secs_f64(settings.latency.min_rtt_threshold_ms.0 / 1_000.0).unwrap_or_default()
}

/// The configured addresses of DNS, with a port.
fn dns_addresses(settings: &Settings, port: u16) -> Vec<SocketAddr> {
    let ip = settings.dns.listen_addr;
    let mut addresses = vec![SocketAddr::new(ip, port)];
    if ip == IpAddr::V6(Ipv6Addr::UNSPECIFIED) {
        // A socket of its own for IPv4: the one for IPv6 takes that family alone.
        addresses.push(SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), port));
    }
    addresses
}

fn dns_settings(settings: &Settings, certificate: Option<&Certificate>) -> DnsSettings {
    let dns = &settings.dns;
    let at = |port: PortOrOff| {
        let addresses = port.0.map(|port| dns_addresses(settings, port));
        addresses.unwrap_or_default()
    };
    DnsSettings {
        listen: dns_addresses(settings, dns.port.0),
        udp_threads: size(dns.udp_threads),
        nsid: dns.nsid.as_ref().map(|text| text.clone().into_bytes()),
        encrypted: certificate.map(|certificate| Encrypted {
            certificate: certificate.clone(),
            tls: at(dns.tls_port),
            quic: at(dns.quic_port),
        }),
        tcp: TcpLimits {
            connections: size(settings.dns.tcp_connections),
            connections_per_client: size(settings.dns.tcp_connections_per_client),
            idle: Duration::from_secs(settings.dns.tcp_idle_seconds.into()),
        },
        cookies: cookie_secrets(settings),
        // The settings have been checked: none of these is cut.
        payload_without_cookie: settings.dns.payload_without_cookie.min(1232) as u16,
        rate: RateLimit {
            responses_per_second: settings.rate_limit.responses_per_second,
            slip: settings.rate_limit.slip,
            ipv4_prefix: settings.rate_limit.ipv4_prefix.min(32) as u8,
            ipv6_prefix: settings.rate_limit.ipv6_prefix.min(128) as u8,
        },
        proxies: dns.proxy_protocol_from.0.clone(),
        transfers: size(dns.transfers),
    }
}

fn size(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The configured secrets of DNS cookies, or those kept beside the database.
fn cookie_secrets(settings: &Settings) -> Vec<CookieSecret> {
    let mut secrets = settings.dns.cookie_secrets.0.clone();
    if secrets.is_empty() {
        let folder = settings.database.path.parent().unwrap_or(Path::new(""));
        let kept = gslb_core::cookies::kept_in(folder, unix_seconds());
        secrets = kept.unwrap_or_else(|error| {
            tracing::warn!(%error, "secrets of DNS cookies cannot be kept: the next start makes new ones");
            Vec::new()
        });
    }
    secrets.into_iter().map(CookieSecret::new).collect()
}

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
