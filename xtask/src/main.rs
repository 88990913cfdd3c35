//! Builds, checks, tests and runs the workspace: `cargo xtask <command>`. Plain Rust, so that a newcomer needs nothing
//! beside the compiler.

mod browser;
mod check;
mod fuzz;
mod hostile;
mod instructions;
mod package;
mod portable;
mod process;
mod server;
mod site;
mod test;
mod tools;
mod workspace;

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use site::Flavour;
use workspace::Workspace;

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", about = "Builds, checks, tests and runs the workspace")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Builds the web console into target/site
    Site {
        /// The small bundle that is shipped
        #[arg(long)]
        release: bool,
    },
    /// Builds target/release/gslbd: one file with the console inside
    Build,
    /// Builds all and starts gslbd with sample services on loopback
    Demo {
        /// Optimised, as shipped; takes longer to build
        #[arg(long)]
        release: bool,
        /// Passed on to gslbd
        #[arg(last = true)]
        args: Vec<OsString>,
    },
    /// Checks the layout: edges between crates, file sizes, comments, links
    Check,
    /// Runs all tests, and installs what they need
    Test(test::Selection),
    /// Counts the instructions of routing decisions and compares them with the baseline
    Instructions {
        /// What is counted becomes the baseline
        #[arg(long)]
        update: bool,
    },
    /// Runs the fuzz targets
    Fuzz {
        /// For all targets together
        #[arg(long, default_value_t = 60)]
        seconds: u32,
    },
    /// Measures what hostile scripts cost the daemon
    Hostile(hostile::Options),
    /// Builds the Debian package
    Deb {
        /// Then installs, starts and removes it
        #[arg(long)]
        trial: bool,
    },
    /// Takes a picture of every page of the console into end2end/screenshots
    Screenshots,
}

fn main() -> ExitCode {
    match run(Cli::parse().task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: Task) -> Result<()> {
    let workspace = Workspace::find()?;
    match task {
        Task::Site { release } => {
            site::build(&workspace, if release { Flavour::Release } else { Flavour::Dev })
        }
        Task::Build => server::build(&workspace).map(drop),
        Task::Demo { release, args } => server::demo(&workspace, release, &args),
        Task::Check => check::run(&workspace),
        Task::Test(selection) => test::run(&workspace, &selection),
        Task::Instructions { update } => instructions::run(&workspace, update),
        Task::Fuzz { seconds } => fuzz::run(&workspace, seconds),
        Task::Hostile(options) => hostile::run(&workspace, &options),
        Task::Deb { trial } => {
            let package = package::build(&workspace)?;
            if trial {
                package::trial(&workspace, &package)
            } else {
                Ok(())
            }
        }
        Task::Screenshots => {
            site::build(&workspace, Flavour::Dev)?;
            server::compile(&workspace, false)?;
            browser::screenshots(&workspace)
        }
    }
}
