//! Everything outside the stored objects that a snapshot is compiled from.

use crate::geo::{Geo, NoGeo};
use crate::model::{Tier, ZoneId};
use crate::script::{NoScripts, Scripts};
use crate::snapshot::{TsigKeys, ZoneKeys};
use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The signal table: a value per zone, lower is better.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Signals {
    /// Zone to value; finite and not negative.
    pub zones: BTreeMap<String, f64>,
    /// 0 switches the bias off, 1 lets it dominate.
    pub weight: f64,
}

impl Default for Signals {
    fn default() -> Self {
        Self {
            zones: BTreeMap::new(),
            weight: 0.5,
        }
    }
}

/// One rule of the map file: a network and its targets in order of preference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapRule {
    /// The network.
    pub network: IpNet,
    /// Regions, or member addresses.
    pub targets: Vec<String>,
}

/// Settings of the latency step.
#[derive(Debug, Clone, PartialEq)]
pub struct LatencySettings {
    /// A region match weighs this many times the best RTT weight.
    pub region_bonus_multiplier: f64,
    /// Candidates within this distance of the fastest count as equally fast, milliseconds.
    pub min_rtt_threshold_ms: f64,
    /// Region of a client that no database places.
    pub fallback_region: String,
}

impl Default for LatencySettings {
    fn default() -> Self {
        Self {
            region_bonus_multiplier: 2.0,
            min_rtt_threshold_ms: 5.0,
            fallback_region: "unknown".to_owned(),
        }
    }
}

/// The environment of a snapshot.
#[derive(Debug, Clone)]
pub struct Environment {
    /// Geo databases.
    pub geo: Arc<dyn Geo>,
    /// Rules of the map file; no two have the same network.
    pub map: Arc<[MapRule]>,
    /// Signals.
    pub signals: Signals,
    /// Settings of the latency step.
    pub latency: LatencySettings,
    /// Tier of the licence in force: a chain above it is replaced by round-robin.
    pub tier: Tier,
    /// Where script steps are compiled.
    pub scripts: Arc<dyn Scripts>,
    /// Keys of the zones that are signed.
    pub keys: Arc<HashMap<ZoneId, Arc<ZoneKeys>>>,
    /// Keys that messages are signed with.
    pub tsig: Arc<TsigKeys>,
}

impl Default for Environment {
    fn default() -> Self {
        Self {
            geo: Arc::new(NoGeo),
            map: Arc::new([]),
            signals: Signals::default(),
            latency: LatencySettings::default(),
            tier: Tier::Free,
            scripts: Arc::new(NoScripts),
            keys: Arc::default(),
            tsig: Arc::default(),
        }
    }
}
