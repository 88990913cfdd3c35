//! Tests of the core against real files: one binary, so that it links once.

mod accounts;
mod changes;
mod config;
mod config_file;
mod dnssec;
mod events;
mod geo;
mod geo_table;
mod host_names;
mod hostile;
mod license;
mod metrics;
mod pools;
mod records;
mod reference;
mod reload;
mod rollover;
mod routing;
mod scripts;
mod services;
mod store;
mod support;
mod tenants;
mod transfers;
mod zone_files;
mod zones;
