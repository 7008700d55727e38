//! List of the trials of a run, filtered and searched.

use super::frame::{PageAssets, frame};
use super::{duration, outcome_mark, query_value, shown, usd};
use maud::{Markup, html};
use std::collections::BTreeMap;
use store::{StoredOutcome, TrialFilter, TrialListing, TrialPage};

/// Trials of a run that pass a filter.
#[derive(Debug)]
pub struct TrialsPage<'r> {
    /// Id of the run in addresses.
    pub run: &'r str,
    pub subjects: &'r [String],
    pub filter: &'r TrialFilter,
    /// Suite and tag as given, which chose the cases of the filter.
    pub suite: &'r str,
    pub tag: &'r str,
    pub page: &'r TrialPage,
}

pub fn trials_page(page: &TrialsPage<'_>) -> String {
    let body = html! {
        h1 { "Trials of run " a href={ "/runs/" (page.run) } { code { (page.run) } } }
        (filter_form(page))
        @if page.page.rows.is_empty() { p { "No trial fits." } } @else { (listing_table(page.run, &page.page.rows, PageAssets::Linked, &BTreeMap::new())) }
        div.pager {
            @if let Some(last) = page.page.rows.last().filter(|_| page.page.has_more) {
                a rel="next" href={ "/runs/" (page.run) "/trials?" (query(page)) "&from=" (last.n + 1) } { "Next trials" }
            }
        }
    };
    frame(PageAssets::Linked, &format!("Trials of run {}", page.run), &body)
}

fn query(page: &TrialsPage<'_>) -> String {
    let filter = page.filter;
    let outcome = filter.outcome.map_or("", StoredOutcome::word);
    let parts = [
        ("q", filter.text.as_str()),
        ("case", &filter.case),
        ("subject", &filter.subject),
        ("outcome", outcome),
        ("scorer", &filter.scorer),
        ("suite", page.suite),
        ("tag", page.tag),
    ];
    let parts = parts.iter().filter(|(_, value)| !value.is_empty()).map(|(name, value)| format!("{name}={}", query_value(value)));
    parts.collect::<Vec<_>>().join("&")
}

fn filter_form(page: &TrialsPage<'_>) -> Markup {
    let filter = page.filter;
    html! {
        form.filter method="get" action={ "/runs/" (page.run) "/trials" } role="search" {
            label { "text in the events" input type="search" name="q" value=(filter.text); }
            label { "case" input name="case" value=(filter.case); }
            label { "outcome" select name="outcome" {
                option value="" { "all" }
                @for (word, outcome) in StoredOutcome::ALL { option value=(word) selected[filter.outcome == Some(*outcome)] { (word) } }
            } }
            label { "missed scorer" input name="scorer" value=(filter.scorer); }
            label { "suite" input name="suite" value=(page.suite); }
            label { "tag" input name="tag" value=(page.tag); }
            @if page.subjects.len() > 1 {
                label { "subject" select name="subject" {
                    option value="" { "all" }
                    @for subject in page.subjects { option value=(subject) selected[filter.subject == *subject] { (shown(subject)) } }
                } }
            }
            button { "Filter" }
        }
    }
}

/// Returns the table of trials, with links where the viewer serves them, and with reasons by position where there are any.
pub(super) fn listing_table(run: &str, rows: &[TrialListing], assets: PageAssets, reasons: &BTreeMap<u64, String>) -> Markup {
    html! {
        div.wide { table {
            thead { tr {
                th scope="col" { "case" } th scope="col" { "outcome" } th scope="col" { "ending" } th scope="col" { "subject" } th.num scope="col" { "time" } th.num scope="col" { "USD" }
            } }
            tbody { @for row in rows {
                @let address = format!("/runs/{run}/trials/{}", row.n);
                tr data-href=[(assets == PageAssets::Linked).then_some(&address)] {
                    th scope="row" {
                        @if assets == PageAssets::Linked { a href=(address) { (shown(&row.case)) } } @else { (shown(&row.case)) }
                        @if let Some(reason) = reasons.get(&row.n) { div.soft { (shown(reason)) } }
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
