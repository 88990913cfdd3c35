//! The prober against real listeners on loopback.

mod http;
mod life;
mod names;
mod stub;
mod tcp;
mod tls;
