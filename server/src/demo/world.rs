//! Files of the demo: configuration, map file, and geo databases of documentation networks.

use super::scene;
use anyhow::Context;
use gslb_core::mmdb_writer::{Database, Row, RowPlace};
use std::fmt::Write;
use std::path::Path;

/// Name of the configuration file.
pub const CONFIG: &str = "config.yaml";

fn config(folder: &Path) -> Result<String, std::fmt::Error> {
    let path = |name: &str| folder.join(name).display().to_string();
    let mut text = String::new();
    writeln!(
        text,
        "# Configuration of the demo, as a real one would be written."
    )?;
    writeln!(text, "database:\n  path: {:?}", path("gslbd.db"))?;
    writeln!(text, "node:\n  id: demo")?;
    writeln!(text, "loadBalancer:\n  algorithm: round-robin\n  latency:")?;
    writeln!(
        text,
        "    cityDBPath: {:?}\n    asnDBPath: {:?}",
        path("city.mmdb"),
        path("asn.mmdb")
    )?;
    writeln!(text, "routing:\n  mapFile: {:?}", path("map.txt"))?;
    writeln!(text, "signals:\n  weight: 0.5\n  static:      # gCO2/kWh")?;
    for (zone, value) in scene::SIGNALS {
        writeln!(text, "    {zone}: {value}")?;
    }
    Ok(text)
}

/// Writes what is missing; a file that somebody has edited in a kept folder stays.
///
/// # Errors
/// A file cannot be written.
pub fn write(folder: &Path) -> anyhow::Result<()> {
    let put = |name: &str, content: &[u8]| {
        let path = folder.join(name);
        if path.exists() {
            return Ok(());
        }
        std::fs::write(&path, content).with_context(|| format!("writing {}", path.display()))
    };
    put(CONFIG, config(folder)?.as_bytes())?;
    put("map.txt", scene::MAP_FILE.as_bytes())?;
    let networks = scene::NETWORKS
        .iter()
        .map(|(network, country, number, organisation)| {
            let network = network
                .parse()
                .with_context(|| format!("the network {network}"))?;
            anyhow::Ok((network, *country, *number, *organisation))
        });
    let networks = networks.collect::<anyhow::Result<Vec<_>>>()?;
    let places = networks.iter().filter_map(|(network, code, ..)| {
        let (continent, country, subdivision, point) =
            *scene::PLACES.iter().find(|(_, country, ..)| country == code)?;
        let place = RowPlace {
            continent,
            country,
            subdivision: Some(subdivision),
            point: Some(point),
        };
        Some(Row::place(*network, &place))
    });
    put("city.mmdb", &Database::city(places).to_bytes())?;
    let systems = networks
        .iter()
        .map(|(network, _, number, organisation)| Row::asn(*network, *number, organisation));
    put("asn.mmdb", &Database::asn(systems).to_bytes())
}
