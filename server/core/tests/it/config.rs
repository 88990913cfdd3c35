//! Settings: where values come from, what is refused, and where a problem is.

use gslb_core::config::{ConfigError, LogFormat, Origin, Settings, Sources, TABLE, reference};
use gslb_engine::model::FilterName;
use std::collections::BTreeMap;
use std::path::PathBuf;

fn sources(text: &str, environment: &[(&str, &str)]) -> Sources {
    Sources {
        file: Some((PathBuf::from("config.yaml"), text.to_owned())),
        environment: environment
            .iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
            .collect(),
        host: "node7.example.net\n".to_owned(),
        overrides: Vec::new(),
    }
}

fn load(text: &str) -> Settings {
    sources(text, &[]).load().unwrap()
}

#[track_caller]
fn problems(sources: &Sources) -> Vec<String> {
    let error = sources.load().unwrap_err();
    assert_eq!(error.exit_code(), 64);
    match error {
        ConfigError::Invalid(problems) => problems.iter().map(ToString::to_string).collect(),
        other @ ConfigError::Read { .. } => panic!("{other}"),
    }
}

#[test]
fn defaults_are_those_of_the_documentation() {
    let settings = load("");
    let views: BTreeMap<_, _> = settings
        .views()
        .into_iter()
        .map(|v| (v.name, (v.value, v.origin)))
        .collect();
    for (name, value) in [
        ("dns.listenAddr", "0.0.0.0"),
        ("dns.port", "5353"),
        ("dns.domain", "none"),
        ("loadBalancer.algorithm", "round-robin"),
        ("loadBalancer.latency.geoipDBPath", "none"),
        ("loadBalancer.latency.asnDBPath", "none"),
        ("loadBalancer.latency.cityDBPath", "none"),
        ("loadBalancer.latency.regionBonusMultiplier", "2"),
        ("loadBalancer.latency.minRTTThresholdMs", "5"),
        ("loadBalancer.latency.fallbackRegion", "unknown"),
        ("loadBalancer.latency.distributedRTT", "false"),
        ("routing.mapFile", "none"),
        ("signals.static", "none"),
        ("signals.weight", "0.5"),
        ("api.listenAddr", "127.0.0.1"),
        ("api.port", "8080"),
        ("metrics.listenAddr", "127.0.0.1"),
        ("metrics.port", "9090"),
        ("database.path", "/var/lib/gslbd/gslbd.db"),
        ("cluster.id", "dev-cluster"),
        ("node.id", "node7"),
        ("license.contact", "licensing@gslb.nexus"),
    ] {
        assert_eq!(views[name], (value.to_owned(), "default".to_owned()), "{name}");
    }
    assert_eq!(views.len(), TABLE.len());
}

#[test]
fn the_snippet_of_the_latency_page_loads() {
    let settings = load(
        "loadBalancer:
  algorithm: \"latency\"
  latency:
    geoipDBPath: \"/var/lib/nexus/GeoLite2-Country.mmdb\"
    regionBonusMultiplier: 2.0   # region match weighs 2x RTT weight
    minRTTThresholdMs: 5        # don't shift for <5ms differences
    fallbackRegion: \"unknown\"
",
    );
    assert_eq!(settings.load_balancer.algorithm, FilterName::Latency);
    assert_eq!(
        settings.latency.geoip_db_path,
        Some(PathBuf::from("/var/lib/nexus/GeoLite2-Country.mmdb"))
    );
    let file = PathBuf::from("config.yaml");
    assert_eq!(
        settings.origin("loadBalancer.latency.minRTTThresholdMs"),
        Origin::File { path: file, line: 6 }
    );
}

#[test]
fn the_snippet_of_the_signal_page_loads() {
    let settings = load(
        "signals:
  static:
    us-east: 450   # e.g. gCO2/kWh
    eu-west: 120
  weight: 0.5   # 0 disables the bias; 1 lets it dominate. Default 0.5.
",
    );
    let zones: Vec<_> = settings
        .signals
        .r#static
        .0
        .iter()
        .map(|(k, v)| (k.as_str(), *v))
        .collect();
    assert_eq!(zones, [("eu-west", 120.0), ("us-east", 450.0)]);
    assert_eq!(settings.zone_origin("eu-west").to_string(), "config.yaml line 4");
}

