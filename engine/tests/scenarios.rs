//! Runs the scenario files: services, members, geo rows and rules written down, a query, and the decision it must get.
//!
//! Each case is evaluated as a query and as a trace, and the two must agree. `README.md` in the folder describes the
//! format.

#[path = "scenarios/expect.rs"]
mod expect;
#[path = "scenarios/format.rs"]
mod format;

use format::Scenario;
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
