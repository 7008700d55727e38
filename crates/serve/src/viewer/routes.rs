//! Addresses of the viewer and the pages they show.

use super::ViewerState;
use super::access::check_access;
use super::comparison::compare_runs;
use super::filter_query::{bounded, trial_filter};
use super::live::progress;
use super::run_data::RunData;
use super::store_pool::PooledStore;
use super::trial_search::{SearchResults, find_trials};
use crate::pages::{
    self, CompareChoice, ComparePage, FilterQuery, GateHistory, PageAssets, RawTrial, RedTeamPage, RunPage, RunsPage, SearchPage,
    TrialInput, TrialPair, TrialView, TrialsPage,
};
use axum::Router;
use axum::extract::{Path, Query, State};
use axum::http::{StatusCode, header};
use axum::response::sse::{KeepAlive, Sse};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::get;
use model::{GateVerdicts, GateWindow, Workspace};
use score::gates::cases_by_gate;
use serde::Deserialize;
use std::sync::Arc;
use store::{IndexCoverage, RunListing, SearchPosition, Store, StoreError, StoredRun};

/// Runs and trials on one page.
const RUNS: usize = 25;
const TRIALS: usize = 100;
/// Runs to choose from for a comparison.
const CHOICES: usize = 50;
/// Model calls on the page of a trial's input.
const CALLS: usize = 200;
/// Trials that a search adds to the index before it answers.
const CATCH_UP: usize = 300;

