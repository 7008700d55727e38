//! Page of a trial: timeline of events with effects, scores with the events they cite, delegations, and the raw record.

use super::frame::{PageAssets, frame};
use super::{shown, shown_lines};
use maud::{Markup, html};
use model::suite::Case;
use model::{Event, EventKind, Reading, Score, Transcript, Workspace};
use present::amounts::AmountFormatter;
use present::delegation_tree::delegation_tree;
use present::event_formatter::{EventFormatter, seconds};
use present::reading_text::reading_text;

/// Events on a page, and bytes of their texts; further ones are on the next page.
const MAX_EVENTS: usize = 500;
const MAX_EVENT_BYTES: usize = 70_000;
/// Bytes of a raw record on one page.
const MAX_RAW_BYTES: usize = 120_000;
/// Characters of the tree of delegations and of the output of an agent.
const MAX_PANEL_CHARS: usize = 20_000;

/// Trial as a page shows it.
#[derive(Debug)]
pub struct TrialView<'r> {
    pub workspace: &'r Workspace,
    /// Absent if neither the workspace nor its probes have it.
    pub case: Option<&'r Case>,
    /// Id of the run in addresses.
    pub run: &'r str,
    pub n: u64,
    pub seed: u64,
    pub transcript: &'r Transcript,
    pub scores: &'r [Score],
    /// Last output of an external agent to standard error.
    pub stderr: Option<&'r str>,
    /// The reference's trial of the same case, if it is stored.
    pub reference: Option<String>,
    /// Position of the first event on the page.
    pub from: usize,
}

pub fn trial_page(view: &TrialView<'_>) -> String {
    let transcript = view.transcript;
    let case = view.case;
    let title = format!("{} by {}", transcript.case, transcript.subject);
    let body = html! {
        p { a href={ "/runs/" (view.run) } { "Run " code { (view.run) } } " · " a href={ "/runs/" (view.run) "/trials" } { "trials" } }
        h1 { (shown(&transcript.case)) }
        dl.facts {
            dt { "subject" } dd { (shown(&transcript.subject)) }
            dt { "trial" } dd { code { (transcript.trial.short()) } ", position " (view.n) ", seed " (view.seed) }
            dt { "ending" } dd { (shown(&transcript.ending.to_string())) }
            @if let Some(case) = case { dt { "world" } dd { (shown(&case.brief.world.value)) } @if !case.tags.is_empty() { dt { "tags" } dd { (shown(&tag_list(case))) } } }
            dt { "more" }
            dd {
                a href={ "/runs/" (view.run) "/trials/" (view.n) "/input" } { "prompt, tools and replies" } " · "
                a href={ "/runs/" (view.run) "/trials/" (view.n) "/raw" } { "raw record" }
                @if let Some(reference) = &view.reference { " · " a href=(reference) { "beside the reference" } }
            }
        }
        @if case.is_none() { p.unsure { "The case is not in the workspace that is open, so amounts may lack their unit." } }
        div.columns {
            section aria-label="Timeline" { h2 { "Timeline" } (timeline(&TimelineView { workspace: view.workspace, case, transcript, scores: view.scores, prefix: "e", lit: None, from: view.from, query: "" })) }
            section aria-label="Scores" {
                h2 { "Scores" }
                (score_list(view.scores, "e"))
                @if let Some(tree) = delegation_tree(&transcript.events).filter(|tree| !tree.children.is_empty()) {
                    h2 { "Delegations" }
                    pre tabindex="0" { (shown_lines(&tree.lines().join("\n"), MAX_PANEL_CHARS)) }
                }
                @if let Some(stderr) = view.stderr { h2 { "Standard error of the agent" } pre tabindex="0" { (shown_lines(stderr, MAX_PANEL_CHARS)) } }
            }
        }
    };
    frame(PageAssets::Linked, &title, &body)
}

fn tag_list(case: &Case) -> String {
    case.tags.join(", ")
}