#[test]
fn names_are_read_without_regard_to_case_and_zones_as_written() {
    let settings = load(
        "loadbalancer:\n  LATENCY:\n    geoipdbpath: /x\nSIGNALS:\n  Static:\n    US-East: 1\n    NO: 2\n",
    );
    assert_eq!(settings.latency.geoip_db_path, Some(PathBuf::from("/x")));
    let zones: Vec<_> = settings.signals.r#static.0.keys().map(String::as_str).collect();
    assert_eq!(zones, ["NO", "US-East"]);
}

#[test]
fn an_unknown_key_is_told_with_line_and_nearest_name() {
    let found = problems(&sources(
        "dns:\n  port: 53\n  listnAddr: 0.0.0.0\nmetric:\n  port: 1\nport: 7\nzzz: {}\n",
        &[],
    ));
    assert_eq!(found.len(), 4, "{found:#?}");
    assert!(
        found[0].starts_with("config.yaml:3: ") && found[0].contains("`dns.listenAddr`"),
        "{}",
        found[0]
    );
    assert!(
        found[1].starts_with("config.yaml:4: ") && found[1].contains("`metrics`"),
        "{}",
        found[1]
    );
    assert!(
        found[2].starts_with("config.yaml:6: ") && found[2].contains("did you mean"),
        "{}",
        found[2]
    );
    assert!(found[3].starts_with("config.yaml:7: "), "{}", found[3]);
}

#[test]
fn command_line_beats_environment_beats_file_beats_default() {
    let mut sources = sources(
        "dns:\n  port: 1001\napi:\n  port: 1002\n",
        &[("GSLB_DNS_PORT", "2001"), ("GSLB_API_PORT", "")],
    );
    let settings = sources.load().unwrap();
    assert_eq!(
        (settings.dns.port.0, settings.api.port.0, settings.metrics.port.0),
        (2001, 1002, 9090)
    );
    assert_eq!(settings.origin("dns.port").to_string(), "GSLB_DNS_PORT");
    assert_eq!(settings.origin("api.port").to_string(), "config.yaml line 4");
    sources = sources.with("DNS.Port", 0, "--demo");
    let settings = sources.load().unwrap();
    assert_eq!(settings.dns.port.0, 0);
    assert_eq!(settings.origin("dns.port").to_string(), "--demo");
}

#[test]
fn every_setting_can_be_set_in_the_environment() {
    for (name, text, shown) in [
        ("GSLB_LOADBALANCER_LATENCY_GEOIPDBPATH", "/x.mmdb", "/x.mmdb"),
        (
            "GSLB_SIGNALS_STATIC",
            "us-east=450, eu-west=120.5",
            "eu-west=120.5,us-east=450",
        ),
        ("GSLB_LOG_FORMAT", "JSON", "json"),
        ("GSLB_API_KEY", "gslb_secret", "(secret)"),
        ("GSLB_ADMIN_PASSWORD", "hunter22hunter22", "(secret)"),
        ("GSLB_LICENSE_KEY", "a.b", "(secret)"),
    ] {
        let settings = sources("", &[(name, text)]).load().unwrap();
        let view = settings.views().into_iter().find(|v| v.origin == name).unwrap();
        assert_eq!(view.value, shown);
    }
    let variables: Vec<_> = TABLE
        .iter()
        .map(gslb_core::config::Definition::variable)
        .collect();
    let mut unique = variables.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), variables.len());
}

