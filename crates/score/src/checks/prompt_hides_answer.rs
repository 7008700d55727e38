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
        "No user message contains the name or an alias of an expected tool, not even with spaces for underscores, the name of the expected \
         skill, the name of any agent, or four successive words of the description of an expected tool or skill. Users do not know these \
         names and texts, and such a prompt only measures whether a model can copy words."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        for case in workspace.cases() {
            let answers = answer_names(workspace, case);
            let descriptions = answer_descriptions(workspace, case);
            for text in user_texts(case) {
                found.record_examined();
                for answer in answers.iter().filter(|answer| mentions_name(&text, answer)) {
                    let what = format!("the user of case {} says \"{answer}\", which is the answer", *case.id);
                    found.error(&text.at, what, "rephrase the request");
                }
                for agent in workspace.agents.iter().map(|agent| agent.name.as_str()).filter(|name| mentions_agent(&text, name)) {
                    let what = format!("the user of case {} names the agent {agent}", *case.id);
                    found.error(&text.at, what, "rephrase the request; users do not know the agents");
                }
                for copied in descriptions.iter().filter_map(|description| copied_words(&text, description)) {
                    let what = format!("the user of case {} says \"{copied}\", as the description of the answer does", *case.id);
                    found.error(&text.at, what, "rephrase the request in the words of a user");
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

/// Reports whether a text names an agent, with hyphens or spaces. A name of one word is a word of the language.
fn mentions_agent(text: &str, name: &str) -> bool {
    let says = |phrase: &str| contains_phrase(text, phrase, FoldMode::Spacing);
    name.contains('-') && (says(name) || says(&name.replace('-', " ")))
}

/// Number of successive words that count as copied.
const COPIED_WORDS: usize = 4;

/// Returns the first words that a text has in common with a description.
fn copied_words(text: &str, description: &str) -> Option<String> {
    let (text, description) = (plain_words(text), plain_words(description));
    let copied = text.windows(COPIED_WORDS).find(|words| description.windows(COPIED_WORDS).any(|other| other == *words));
    copied.map(|words| words.join(" "))
}

/// Returns the words of a text in lower case, without punctuation.
fn plain_words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

/// Returns the descriptions of the expected tools and of the expected skill.
fn answer_descriptions<'w>(workspace: &'w Workspace, case: &'w Case) -> BTreeSet<&'w str> {
    let tools = case.expect.calls.iter().flat_map(|calls| calls.expected_calls()).filter_map(|call| workspace.tool(&call.tool));
    let skill = case.expect.skill.iter().filter_map(|name| workspace.skill(name));
    tools.map(|tool| tool.description.as_str()).chain(skill.map(|skill| skill.description.as_str())).collect()
}

/// Returns all names and aliases of the expected tools and the name of the expected skill.
fn answer_names<'w>(workspace: &'w Workspace, case: &'w Case) -> BTreeSet<&'w str> {
    let tools = case.expect.calls.iter().flat_map(|calls| calls.expected_calls()).filter_map(|call| workspace.tool(&call.tool));
    let names = tools.flat_map(|tool| std::iter::once(&tool.name).chain(&tool.aliases)).map(|name| name.as_str());
    names.chain(case.expect.skill.iter().map(|skill| skill.as_str())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(prompt: &str) -> Vec<String> {
        let from = "How many dollars in USDC do I have left on Base?";
        let example = ExampleWorkspace::minimal().edit("suites/tool_selection/trader.yaml", from, prompt);
        let workspace = example.load().expect("the example loads");
        crate::checks::run_selected(&workspace, &["prompt_hides_answer"]).into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn agent_names_and_copied_descriptions_are_found() {
        let named = findings("Let the safety guardian look at my USDC on Base.");
        assert!(named.len() == 1 && named[0].ends_with("names the agent safety-guardian"), "{named:?}");
        assert_eq!(findings("Is a safety net or a guardian needed for my USDC?"), [] as [&str; 0]);
        assert_eq!(
            copied_words("Show gross liquidity, per Tick!", "The gross liquidity per tick."),
            Some("gross liquidity per tick".into())
        );
        assert_eq!(copied_words("Show the liquidity per tick", "The gross liquidity per tick."), None);
    }
}
