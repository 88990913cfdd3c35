//! A small HTTP responder that stands behind the demo's members.
//!
//! Each runs as a process of its own, so that killing one is a real death. It also answers `/fail` and `/recover`, which
//! turn its health check off and on without killing it. It ends when the daemon that started it does: that daemon
//! holds the other end of its standard input.

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::{get, post};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::net::TcpListener;

/// Path of the health check.
pub const HEALTH_PATH: &str = "/health";

#[derive(Debug)]
struct Backend {
    name: String,
    healthy: AtomicBool,
}

async fn health(State(backend): State<Arc<Backend>>) -> (StatusCode, &'static str) {
    if backend.healthy.load(Ordering::Relaxed) {
        (StatusCode::OK, "ok\n")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "failing on request\n")
    }
}

async fn set_health(backend: Arc<Backend>, healthy: bool) -> String {
    backend.healthy.store(healthy, Ordering::Relaxed);
    format!(
        "{} {}\n",
        backend.name,
        if healthy {
            "is healthy again"
        } else {
            "fails its health check now"
        }
    )
}

/// Serves until standard input ends.
///
/// # Errors
/// The address cannot be bound.
pub async fn run(listen: SocketAddr, name: String) -> anyhow::Result<()> {
    let listener = TcpListener::bind(listen).await?;
    let backend = Arc::new(Backend {
        name,
        healthy: AtomicBool::new(true),
    });
    let app = Router::new()
        .route(
            "/",
            get(|State(b): State<Arc<Backend>>| async move { format!("Hello from {}\n", b.name) }),
        )
        .route(HEALTH_PATH, get(health))
        .route(
            "/fail",
            post(|State(b): State<Arc<Backend>>| set_health(b, false)),
        )
        .route(
            "/recover",
            post(|State(b): State<Arc<Backend>>| set_health(b, true)),
        )
        .with_state(backend);
    let (gone, orphaned) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        // Nothing is ever written: the read ends when the daemon is gone, however it went.
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        let _ = gone.send(());
    });
    tokio::select! {
        served = axum::serve(listener, app) => served?,
        _ = orphaned => {}
    }
    Ok(())
}
