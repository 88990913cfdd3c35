//! Command line of `gslbd`.

use clap::{Args, Parser, Subcommand};
use gslb_engine::model::Tier;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Global server load balancer: DNS answers steered by filter chains over probed members, with REST API and console.
#[derive(Debug, Parser)]
#[command(name = "gslbd", version, args_conflicts_with_subcommands = true)]
pub struct Cli {
    /// Runs the daemon when there is no command.
    #[command(flatten)]
    pub run: RunArgs,

    /// What else this program does.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Options of the daemon.
#[derive(Debug, Clone, Default, Args)]
pub struct RunArgs {
    /// Configuration file (also `-config FILE`). Default: /etc/gslb/config.yaml, if it exists.
    #[arg(long, short = 'c', value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Prints every setting with its value and where it came from, looks into the files that they name, and exits: 0
    /// if all is right, 64 if not.
    #[arg(long)]
    pub check_config: bool,

    /// Starts a whole product to try on loopback: sample pools with small HTTP responders behind them, services that
    /// use every filter, an enterprise licence made on the spot.
    #[arg(long)]
    pub demo: bool,

    /// Folder for the demo's files, kept afterwards. Default: a fresh temporary folder.
    #[arg(long, value_name = "DIR", requires = "demo")]
    pub data: Option<PathBuf>,

    /// DNS port; 0 takes a free one.
    #[arg(long, value_name = "PORT")]
    pub dns_port: Option<u16>,

    /// Port of API and console; 0 takes a free one.
    #[arg(long, value_name = "PORT")]
    pub api_port: Option<u16>,

    /// Port of the metrics; 0 takes a free one.
    #[arg(long, value_name = "PORT")]
    pub metrics_port: Option<u16>,
}

/// Commands beside running the daemon.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Makes keys, issues licences and shows what one says.
    #[command(subcommand)]
    License(LicenseCommand),
    /// Looks at the accounts in the database, and opens one that nobody can log in to. Works whether the daemon runs or
    /// not; run it as the daemon's own user.
    #[command(subcommand)]
    User(UserCommand),
    /// Prints the OpenAPI document of the REST API.
    Openapi,
    /// One HTTP responder of the demo.
    #[command(hide = true)]
    DemoBackend {
        /// Address to listen on.
        #[arg(long)]
        listen: SocketAddr,
        /// Name to answer with.
        #[arg(long)]
        name: String,
    },
}

/// `gslbd user …`
#[derive(Debug, Subcommand)]
pub enum UserCommand {
    /// Lists the accounts of all tenants.
    List {
        /// Configuration file, which names the database. Default: /etc/gslb/config.yaml, if it exists.
        #[arg(long, short = 'c', value_name = "FILE")]
        config: Option<PathBuf>,
    },
    /// Gives an account a new password, enables it, and ends its sessions.
    Reset {
        /// Name of the account.
        name: String,
        /// Reads the new password from standard input; without it one is made up and printed.
        #[arg(long)]
        password_stdin: bool,
        /// Configuration file, which names the database. Default: /etc/gslb/config.yaml, if it exists.
        #[arg(long, short = 'c', value_name = "FILE")]
        config: Option<PathBuf>,
    },
}

/// `gslbd license …`
#[derive(Debug, Subcommand)]
pub enum LicenseCommand {
    /// Writes a new key pair: PREFIX.private (keep it secret) and PREFIX.public.
    Keygen {
        /// Path without ending.
        #[arg(long, value_name = "PREFIX")]
        out: PathBuf,
    },
    /// Prints a licence signed with a private key.
    Issue {
        /// File of the private key.
        #[arg(long, value_name = "FILE")]
        key: PathBuf,
        /// `pro` (or `paid`), `enterprise`, `free`.
        #[arg(long, value_parser = parse_tier)]
        tier: Tier,
        /// Days from now until it expires, at least 1.
        #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
        days: u32,
        /// Who it is for.
        #[arg(long, default_value = "")]
        customer: String,
        /// Queries a second; without it there is no limit.
        #[arg(long, value_name = "N")]
        max_rps: Option<u64>,
    },
    /// Shows what a licence says, and whether the keys given verify it.
    Show {
        /// The licence; without it GSLB_LICENSE_KEY.
        license: Option<String>,
        /// Public key (text, or a file that holds it); may be given more than once.
        #[arg(long, value_name = "KEY")]
        public_key: Vec<String>,
    },
}

fn parse_tier(text: &str) -> Result<Tier, String> {
    match text {
        "free" | "unlicensed" => Ok(Tier::Free),
        "pro" | "paid" => Ok(Tier::Pro),
        "enterprise" => Ok(Tier::Enterprise),
        other => Err(format!("`{other}` is no tier: free, pro or enterprise")),
    }
}

/// Reads the arguments of this process. `-config FILE` is understood beside `--config FILE`.
#[must_use]
pub fn parse(args: impl IntoIterator<Item = OsString>) -> Cli {
    let args = args.into_iter().map(|arg| match arg.to_str() {
        Some(text) if text == "-config" || text.starts_with("-config=") => OsString::from(format!("-{text}")),
        _ => arg,
    });
    Cli::parse_from(args)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn an_account_is_named_to_be_reset() {
        let cli = parse(["gslbd", "user", "reset", "admin", "-c", "/tmp/x.yaml"].map(OsString::from));
        let Some(Command::User(UserCommand::Reset { name, config, .. })) = cli.command else {
            panic!()
        };
        assert_eq!(
            (name.as_str(), config),
            ("admin", Some(PathBuf::from("/tmp/x.yaml")))
        );
        assert!(Cli::try_parse_from(["gslbd", "user", "reset"]).is_err());
    }

    #[test]
    fn a_licence_lasts_a_day_at_least() {
        let issue = |days: &str| {
            let args = [
                "gslbd", "license", "issue", "--key", "k", "--tier", "pro", "--days", days,
            ];
            Cli::try_parse_from(args)
        };
        assert!(issue("0").is_err());
        assert!(issue("-1").is_err());
        assert!(issue("1").is_ok());
    }

    #[test]
    fn one_dash_before_config_is_understood() {
        let cli = parse(["gslbd", "-config", "/tmp/x.yaml"].map(OsString::from));
        assert_eq!(cli.run.config, Some(PathBuf::from("/tmp/x.yaml")));
        let cli = parse(["gslbd", "-config=/tmp/y.yaml", "--check-config"].map(OsString::from));
        assert_eq!(cli.run.config, Some(PathBuf::from("/tmp/y.yaml")));
        assert!(cli.run.check_config);
    }
}
