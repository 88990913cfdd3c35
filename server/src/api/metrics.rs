//! `/metrics`: on a port of its own without login, on the API's port for those who may.

use super::auth::Caller;
use super::error::{ApiFailure, ApiResult};
use crate::state::AppState;
use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use gslb_api_types::model::Permission;
use gslb_core::OpError;

fn render(state: &AppState) -> Response {
    match state.metrics.render() {
        Ok(text) => (
            [(
                header::CONTENT_TYPE,
                "application/openmetrics-text; version=1.0.0; charset=utf-8",
            )],
            text,
        )
            .into_response(),
        Err(error) => {
            tracing::error!(%error, "the metrics could not be written");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// For callers with `metrics:read`.
pub async fn behind_login(State(state): State<AppState>, Caller(actor): Caller) -> ApiResult<Response> {
    if !actor.may(Permission::MetricsRead) {
        return Err(ApiFailure::from(OpError::Forbidden(Permission::MetricsRead)));
    }
    Ok(render(&state))
}

/// Routes of the metrics port.
pub fn router(state: AppState) -> Router {
    Router::new()
        .route(
            "/metrics",
            get(|State(state): State<AppState>| async move { render(&state) }),
        )
        .with_state(state)
}
