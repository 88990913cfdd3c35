//! The table of settings.

use super::definition::Definition;
use super::error::ConfigError;
use super::macros::settings;
use super::reload::Reload;
use super::source::{Files, Loader, Origin, place_of};
use super::value::{
    CookieSecrets, Id, LogFormat, LogLevel, Multiplier, Networks, Port, PortOrOff, PublicKeys, Resolvers,
    Secret, SettingValue as _, SignalTable, Weight,
};
use crate::auth::ADMIN;
use crate::ops::{MAX_PASSWORD, MIN_PASSWORD, weakness};
use gslb_api_types::SettingView;
use gslb_engine::environment::LatencySettings;
use gslb_engine::model::{DomainName, FilterName};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::IpAddr;
use std::path::PathBuf;

/// Shortest bootstrap token, characters.
const MIN_KEY: usize = 8;

/// Public keys of licences that a build brings along.
const BUILD_KEYS: &str = match option_env!("GSLB_DEFAULT_LICENSE_PUBLIC_KEYS") {
    Some(keys) => keys,
    None => "",
};

settings! {
    /// DNS on the wire.
    dns: Dns = "dns" {
        "Address that DNS listens on, UDP and TCP; `::` is every address of both families."
        listen_addr: IpAddr = "listenAddr", "0.0.0.0", restart;
        "Port that DNS listens on; 0 takes a free one."
        port: Port = "port", "5353", restart;
        "Zone that the first start makes; none makes none."
        domain: Option<DomainName> = "domain", "", restart;
        "Threads that answer UDP; 0 is one per core."
        udp_threads: u32 = "udpThreads", "0", restart;
        "Name that this server tells when asked for it (RFC 5001)."
        nsid: Option<String> = "nsid", "", restart;
        "Certificate chain for DNS over TLS, QUIC and HTTPS, PEM; without one there is none of them. Read again on reload."
        tls_cert: Option<PathBuf> = "tlsCert", "", restart;
        "Private key of that certificate, PEM."
        tls_key: Option<PathBuf> = "tlsKey", "", restart;
        "Port for DNS over TLS (RFC 7858); 0 takes a free one, off is none."
        tls_port: PortOrOff = "tlsPort", "853", restart;
        "Port for DNS over QUIC (RFC 9250), UDP; 0 takes a free one, off is none."
        quic_port: PortOrOff = "quicPort", "853", restart;
        "Port for DNS over HTTPS (RFC 8484) at /dns-query; 0 takes a free one, off is none."
        https_port: PortOrOff = "httpsPort", "443", restart;
        "Octets of a UDP answer to a client that has shown no cookie of this server, 512 to 1232; what is longer is truncated, and asked for again over TCP."
        payload_without_cookie: u32 = "payloadWithoutCookie", "512", restart;
        "Secrets of DNS cookies, 32 hexadecimal digits each: the first makes cookies, all are accepted. Servers behind one address need the same. Made, kept beside the database and replaced when not set."
        cookie_secrets: CookieSecrets = "cookieSecrets", "", restart, secret;
        "Resolvers that are asked what members that are host names lead to: addresses, with a port behind `:` unless it is 53. Those of /etc/resolv.conf when not set."
        resolvers: Resolvers = "resolvers", "", restart;
        "TCP connections open at the same time; one more takes the place of one that has not asked for long."
        tcp_connections: u32 = "tcpConnections", "1024", restart;
        "TCP connections of one client (an IPv4 address, an IPv6 /64) open at the same time."
        tcp_connections_per_client: u32 = "tcpConnectionsPerClient", "64", restart;
        "Seconds after which a TCP connection is closed that has brought no whole query."
        tcp_idle_seconds: u32 = "tcpIdleSeconds", "10", restart;
        "Networks of proxies that begin each UDP datagram and each connection (TCP; TLS, before the handshake) with a PROXY protocol header, version 2; the client is the one it names. Without the header they are refused, and nobody else's is taken. A forged sender address from there could claim to be anybody: keep such addresses out at the border."
        proxy_protocol_from: Networks = "proxyProtocolFrom", "", restart;
        "Transfers of zones (AXFR, IXFR) on their way at the same time; further ones get SERVFAIL and are tried again by the secondary."
        transfers: u32 = "transfers", "16", restart;
        "Recent queries that are kept in memory over all services, some of those that come, so that a change can be tried on them before it is saved; of their clients the network (/24, IPv6 /56) and no name. 0 keeps none, and forgets those there are."
        recent_queries: u32 = "recentQueries", "65536", reload;
    }

    /// Response rate limiting of DNS over UDP.
    rate_limit: RateLimit = "dns.rateLimit" {
        "Responses of one kind (answers, empty answers, names that do not exist, errors) that a client network gets in a second; 0 is no limit. Clients with a cookie of this server, and over TCP, are not limited."
        responses_per_second: u32 = "responsesPerSecond", "0", restart;
        "Every so many limited responses one says truncated, so that a true client comes over TCP; the others are left out. 0: none does. When queries come faster than they are answered, a network that sends more than four times the limit is left out without being looked at, and gets no more of these than the limit."
        slip: u32 = "slip", "2", restart;
        "Bits of an IPv4 client network."
        ipv4_prefix: u32 = "ipv4Prefix", "24", restart;
        "Bits of an IPv6 client network."
        ipv6_prefix: u32 = "ipv6Prefix", "56", restart;
    }

    /// Defaults of routing.
    load_balancer: LoadBalancer = "loadBalancer" {
        "Algorithm of services that name neither algorithm nor chain."
        algorithm: FilterName = "algorithm", "round-robin", reload;
    }

    /// The latency step and the geo databases.
    latency: Latency = "loadBalancer.latency" {
        "MMDB file that maps addresses to countries."
        geoip_db_path: Option<PathBuf> = "geoipDBPath", "", reload;
        "MMDB file that maps addresses to autonomous systems."
        asn_db_path: Option<PathBuf> = "asnDBPath", "", reload;
        "MMDB file that maps addresses to places: continent, subdivision, location; used for countries when geoipDBPath is not set."
        city_db_path: Option<PathBuf> = "cityDBPath", "", reload;
        "A member in the client's region weighs this many times the best round-trip time."
        region_bonus_multiplier: Multiplier = "regionBonusMultiplier", "2.0", reload;
        "Differences of round-trip times below this do not shift traffic, milliseconds."
        min_rtt_threshold_ms: Multiplier = "minRTTThresholdMs", "5", reload;
        "Region of clients that no database places; `unknown` matches no member."
        fallback_region: String = "fallbackRegion", "unknown", reload;
        "Whether the least round-trip time over the cluster counts instead of the local one."
        distributed_rtt: bool = "distributedRTT", "false", restart;
    }

    /// Steering by files.
    routing: Routing = "routing" {
        "File of `CIDR target[, target...]` rules for the map-file step."
        map_file: Option<PathBuf> = "mapFile", "", reload;
    }

    /// Signals of the signal-weight step.
    signals: Signals = "signals" {
        "Signal zones with their values; lower is better."
        r#static: SignalTable = "static", "", reload;
        "Share of the signal in a member's score: 0 disables the bias, 1 lets it dominate."
        weight: Weight = "weight", "0.5", reload;
    }

    /// REST API and web console.
    api: Api = "api" {
        "Address that API and console listen on."
        listen_addr: IpAddr = "listenAddr", "127.0.0.1", restart;
        "Port that API and console listen on; 0 takes a free one."
        port: Port = "port", "8080", restart;
        "Certificate chain for HTTPS, PEM."
        tls_cert: Option<PathBuf> = "tlsCert", "", restart;
        "Private key for HTTPS, PEM."
        tls_key: Option<PathBuf> = "tlsKey", "", restart;
        "Whether plain HTTP may be served on other addresses than loopback."
        allow_plaintext: bool = "allowPlaintext", "false", restart;
        "Bootstrap token of the system administrator; best set as GSLB_API_KEY."
        key: Option<Secret> = "key", "", restart, secret;
    }

    /// Metrics for Prometheus.
    metrics: Metrics = "metrics" {
        "Address that metrics listen on, without login."
        listen_addr: IpAddr = "listenAddr", "127.0.0.1", restart;
        "Port that metrics listen on; 0 takes a free one."
        port: Port = "port", "9090", restart;
        "Services with a label of their own, and a tenth of the members with one; the rest counts as `other`."
        max_service_labels: u32 = "maxServiceLabels", "100", reload;
    }

    /// The database.
    database: Database = "database" {
        "SQLite file; made when it is missing."
        path: PathBuf = "path", "/var/lib/gslbd/gslbd.db", restart;
    }

    /// The cluster this node belongs to.
    cluster: Cluster = "cluster" {
        "Name of the cluster: 1 to 64 of A-Z a-z 0-9 _ -."
        id: Id = "id", "dev-cluster", restart;
    }

    /// This node.
    node: Node = "node" {
        "Name of this node: 1 to 64 of A-Z a-z 0-9 _ -. The host name when not set."
        id: Id = "id", "", restart;
    }

    /// The log.
    log: Log = "log" {
        "How much is logged: error, warn, info, debug or trace."
        level: LogLevel = "level", "info", reload;
        "Form of the lines: text or json."
        format: LogFormat = "format", "text", restart;
    }

    /// The licence.
    license: License = "license" {
        "The licence text."
        key: Option<Secret> = "key", "", reload, secret;
        "File that holds the licence text; read when license.key is not set."
        file: Option<PathBuf> = "file", "", reload;
        "Public keys that licences may be signed with."
        public_keys: PublicKeys = "publicKeys", BUILD_KEYS, reload;
        "Whom to ask for a licence; ends each refusal for want of one."
        contact: String = "contact", "licensing@gslb.nexus", reload;
    }

    /// The first account.
    admin: Admin = "admin" {
        "Password of the administrator that the first start makes; a random one is printed when not set."
        password: Option<Secret> = "password", "", restart, secret;
    }
}