/// Returns the formatter of the events of a transcript.
pub(super) fn formatter<'w>(workspace: &'w Workspace, case: Option<&Case>) -> EventFormatter<'w> {
    let world = case.and_then(|case| workspace.world(&case.brief.world));
    EventFormatter { amounts: AmountFormatter { workspace, world }, verbose: true }
}

/// Events of a transcript as a page shows them.
#[derive(Debug, Clone, Copy)]
pub(super) struct TimelineView<'r> {
    pub workspace: &'r Workspace,
    pub case: Option<&'r Case>,
    pub transcript: &'r Transcript,
    pub scores: &'r [Score],
    /// Begin of the ids of events, different on each side of a page.
    pub prefix: &'r str,
    /// Position of an event that is marked from the start.
    pub lit: Option<usize>,
    /// Position of the first event on the page.
    pub from: usize,
    /// Begin of the query of further pages.
    pub query: &'r str,
}

/// Returns the end of the events that fit on a page.
fn events_on_page(lines: impl Iterator<Item = usize>, from: usize) -> usize {
    let mut bytes = 0;
    let fit = lines.take(MAX_EVENTS).take_while(|length| {
        let is_first = bytes == 0;
        bytes += length + 80;
        is_first || bytes <= MAX_EVENT_BYTES
    });
    from + fit.count()
}

/// Returns the events as a list, each with the scores that cite it.
pub(super) fn timeline(view: &TimelineView<'_>) -> Markup {
    let TimelineView { workspace, case, transcript, scores, prefix, lit, from, query } = *view;
    let formatter = formatter(workspace, case);
    let shown_event = |event: &Event| {
        let effects: Vec<String> = formatter.effect_lines(event).iter().map(|effect| shown(effect)).collect();
        (shown(&formatter.event_line(event)), effects)
    };
    let texts: Vec<(usize, &Event, _)> =
        transcript.events.iter().enumerate().skip(from).take(MAX_EVENTS).map(|(at, event)| (at, event, shown_event(event))).collect();
    let lengths = texts.iter().map(|(_, _, (line, effects))| line.len() + effects.iter().map(String::len).sum::<usize>());
    let end = events_on_page(lengths, from);
    html! {
        @if from > 0 { p { a href={ "?" (query) "from=0" } rel="prev" { "First events" } } }
        ol.timeline {
            @for (at, event, (line, effects)) in texts.iter().filter(|(at, _, _)| *at < end) {
                li id={ (prefix) (event.n) } data-n=(event.n) class={ (event_class(&event.happened)) " d" (event.depth.min(4)) @if lit == Some(*at) { " lit" } } {
                    span.when { "#" (event.n) " " (seconds(event.at_ms)) }
                    b { (shown(&event.by)) } " " (line)
                    @if !effects.is_empty() { ul { @for effect in effects { li { (effect) } } } }
                    (citations(event, scores))
                }
            }
        }
        @if end < transcript.events.len() { p { a href={ "?" (query) "from=" (end) } rel="next" { "Next events" } ", " (transcript.events.len() - end) " more" } }
    }
}

fn citations(event: &Event, scores: &[Score]) -> Markup {
    let cited: Vec<(&Score, &str)> = scores
        .iter()
        .filter(|score| score.reading.is_violation())
        .flat_map(|score| {
            score.because.iter().filter(|reason| reason.event == Some(event.n)).map(move |reason| (score, reason.what.as_str()))
        })
        .collect();
    html! { @for (score, what) in cited { div.bad { "✗ " (shown(score.scorer.as_str())) ": " (shown(what)) } } }
}

