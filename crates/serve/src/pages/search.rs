//! Search over the trials of all runs, the newest first.

use super::filter_form::{FilterQuery, filter_form};
use super::frame::{PageAssets, frame};
use super::{duration, outcome_mark, shown, usd};
use maud::{Markup, html};
use store::TrialListing;

/// Trial that was found.
#[derive(Debug)]
pub struct FoundTrial {
    /// Id of the run in addresses.
    pub run: String,
    pub trial: TrialListing,
    /// Number of the first event with a word, and the text around it.
    pub snippet: Option<(u64, String)>,
}

/// Result of a search.
#[derive(Debug)]
pub struct SearchPage<'r> {
    pub filter: &'r FilterQuery,
    pub found: &'r [FoundTrial],
    /// Value of `before` on the next page.
    pub next: Option<String>,
    /// Says that the index is missing or behind.
    pub note: Option<String>,
}

pub fn search_page(page: &SearchPage<'_>) -> String {
    let body = html! {
        h1 { "Search" }
        (filter_form("/search", page.filter, &[]))
        p.soft { "Trials of all runs, newest run first. All words must occur in a trial; " code { "order*" } " finds every word that begins so." }
        @if let Some(note) = &page.note { p role="status" { (shown(note)) } }
        @if page.found.is_empty() { p { "No trial fits" @if page.next.is_some() { " so far" } "." } } @else { (table(page.found)) }
        div.pager { @if let Some(next) = &page.next { a rel="next" href={ "/search?" (page.filter.to_query("before", next)) } { "Next trials" } } }
    };
    frame(PageAssets::Linked, "Search", &body)
}

fn table(found: &[FoundTrial]) -> Markup {
    html! {
        div.wide tabindex="0" { table {
            thead { tr {
                th scope="col" { "case" } th scope="col" { "outcome" } th scope="col" { "run" } th scope="col" { "subject" } th.num scope="col" { "time" } th.num scope="col" { "USD" }
            } }
            tbody { @for one in found {
                @let address = format!("/runs/{}/trials/{}", one.run, one.trial.n);
                tr data-href=(address) {
                    th scope="row" {
                        a href=(address) { (shown(&one.trial.case)) }
                        @if let Some((n, text)) = &one.snippet { div.soft { a href={ (address) "#e" (n) } { "#" (n) } " " (shown(text)) } }
                    }
                    td { span class={ "badge " (one.trial.outcome.word()) } { (outcome_mark(one.trial.outcome)) " " (one.trial.outcome.word()) } }
                    td { a href={ "/runs/" (one.run) } { code { (one.run) } } }
                    td { (shown(&one.trial.subject)) }
                    td.num { (duration(one.trial.wall_us)) }
                    td.num { (usd(one.trial.cost)) }
                }
            } }
        } }
    }
}
