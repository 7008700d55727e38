//! List of the trials of a run, filtered and searched.

use super::filter_form::{FilterQuery, filter_form};
use super::frame::{PageAssets, frame};
use super::{duration, outcome_mark, shown, shown_within, usd};
use maud::{Markup, html};
use std::collections::BTreeMap;
use store::{TrialListing, TrialPage};

/// Characters of the reasons of a failed trial; its page has all.
const MAX_REASON_CHARS: usize = 600;

/// Trials of a run that pass a filter.
#[derive(Debug)]
pub struct TrialsPage<'r> {
    /// Id of the run in addresses.
    pub run: &'r str,
    pub subjects: &'r [String],
    pub filter: &'r FilterQuery,
    pub page: &'r TrialPage,
    /// Says that the index is behind.
    pub note: Option<String>,
}

pub fn trials_page(page: &TrialsPage<'_>) -> String {
    let address = format!("/runs/{}/trials", page.run);
    let body = html! {
        h1 { "Trials of run " a href={ "/runs/" (page.run) } { code { (page.run) } } }
        (filter_form(&address, page.filter, page.subjects))
        @if let Some(note) = &page.note { p role="status" { (shown(note)) } }
        @if page.page.rows.is_empty() { p { "No trial fits" @if page.page.next.is_some() { " so far" } "." } } @else { (listing_table(page.run, &page.page.rows, PageAssets::Linked, &BTreeMap::new())) }
        div.pager {
            @if let Some(next) = page.page.next { a rel="next" href={ (address) "?" (page.filter.to_query("from", &next.to_string())) } { "Next trials" } }
        }
    };
    frame(PageAssets::Linked, &format!("Trials of run {}", page.run), &body)
}

/// Returns the table of trials, with links where the viewer serves them, and with reasons by position where there are any.
pub(super) fn listing_table(run: &str, rows: &[TrialListing], assets: PageAssets, reasons: &BTreeMap<u64, String>) -> Markup {
    html! {
        div.wide tabindex="0" { table {
            thead { tr {
                th scope="col" { "case" } th scope="col" { "outcome" } th scope="col" { "ending" } th scope="col" { "subject" } th.num scope="col" { "time" } th.num scope="col" { "USD" }
            } }
            tbody { @for row in rows {
                @let address = format!("/runs/{run}/trials/{}", row.n);
                tr data-href=[(assets == PageAssets::Linked).then_some(&address)] {
                    th scope="row" {
                        @if assets == PageAssets::Linked { a href=(address) { (shown(&row.case)) } } @else { (shown(&row.case)) }
                        @if let Some(reason) = reasons.get(&row.n) { div.soft { (shown_within(reason, MAX_REASON_CHARS)) } }
                    }
                    td { span class={ "badge " (row.outcome.word()) } { (outcome_mark(row.outcome)) " " (row.outcome.word()) } }
                    td { (shown(&row.ending)) }
                    td { (shown(&row.subject)) }
                    td.num { (duration(row.wall_us)) }
                    td.num { (usd(row.cost)) }
                }
            } }
        } }
    }
}