#[test]
fn wrong_values_are_refused_where_they_stand() {
    for (text, place, needle) in [
        ("dns:\n  port: 70000\n", "config.yaml:2", "65535"),
        ("dns:\n  port: -1\n", "config.yaml:2", "65535"),
        ("dns:\n  port: fifty\n", "config.yaml:2", "65535"),
        ("dns:\n  port: [1]\n", "config.yaml:2", "single value"),
        ("dns: 53\n", "config.yaml:1", "section"),
        ("- dns\n", "config.yaml:1", "a list"),
        ("signals:\n  weight: 1.5\n", "config.yaml:2", "0 and 1"),
        ("signals:\n  weight: .nan\n", "config.yaml:2", "finite"),
        ("signals:\n  static:\n    a: .inf\n", "config.yaml:3", "finite"),
        ("signals:\n  static:\n    a: -1\n", "config.yaml:2", "negative"),
        ("signals:\n  static:\n    a: many\n", "config.yaml:2", "line 3"),
        ("signals:\n  static: 5\n", "config.yaml:2", "mapping"),
        (
            "loadBalancer:\n  algorithm: fastest\n",
            "config.yaml:2",
            "round-robin",
        ),
        (
            "loadBalancer:\n  latency:\n    regionBonusMultiplier: -2\n",
            "config.yaml:3",
            "negative",
        ),
        ("cluster:\n  id: a b\n", "config.yaml:2", "A-Z"),
        ("node:\n  id: node.example\n", "config.yaml:2", "A-Z"),
        ("dns:\n  domain: a..b\n", "config.yaml:2", "empty label"),
        ("license:\n  publicKeys: [abc]\n", "config.yaml:2", "32 bytes"),
        ("log:\n  level: loud\n", "config.yaml:2", "info"),
        ("api:\n  tlsCert: /c\n", "config.yaml:2", "api.tlsKey"),
        ("api:\n  listenAddr: 0.0.0.0\n", "config.yaml:2", "allowPlaintext"),
        ("dns:\n  port: 1\nDNS:\n  PORT: 2\n", "config.yaml:4", "twice"),
        ("dns:\n  port: 1\n  port: 2\n", "config.yaml:3", "port"),
        ("dns:\n\tport: 1\n", "config.yaml:", ""),
    ] {
        let found = problems(&sources(text, &[]));
        assert_eq!(found.len(), 1, "{text} {found:#?}");
        assert!(
            found[0].starts_with(place) && found[0].contains(needle),
            "{text} gives {}",
            found[0]
        );
    }
    let found = problems(&sources(
        "",
        &[("GSLB_DNS_PORT", "x"), ("GSLB_SIGNALS_STATIC", "a=NaN")],
    ));
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("GSLB_DNS_PORT: "), "{}", found[0]);
}

#[test]
fn plaintext_elsewhere_needs_to_be_told() {
    let settings = load("api:\n  listenAddr: 0.0.0.0\n  allowPlaintext: true\n");
    assert!(settings.api.allow_plaintext);
    let settings = load("api:\n  listenAddr: 0.0.0.0\n  tlsCert: /c\n  tlsKey: /k\n");
    assert!(settings.api.tls_cert.is_some());
}

#[test]
fn an_unknown_variable_is_only_worth_a_warning() {
    let settings = sources(
        "",
        &[("GSLB_DNS_PROT", "1"), ("GSLB_TOKEN", "x"), ("PATH", "/bin")],
    )
    .load()
    .unwrap();
    assert_eq!(settings.warnings().len(), 1, "{:?}", settings.warnings());
    assert!(
        settings.warnings()[0].contains("GSLB_DNS_PORT"),
        "{}",
        settings.warnings()[0]
    );
}

#[test]
fn the_report_shows_value_and_origin_and_no_secret() {
    let report = sources("dns:\n  port: 53\n", &[("GSLB_API_KEY", "gslb_topsecret")])
        .load()
        .unwrap()
        .report();
    let line = |name: &str| {
        report
            .lines()
            .find(|l| l.starts_with(name))
            .unwrap_or_default()
            .to_owned()
    };
    assert!(
        line("dns.port ").contains("53") && line("dns.port ").ends_with("(config.yaml line 2)"),
        "{report}"
    );
    assert!(
        line("api.key ").contains("(secret)") && line("api.key ").ends_with("(GSLB_API_KEY)"),
        "{report}"
    );
    assert!(!report.contains("topsecret"));
    assert_eq!(report.lines().count(), TABLE.len());
    for row in TABLE {
        assert!(reference().contains(row.name), "{}", row.name);
    }
}

#[test]
fn a_reload_applies_what_it_may_and_says_what_it_may_not() {
    let mut settings = load("dns:\n  port: 53\nsignals:\n  weight: 0.1\n");
    let outcome = settings.reload(load(
        "dns:\n  port: 54\nsignals:\n  weight: 0.9\nlog:\n  level: debug\n  format: json\n",
    ));
    assert_eq!(outcome.applied, ["signals.weight", "log.level"]);
    assert_eq!(outcome.ignored, ["dns.port", "log.format"]);
    assert_eq!(settings.dns.port.0, 53);
    assert_eq!(settings.log.format, LogFormat::Text);
    assert!((settings.signals.weight.0 - 0.9).abs() < f64::EPSILON);
    assert_eq!(settings.origin("log.format"), Origin::Default);
}