/// Whether a text arrives in a header as it was sent.
fn is_header_value(text: &str) -> bool {
    text.bytes().all(|b| (b' '..=b'~').contains(&b)) && text.trim() == text
}

/// The row of a setting.
fn definition(name: &str) -> Option<&'static Definition> {
    TABLE.iter().find(|row| row.name == name)
}

impl Settings {
    /// Where the value of a setting comes from.
    #[must_use]
    pub fn origin(&self, name: &str) -> Origin {
        self.origins.get(name).cloned().unwrap_or_default()
    }

    /// Where the value of a signal zone comes from: in a file, the zone's own line.
    #[must_use]
    pub fn zone_origin(&self, zone: &str) -> Origin {
        match (self.origin("signals.static"), self.zone_lines.get(zone)) {
            (Origin::File { path, .. }, Some(line)) => Origin::File { path, line: *line },
            (other, _) => other,
        }
    }

    /// Things that are probably not meant.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Every setting with its value and origin; secrets are masked.
    #[must_use]
    pub fn views(&self) -> Vec<SettingView> {
        let shown: BTreeMap<_, _> = self.shown().into_iter().collect();
        TABLE
            .iter()
            .map(|row| SettingView {
                name: row.name.to_owned(),
                value: shown.get(row.name).cloned().unwrap_or_default(),
                origin: self.origin(row.name).to_string(),
                help: row.help.to_owned(),
                reloads: row.reloads,
            })
            .collect()
    }

