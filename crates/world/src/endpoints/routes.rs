//! HTTP routes: MCP, Ethereum JSON-RPC and pages of the trial that the token belongs to.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, WWW_AUTHENTICATE};
use axum::http::{Method, StatusCode};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::any;

use super::request_guard::{HttpRefusal, read_body, refusal, require_local_host};
use super::served_trial::MAX_MCP_BODY_BYTES;
use super::trial_registry::TrialRegistry;
use super::{pages, rpc};

type RegistryState = State<Arc<TrialRegistry>>;

pub(super) fn router(at: SocketAddr, trials: Arc<TrialRegistry>) -> Router {
    Router::new()
        .route("/mcp/{id}", any(handle_mcp))
        .route("/rpc/{token}/{chain}", any(handle_rpc))
        .route("/pages/{token}/{*page}", any(handle_page))
        .fallback(async || not_found())
        .with_state(trials)
        .layer(from_fn_with_state(at, require_local_host))
}

fn not_found() -> HttpRefusal {
    refusal(StatusCode::NOT_FOUND, "not found")
}

/// Checks the method. Call it after the token check, so that without a token every path is "not found".
fn allow(method: &Method, allowed: &[Method]) -> Result<(), HttpRefusal> {
    if allowed.contains(method) { Ok(()) } else { Err(refusal(StatusCode::METHOD_NOT_ALLOWED, "method not allowed")) }
}

/// Answers the same for a missing token, a wrong token and an unknown trial, so that trials cannot be enumerated.
async fn handle_mcp(State(trials): RegistryState, Path(id): Path<String>, request: Request) -> Response {
    let Some(trial) = bearer(request.headers()).and_then(|token| trials.with_id(&id, token)) else {
        let refused = refusal(StatusCode::UNAUTHORIZED, "missing or invalid bearer token");
        return ([(WWW_AUTHENTICATE, "Bearer")], refused).into_response();
    };
    let (head, body) = request.into_parts();
    match read_body(body, MAX_MCP_BODY_BYTES).await {
        Ok(body) => trial.mcp.handle(Request::from_parts(head, Body::from(body))).await,
        Err(refused) => refused.into_response(),
    }
}

async fn handle_rpc(
    State(trials): RegistryState,
    Path((token, chain)): Path<(String, String)>,
    request: Request,
) -> Result<Response, HttpRefusal> {
    let (trial, chain) = trials.with_token(&token).zip(chain.parse().ok()).ok_or_else(not_found)?;
    allow(request.method(), &[Method::POST])?;
    let body = read_body(request.into_body(), rpc::MAX_BODY_BYTES).await?;
    let answer = trial.rpc.clone().answer(chain, body).await.ok_or_else(not_found)?;
    Ok(([(CONTENT_TYPE, "application/json")], answer.to_string()).into_response())
}

async fn handle_page(
    State(trials): RegistryState,
    method: Method,
    path: Result<Path<(String, String)>, PathRejection>,
) -> Result<Response, HttpRefusal> {
    // The path is not UTF-8.
    let Path((token, page)) = path.map_err(|_| not_found())?;
    let trial = trials.with_token(&token).ok_or_else(not_found)?;
    allow(&method, &[Method::GET, Method::HEAD])?;
    pages::get(&trial, &page).await
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}
