//! `/trace`, `/signals`, `/filters`, `/dashboard`.

use super::auth::Caller;
use super::error::ApiResult;
use super::extract::{Body, Params};
use crate::state::AppState;
use crate::views;
use axum::Json;
use axum::extract::State;
use gslb_api_types::model::{FILTERS, FilterInfo};
use gslb_api_types::{Dashboard, ErrorBody, ListQuery, Page, SignalsAt, SignalsView, Trace, TraceRequest};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Routes of this file.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(trace))
        .routes(routes!(signals))
        .routes(routes!(signal_history))
        .routes(routes!(filters))
        .routes(routes!(dashboard))
}

/// Decides one query as the wire would, and tells what each step saw and did. Takes no turn and counts nowhere.
#[utoipa::path(post, path = "/trace", tag = "steering", operation_id = "trace", request_body = TraceRequest,
    responses((status = 200, body = Trace), (status = 403, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn trace(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Body(request): Body<TraceRequest>,
) -> ApiResult<Json<Trace>> {
    Ok(Json(views::trace(&state, &actor, request).await?))
}

/// The signal table, where each value came from, and the services that use it.
#[utoipa::path(get, path = "/signals", tag = "steering", operation_id = "getSignals",
    responses((status = 200, body = SignalsView)))]
async fn signals(State(state): State<AppState>, Caller(actor): Caller) -> ApiResult<Json<SignalsView>> {
    Ok(Json(state.ops.signals(&actor)?))
}

/// The signal tables there have been on this node, newest first: one for each start or reload that brought another.
#[utoipa::path(get, path = "/signals/history", tag = "steering", operation_id = "getSignalHistory",
    params(ListQuery),
    responses((status = 200, body = Page<SignalsAt>)))]
async fn signal_history(
    State(state): State<AppState>,
    Caller(actor): Caller,
    Params(query): Params<ListQuery>,
) -> ApiResult<Json<Page<SignalsAt>>> {
    Ok(Json(state.ops.signal_history(&actor, &query).await?))
}

/// The palette: every filter with its title, class, tier and one line of help.
#[utoipa::path(get, path = "/filters", tag = "steering", operation_id = "listFilters",
    responses((status = 200, body = Vec<FilterInfo>)))]
async fn filters(Caller(_actor): Caller) -> Json<Vec<FilterInfo>> {
    Json(FILTERS.to_vec())
}

/// Query rates, health, last events: what the console's first page shows.
#[utoipa::path(get, path = "/dashboard", tag = "steering", operation_id = "getDashboard",
    responses((status = 200, body = Dashboard)))]
async fn dashboard(State(state): State<AppState>, Caller(actor): Caller) -> ApiResult<Json<Dashboard>> {
    Ok(Json(views::dashboard(&state, &actor).await?))
}
