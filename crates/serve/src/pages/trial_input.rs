//! Input of a trial and raw replies: the prompt and the tools that the subject was given, the reference of the case, and every model call.

use super::frame::{PageAssets, frame};
use super::{duration, shown, shown_lines, usd};
use maud::{Markup, html};
use model::suite::Case;
use model::view::AgentContext;
use model::{Transcript, Workspace};
use store::TrialCall;

/// Characters of a prompt, a schema or a reply.
const MAX_CHARS: usize = 20_000;

/// Input of a trial as the workspace that is open gives it, and its model calls.
#[derive(Debug)]
pub struct TrialInput<'r> {
    pub workspace: &'r Workspace,
    /// Absent if neither the workspace nor its probes have it.
    pub case: Option<&'r Case>,
    /// Id of the run in addresses.
    pub run: &'r str,
    pub n: u64,
    pub transcript: &'r Transcript,
    pub calls: &'r [TrialCall],
    pub has_more_calls: bool,
}

pub fn trial_input_page(input: &TrialInput<'_>) -> String {
    let body = html! {
        p { a href={ "/runs/" (input.run) "/trials/" (input.n) } { "Back to the trial" } }
        h1 { "Input and replies of " (shown(&input.transcript.case)) }
        @match input.case { Some(case) => { (given(input.workspace, case)) (reference_steps(case)) } None => { p.unsure { "The case is not in the workspace that is open." } } }
        (replies(input))
    };
    frame(PageAssets::Linked, "Input and replies", &body)
}

fn given(workspace: &Workspace, case: &Case) -> Markup {
    let context = AgentContext::for_brief(workspace, &case.brief);
    let prompt = context.instructions();
    html! {
        h2 { "Prompt" }
        p.soft { "As the workspace that is open gives it to the surface of the case; a subject may add a prompt of its own." }
        @if prompt.is_empty() { p { "The surface has no prompt." } } @else { pre tabindex="0" { (shown_lines(&prompt, MAX_CHARS)) } }
        h3 { "First message of the user" }
        pre tabindex="0" { (shown_lines(case.brief.user_script.opening(), MAX_CHARS)) }
        h2 { (context.tools.len()) " tools" }
        @for tool in &context.tools {
            details { summary { code { (shown(&tool.name)) } " " span.soft { (shown(&tool.description)) } } pre tabindex="0" { (shown_lines(&format!("{:#}", tool.input_schema), MAX_CHARS)) } }
        }
        @if !context.skills.is_empty() { p { (context.skills.len()) " skills can be activated." } }
    }
}

/// Returns the steps of the reference, one per line.
pub(super) fn reference_steps(case: &Case) -> Markup {
    html! {
        @if !case.reference.is_empty() {
            h2 { "Reference of the case" }
            ol { @for step in &case.reference { li { code { (shown(&step.to_json().to_string())) } } } }
        }
    }
}

fn replies(input: &TrialInput<'_>) -> Markup {
    html! {
        h2 { "Model calls" }
        @if input.calls.is_empty() { p { "The trial made no model call." } }
        @for call in input.calls {
            details {
                summary {
                    (shown(&call.role)) " " (call.n) ": " (shown(&call.state)) ", " (usd(call.cost)) " USD" @if let Some(us) = call.waited_us { ", " (duration(us)) }
                }
                @if let Some(why) = &call.why { p.bad { (shown(why)) } }
                @if let Some(reply) = &call.reply { pre tabindex="0" { (shown_lines(&pretty(reply), MAX_CHARS)) } }
            }
        }
        @if input.has_more_calls { p.soft { "Further calls are in the table " code { "calls" } " of the store." } }
    }
}

fn pretty(json: &str) -> String {
    serde_json::from_str::<serde_json::Value>(json).map_or_else(|_| json.to_owned(), |value| format!("{value:#}"))
}
