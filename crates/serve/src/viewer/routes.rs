//! Addresses of the viewer and the pages they show.

use super::ViewerState;
use super::access::check_access;
use super::comparison::compare_runs;
use super::live::progress;
use super::run_data::RunData;
use crate::pages::{
    self, CompareChoice, ComparePage, GateHistory, PageAssets, RawTrial, RunPage, RunsPage, TrialPair, TrialView, TrialsPage,
};
use axum::Router;
use axum::extract::{Path, Query, State};
use axum::http::{StatusCode, header};
use axum::response::sse::{KeepAlive, Sse};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::get;
use serde::Deserialize;
use std::sync::Arc;
use store::{Store, StoreError, StoredOutcome, StoredRun, TrialFilter};

/// Runs and trials on one page.
const RUNS: usize = 25;
const TRIALS: usize = 100;
/// Runs to choose from for a comparison.
const CHOICES: usize = 50;
/// Characters of a value in the query.
const MAX_VALUE_CHARS: usize = 500;

pub(super) fn router(state: Arc<ViewerState>) -> Router {
    Router::new()
        .route("/", get(|| async { Redirect::to("/runs") }))
        .route("/runs", get(runs))
        .route("/runs/{run}", get(run))
        .route("/runs/{run}/live", get(live))
        .route("/runs/{run}/trials", get(trials))
        .route("/runs/{run}/trials/{n}", get(trial))
        .route("/runs/{run}/trials/{n}/raw", get(raw_trial))
        .route("/compare", get(compare))
        .route("/compare/trials", get(compare_trials))
        .route("/workspace", get(workspace))
        .route("/static/style.css", get(|| asset("text/css; charset=utf-8", pages::STYLE)))
        .route("/static/view.js", get(|| asset("text/javascript; charset=utf-8", pages::SCRIPT)))
        .fallback(|| async { PageError::NotFound("this page does not exist".to_owned()) })
        .layer(axum::middleware::from_fn_with_state(state.clone(), check_access))
        .with_state(state)
}

async fn asset(kind: &'static str, text: &'static str) -> Response {
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

/// Reason why there is no page.
#[derive(Debug)]
enum PageError {
    NotFound(String),
    Store(String),
}

impl From<StoreError> for PageError {
    fn from(error: StoreError) -> Self {
        PageError::Store(error.to_string())
    }
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        let (status, title, what) = match self {
            PageError::NotFound(what) => (StatusCode::NOT_FOUND, "Not found", what),
            PageError::Store(what) => (StatusCode::INTERNAL_SERVER_ERROR, "The store cannot be read", what),
        };
        (status, Html(pages::error_page(title, &what))).into_response()
    }
}

type PageResult = Result<Html<String>, PageError>;
type Viewer = State<Arc<ViewerState>>;

/// Makes a page from the store, on a thread that may block.
async fn read_page(
    state: Arc<ViewerState>,
    read: impl FnOnce(&ViewerState, &Store) -> Result<String, PageError> + Send + 'static,
) -> PageResult {
    let made = tokio::task::spawn_blocking(move || {
        // Errors of a page are no errors of the store.
        state.stores.with(|store| Ok(read(&state, store))).unwrap_or_else(|error| Err(error.into()))
    });
    match made.await {
        Ok(page) => page.map(Html),
        Err(_) => Err(PageError::Store("the page could not be made".to_owned())),
    }
}

fn find_run(store: &Store, id: &str) -> Result<StoredRun, PageError> {
    let missing = || PageError::NotFound(format!("there is no run \"{}\"", id.chars().take(64).collect::<String>()));
    if id.len() < 4 || !id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Err(missing());
    }
    store.run_with_prefix(id)?.ok_or_else(missing)
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RunsQuery {
    before: Option<i64>,
}

async fn runs(State(state): Viewer, Query(query): Query<RunsQuery>) -> PageResult {
    read_page(state, move |_, store| {
        let mut found = store.runs_before(query.before, RUNS + 1)?;
        let has_more = found.len() > RUNS;
        found.truncate(RUNS);
        let mut runs = vec![];
        for run in found {
            let verdicts = store.verdicts(&run)?;
            runs.push((run, verdicts));
        }
        let mut history = GateHistory::default();
        runs.iter().rev().filter(|(run, _)| run.record.is_some()).for_each(|(_, verdicts)| history.add(verdicts));
        Ok(pages::runs_page(&RunsPage { runs: &runs, history: &history, has_more }))
    })
    .await
}

