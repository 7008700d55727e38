//! Two runs side by side, paired by case, and two trials of one case.

use super::frame::{PageAssets, frame};
use super::trial::{TimelineView, score_list, timeline};
use super::{query_value, shown, shown_within};
use maud::{Markup, html};
use model::suite::Case;
use model::{Score, Transcript, Workspace};
use present::cause_text::cause;
use present::changed_values::changed_values;
use score::pairing::{ChangeVerdict, FlipDirection, PairedSlice, RunComparison};

/// Cases of a group of flips on the page.
const MAX_FLIPS: usize = 25;

/// Characters of the label of a run to choose.
const MAX_LABEL_CHARS: usize = 120;

/// Runs to choose from.
#[derive(Debug)]
pub struct CompareChoice {
    /// Id in addresses and label.
    pub runs: Vec<(String, String)>,
    pub before: String,
    pub after: String,
}

/// Slices of gates on the page, changed ones first.
const MAX_SLICES: usize = 120;

/// Comparison of two runs.
#[derive(Debug)]
pub struct ComparePage<'r> {
    pub choice: &'r CompareChoice,
    /// Absent until two runs are chosen.
    pub result: Option<&'r RunComparison>,
    /// Subjects of the two sides.
    pub subjects: [&'r str; 2],
}

pub fn compare_page(page: &ComparePage<'_>) -> String {
    let body = html! {
        h1 { "Compare two runs" }
        form.filter method="get" action="/compare" {
            (run_choice("a", "before", page.choice, &page.choice.before))
            (run_choice("b", "after", page.choice, &page.choice.after))
            button { "Compare" }
        }
        @if let Some(result) = page.result { (comparison(page, result, PageAssets::Linked)) }
    };
    frame(PageAssets::Linked, "Compare", &body)
}

