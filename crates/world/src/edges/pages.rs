//! Files and pages of the world over plain HTTP, for agents that fetch what they read.

use hyper::StatusCode;

use super::http::{Answer, answer, refusal};
use super::trial::Trial;

pub(super) async fn get(trial: &Trial, path: &str) -> Answer {
    let Some(mut world) = trial.door.enter().await else {
        return refusal(StatusCode::NOT_FOUND, "this trial is over");
    };
    match world.file(&trial.who, path) {
        Some(text) => answer(StatusCode::OK, kind(path), text),
        None => refusal(StatusCode::NOT_FOUND, "there is no such page"),
    }
}

fn kind(path: &str) -> &'static str {
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
