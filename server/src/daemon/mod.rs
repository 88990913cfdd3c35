//! Start, reload and stop; `run` makes a program of it.

mod cap;
mod dns;
mod doh;
mod follow;
mod http;
mod metrics;
mod run;
mod signals;

pub use run::{run, with_ports};

use crate::logging::LogLevel;
use crate::rate::RateLog;
use crate::shares::ShareLog;
use crate::state::{AppState, Shared};
use crate::web::origin::Scheme;
use crate::{api, web};
use anyhow::Context;
use cap::Cap;
use dns::{dns_settings, rtt_threshold, size, start_names};
use gslb_core::Core;
use gslb_core::clock::Clock;
use gslb_core::config::{ConfigError, Settings, Sources};
use gslb_dns::{DnsServer, DnsStats, Notifier, Transport};
use gslb_engine::model::MemberId;
use gslb_probe::{Names, Prober, ProberSettings, SystemClock};
use gslb_script::{WorkerProgram, Workers};
use http::{HttpServers, Tls};
use std::collections::HashMap;
use std::net::{SocketAddr, TcpListener};
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
