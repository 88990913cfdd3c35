//! `gslbd --demo`: a whole product on loopback, made in a folder of its own.
//!
//! Everything goes the normal way: a configuration file, geo databases on disk, a real licence signed by a key made at
//! this start, objects created by the use cases. Only the responders behind the members are made for it.

pub mod backend;
mod ports;
pub mod scene;
mod world;

use crate::license_cli;
use anyhow::Context;
use gslb_core::config::Sources;
use gslb_core::{Ops, license};
use gslb_engine::model::{Actor, Tier};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

pub use ports::or_free;

/// Where the demo's files are.
enum Folder {
    /// Removed at the end.
    Temporary(TempDir),
    /// Kept.
    Kept(PathBuf),
}

impl Folder {
    fn path(&self) -> &Path {
        match self {
            Self::Temporary(dir) => dir.path(),
            Self::Kept(path) => path,
        }
    }
}

/// A running demo: its folder, and the processes of its responders, which end with it.
pub struct Demo {
    folder: Folder,
    backend_port: u16,
    backends: Vec<(String, IpAddr, Child)>,
    /// API token of the system administrator.
    pub api_key: String,
}

/// 32 random hexadecimal digits.
fn random_text() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}

impl Demo {
    /// Makes the folder with its files and starts the responders.
    ///
    /// # Errors
    /// A file cannot be written, or a responder not be started.
    pub fn prepare(data: Option<&Path>) -> anyhow::Result<Self> {
        let folder = match data {
            Some(path) => {
                std::fs::create_dir_all(path).with_context(|| format!("making {}", path.display()))?;
                Folder::Kept(path.to_owned())
            }
            None => Folder::Temporary(tempfile::Builder::new().prefix("gslbd-demo-").tempdir()?),
        };
        let backend_port = ports::for_backends(&folder.path().join("backend-port"))?;
        world::write(folder.path())?;
        let program = std::env::current_exe().context("finding this program")?;
        let mut demo = Self {
            folder,
            backend_port,
            backends: Vec::new(),
            api_key: std::env::var("GSLB_API_KEY").unwrap_or_else(|_| format!("gslb_{}", random_text())),
        };
        for (name, address) in scene::backends() {
            let child = Command::new(&program)
                .args(["demo-backend", "--name", &name, "--listen"])
                .arg(SocketAddr::new(address, backend_port).to_string())
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .spawn()
                .with_context(|| format!("starting the responder {name}"))?;
            demo.backends.push((name, address, child));
        }
        Ok(demo)
    }

    /// The settings of the demo, on top of what the environment says.
    ///
    /// # Errors
    /// The configuration file cannot be read.
    pub fn sources(&self) -> anyhow::Result<Sources> {
        let what = "--demo";
        let path = self.folder.path().join(world::CONFIG);
        let key = license::keygen()?;
        let licence = license_cli::issue(&key, Tier::Enterprise, 30, "Demo".to_owned(), None);
        let sources = Sources::of_process(Some(&path))?
            .with("license.publicKeys", key.public().to_text(), what)
            .with("license.key", licence, what)
            .with("api.key", &self.api_key, what)
            .with("dns.listenAddr", "127.0.0.1", what)
            .with("api.listenAddr", "127.0.0.1", what)
            .with("metrics.listenAddr", "127.0.0.1", what);
        Ok(sources)
    }

    /// Makes zone, pools and services, unless a kept folder has them already.
    ///
    /// # Errors
    /// The use cases refuse something.
    pub async fn furnish(&self, ops: &Ops) -> anyhow::Result<()> {
        let actor = Actor::system();
        let query = gslb_api_types::ListQuery::default();
        if ops.list_pools(&actor, &query).await?.total > 0 {
            return Ok(());
        }
        if ops.list_zones(&actor, &query).await?.total == 0 {
            ops.create_zone(&actor, &scene::zone()).await?;
        }
        let mut pools = Vec::new();
        for draft in scene::pools(self.backend_port, backend::HEALTH_PATH) {
            pools.push(ops.create_pool(&actor, &draft).await?.value);
        }
        for (pool, mut draft) in scene::services() {
            draft.pool_id = pools.iter().find(|p| p.name == pool).map(|p| p.id.to_string());
            ops.create_service(&actor, &draft).await?;
        }
        Ok(())
    }

    /// What to try, for the terminal. `password` is known at the first start of a folder only.
    #[must_use]
    pub fn greeting(
        &self,
        console: &str,
        dns: SocketAddr,
        metrics: SocketAddr,
        password: Option<&str>,
    ) -> String {
        let login = match password {
            Some(password) => format!("admin / {password}"),
            None => "admin / (the password of the first start)".to_owned(),
        };
        let (ip, port) = (dns.ip(), dns.port());
        let zone = scene::ZONE;
        let victim = self.backends.iter().find(|(name, ..)| name == "de-1");
        let kill = victim.map_or_else(String::new, |(name, address, child)| {
            format!(
                "\nThen stop a member and see the answer move, and the console with it:\n\n  \
                 kill {}                                      # {name} dies\n  \
                 curl -X POST http://{address}:{port}/fail     # or only fails its check; /recover mends it\n",
                child.id(),
                port = self.backend_port
            )
        });
        format!(
            "\nNexus GSLB demo, everything on loopback. Ctrl-C ends it.\n\n\
             Console:   {console}\n\
             Login:     {login}\n\
             DNS:       {ip}:{port}\n\
             Metrics:   http://{metrics}/metrics\n\
             API token: {}\n\
             Files:     {}\n\n\
             Try:\n\n  \
             dig @{ip} -p {port} www.{zone} A +subnet=198.51.100.0/24 +short   # a client in the US\n  \
             dig @{ip} -p {port} www.{zone} A +subnet=203.0.113.0/24 +short    # in Germany\n  \
             dig @{ip} -p {port} www.{zone} A +subnet=192.0.2.0/24 +short      # in Japan\n{kill}",
            self.api_key,
            self.folder.path().display(),
        )
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        for (_, _, child) in &mut self.backends {
            // One that was killed already is only collected.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
