//! Runs the scenario files: services, members, geo rows and rules written down, a query, and the decision it must get.
//!
//! Each case is evaluated as a query and as a trace, and the two must agree. `README.md` in the folder describes the
//! format.

#[path = "scenarios/expect.rs"]
mod expect;
#[path = "scenarios/format.rs"]
mod format;

use format::Scenario;
use gslb_engine::model::{FILTERS, Tier};
use std::path::{Path, PathBuf};

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "yaml"));
    files.sort();
    files
}

#[expect(clippy::disallowed_methods, reason = "scenarios are files")]
fn read(path: &Path) -> Result<Scenario, String> {
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    Scenario::parse(&text)
}

#[test]
fn every_scenario_holds() {
    let files = files();
    assert!(files.len() > 10, "scenario files are missing: {files:?}");
    let mut failures = Vec::new();
    let mut cases = 0;
    for path in &files {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let scenario = match read(path) {
            Ok(scenario) => scenario,
            Err(error) => {
                failures.push(format!("{name}: {error}"));
                continue;
            }
        };
        for case in &scenario.cases {
            cases += 1;
            for failure in expect::run(&scenario, case) {
                failures.push(format!("{name} ({}): {}: {failure}", scenario.about, case.name));
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {cases} cases failed:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

/// The table of `docs/steps.md` and the palette name the same steps with the same classes and tiers.
#[test]
#[expect(clippy::disallowed_methods, reason = "the table is a file")]
fn the_table_of_steps_is_that_of_the_palette() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/steps.md");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut rows = Vec::new();
    for line in text.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let name = cells[1].trim_matches('`');
        let class = cells[2].split(',').next().unwrap().to_owned();
        rows.push((
            name.to_owned(),
            class,
            cells[2].ends_with("reorders"),
            cells[3].to_owned(),
            cells[4].to_owned(),
        ));
    }
    let mut palette: Vec<_> = FILTERS
        .iter()
        .map(|info| {
            let parameter = info.parameter.map_or("", |_| ":N");
            let class = serde_json::to_value(info.class).unwrap();
            let alone = match info.parameter {
                Some(_) => "–".to_owned(),
                None => info.name.algorithm_tier().to_string(),
            };
            (
                format!("{}{parameter}", info.name),
                class.as_str().unwrap().to_owned(),
                info.order_only,
                info.tier.max(Tier::Pro).to_string(),
                alone,
            )
        })
        .collect();
    let script = ("script:<body>", "narrowing", false, "enterprise", "–");
    palette.push((
        script.0.into(),
        script.1.into(),
        script.2,
        script.3.into(),
        script.4.into(),
    ));
    rows.sort();
    palette.sort();
    assert_eq!(rows, palette);
}

#[test]
fn a_file_with_an_unknown_key_or_without_cases_is_refused() {
    let good = "about: x\npools: {}\ncases: [{name: n, query: {name: a., source: 192.0.2.1}, expect: {found: outside}}]";
    assert!(Scenario::parse(good).is_ok(), "{:?}", Scenario::parse(good).err());
    let unknown = good.replace("about: x", "about: x\nserviecs: {}");
    assert!(Scenario::parse(&unknown).is_err());
    let nested = good.replace("source:", "sourec: x, source:");
    assert!(Scenario::parse(&nested).is_err());
    let empty = "about: x\npools: {}\ncases: []";
    assert!(Scenario::parse(empty).is_err());
    let nothing = good.replace("expect: {found: outside}", "expect: {}");
    assert!(Scenario::parse(&nothing).is_err());
}

#[test]
fn a_wrong_expectation_fails() {
    let text = "about: x\npools: {p: {members: [{ip: 192.0.2.1}, {ip: 192.0.2.2}]}}\n\
                services: {a.: {pool: p, algorithm: random}}\n\
                cases: [{name: n, query: {name: a., source: 192.0.2.1}, expect: EXPECT}]";
    let run = |expect: &str| {
        let scenario = Scenario::parse(&text.replace("EXPECT", expect)).unwrap();
        expect::run(&scenario, &scenario.cases[0])
    };
    assert_eq!(
        run("{anyOf: [192.0.2.1, 192.0.2.2], ttl: 30}"),
        Vec::<String>::new()
    );
    for wrong in [
        "{anyOf: [192.0.2.1]}",
        "{anyOf: [192.0.2.1, 192.0.2.2, 192.0.2.3]}",
        "{shares: {192.0.2.1: 0.7, 192.0.2.2: 0.3}}",
        "{turns: [192.0.2.1, 192.0.2.2]}",
        "{answers: [192.0.2.3]}",
        "{ttl: 31}",
        "{scope: 1}",
        "{outcome: fallback}",
        "{found: missing}",
        "{steered: true}",
        "{steps: [{action: narrowed}]}",
        "{steps: [{action: selected, details: {weight: '1'}}]}",
        "{notes: [nothing of the kind]}",
    ] {
        assert!(!run(wrong).is_empty(), "{wrong} passed");
    }
}
