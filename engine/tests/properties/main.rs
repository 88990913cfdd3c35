//! Properties that hold for every site, chain, health and client.

mod chains;
mod round_robin;
mod scope;
mod sites;
mod sticky;
