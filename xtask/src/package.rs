//! The Debian package: made by cargo-deb from `[package.metadata.deb]` of the server, and tried out by installing it.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

use crate::workspace::{SERVER, Workspace};
use crate::{process, server, tools};

/// Longest wait for the daemon to come up, or to stop.
const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(50);

/// What the package must bring.
const CONTENTS: &[&str] = &[
    "./usr/bin/gslbd",
    "./etc/gslb/config.yaml",
    "./usr/lib/systemd/system/gslbd.service",
    "./usr/share/doc/gslbd/copyright",
];

/// `cargo xtask deb`: builds the server and packs it.
pub fn build(workspace: &Workspace) -> Result<PathBuf> {
    server::build(workspace)?;
    pack(workspace, true)
}

/// Packs the program that is there: the one to ship, or the one of the tests, which has no console inside and serves
/// to try the package out.
pub fn pack(workspace: &Workspace, release: bool) -> Result<PathBuf> {
    let cargo_deb = tools::cargo_deb(workspace)?;
    let folder = workspace.scratch().join("deb");
    fs::create_dir_all(&folder)?;
    // What to ship was built together with the console, which cargo-deb knows nothing of.
    let mut deb = process::command(cargo_deb, &workspace.root);
    deb.args(["--package", SERVER, "--no-build"]);
    // Without its symbols the program of the tests is packed in a fraction of the time.
    deb.args(if release {
        ["--profile=release", "--no-strip"].as_slice()
    } else {
        &["--profile=dev", "--strip", "--fast"]
    });
    deb.arg("--output").arg(folder.join("gslbd.deb"));
    process::run(deb.env("CARGO_TARGET_DIR", &workspace.target))?;
    let package = folder.join("gslbd.deb");
    println!(
        "{} ({:.1} MB)",
        package.display(),
        fs::metadata(&package)?.len() as f64 / 1e6
    );
    Ok(package)
}

/// Installs the package (as root into the system, else by unpacking it), starts the installed program with a
/// configuration of its own, stops it, and removes the package.
pub fn trial(workspace: &Workspace, package: &Path) -> Result<()> {
    check_contents(workspace, package)?;
    let folder = workspace.scratch().join("deb-trial");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    if !tools::is_root(&workspace.root)? {
        println!("not root: the package is unpacked, not installed");
        let unpacked = folder.join("root");
        process::run(
            process::command("dpkg-deb", &folder)
                .arg("-x")
                .arg(package)
                .arg(&unpacked),
        )?;
        return start_and_stop(&unpacked.join("usr/bin").join(SERVER), &folder);
    }
    let installed = process::capture(process::command("dpkg-query", &folder).args(["-W", SERVER]));
    ensure!(
        installed.is_err(),
        "a gslbd package is installed on this machine: remove it first, the trial would"
    );
    process::run(process::command("dpkg", &folder).arg("-i").arg(package))?;
    let result = start_and_stop(Path::new("/usr/bin").join(SERVER).as_path(), &folder);
    let removed = process::run(process::command("dpkg", &folder).args(["-P", SERVER]));
    result.and(removed)?;
    ensure!(
        !Path::new("/etc/gslb/config.yaml").exists(),
        "the removed package left /etc/gslb/config.yaml behind"
    );
    Ok(())
}

fn check_contents(workspace: &Workspace, package: &Path) -> Result<()> {
    let list = process::capture(
        process::command("dpkg-deb", &workspace.root)
            .arg("-c")
            .arg(package),
    )?;
    for file in CONTENTS {
        ensure!(
            list.lines().any(|line| line.ends_with(file)),
            "the package has no {file}:\n{list}"
        );
    }
    Ok(())
}

/// Runs the daemon on free ports until it answers, and ends it as a service manager does.
fn start_and_stop(program: &Path, folder: &Path) -> Result<()> {
    let ports = Ports::free()?;
    let config = folder.join("config.yaml");
    fs::write(&config, ports.configuration(folder))?;
    process::run(
        process::command(program, folder)
            .arg("--config")
            .arg(&config)
            .arg("--check-config"),
    )?;
    let mut child = process::command(program, folder)
        .arg("--config")
        .arg(&config)
        .spawn()
        .with_context(|| format!("starting {}", program.display()))?;
    let result = answers(&mut child, ports.api);
    let stopped = stop(&mut child, folder);
    result?;
    let status = stopped?;
    ensure!(status.success(), "gslbd ended with {status} after SIGTERM");
    println!("{} answered and stopped", program.display());
    Ok(())
}

struct Ports {
    dns: u16,
    api: u16,
    metrics: u16,
}

impl Ports {
    /// Three ports that were free a moment ago, the first for TCP and UDP.
    fn free() -> Result<Self> {
        let bind = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
        let (dns, api, metrics) = (bind()?, bind()?, bind()?);
        UdpSocket::bind(dns.local_addr()?)?;
        let port = |socket: &TcpListener| socket.local_addr().map(|addr| addr.port());
        Ok(Self {
            dns: port(&dns)?,
            api: port(&api)?,
            metrics: port(&metrics)?,
        })
    }

    fn configuration(&self, folder: &Path) -> String {
        let Self { dns, api, metrics } = self;
        let database = folder.join("gslbd.db");
        format!(
            "dns:\n  listenAddr: 127.0.0.1\n  port: {dns}\n  domain: trial.example\n\
             api:\n  listenAddr: 127.0.0.1\n  port: {api}\n\
             metrics:\n  port: {metrics}\n\
             database:\n  path: {}\n",
            database.display()
        )
    }
}

/// Waits until `/healthz` answers 200.
fn answers(child: &mut Child, port: u16) -> Result<()> {
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        if let Some(status) = child.try_wait()? {
            bail!("gslbd ended with {status} before it answered");
        }
        if healthz(port).is_ok_and(|answer| answer.starts_with("HTTP/1.1 200")) {
            return Ok(());
        }
        std::thread::sleep(PAUSE);
    }
    bail!("gslbd does not answer on port {port}");
}

fn healthz(port: u16) -> Result<String> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

/// SIGTERM, then patience; SIGKILL if that was not enough.
fn stop(child: &mut Child, folder: &Path) -> Result<ExitStatus> {
    let mut kill: Command = process::command("kill", folder);
    process::run(kill.args(["-TERM", &child.id().to_string()]))?;
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        std::thread::sleep(PAUSE);
    }
    child.kill()?;
    child.wait()?;
    bail!("gslbd did not stop within {} s after SIGTERM", PATIENCE.as_secs());
}