    /// What `--check-config` prints: a line a setting with value and origin, then the warnings.
    #[must_use]
    pub fn report(&self) -> String {
        let views = self.views();
        let name_width = views.iter().map(|v| v.name.len()).max().unwrap_or_default();
        let value_width = views
            .iter()
            .map(|v| v.value.chars().count().min(40))
            .max()
            .unwrap_or_default();
        let mut text = String::new();
        for view in views {
            // Writing to a String cannot fail.
            let _ = writeln!(
                text,
                "{:name_width$}  {:value_width$}  ({})",
                view.name, view.value, view.origin
            );
        }
        for warning in &self.warnings {
            let _ = writeln!(text, "warning: {warning}");
        }
        text
    }

    /// Settings of the latency step, as the engine wants them.
    #[must_use]
    pub fn latency_settings(&self) -> LatencySettings {
        LatencySettings {
            region_bonus_multiplier: self.latency.region_bonus_multiplier.0,
            min_rtt_threshold_ms: self.latency.min_rtt_threshold_ms.0,
            fallback_region: self.latency.fallback_region.clone(),
        }
    }

    /// The signal table, as the engine wants it.
    #[must_use]
    pub fn signal_settings(&self) -> gslb_engine::environment::Signals {
        gslb_engine::environment::Signals {
            zones: self.signals.r#static.0.clone(),
            weight: self.signals.weight.0,
        }
    }

