//! The prompt does not name the tool or skill it asks for. Spec 2.1 and 2.3: selection, not reading.

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
        "Nothing the user says contains the name or an alias of an expected tool, not even with spaces for underscores, nor the name of the \
         expected skill. People do not speak in tool names, and a prompt that does measures whether a model can copy a word."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        for case in workspace.cases() {
            let answers = answer_names(workspace, case);
            for text in user_texts(case) {
                found.record_examined();
                for answer in answers.iter().filter(|answer| mentions_name(&text, answer)) {
                    let what = format!("the user of case {} says \"{answer}\", which is the answer", *case.id);
                    found.error(&text.at, what, "say what is wanted in other words");
                }
            }
        }
    }

    fn rejects(&self) -> ExampleWorkspace {
        let from = "How many dollars in USDC do I have left on Base?";
        ExampleWorkspace::minimal().edit("suites/tool_selection/trader.yaml", from, "Use wallet get balance to see my USDC on Base.")
    }
}

/// Reports whether a text says the name of a tool or a skill, with underscores or with spaces.
fn mentions_name(text: &str, answer: &str) -> bool {
    let says = |phrase: &str| contains_phrase(text, phrase, FoldMode::Spacing);
    says(answer) || says(&answer.replace('_', " "))
}

/// Every name under which the expected tools and the expected skill go.
fn answer_names<'w>(workspace: &'w Workspace, case: &'w Case) -> BTreeSet<&'w str> {
    let tools = case.expect.calls.iter().flat_map(|calls| calls.expected_calls()).filter_map(|call| workspace.tool(&call.tool));
    let names = tools.flat_map(|tool| std::iter::once(&tool.name).chain(&tool.aliases)).map(|name| name.as_str());
    names.chain(case.expect.skill.iter().map(|skill| skill.as_str())).collect()
}
