//! `cargo xtask instructions`: counts the instructions of routing decisions, and of answers from packet to packet, and
//! compares them with what is checked in.
//!
//! Time on a shared machine says little; the number of instructions of one binary is the same on each. Another compiler
//! makes another binary, so the baseline names the one that it holds for, and is compared with no other.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use serde::{Deserialize, Serialize};

use crate::workspace::Workspace;
use crate::{process, tools};

/// What is compared with, relative to the workspace.
const BASELINE: &str = "engine/benches/instructions.json";
/// Per cent that a case may be worse.
const TOLERANCE: u64 = 5;
/// The examples that are counted, and their packages. In each a function `measured` is called around each case.
const EXAMPLES: [(&str, &str); 2] = [("gslb-engine", "instructions"), ("gslb-dns", "wire_instructions")];

/// Instructions per decision or answer, by case.
type Counts = BTreeMap<String, u64>;

/// The file that is checked in.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Baseline {
    /// Compiler and target that it was measured with.
    compiler: String,
    /// Instructions per decision or answer.
    instructions: Counts,
}

/// Counts and compares; with `update` what was counted becomes the baseline.
pub fn run(workspace: &Workspace, update: bool) -> Result<()> {
    let root = &workspace.root;
    tools::debian(root, &[("valgrind", &["valgrind"])])?;
    let now = Baseline {
        compiler: compiler(root)?,
        instructions: count(workspace)?,
    };
    let path = root.join(BASELINE);
    if update {
        let text = serde_json::to_string_pretty(&now)? + "\n";
        fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
        println!("{BASELINE} has {} cases", now.instructions.len());
        return Ok(());
    }
    let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    let then: Baseline = serde_json::from_str(&text).with_context(|| format!("in {}", path.display()))?;
    if then.compiler != now.compiler {
        println!(
            "not compared: the baseline is of {}, this is {}",
            then.compiler, now.compiler
        );
        return Ok(());
    }
    let problems = compare(&then.instructions, &now.instructions);
    ensure!(
        problems.is_empty(),
        "{}\nif that is meant: cargo xtask instructions --update",
        problems.join("\n")
    );
    Ok(())
}

/// Version and target of the compiler, in one line.
fn compiler(root: &Path) -> Result<String> {
    let text = process::capture(process::command("rustc", root).arg("-vV"))?;
    let field = |name: &str| {
        text.lines()
            .find_map(|line| line.strip_prefix(name))
            .map(str::trim)
    };
    let version = text.lines().next().unwrap_or_default();
    let host = field("host:").context("rustc names no host")?;
    Ok(format!("{version}, {host}"))
}

/// Counts every case of every example.
fn count(workspace: &Workspace) -> Result<Counts> {
    let mut counts = Counts::new();
    for (package, example) in EXAMPLES {
        counts.extend(count_example(workspace, package, example)?);
    }
    Ok(counts)
}

/// Builds an example as it is shipped and runs it below callgrind.
fn count_example(workspace: &Workspace, package: &str, example: &str) -> Result<Counts> {
    let root = &workspace.root;
    let mut build = process::cargo(
        root,
        ["build", "--release", "--package", package, "--example", example],
    );
    // Neither the machine's own instructions nor its debugging settings.
    process::run(
        build
            .env_remove("RUSTFLAGS")
            .env_remove("CARGO_ENCODED_RUSTFLAGS"),
    )?;
    let program = workspace.target.join("release/examples").join(example);
    let folder = workspace.scratch().join(example);
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("emptying {}", folder.display()))?;
    }
    fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
    let function = format!("{example}::measured");
    let cases = process::capture(
        process::command("valgrind", &folder)
            .args(["--tool=callgrind", "--quiet", "--callgrind-out-file=out"])
            .args(["zero-before", "dump-after"].map(|option| format!("--{option}={function}")))
            .arg(&program),
    )?;
    read(&cases, |number| {
        let path: PathBuf = folder.join(format!("out.{number}"));
        fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))
    })
}

/// Instructions per decision or answer: the example's lines, in the order of the dumps.
fn read(cases: &str, dump: impl Fn(usize) -> Result<String>) -> Result<Counts> {
    let mut counts = Counts::new();
    for (number, line) in (1..).zip(cases.lines()) {
        let (decisions, name) = line
            .split_once(' ')
            .with_context(|| format!("the line {line:?}"))?;
        let decisions: u64 = decisions.parse().with_context(|| format!("the line {line:?}"))?;
        let text = dump(number)?;
        let total = text.lines().find_map(|line| line.strip_prefix("totals:"));
        let total: u64 = total.context("a dump without a total")?.trim().parse()?;
        if decisions == 0 || total == 0 {
            bail!("{name}: nothing was counted");
        }
        counts.insert(name.to_owned(), total / decisions);
    }
    ensure!(!counts.is_empty(), "the example has no cases");
    Ok(counts)
}

/// Prints a table, and tells what is worse than it may be.
fn compare(then: &Counts, now: &Counts) -> Vec<String> {
    let mut problems = Vec::new();
    for (name, count) in now {
        let Some(before) = then.get(name) else {
            problems.push(format!("{name}: not in the baseline"));
            continue;
        };
        let change = (*count as f64 / (*before).max(1) as f64 - 1.0) * 100.0;
        println!("{count:>6}  {change:>+6.1} %  {name}");
        if count * 100 > before * (100 + TOLERANCE) {
            problems.push(format!(
                "{name}: {count} instructions instead of {before}, {change:+.1} %"
            ));
        } else if count * 100 < before * (100 - TOLERANCE) {
            println!("        better than the baseline: write the new number down with --update");
        }
    }
    let gone = then.keys().filter(|name| !now.contains_key(*name));
    problems.extend(gone.map(|name| format!("{name}: in the baseline, and not measured any more")));
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(list: &[(&str, u64)]) -> Counts {
        list.iter()
            .map(|(name, count)| ((*name).to_owned(), *count))
            .collect()
    }

    #[test]
    fn more_than_the_tolerance_is_a_problem_and_so_are_cases_that_do_not_match() {
        let then = counts(&[("a", 1000), ("b", 1000), ("c", 1000), ("gone", 1)]);
        let now = counts(&[("a", 1050), ("b", 1051), ("c", 10), ("new", 1)]);
        let problems = compare(&then, &now);
        assert_eq!(problems.len(), 3, "{problems:?}");
        assert!(
            problems[0].starts_with("b: 1051 instructions instead of 1000"),
            "{problems:?}"
        );
        assert!(problems[1].starts_with("new: "), "{problems:?}");
        assert!(problems[2].starts_with("gone: "), "{problems:?}");
    }

    #[test]
    fn dumps_are_read_in_the_order_of_the_cases() {
        let dump = |number: usize| Ok(format!("version: 1\nevents: Ir\ntotals: {}\n", number * 5000));
        let read = read("100 one step\n50 two steps, 8 members\n", dump).unwrap();
        assert_eq!(read, counts(&[("one step", 50), ("two steps, 8 members", 200)]));
    }

    #[test]
    fn a_dump_without_a_count_is_an_error() {
        assert!(read("100 one\n", |_| Ok("totals: 0\n".to_owned())).is_err());
        assert!(read("100 one\n", |_| Ok("nothing\n".to_owned())).is_err());
        assert!(read("", |_| Ok(String::new())).is_err());
    }
}