/// Returns comparisons as one file, with a title for each.
pub fn comparison_file(comparisons: &[(String, ComparePage<'_>)]) -> String {
    let body = html! {
        h1 { "Comparison" }
        @for (title, page) in comparisons {
            h2 { (shown(title)) }
            @if let Some(result) = page.result { (comparison(page, result, PageAssets::Inline)) }
        }
    };
    frame(PageAssets::Inline, "Comparison", &body)
}

fn run_choice(name: &str, label: &str, choice: &CompareChoice, chosen: &str) -> Markup {
    html! {
        label { (label) select name=(name) {
            @for (id, text) in &choice.runs { option value=(id) selected[id == chosen] { (shown_within(text, MAX_LABEL_CHARS)) } }
        } }
    }
}

fn comparison(page: &ComparePage<'_>, result: &RunComparison, assets: PageAssets) -> Markup {
    html! {
        p { (shown(page.subjects[0])) " before, " (shown(page.subjects[1])) " after: " (change_badge(result.cases.verdict)) }
        p.soft {
            (result.cases.counts.paired()) " cases in both, " (result.only_before) " only before, " (result.only_after) " only after, "
            (result.changed_cases.len()) " with another text, " (result.without_result.len()) " without a result"
        }
        h2 { "Gates" }
        div.wide tabindex="0" { table {
            thead { tr {
                th scope="col" { "gate" } th scope="col" { "slice" } th scope="col" { "change" } th.num scope="col" { "before" } th.num scope="col" { "after" }
                th.num scope="col" { "better" } th.num scope="col" { "worse" } th.num scope="col" { "p, adjusted" }
            } }
            tbody { @for slice in changed_first(result).into_iter().take(MAX_SLICES) { (slice_row(slice)) } }
        } }
        @if result.slices.len() > MAX_SLICES { p.soft { (result.slices.len() - MAX_SLICES) " further slices, none of them more changed; " code { "bardo-eval compare" } " prints all" } }
        h2 { "Cases that flipped" }
        @if result.flips.is_empty() { p { "None." } }
        @for group in &result.flips {
            h3 { (match group.direction { FlipDirection::Worse => "worse", FlipDirection::Better => "better" }) ": " (shown(&cause(group.cause.as_ref()))) " (" (group.cases.len()) ")" }
            ul { @for case in group.cases.iter().take(MAX_FLIPS) {
                li {
                    @if assets == PageAssets::Linked {
                        a href={ "/compare/trials?a=" (page.choice.before) "&b=" (page.choice.after) "&case=" (query_value(&case.case)) } { (shown(&case.case)) }
                    } @else { (shown(&case.case)) }
                    " " (format!("{:.2} → {:.2}", case.before, case.after))
                }
            } }
            @if group.cases.len() > MAX_FLIPS { p.soft { (group.cases.len() - MAX_FLIPS) " more" } }
        }
    }
}

/// Returns the slices, changed ones first.
fn changed_first(result: &RunComparison) -> Vec<&PairedSlice> {
    let rank = |slice: &&PairedSlice| match slice.verdict {
        ChangeVerdict::Regression => 0,
        ChangeVerdict::Improvement => 1,
        ChangeVerdict::NotEnoughData => 2,
        ChangeVerdict::Tied => 3,
    };
    let mut slices: Vec<&PairedSlice> = result.slices.iter().collect();
    slices.sort_by_key(rank);
    slices
}

fn slice_row(slice: &PairedSlice) -> Markup {
    let [before, after] = changed_values(slice.before, slice.after);
    html! {
        tr {
            th scope="row" { (shown(slice.gate.as_deref().unwrap_or("all cases"))) }
            td { (shown(&slice.slice)) }
            td { (change_badge(slice.verdict)) }
            td.num { (before) } td.num { (after) }
            td.num { (slice.counts.better) } td.num { (slice.counts.worse) }
            td.num { (format!("{:.3}", slice.adjusted)) }
        }
    }
}

fn change_badge(verdict: ChangeVerdict) -> Markup {
    let class = match verdict {
        ChangeVerdict::Regression => "bad",
        ChangeVerdict::Improvement => "good",
        ChangeVerdict::Tied | ChangeVerdict::NotEnoughData => "unsure",
    };
    html! { span class={ "badge " (class) } { (verdict.word()) } }
}

/// Begins of the ids of events on the two sides.
const PREFIXES: [&str; 2] = ["a", "b"];

/// Trials of one case in two runs.
#[derive(Debug)]
pub struct TrialPair<'r> {
    pub workspace: &'r Workspace,
    /// Absent if neither the workspace nor its probes have it.
    pub case: Option<&'r Case>,
    /// Ids of the runs in addresses.
    pub runs: [&'r str; 2],
    pub trials: [(&'r Transcript, &'r [Score]); 2],
    /// Position of the first event on the page.
    pub from: usize,
}

pub fn trial_pair_page(pair: &TrialPair<'_>) -> String {
    let [left, right] = pair.trials;
    let first_different = left.0.events.iter().zip(&right.0.events).position(|(one, other)| one.happened != other.happened);
    let ended = left.0.events.len().min(right.0.events.len());
    let different = first_different.or((left.0.events.len() != right.0.events.len()).then_some(ended));
    let query = format!("a={}&b={}&case={}&", pair.runs[0], pair.runs[1], query_value(&left.0.case));
    let side = |at: usize| {
        let (transcript, scores) = pair.trials[at];
        html! {
            section aria-label=(pair.runs[at]) {
                h2 { "Run " a href={ "/runs/" (pair.runs[at]) } { code { (pair.runs[at]) } } ", " (shown(&transcript.subject)) }
                p { "ended: " (shown(&transcript.ending.to_string())) }
                (score_list(scores, PREFIXES[at]))
                h3 { "Timeline" }
                (timeline(&TimelineView { workspace: pair.workspace, case: pair.case, transcript, scores, prefix: PREFIXES[at], lit: different, from: pair.from, query: &query }))
            }
        }
    };
    let body = html! {
        p { a href={ "/compare?a=" (pair.runs[0]) "&b=" (pair.runs[1]) } { "Comparison of the runs" } }
        h1 { (shown(&left.0.case)) }
        p {
            @match different.and_then(|at| left.0.events.get(at).or(right.0.events.get(at))) {
                Some(event) => {
                    "First event that differs: #" (event.n) ", "
                    @for (at, (transcript, _)) in pair.trials.iter().enumerate() {
                        @if at > 0 { " · " }
                        @match different.and_then(|position| transcript.events.get(position)) {
                            Some(event) => { a href={ "#" (PREFIXES[at]) (event.n) } { "in run " (pair.runs[at]) } }
                            None => { "run " (pair.runs[at]) " has ended before" }
                        }
                    }
                }
                None => { "The events are the same." }
            }
        }
        div.columns.same { (side(0)) (side(1)) }
    };
    frame(PageAssets::Linked, &left.0.case, &body)
}
