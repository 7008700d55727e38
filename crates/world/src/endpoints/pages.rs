//! Serves the files and pages of the world over HTTP.

use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

use super::request_guard::{HttpRefusal, refusal};
use super::served_trial::ServedTrial;

pub(super) async fn get(trial: &ServedTrial, path: &str) -> Result<Response, HttpRefusal> {
    let mut world = trial.world.lock().await.ok_or_else(|| refusal(StatusCode::NOT_FOUND, "this trial is over"))?;
    let text = world.read_file(&trial.who, path).ok_or_else(|| refusal(StatusCode::NOT_FOUND, "page not found"))?;
    Ok(([(CONTENT_TYPE, content_type(path))], text).into_response())
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).as_deref() {
        Some("html" | "htm") => "text/html; charset=utf-8",
        Some("json") => "application/json",
        Some("md") => "text/markdown; charset=utf-8",
        Some("csv") => "text/csv; charset=utf-8",
        Some("xml") => "application/xml; charset=utf-8",
        Some("svg") => "image/svg+xml; charset=utf-8",
        Some(_) | None => "text/plain; charset=utf-8",
    }
}
