//! `/healthz` and `/ready`, for supervisors and load balancers: no login, and nothing said but yes or no.

use crate::state::AppState;
use axum::extract::State;
use axum::http::StatusCode;

/// The process runs.
pub async fn healthz() -> &'static str {
    "ok\n"
}

/// DNS answers from a snapshot that is the stored configuration.
pub async fn ready(State(state): State<AppState>) -> (StatusCode, &'static str) {
    if state.is_ready() {
        (StatusCode::OK, "ok\n")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "not ready\n")
    }
}
