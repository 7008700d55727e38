//! Prompts do not name the expected tool or skill. Spec 2.1 and 2.3: selection.

use super::words::user_texts;
use super::{Check, ExampleWorkspace, FindingCollector};
use lexical::{FoldMode, FoldedText};
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
        let agents: Vec<NamedPhrase<'_>> = workspace.agents.iter().filter_map(|agent| NamedPhrase::of_agent(&agent.name)).collect();
        for case in workspace.cases() {
            let answers: Vec<NamedPhrase<'_>> = answer_names(workspace, case).into_iter().map(NamedPhrase::of_answer).collect();
            let descriptions: Vec<Vec<String>> = answer_descriptions(workspace, case).into_iter().map(plain_words).collect();
            for text in user_texts(case) {
                found.record_examined();
                let folded = folded(&text);
                for answer in answers.iter().filter(|answer| answer.is_in(&folded)) {
                    let what = format!("the user of case {} says \"{}\", which is the answer", *case.id, answer.name);
                    found.error(&text.at, what, "rephrase the request");
                }
                for agent in agents.iter().filter(|agent| agent.is_in(&folded)) {
                    let what = format!("the user of case {} names the agent {}", *case.id, agent.name);
                    found.error(&text.at, what, "rephrase the request; users do not know the agents");
                }
                let words = plain_words(&text);
                for copied in descriptions.iter().filter_map(|description| copied_words(&words, description)) {
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

/// Name and how a user may write it: as it is, or with spaces.
struct NamedPhrase<'w> {
    name: &'w str,
    written: [FoldedText; 2],
}

impl<'w> NamedPhrase<'w> {
    /// Tool or skill; underscores may be spaces.
    fn of_answer(name: &'w str) -> Self {
        Self { name, written: [folded(name), folded(&name.replace('_', " "))] }
    }

    /// Agent; hyphens may be spaces. A name of one word is a word of the language.
    fn of_agent(name: &'w str) -> Option<Self> {
        name.contains('-').then(|| Self { name, written: [folded(name), folded(&name.replace('-', " "))] })
    }

    fn is_in(&self, text: &FoldedText) -> bool {
        self.written.iter().any(|phrase| text.contains(phrase))
    }
}

fn folded(text: &str) -> FoldedText {
    FoldedText::new(text, FoldMode::Spacing)
}

/// Number of successive words that count as copied.
const COPIED_WORDS: usize = 4;

/// Returns the first words that a text has in common with a description.
fn copied_words(text: &[String], description: &[String]) -> Option<String> {
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
        let copied = |text: &str| copied_words(&plain_words(text), &plain_words("The gross liquidity per tick."));
        assert_eq!(copied("Show gross liquidity, per Tick!"), Some("gross liquidity per tick".into()));
        assert_eq!(copied("Show the liquidity per tick"), None);
    }
}