    /// Rules across settings.
    fn check(&self, loader: &mut Loader) {
        let (api, dns) = (&self.api, &self.dns);
        for (cert, key, given) in [
            ("api.tlsCert", "api.tlsKey", (&api.tls_cert, &api.tls_key)),
            ("dns.tlsCert", "dns.tlsKey", (&dns.tls_cert, &dns.tls_key)),
        ] {
            let (given, missing) = match given {
                (Some(_), None) => (cert, key),
                (None, Some(_)) => (key, cert),
                _ => continue,
            };
            loader.problem(
                place_of(&self.origin(given)),
                format!("`{given}` is set and `{missing}` is not"),
            );
        }
        if !api.listen_addr.is_loopback() && api.tls_cert.is_none() && !api.allow_plaintext {
            loader.problem(
                place_of(&self.origin("api.listenAddr")),
                format!(
                    "`api.listenAddr` is {}, no loopback address: set `api.tlsCert` and `api.tlsKey`, or \
                     `api.allowPlaintext: true` to send passwords in the clear",
                    api.listen_addr
                ),
            );
        }
        // As hard as what people may choose.
        let secrets = [
            ("admin.password", self.admin.password.as_ref()),
            ("api.key", self.api.key.as_ref()),
        ];
        for (name, secret) in secrets {
            let Some(text) = secret.map(Secret::expose) else {
                continue;
            };
            let count = text.chars().count();
            let (least, weakness) = if name == "api.key" {
                (MIN_KEY, None)
            } else {
                (MIN_PASSWORD, weakness(ADMIN, text))
            };
            let message = if count < least || text.len() > MAX_PASSWORD {
                format!(
                    "`{name}` has {count} characters; at least {least} characters and at most \
                     {MAX_PASSWORD} bytes are allowed"
                )
            } else if let Some((_, why)) = weakness {
                format!("`{name}` {why}")
            } else if name == "api.key" && !is_header_value(text) {
                format!("`{name}` travels in a header: ASCII only, and no space at its ends")
            } else {
                continue;
            };
            loader.problem(place_of(&self.origin(name)), message);
        }
        let ranges = [
            (
                "dns.payloadWithoutCookie",
                self.dns.payload_without_cookie,
                512..=1232,
            ),
            ("dns.tcpConnections", self.dns.tcp_connections, 1..=u32::MAX),
            (
                "dns.tcpConnectionsPerClient",
                self.dns.tcp_connections_per_client,
                1..=u32::MAX,
            ),
            ("dns.tcpIdleSeconds", self.dns.tcp_idle_seconds, 1..=86_400),
            ("dns.transfers", self.dns.transfers, 0..=10_000),
            ("dns.recentQueries", self.dns.recent_queries, 0..=10_000_000),
            ("dns.rateLimit.ipv4Prefix", self.rate_limit.ipv4_prefix, 1..=32),
            ("dns.rateLimit.ipv6Prefix", self.rate_limit.ipv6_prefix, 1..=128),
        ];
        for (name, value, range) in ranges {
            if !range.contains(&value) {
                let (least, most) = range.into_inner();
                let message = format!("`{name}` is {value}, and must be {least} to {most}");
                loader.problem(place_of(&self.origin(name)), message);
            }
        }
        loader.problems.extend(self.clashes());
        if self.latency.distributed_rtt {
            loader.warnings.push(
                "loadBalancer.latency.distributedRTT has no effect: this node is in no cluster".to_owned(),
            );
        }
    }
}
