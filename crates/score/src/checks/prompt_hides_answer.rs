//! Prompts do not name the expected tool or skill. Spec 2.1 and 2.3: selection.

use super::words::user_texts;
use super::{Check, ExampleWorkspace, FindingCollector};
use lexical::{FoldMode, contains_phrase};
use model::Workspace;
use model::suite::Case;
use std::collections::BTreeSet;

pub(super) struct PromptHidesAnswer;

impl Check for PromptHidesAnswer {
    fn id(&self) -> &'static str {
        "prompt_hides_answer"
    }

    fn manual(&self) -> &'static str {
        "No user message contains the name or an alias of an expected tool, not even with spaces for underscores, nor the name of the \
         expected skill. Users do not know tool names, and such a prompt only measures whether a model can copy a word."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        for case in workspace.cases() {
            let answers = answer_names(workspace, case);
            for text in user_texts(case) {
                found.record_examined();
                for answer in answers.iter().filter(|answer| mentions_name(&text, answer)) {
                    let what = format!("the user of case {} says \"{answer}\", which is the answer", *case.id);
                    found.error(&text.at, what, "rephrase the request");
                }
            }
        }
    }

    fn rejects(&self) -> ExampleWorkspace {
        let from = "How many dollars in USDC do I have left on Base?";
        ExampleWorkspace::minimal().edit("suites/tool_selection/trader.yaml", from, "Use wallet get balance to see my USDC on Base.")
    }
}

/// Reports whether a text contains the name, with underscores or spaces.
fn mentions_name(text: &str, answer: &str) -> bool {
    let says = |phrase: &str| contains_phrase(text, phrase, FoldMode::Spacing);
    says(answer) || says(&answer.replace('_', " "))
}

/// Returns all names and aliases of the expected tools and the name of the expected skill.
fn answer_names<'w>(workspace: &'w Workspace, case: &'w Case) -> BTreeSet<&'w str> {
    let tools = case.expect.calls.iter().flat_map(|calls| calls.expected_calls()).filter_map(|call| workspace.tool(&call.tool));
    let names = tools.flat_map(|tool| std::iter::once(&tool.name).chain(&tool.aliases)).map(|name| name.as_str());
    names.chain(case.expect.skill.iter().map(|skill| skill.as_str())).collect()
}