#[test]
fn secrets_that_are_too_easy_are_refused() {
    let problems = |pairs: &[(&str, &str)]| match sources("", pairs).load() {
        Ok(_) => Vec::new(),
        Err(error) => error.to_string().lines().map(str::to_owned).collect::<Vec<_>>(),
    };
    let found = problems(&[("GSLB_ADMIN_PASSWORD", "admin"), ("GSLB_API_KEY", "secret")]);
    assert_eq!(found.len(), 2, "{found:?}");
    for (name, line) in ["GSLB_ADMIN_PASSWORD", "GSLB_API_KEY"]
        .iter()
        .zip([("admin.password", "12 characters"), ("api.key", "8 characters")])
    {
        let (line, least) = line;
        let told = found.iter().find(|problem| problem.starts_with(*name)).unwrap();
        assert!(told.contains(line) && told.contains(least), "{told}");
        assert!(!told.contains("secret`") && !told.contains("`admin`"), "{told}");
    }
    for weak in ["admin-admin-admin", "aaaaaaaaaaaaaa"] {
        assert_eq!(problems(&[("GSLB_ADMIN_PASSWORD", weak)]).len(), 1, "{weak}");
    }
    // What no header can carry could never be presented.
    assert_eq!(problems(&[("GSLB_API_KEY", "schlüssel-lang")]).len(), 1);
    assert_eq!(problems(&[("GSLB_API_KEY", " padded-key ")]).len(), 1);
    assert_eq!(
        problems(&[
            ("GSLB_ADMIN_PASSWORD", "päßwörtchen."),
            ("GSLB_API_KEY", "12345678")
        ]),
        [""; 0]
    );
}

#[test]
fn files_that_settings_name_are_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("map"), "192.0.2.0/24 eu\n").unwrap();
    std::fs::write(path("broken"), "nonsense\n").unwrap();
    std::fs::write(path("empty"), "").unwrap();
    let database = path("gslbd.db").display().to_string();
    let problems = |text: String| {
        let settings = sources(&text, &[("GSLB_DATABASE_PATH", &database)])
            .load()
            .unwrap();
        settings.file_problems()
    };
    assert_eq!(problems(format!("routing:\n  mapFile: {:?}\n", path("map"))), []);
    for (name, file, word) in [
        ("routing:\n  mapFile", "missing", "cannot read"),
        ("routing:\n  mapFile", "", "no file"),
        ("routing:\n  mapFile", "empty", "empty"),
        ("routing:\n  mapFile", "broken", "line 1"),
        (
            "loadBalancer:\n  latency:\n    geoipDBPath",
            "missing",
            "cannot read",
        ),
        ("loadBalancer:\n  latency:\n    asnDBPath", "broken", "broken"),
        (
            "loadBalancer:\n  latency:\n    cityDBPath",
            "missing",
            "cannot read",
        ),
        ("license:\n  file", "missing", "cannot read"),
        ("license:\n  file", "broken", "licence"),
    ] {
        let found = problems(format!("{name}: {:?}\n", path(file)));
        assert_eq!(found.len(), 1, "{name} {file}");
        assert!(found[0].message.contains(word), "{name} {file}: {}", found[0]);
        assert!(found[0].place.contains(':'), "the line is told: {}", found[0]);
    }
}

#[test]
fn a_database_is_a_file_with_room_around_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("there.db"), "whatever").unwrap();
    std::fs::create_dir(path("folder")).unwrap();
    let told = |name: &str| {
        let text = format!("log:\n  level: warn\ndatabase:\n  path: {:?}\n", path(name));
        let problems = sources(&text, &[]).load().unwrap().file_problems();
        problems.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    for good in ["there.db", "new.db", "folder/new.db", "made/at/start.db"] {
        assert_eq!(told(good), [""; 0], "{good}");
    }
    for (bad, why) in [
        ("folder", "is a folder"),
        ("there.db/new.db", "is no folder"),
        ("there.db/and/below.db", "is no folder"),
    ] {
        let told = told(bad);
        assert_eq!(told.len(), 1, "{told:?}");
        let line = &told[0];
        assert!(
            line.starts_with("config.yaml:4: `database.path`: ") && line.contains(why),
            "{line}"
        );
    }
    let kept = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(kept, 2, "nothing is left behind");
    // Where nobody can write, not even whoever may do anything.
    let text = "database:\n  path: /proc/gslbd.db\n";
    let problems = sources(text, &[]).load().unwrap().file_problems();
    assert!(
        problems[0]
            .to_string()
            .contains("cannot write in the folder /proc"),
        "{problems:?}"
    );
}

