//! How often models will be asked, how long that takes and what it is likely to cost, before anything is asked.

use model::suite::{Case, Surface, Talk};
use model::{Live, Money, SubjectFile, Workspace};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Estimate {
    /// Calls to a model that leave the machine.
    pub calls: u64,
    /// At eight calls at once of three seconds each.
    pub seconds: u64,
    /// At the prices of the subject files; nothing where a price is not known.
    pub likely: Option<Money>,
}

/// The yardstick of the specification's durations.
const AT_ONCE: u64 = 8;
const CALL_S: u64 = 3;
/// Beside the tools: the prompt, the talk so far and a short answer, in tokens.
const TALK_TOKENS: u64 = 1_500;
const ANSWER_TOKENS: u64 = 250;
/// Bytes of JSON to a token, as vendors count.
const BYTES_A_TOKEN: u64 = 4;

/// A subject is taken to need as many moves as the reference and one more to end; where a tier plays recordings only the judge is asked.
pub fn estimate(workspace: &Workspace, cases: &[&Case], subjects: &[&SubjectFile], trials: u64, live: Option<Live>) -> Estimate {
    let (mut calls, mut likely) = (0, Some(Money::ZERO));
    for subject in subjects.iter().filter(|subject| subject.provider.is_llm()) {
        for case in cases {
            if matches!(live, None | Some(Live::Subject)) {
                let moves = moves(case) * trials;
                let listed = shown_bytes(workspace, case) / BYTES_A_TOKEN * moves;
                calls += moves;
                let more = price(subject, listed, TALK_TOKENS * moves, ANSWER_TOKENS * moves);
                likely = likely.zip(more).map(|(sum, more)| sum.plus(more));
            }
            if case.expect.rubric.is_some() && live != Some(Live::None) {
                calls += trials;
                let more = price(subject, 0, TALK_TOKENS * trials, ANSWER_TOKENS * trials);
                likely = likely.zip(more).map(|(sum, more)| sum.plus(more));
            }
        }
    }
    Estimate { calls, seconds: calls.div_ceil(AT_ONCE) * CALL_S, likely }
}

fn moves(case: &Case) -> u64 {
    let turns = match &case.brief.talk {
        Talk::Turns(turns) => turns.len() as u64,
        Talk::Persona(_) => 3,
    };
    match case.brief.surface {
        // The first move that calls tools ends it.
        Surface::Profile(_) => turns,
        Surface::Agent(_) | Surface::Skills => case.reference.len() as u64 + turns,
    }
}

fn shown_bytes(workspace: &Workspace, case: &Case) -> u64 {
    let tools = workspace.surface_tools(&case.brief.surface);
    let listed = tools.iter().map(|tool| tool.schema.value.to_string().len() + tool.description.len()).sum::<usize>();
    let skills =
        if matches!(case.brief.surface, Surface::Skills) { workspace.skills.iter().map(|skill| skill.description.len()).sum() } else { 0 };
    (listed + skills) as u64
}

/// The tools are the same in every call, so a vendor that caches prompts reads them at its price for that.
fn price(subject: &SubjectFile, listed: u64, talk: u64, output: u64) -> Option<Money> {
    let price = subject.price.as_ref()?;
    let listing = price.cache_read_per_mtok.unwrap_or(price.input_per_mtok).for_tokens(listed);
    Some(listing.plus(price.input_per_mtok.for_tokens(talk)).plus(price.output_per_mtok.for_tokens(output)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use score::example::Example;

    #[test]
    fn scripted_subjects_ask_nobody_and_recordings_ask_only_the_judge() {
        let workspace = Example::minimal().load().expect("a workspace");
        let cases: Vec<&Case> = workspace.cases().collect();
        let reference = workspace.subject("reference").expect("a subject");
        assert_eq!(estimate(&workspace, &cases, &[reference], 3, None), Estimate { likely: Some(Money::ZERO), ..Estimate::default() });
        let model = SubjectFile { provider: model::ProviderKind::Ollama, ..reference.clone() };
        let live = estimate(&workspace, &cases, &[&model], 2, Some(Live::Subject));
        assert!(live.calls > 2 * cases.len() as u64 && live.likely.is_none(), "{live:?}");
        assert_eq!(live.seconds, live.calls.div_ceil(8) * 3);
        assert_eq!(estimate(&workspace, &cases, &[&model], 2, Some(Live::Judge)).calls, 0, "no case has a rubric");
    }
}
