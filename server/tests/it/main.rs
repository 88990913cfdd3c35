//! The daemon as its users see it: real sockets, a real database, real DNS packets, HTTP.

mod access;
mod accounts;
mod console;
mod contract;
mod dnssec;
mod doh;
mod harness;
mod host_names;
mod live;
mod matrix;
mod misuse;
mod operations;
mod preview;
mod records;
mod rfc9110;
mod scripts;
mod secondaries;
mod services;
mod transfers;