#[test]
fn two_listeners_do_not_get_one_port() {
    let clash = |text: &str, environment: &[(&str, &str)]| match sources(text, environment).load() {
        Ok(_) => Vec::new(),
        Err(ConfigError::Invalid(found)) => found.iter().map(ToString::to_string).collect(),
        Err(other) => panic!("{other}"),
    };
    for good in [
        // The same number on other addresses, or for another protocol.
        "api:\n  port: 7000\nmetrics:\n  port: 7000\n  listenAddr: 127.0.0.2\n",
        "api:\n  port: 0\nmetrics:\n  port: 0\n",
        "dns:\n  tlsCert: c\n  tlsKey: k\n  tlsPort: 8853\n  quicPort: 8853\n",
        // Nobody listens there without a certificate.
        "dns:\n  tlsPort: 5353\n",
        "dns:\n  tlsCert: c\n  tlsKey: k\n  tlsPort: off\n  httpsPort: off\n",
        "dns:\n  port: 8080\n  listenAddr: \"::1\"\n",
    ] {
        assert_eq!(clash(good, &[]), [""; 0], "{good}");
    }
    for (bad, line, words) in [
        (
            "api:\n  port: 7000\nmetrics:\n  port: 7000\n",
            4,
            "`metrics.port` is TCP 127.0.0.1:7000, where `api.port` (config.yaml:2) listens too",
        ),
        (
            "dns:\n  port: 8080\n",
            2,
            "`dns.port` is TCP 0.0.0.0:8080, where `api.port` (default) listens too",
        ),
        (
            "dns:\n  port: 9090\n  listenAddr: \"::\"\n",
            2,
            "`dns.port` is TCP [::]:9090, where `metrics.port` (default) listens too",
        ),
        (
            "metrics:\n  port: 5353\n",
            2,
            "`metrics.port` is TCP 127.0.0.1:5353, where `dns.port` (default) listens too",
        ),
        (
            "dns:\n  tlsCert: c\n  tlsKey: k\n  tlsPort: 9853\n  httpsPort: 9853\n",
            5,
            "`dns.httpsPort` is TCP",
        ),
        (
            "dns:\n  tlsCert: c\n  tlsKey: k\n  quicPort: 5353\n",
            4,
            "`dns.quicPort` is UDP",
        ),
        (
            "dns:\n  tlsCert: c\n  tlsKey: k\n  tlsPort: 5353\n",
            4,
            "`dns.tlsPort` is TCP",
        ),
    ] {
        let told = clash(bad, &[]);
        assert_eq!(told.len(), 1, "{bad}: {told:?}");
        assert!(told[0].starts_with(&format!("config.yaml:{line}: ")), "{told:?}");
        assert!(told[0].contains(words), "{told:?}");
    }
    let told = clash("", &[("GSLB_API_PORT", "9090")]);
    assert!(
        told[0].starts_with("GSLB_API_PORT: `api.port` is TCP"),
        "{told:?}"
    );
}

#[test]
fn one_problem_hides_no_other() {
    let text = "\
dns:
  port: many
signals:
  static:
    no: 1
    se: x
    no: 2
routing:
  mapFile: /nowhere/map
";
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("gslbd.db").display().to_string();
    let Err(ConfigError::Invalid(found)) = sources(text, &[("GSLB_DATABASE_PATH", &database)]).check() else {
        panic!()
    };
    let told: Vec<String> = found.iter().map(ToString::to_string).collect();
    for (place, words) in [
        ("config.yaml:2:", "is no port"),
        ("config.yaml:7:", "`no` is set twice: it stands in line 5 already"),
        ("config.yaml:4:", "zone `se`: `x` is no number (line 6)"),
        ("config.yaml:9:", "cannot read /nowhere/map: No such file"),
    ] {
        let there = told
            .iter()
            .any(|line| line.contains(place) && line.contains(words));
        assert!(there, "{place} {words} in {told:#?}");
    }
    assert_eq!(told.len(), 4, "{told:#?}");
}