pub(super) fn router(state: Arc<ViewerState>) -> Router {
    Router::new()
        .route("/", get(|| async { Redirect::to("/runs") }))
        .route("/runs", get(runs))
        .route("/runs/{run}", get(run))
        .route("/runs/{run}/live", get(live))
        .route("/runs/{run}/redteam", get(red_team_of_run))
        .route("/runs/{run}/trials", get(trials))
        .route("/runs/{run}/trials/{n}", get(trial))
        .route("/runs/{run}/trials/{n}/raw", get(raw_trial))
        .route("/runs/{run}/trials/{n}/input", get(trial_input))
        .route("/search", get(search))
        .route("/redteam", get(red_team))
        .route("/production", get(production))
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
    read: impl FnOnce(&ViewerState, &PooledStore) -> Result<String, PageError> + Send + 'static,
) -> PageResult {
    let made = tokio::task::spawn_blocking(move || {
        // Errors of a page are no errors of the store.
        state.stores.with(|pooled| Ok(read(&state, pooled))).unwrap_or_else(|error| Err(error.into()))
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
    read_page(state, move |_, PooledStore { store, index }| {
        let mut found = store.list_runs(index.as_ref(), query.before, RUNS + 1)?;
        let has_more = found.len() > RUNS;
        found.truncate(RUNS);
        let verdicts = store.verdicts_of_listed(&found)?;
        let runs: Vec<(RunListing, GateVerdicts)> = found.into_iter().zip(verdicts).collect();
        let mut history = GateHistory::default();
        runs.iter().rev().filter(|(run, _)| run.ended.is_some()).for_each(|(_, verdicts)| history.add(verdicts));
        Ok(pages::runs_page(&RunsPage { runs: &runs, history: &history, has_more }))
    })
    .await
}

async fn run(State(state): Viewer, Path(id): Path<String>) -> PageResult {
    read_page(state, move |state, pooled| {
        let run = find_run(&pooled.store, &id)?;
        let data = RunData::read(state, pooled, &run)?;
        let has_attacks = has_attacks(state, &run);
        let attacks = has_attacks.then(|| state.known_attacks(pooled, &run)).flatten().unwrap_or_default();
        Ok(pages::run_page(&RunPage {
            assets: PageAssets::Linked,
            workspace: &state.workspace,
            facts: data.facts,
            verdicts: &data.verdicts,
            causes: &data.numbers.causes,
            failed: &data.failed.rows,
            has_more_failed: data.failed.next.is_some(),
            reasons: &data.numbers.reasons,
            times: &data.numbers.times,
            costs: &data.numbers.costs,
            rates: &data.numbers.rates,
            has_attacks,
            attacks: &attacks,
            read_first: data.read_first,
        }))
    })
    .await
}

/// Returns whether a run has attacks.
pub(super) fn has_attacks(state: &ViewerState, run: &StoredRun) -> bool {
    run.plan.as_ref().is_some_and(|plan| plan.cases.iter().any(|planned| is_attack(&state.workspace, &planned.case)))
}

/// Returns whether a case is an attack: one of the workspace, such as a reproducer, or one that a probe makes, whose id names probe, channel,
/// strategy and seed.
pub(super) fn is_attack(workspace: &Workspace, case: &str) -> bool {
    workspace.case(case).map_or_else(|| case.split('.').count() >= 4, |case| case.attack.is_some())
}

async fn live(State(state): Viewer, Path(id): Path<String>) -> Result<Response, PageError> {
    let reading = state.clone();
    let found = tokio::task::spawn_blocking(move || reading.stores.with(|pooled| Ok(find_run(&pooled.store, &id)))).await;
    let run = match found {
        Ok(Ok(run)) => run?,
        Ok(Err(error)) => return Err(error.into()),
        Err(_) => return Err(PageError::Store("the run could not be read".to_owned())),
    };
    Ok(Sse::new(progress(state, run.run)).keep_alive(KeepAlive::default()).into_response())
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PositionQuery {
    from: u64,
    before: String,
}

/// Adds new trials to the index, and says if it is missing or behind.
fn index_note(state: &ViewerState, pooled: &PooledStore) -> Option<String> {
    match state.stores.fill_index(pooled, CATCH_UP) {
        Ok(None) => {
            let why = "There is no search index: it is made beside a store in a file, in a folder that can be written to.";
            Some(format!("{why} Words are looked for as one text in the events of one run."))
        }
        Ok(Some(coverage)) if coverage.behind == 0 => None,
        Ok(Some(IndexCoverage { behind: usize::MAX, .. })) => Some("The search index is being made.".to_owned()),
        Ok(Some(coverage)) => {
            Some(format!("The search index is being made: {} of {} runs are not in it yet.", coverage.behind, coverage.runs))
        }
        Err(error) => Some(format!("The search index cannot be filled: {error}")),
    }
}

async fn trials(
    State(state): Viewer,
    Path(id): Path<String>,
    Query(query): Query<FilterQuery>,
    Query(position): Query<PositionQuery>,
) -> PageResult {
    read_page(state, move |state, pooled| {
        let (store, query) = (&pooled.store, bounded(query));
        let run = find_run(store, &id)?;
        let filter = trial_filter(&query, &state.workspace);
        let note = if filter.terms.is_empty() { None } else { index_note(state, pooled) };
        let page = store.list_trials(pooled.index.as_ref(), run.run, &filter, position.from.min(i64::MAX as u64), TRIALS)?;
        Ok(pages::trials_page(&TrialsPage { run: run.short_run_id(), subjects: &run.subjects, filter: &query, page: &page, note }))
    })
    .await
}

async fn search(State(state): Viewer, Query(query): Query<FilterQuery>, Query(position): Query<PositionQuery>) -> PageResult {
    read_page(state, move |state, pooled| {
        let query = bounded(query);
        let filter = trial_filter(&query, &state.workspace);
        let note = index_note(state, pooled);
        let before =
            position.before.split_once('-').and_then(|(run, n)| Some(SearchPosition { run: run.parse().ok()?, n: n.parse().ok()? }));
        let SearchResults { trials, next } = match &pooled.index {
            Some(index) => find_trials(pooled, index, &filter, before)?,
            None => SearchResults { trials: vec![], next: None },
        };
        let next = next.map(|at| format!("{}-{}", at.run, at.n));
        Ok(pages::search_page(&SearchPage { filter: &query, found: &trials, next, note }))
    })
    .await
}

/// Returns the newest runs with attacks. Only the first and last cases of a run are looked at, since attacks stand together in a plan.
fn runs_with_attacks(state: &ViewerState, pooled: &PooledStore) -> Result<Vec<RunListing>, StoreError> {
    let mut found = vec![];
    for run in pooled.store.list_runs(pooled.index.as_ref(), None, CHOICES)? {
        if pooled.store.has_case_at_an_end(run.run, &|case: &str| is_attack(&state.workspace, case))? {
            found.push(run);
        }
    }
    Ok(found)
}

async fn red_team(State(state): Viewer) -> PageResult {
    read_page(state, move |state, pooled| {
        let runs = runs_with_attacks(state, pooled)?;
        let newest = runs.first().map(|run| find_run(&pooled.store, &run.id)).transpose()?;
        attack_page(state, pooled, newest.as_ref(), &runs)
    })
    .await
}

async fn red_team_of_run(State(state): Viewer, Path(id): Path<String>) -> PageResult {
    read_page(state, move |state, pooled| {
        let run = find_run(&pooled.store, &id)?;
        attack_page(state, pooled, Some(&run), &[])
    })
    .await
}

fn attack_page(state: &ViewerState, pooled: &PooledStore, run: Option<&StoredRun>, others: &[RunListing]) -> Result<String, PageError> {
    let summaries = match run {
        Some(run) => state.attacks(pooled, run)?,
        None => vec![],
    };
    let label = |run: &RunListing| format!("{} {} {}", run.short_run_id(), run.counts.subjects.join(", "), run.started);
    let runs: Vec<(String, String)> = others.iter().map(|run| (run.short_run_id().to_owned(), label(run))).collect();
    Ok(pages::red_team_page(&RedTeamPage {
        workspace: &state.workspace,
        run: run.map(StoredRun::short_run_id),
        summaries: &summaries,
        runs: &runs,
    }))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ProductionQuery {
    window: String,
}

async fn production(State(state): Viewer, Query(query): Query<ProductionQuery>) -> PageResult {
    read_page(state, move |state, _| {
        let window = GateWindow::ALL.iter().find(|(word, _)| *word == query.window).map_or(GateWindow::Day, |(_, window)| *window);
        let summary = state.reports.production(window);
        Ok(pages::production_page(summary.as_ref().map_err(String::as_str)))
    })
    .await
}

fn no_trial() -> PageError {
    PageError::NotFound("the run has no such trial".to_owned())
}

/// Part of a long trial.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PartQuery {
    from: usize,
    part: usize,
}

async fn trial(State(state): Viewer, Path((id, n)): Path<(String, u64)>, Query(at): Query<PartQuery>) -> PageResult {
    read_page(state, move |state, pooled| {
        let store = &pooled.store;
        let run = find_run(store, &id)?;
        let (trial, transcript, scores) = store.read_transcript(run.run, n)?.ok_or_else(no_trial)?;
        let output = store.agent_output(run.run, n)?;
        let reference = reference_address(pooled, &run, &transcript.case)?;
        Ok(pages::trial_page(&TrialView {
            workspace: &state.workspace,
            case: state.run_case(&run, &transcript.case).as_ref(),
            run: run.short_run_id(),
            n,
            seed: trial.seed,
            transcript: &transcript,
            scores: &scores,
            stderr: output.as_ref().map(|output| output.stderr.as_str()).filter(|stderr| !stderr.is_empty()),
            reference,
            from: at.from,
        }))
    })
    .await
}

async fn trial_input(State(state): Viewer, Path((id, n)): Path<(String, u64)>) -> PageResult {
    read_page(state, move |state, PooledStore { store, .. }| {
        let run = find_run(store, &id)?;
        let (trial, transcript, _) = store.read_transcript(run.run, n)?.ok_or_else(no_trial)?;
        let mut calls = store.calls_of_trial(run.run, trial.id.as_str(), CALLS + 1)?;
        let has_more_calls = calls.len() > CALLS;
        calls.truncate(CALLS);
        let (workspace, case) = (&state.workspace, state.run_case(&run, &transcript.case));
        let (case, run) = (case.as_ref(), run.short_run_id());
        Ok(pages::trial_input_page(&TrialInput { workspace, case, run, n, transcript: &transcript, calls: &calls, has_more_calls }))
    })
    .await
}

/// Returns the address at which a trial stands beside the last stored run of the reference on the same case.
fn reference_address(pooled: &PooledStore, run: &StoredRun, case: &str) -> Result<Option<String>, StoreError> {
    const REFERENCE: &str = "reference";
    if run.subjects.iter().any(|subject| subject == REFERENCE) {
        return Ok(None);
    }
    let others = pooled.store.list_runs(pooled.index.as_ref(), None, CHOICES)?;
    for other in others.iter().filter(|other| other.counts.subjects == [REFERENCE]) {
        if pooled.store.find_trials(other.run, case, None, 1)?.count > 0 {
            let case = pages::query_value(case);
            return Ok(Some(format!("/compare/trials?a={}&b={}&case={case}", other.short_run_id(), run.short_run_id())));
        }
    }
    Ok(None)
}

async fn raw_trial(State(state): Viewer, Path((id, n)): Path<(String, u64)>, Query(at): Query<PartQuery>) -> PageResult {
    read_page(state, move |_, PooledStore { store, .. }| {
        let run = find_run(store, &id)?;
        let (_, transcript, scores) = store.read_transcript(run.run, n)?.ok_or_else(no_trial)?;
        Ok(pages::raw_page(&RawTrial { run: run.short_run_id(), n, transcript: &transcript, scores: &scores, part: at.part }))
    })
    .await
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CompareQuery {
    a: String,
    b: String,
    case: String,
    from: usize,
}

async fn compare(State(state): Viewer, Query(query): Query<CompareQuery>) -> PageResult {
    read_page(state, move |state, pooled| {
        let PooledStore { store, index } = pooled;
        let recent = store.list_runs(index.as_ref(), None, CHOICES)?;
        let label = |id: &str, subjects: &[String], started: &str| format!("{id} {} {started}", subjects.join(", "));
        let mut runs: Vec<(String, String)> = recent
            .iter()
            .map(|run| (run.short_run_id().to_owned(), label(run.short_run_id(), &run.counts.subjects, &run.started)))
            .collect();
        if query.a.is_empty() || query.b.is_empty() {
            let choice = CompareChoice { runs, before: query.a, after: query.b };
            return Ok(pages::compare_page(&ComparePage { choice: &choice, result: None, subjects: ["", ""] }));
        }
        let (before, after) = (find_run(store, &query.a)?, find_run(store, &query.b)?);
        for run in [&before, &after] {
            if runs.iter().all(|(id, _)| id != run.short_run_id()) {
                runs.push((run.short_run_id().to_owned(), label(run.short_run_id(), &run.subjects, &run.started)));
            }
        }
        let subjects = common_subjects(&before, &after);
        let result = compare_runs(state, pooled, [(&before, &subjects[0]), (&after, &subjects[1])])?;
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
    read_page(state, move |state, PooledStore { store, .. }| {
        let runs = [find_run(store, &query.a)?, find_run(store, &query.b)?];
        let read = |run: &StoredRun| {
            let first = store.find_trials(run.run, &query.case, None, 1)?.first.into_iter().next().ok_or_else(no_trial)?;
            let (_, transcript, scores) = store.read_transcript(run.run, first.n)?.ok_or_else(no_trial)?;
            Ok::<_, PageError>((transcript, scores))
        };
        let (left, right) = (read(&runs[0])?, read(&runs[1])?);
        Ok(pages::trial_pair_page(&TrialPair {
            workspace: &state.workspace,
            case: state.run_case(&runs[1], &query.case).as_ref(),
            runs: [runs[0].short_run_id(), runs[1].short_run_id()],
            trials: [(&left.0, &left.1), (&right.0, &right.1)],
            from: query.from,
        }))
    })
    .await
}

async fn workspace(State(state): Viewer) -> PageResult {
    read_page(state, |state, _| {
        let gate_cases = state.gate_cases.get_or_init(|| cases_by_gate(&state.workspace));
        Ok(pages::workspace_page(&state.workspace, &state.label, gate_cases))
    })
    .await
}
