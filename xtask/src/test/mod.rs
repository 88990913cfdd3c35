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
}

/// In the order of running: what is quick and fails often comes first.
const STAGES: &[Stage] = &[
    Stage {
        name: "fmt",
        about: "formatting",
        run: stages::fmt,
    },
    Stage {
        name: "layout",
        about: "cargo xtask check",
        run: stages::layout,
    },
    Stage {
        name: "clippy",
        about: "lints of every crate and target",
        run: stages::clippy,
    },
    Stage {
        name: "wasm",
        about: "lints of the browser's build, purity of the engine and its decisions in it",
        run: stages::wasm,
    },
    Stage {
        name: "unit",
        about: "tests of every crate",
        run: stages::unit,
    },
    Stage {
        name: "doc",
        about: "examples in doc comments",
        run: stages::doc,
    },
    Stage {
        name: "site",
        about: "the console for development",
        run: stages::site,
    },
    Stage {
        name: "e2e",
        about: "browser tests against the real daemon",
        run: stages::e2e,
    },
    Stage {
        name: "instructions",
        about: "instructions of routing decisions against the baseline",
        run: stages::instructions,
    },
    Stage {
        name: "fuzz",
        about: "fuzz targets for a minute, on the nightly compiler",
        run: stages::fuzz,
    },
    Stage {
        name: "release",
        about: "the shipped program and the size of its console",
        run: stages::release,
    },
    Stage {
        name: "deb",
        about: "the Debian package: built, installed, started, removed",
        run: stages::deb,
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
                !named(&self.skip, stage)
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
    fn all_stages_run_unless_told_otherwise() {
        assert_eq!(names(&[], &[]).unwrap().len(), STAGES.len());
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