/// Returns the class of an event: those that change something, and those that object.
fn event_class(kind: &EventKind) -> &'static str {
    match kind {
        EventKind::Signed { .. } | EventKind::Mined { .. } | EventKind::Decided { .. } | EventKind::Remembered { .. } => "effect",
        EventKind::WouldBlock { .. }
        | EventKind::Blocked { .. }
        | EventKind::Reported { .. }
        | EventKind::Misjudged { .. }
        | EventKind::HoleRead { .. } => "warn",
        EventKind::UserSaid { .. }
        | EventKind::Revealed { .. }
        | EventKind::Unmatched { .. }
        | EventKind::Said { .. }
        | EventKind::Asked { .. }
        | EventKind::Refused { .. }
        | EventKind::Returned { .. }
        | EventKind::Activated { .. }
        | EventKind::Called { .. }
        | EventKind::Resolved { .. }
        | EventKind::Prepared { .. }
        | EventKind::Simulated { .. }
        | EventKind::Confirmed { .. }
        | EventKind::Answered { .. }
        | EventKind::Delegated { .. }
        | EventKind::Messaged { .. }
        | EventKind::Recalled { .. }
        | EventKind::FixtureUsed { .. }
        | EventKind::Claimed { .. }
        | EventKind::Judged { .. }
        | EventKind::Scored { .. }
        | EventKind::Used { .. } => "plain",
    }
}

/// Returns the readings, misses first. A reading names the events it cites, which the script lights.
pub(super) fn score_list(scores: &[Score], prefix: &str) -> Markup {
    let mut sorted: Vec<&Score> = scores.iter().collect();
    sorted.sort_by_key(|score| (!score.reading.is_violation(), !score.reading.is_exercised()));
    html! {
        @if sorted.is_empty() { p { "The trial has no scores." } }
        ul { @for score in sorted {
            @let events: Vec<String> = score.because.iter().filter_map(|reason| reason.event).map(|n| n.to_string()).collect();
            li {
                span class={ "badge " (tone(&score.reading)) } { (mark(&score.reading)) " " (shown(&reading_text(&score.reading))) } " "
                @match events.first() {
                    Some(first) => { a href={ "#" (prefix) (first) } data-prefix=(prefix) data-events=(events.join(" ")) { (shown(score.scorer.as_str())) } }
                    None => { (shown(score.scorer.as_str())) }
                }
                @if score.reading.is_violation() && !score.because.is_empty() { div.soft { (shown(&score.reasons())) } }
            }
        } }
    }
}

fn tone(reading: &Reading) -> &'static str {
    match reading {
        Reading::Tally { of: 0, .. } | Reading::Level(_) | Reading::Unscorable { .. } => "unsure",
        Reading::Tally { hit, of } if hit == of => "good",
        Reading::Tally { .. } => "bad",
    }
}

fn mark(reading: &Reading) -> &'static str {
    match tone(reading) {
        "good" => "✓",
        "bad" => "✗",
        _ => "·",
    }
}

/// Record of a trial as it is stored.
#[derive(Debug)]
pub struct RawTrial<'r> {
    pub run: &'r str,
    pub n: u64,
    pub transcript: &'r Transcript,
    pub scores: &'r [Score],
    /// Part of the record that is shown, from 0.
    pub part: usize,
}

pub fn raw_page(raw: &RawTrial<'_>) -> String {
    let document = format!("{:#}", serde_json::json!({ "transcript": raw.transcript, "scores": raw.scores }));
    let parts = document.len().div_ceil(MAX_RAW_BYTES);
    let part = raw.part.min(parts.saturating_sub(1));
    let (start, end) = (char_start(&document, part * MAX_RAW_BYTES), char_start(&document, (part + 1) * MAX_RAW_BYTES));
    let body = html! {
        p { a href={ "/runs/" (raw.run) "/trials/" (raw.n) } { "Back to the trial" } }
        h1 { "Record of " (shown(&raw.transcript.case)) }
        @if parts > 1 {
            p {
                "Part " (part + 1) " of " (parts)
                @if part > 0 { " · " a href={ "?part=" (part - 1) } rel="prev" { "Previous part" } }
                @if part + 1 < parts { " · " a href={ "?part=" (part + 1) } rel="next" { "Next part" } }
            }
        }
        pre tabindex="0" { (shown_lines(&document[start..end], MAX_RAW_BYTES)) }
    };
    frame(PageAssets::Linked, "Raw record", &body)
}

/// Returns the first place from `at` on at which a character starts.
fn char_start(text: &str, at: usize) -> usize {
    (at..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}
