//! Search over the trials of all runs.

use super::snippet::snippet;
use super::store_pool::PooledStore;
use crate::pages::FoundTrial;
use std::collections::BTreeMap;
use store::{SearchIndex, SearchPosition, StoreError, TrialFilter, TrialListing};

/// Trials on a page, and trials with the words that are looked at for it.
const MOST: usize = 50;
const MAX_MATCHES: usize = 500;
/// Batches of them that are looked at before an empty page is shown.
const MAX_BATCHES: usize = 6;
/// Bytes of events that are searched for a snippet.
const MAX_EVENTS_BYTES: usize = 1 << 20;

/// Trials that were found, and the place at which the next page begins.
pub(super) struct SearchResults {
    pub trials: Vec<FoundTrial>,
    pub next: Option<SearchPosition>,
}

/// Finds trials before a place, the newest run first, and within a run the last position first. Goes on for a while if the other filters let none of
/// the trials with the words through.
pub(super) fn find_trials(
    pooled: &PooledStore,
    index: &SearchIndex,
    filter: &TrialFilter,
    before: Option<SearchPosition>,
) -> Result<SearchResults, StoreError> {
    let mut found = find_batch(pooled, index, filter, before)?;
    for _ in 1..MAX_BATCHES {
        match found.next {
            Some(next) if found.trials.is_empty() => found = find_batch(pooled, index, filter, Some(next))?,
            Some(_) | None => break,
        }
    }
    Ok(found)
}

fn find_batch(
    pooled: &PooledStore,
    index: &SearchIndex,
    filter: &TrialFilter,
    before: Option<SearchPosition>,
) -> Result<SearchResults, StoreError> {
    let places = index.find_before(&filter.terms, before, MAX_MATCHES)?;
    let next = if places.len() < MAX_MATCHES { None } else { places.last().copied() };
    let mut by_run: BTreeMap<i64, Vec<u64>> = BTreeMap::new();
    places.iter().for_each(|at| by_run.entry(at.run).or_default().push(at.n));
    let words = filter.terms.words();
    let (mut trials, mut last) = (vec![], None);
    for (run, positions) in by_run.into_iter().rev() {
        // A run that was removed since it was indexed is left out.
        let Some(id) = pooled.store.run_id(run)? else { continue };
        let id = model::short_id(&id).to_owned();
        for trial in pooled.store.trials_at(run, filter, &positions)?.into_iter().rev() {
            if trials.len() == MOST {
                return Ok(SearchResults { trials, next: last });
            }
            last = Some(SearchPosition { run, n: trial.n });
            trials.push(found_trial(pooled, (run, &id), trial, &words)?);
        }
    }
    Ok(SearchResults { trials, next })
}

fn found_trial(pooled: &PooledStore, (run, id): (i64, &str), trial: TrialListing, words: &[String]) -> Result<FoundTrial, StoreError> {
    let events = if words.is_empty() { None } else { pooled.store.events_json(run, trial.n, MAX_EVENTS_BYTES)? };
    let snippet = events.and_then(|events| snippet(&events, words));
    Ok(FoundTrial { run: id.to_owned(), trial, snippet })
}
