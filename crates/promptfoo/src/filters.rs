//! Selection of tests from the command line.

use crate::suite::{PromptSpec, ProviderSpec, TestSpec};
use regex::Regex;

/// `START:END` of `--filter-range`, counted from 0; the end is not included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RangeFilter {
    pub start: usize,
    pub end: usize,
}

#[derive(Debug, Clone, Default)]
pub struct TestFilters {
    pub first_n: Option<usize>,
    /// Pattern in the description of a test.
    pub pattern: Option<Regex>,
    pub range: Option<RangeFilter>,
    /// Pattern in the id or label of a provider.
    pub providers: Option<Regex>,
    /// Pattern in the label of a prompt.
    pub prompts: Option<Regex>,
    /// Pairs of metadata; each must be there.
    pub metadata: Vec<(String, String)>,
}

impl TestFilters {
    /// Keeps the tests that match, in their order.
    pub(crate) fn select<T: AsRef<TestSpec> + Clone>(&self, tests: &[T]) -> Vec<T> {
        let described =
            |test: &TestSpec| self.pattern.as_ref().is_none_or(|pattern| pattern.is_match(test.description.as_deref().unwrap_or_default()));
        let tagged = |test: &TestSpec| {
            self.metadata.iter().all(|(key, wanted)| match test.metadata.get(key) {
                Some(serde_json::Value::Array(items)) => items.iter().any(|item| item.as_str() == Some(wanted)),
                Some(serde_json::Value::String(text)) => text.contains(wanted.as_str()),
                Some(other) => {
                    let shown = other.to_string();
                    shown == *wanted
                }
                None => false,
            })
        };
        let kept: Vec<T> = tests.iter().filter(|test| described((*test).as_ref()) && tagged((*test).as_ref())).cloned().collect();
        let range = self.range.unwrap_or(RangeFilter { start: 0, end: usize::MAX });
        let ranged = kept.into_iter().enumerate().filter(|(n, _)| *n >= range.start && *n < range.end).map(|(_, test)| test);
        ranged.take(self.first_n.unwrap_or(usize::MAX)).collect()
    }

    pub(crate) fn takes_provider(&self, provider: &ProviderSpec) -> bool {
        self.providers
            .as_ref()
            .is_none_or(|pattern| pattern.is_match(&provider.id) || provider.label.as_ref().is_some_and(|label| pattern.is_match(label)))
    }

    pub(crate) fn takes_prompt(&self, prompt: &PromptSpec) -> bool {
        self.prompts
            .as_ref()
            .is_none_or(|pattern| pattern.is_match(&prompt.label) || prompt.id.as_ref().is_some_and(|id| pattern.is_match(id)))
    }
}