async fn run(State(state): Viewer, Path(id): Path<String>) -> PageResult {
    read_page(state, move |state, store| {
        let run = find_run(store, &id)?;
        let data = RunData::read(store, &run)?;
        Ok(pages::run_page(&RunPage {
            assets: PageAssets::Linked,
            workspace: &state.workspace,
            facts: data.facts,
            verdicts: &data.verdicts,
            causes: &data.causes,
            failed: &data.failed.rows,
            has_more_failed: data.failed.has_more,
            reasons: &data.reasons,
            times: &data.times,
            costs: &data.costs,
        }))
    })
    .await
}

async fn live(State(state): Viewer, Path(id): Path<String>) -> Result<Response, PageError> {
    let reading = state.clone();
    let found = tokio::task::spawn_blocking(move || reading.stores.with(|store| Ok(find_run(store, &id)))).await;
    let run = match found {
        Ok(Ok(run)) => run?,
        Ok(Err(error)) => return Err(error.into()),
        Err(_) => return Err(PageError::Store("the run could not be read".to_owned())),
    };
    Ok(Sse::new(progress(state, run.run)).keep_alive(KeepAlive::default()).into_response())
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct TrialsQuery {
    q: String,
    case: String,
    subject: String,
    outcome: String,
    scorer: String,
    suite: String,
    tag: String,
    from: u64,
}

fn bounded(text: &str) -> String {
    text.trim().chars().take(MAX_VALUE_CHARS).collect()
}

impl TrialsQuery {
    fn filter(&self, state: &ViewerState) -> TrialFilter {
        let (suite, tag) = (self.suite.trim(), self.tag.trim());
        let suites =
            state.workspace.suites.iter().filter(|one| suite.is_empty() || one.name == suite || one.name.starts_with(&format!("{suite}/")));
        let cases = suites.flat_map(|one| &one.cases).filter(|case| tag.is_empty() || case.tags.iter().any(|own| own == tag));
        let cases = (!suite.is_empty() || !tag.is_empty()).then(|| cases.map(|case| case.id.value.clone()).collect());
        TrialFilter {
            case: bounded(&self.case),
            subject: bounded(&self.subject),
            outcome: StoredOutcome::parse(&self.outcome),
            scorer: bounded(&self.scorer),
            text: bounded(&self.q),
            cases,
        }
    }
}

async fn trials(State(state): Viewer, Path(id): Path<String>, Query(query): Query<TrialsQuery>) -> PageResult {
    read_page(state, move |state, store| {
        let run = find_run(store, &id)?;
        let filter = query.filter(state);
        let page = store.list_trials(run.run, &filter, query.from.min(i64::MAX as u64), TRIALS)?;
        let (suite, tag) = (bounded(&query.suite), bounded(&query.tag));
        Ok(pages::trials_page(&TrialsPage {
            run: run.short_run_id(),
            subjects: &run.subjects,
            filter: &filter,
            suite: &suite,
            tag: &tag,
            page: &page,
        }))
    })
    .await
}

fn no_trial() -> PageError {
    PageError::NotFound("the run has no such trial".to_owned())
}

async fn trial(State(state): Viewer, Path((id, n)): Path<(String, u64)>) -> PageResult {
    read_page(state, move |state, store| {
        let run = find_run(store, &id)?;
        let (trial, transcript, scores) = store.read_transcript(run.run, n)?.ok_or_else(no_trial)?;
        let output = store.agent_output(run.run, n)?;
        let reference = reference_address(store, &run, &transcript.case)?;
        Ok(pages::trial_page(&TrialView {
            workspace: &state.workspace,
            run: run.short_run_id(),
            n,
            seed: trial.seed,
            transcript: &transcript,
            scores: &scores,
            stderr: output.as_ref().map(|output| output.stderr.as_str()).filter(|stderr| !stderr.is_empty()),
            reference,
        }))
    })
    .await
}

/// Returns the address at which a trial stands beside the last stored run of the reference on the same case.
fn reference_address(store: &Store, run: &StoredRun, case: &str) -> Result<Option<String>, StoreError> {
    const REFERENCE: &str = "reference";
    if run.subjects.iter().any(|subject| subject == REFERENCE) {
        return Ok(None);
    }
    for other in store.runs_before(None, CHOICES)?.iter().filter(|other| other.subjects == [REFERENCE]) {
        if store.find_trials(other.run, case, None, 1)?.count > 0 {
            let case = pages::query_value(case);
            return Ok(Some(format!("/compare/trials?a={}&b={}&case={case}", other.short_run_id(), run.short_run_id())));
        }
    }
    Ok(None)
}

async fn raw_trial(State(state): Viewer, Path((id, n)): Path<(String, u64)>) -> PageResult {
    read_page(state, move |_, store| {
        let run = find_run(store, &id)?;
        let (_, transcript, scores) = store.read_transcript(run.run, n)?.ok_or_else(no_trial)?;
        Ok(pages::raw_page(&RawTrial { run: run.short_run_id(), n, transcript: &transcript, scores: &scores }))
    })
    .await
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CompareQuery {
    a: String,
    b: String,
    case: String,
}

async fn compare(State(state): Viewer, Query(query): Query<CompareQuery>) -> PageResult {
    read_page(state, move |state, store| {
        let recent = store.runs_before(None, CHOICES)?;
        let label = |run: &StoredRun| format!("{} {} {}", run.short_run_id(), run.subjects.join(", "), run.started);
        let mut runs: Vec<(String, String)> = recent.iter().map(|run| (run.short_run_id().to_owned(), label(run))).collect();
        if query.a.is_empty() || query.b.is_empty() {
            let choice = CompareChoice { runs, before: query.a, after: query.b };
            return Ok(pages::compare_page(&ComparePage { choice: &choice, result: None, subjects: ["", ""] }));
        }
        let (before, after) = (find_run(store, &query.a)?, find_run(store, &query.b)?);
        for run in [&before, &after] {
            if runs.iter().all(|(id, _)| id != run.short_run_id()) {
                runs.push((run.short_run_id().to_owned(), label(run)));
            }
        }
        let subjects = common_subjects(&before, &after);
        let result = compare_runs(&state.workspace, store, [(&before, &subjects[0]), (&after, &subjects[1])])?;
        let choice = CompareChoice { runs, before: before.short_run_id().to_owned(), after: after.short_run_id().to_owned() };
        Ok(pages::compare_page(&ComparePage { choice: &choice, result: Some(&result), subjects: [&subjects[0], &subjects[1]] }))
    })
    .await
}

/// Returns the first subject that both runs have, else the first of each.
fn common_subjects(before: &StoredRun, after: &StoredRun) -> [String; 2] {
    if let Some(both) = before.subjects.iter().find(|subject| after.subjects.contains(subject)) {
        return [both.clone(), both.clone()];
    }
    [before, after].map(|run| run.subjects.first().cloned().unwrap_or_default())
}

async fn compare_trials(State(state): Viewer, Query(query): Query<CompareQuery>) -> PageResult {
    read_page(state, move |state, store| {
        let runs = [find_run(store, &query.a)?, find_run(store, &query.b)?];
        let read = |run: &StoredRun| {
            let first = store.find_trials(run.run, &query.case, None, 1)?.first.into_iter().next().ok_or_else(no_trial)?;
            let (_, transcript, scores) = store.read_transcript(run.run, first.n)?.ok_or_else(no_trial)?;
            Ok::<_, PageError>((transcript, scores))
        };
        let (left, right) = (read(&runs[0])?, read(&runs[1])?);
        Ok(pages::trial_pair_page(&TrialPair {
            workspace: &state.workspace,
            runs: [runs[0].short_run_id(), runs[1].short_run_id()],
            trials: [(&left.0, &left.1), (&right.0, &right.1)],
        }))
    })
    .await
}

async fn workspace(State(state): Viewer) -> PageResult {
    read_page(state, |state, _| Ok(pages::workspace_page(&state.workspace, &state.label))).await
}
