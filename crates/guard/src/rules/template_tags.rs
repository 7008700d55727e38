//! Imitation of a chat template, of a message of the user, or of the end of a task.

use super::GuardRule;
use super::rule_input::RuleInput;
use crate::lexicon::Concept;
use aho_corasick::AhoCorasick;
use std::sync::LazyLock;

pub(super) const RULE: GuardRule = GuardRule {
    id: "template_tags",
    about: "Imitation of a chat template, of a message of the user, or of the end of a task.",
    families: &["fake_system_tag", "fake_completion", "important_note"],
    finds,
};

/// Tags of chat templates and roles of messages.
const TAGS: &[&str] = &[
    "<|im_",
    "<|system|>",
    "<|user|>",
    "<|assistant|>",
    "<|start_header",
    "<|endoftext|>",
    "<<sys>>",
    "<</sys>>",
    "[inst]",
    "[/inst]",
    "</context>",
    "<system",
    "</system",
    "<information>",
    "</information>",
    "\nassistant:",
    "\nuser:",
    "\nsystem:",
    "### system",
    "### instruction",
    "[system]",
    "</data>",
    "</tool_result>",
    "</untrusted",
];

static SEARCH: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| AhoCorasick::builder().ascii_case_insensitive(true).build(TAGS).ok());

fn finds(input: &RuleInput<'_>) -> bool {
    let has_tag = SEARCH.as_ref().is_some_and(|search| search.is_match(input.text));
    has_tag && !(input.is_report() && input.parsed.has(Concept::Quote)) || input.is_untrusted() && input.states(&[Concept::Template])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_compile() {
        assert!(SEARCH.is_some());
    }
}
