//! `cargo xtask test`: everything that must hold before a change lands, in stages that can be run alone.
//!
//! A stage that fails does not keep the others from running: one run tells all there is to mend. Stages share the
//! target folder, and the server under the browser tests is the very program that the unit tests built.

mod stages;

use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::workspace::Workspace;

/// One part of the tests.
struct Stage {
    name: &'static str,
    about: &'static str,
    run: fn(&Workspace) -> Result<()>,
    /// Run unless told otherwise.
    usual: bool,
}

const fn usual(name: &'static str, about: &'static str, run: fn(&Workspace) -> Result<()>) -> Stage {
    Stage {
        name,
        about,
        run,
        usual: true,
    }
}

/// In the order of running: what is quick and fails often comes first.
const STAGES: &[Stage] = &[
    usual("fmt", "formatting", stages::fmt),
    usual("layout", "cargo xtask check", stages::layout),
    usual(
        "build",
        "every crate and target compiled and linted",
        stages::build,
    ),
    usual(
        "wasm",
        "purity of the engine, and its decisions in the browser's build",
        stages::wasm,
    ),
    usual("unit", "tests of every crate", stages::unit),
    usual("doc", "examples in doc comments", stages::doc),
    usual(
        "site",
        "the console for development, compiled and linted",
        stages::site,
    ),
    usual("e2e", "browser tests against the real daemon", stages::e2e),
    usual(
        "deb",
        "the Debian package of the tested program: installed, started, removed",
        stages::deb,
    ),
    usual(
        "instructions",
        "instructions of routing decisions against the baseline",
        stages::instructions,
    ),
    usual(
        "fuzz",
        "fuzz targets for a minute, on the nightly compiler",
        stages::fuzz,
    ),
    usual("size", "the console as it is shipped, and its size", stages::size),
    // Compiles everything once more, with optimisation: before a release, not before every change.
    Stage {
        name: "release",
        about: "the program and the Debian package to ship (only when asked for)",
        run: stages::release,
        usual: false,
    },
];

/// Which stages to run.
#[derive(Debug, Default, clap::Args)]
pub struct Selection {
    /// Only these stages
    #[arg(long, value_delimiter = ',', value_name = "STAGE", conflicts_with = "skip")]
    only: Vec<String>,
    /// All but these stages
    #[arg(long, value_delimiter = ',', value_name = "STAGE")]
    skip: Vec<String>,
    /// Lists the stages
    #[arg(long)]
    list: bool,
}

impl Selection {
    fn stages(&self) -> Result<Vec<&'static Stage>> {
        for name in self.only.iter().chain(&self.skip) {
            if !STAGES.iter().any(|stage| stage.name == name) {
                let known: Vec<_> = STAGES.iter().map(|stage| stage.name).collect();
                bail!("no stage {name}; there are {}", known.join(", "));
            }
        }
        let named = |list: &[String], stage: &Stage| list.iter().any(|name| name == stage.name);
        let wanted = |stage: &&Stage| {
            if self.only.is_empty() {
                stage.usual && !named(&self.skip, stage)
            } else {
                named(&self.only, stage)
            }
        };
        Ok(STAGES.iter().filter(wanted).collect())
    }
}

/// Runs the selected stages and tells how long each took.
pub fn run(workspace: &Workspace, selection: &Selection) -> Result<()> {
    let stages = selection.stages()?;
    if selection.list {
        stages
            .iter()
            .for_each(|stage| println!("{:<12} {}", stage.name, stage.about));
        return Ok(());
    }
    let mut results = Vec::new();
    for stage in stages {
        println!("\n=== {}: {}", stage.name, stage.about);
        let started = Instant::now();
        let result = (stage.run)(workspace);
        let took = started.elapsed();
        match &result {
            Ok(()) => println!("=== {} passed in {:.1} s", stage.name, took.as_secs_f64()),
            Err(error) => println!(
                "=== {} FAILED after {:.1} s: {error:#}",
                stage.name,
                took.as_secs_f64()
            ),
        }
        results.push((stage, result, took));
    }
    summary(&results)
}

fn summary(results: &[(&Stage, Result<()>, Duration)]) -> Result<()> {
    println!();
    for (stage, result, took) in results {
        let word = if result.is_ok() { "ok" } else { "FAILED" };
        println!("{:<12} {word:<6} {:>7.1} s", stage.name, took.as_secs_f64());
    }
    let total: Duration = results.iter().map(|(_, _, took)| *took).sum();
    let failed = results.iter().filter(|(_, result, _)| result.is_err()).count();
    println!("{:<19} {:>7.1} s", "total", total.as_secs_f64());
    println!("stages: {} passed, {failed} failed", results.len() - failed);
    if failed > 0 {
        bail!("{failed} of {} stages failed", results.len());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(only: &[&str], skip: &[&str]) -> Result<Vec<&'static str>> {
        let owned = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect();
        let selection = Selection {
            only: owned(only),
            skip: owned(skip),
            list: false,
        };
        Ok(selection.stages()?.iter().map(|stage| stage.name).collect())
    }

    #[test]
    fn all_stages_but_the_release_run_unless_told_otherwise() {
        let run = names(&[], &[]).unwrap();
        assert_eq!(run.len(), STAGES.len() - 1);
        assert!(!run.contains(&"release"));
        assert_eq!(names(&["release"], &[]).unwrap(), ["release"]);
    }

    #[test]
    fn stages_keep_their_order() {
        assert_eq!(names(&["e2e", "fmt"], &[]).unwrap(), ["fmt", "e2e"]);
        assert!(!names(&[], &["deb", "e2e"]).unwrap().contains(&"deb"));
    }

    #[test]
    fn an_unknown_stage_is_refused() {
        let error = names(&["end2end"], &[]).unwrap_err().to_string();
        assert!(error.contains("end2end") && error.contains("e2e"), "{error}");
    }
}
