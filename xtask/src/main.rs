//! Builds, checks, tests and runs the workspace: `cargo xtask <command>`. Plain Rust, so that a newcomer needs nothing
//! beside the compiler.

mod process;
mod site;
mod workspace;

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
}

fn main() -> Result<()> {
    let cli = Cli::parse();
    let workspace = Workspace::find()?;
    match cli.task {
        Task::Site { release } => {
            site::build(&workspace, if release { Flavour::Release } else { Flavour::Dev })
        }
    }
}
