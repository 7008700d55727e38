//! Selection of tests from the command line.

use crate::results::EarlierTest;
use crate::suite::{PromptSpec, ProviderSpec, TestSpec};
use model::SeededRng;
use regex::Regex;

/// Draw of `--filter-sample`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SampleFilter {
    pub count: usize,
    pub seed: u64,
}

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
    pub sample: Option<SampleFilter>,
    /// Tests of earlier results, for each list that was given; each list must have the test.
    pub earlier: Vec<Vec<EarlierTest>>,
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
        let was_named = |test: &TestSpec| self.earlier.iter().all(|earlier| earlier.iter().any(|one| one.is_of(test)));
        let fits = |test: &TestSpec| described(test) && tagged(test) && was_named(test);
        let kept: Vec<T> = tests.iter().filter(|test| fits((*test).as_ref())).cloned().collect();
        let range = self.range.unwrap_or(RangeFilter { start: 0, end: usize::MAX });
        let ranged = kept.into_iter().enumerate().filter(|(n, _)| *n >= range.start && *n < range.end).map(|(_, test)| test);
        let mut found: Vec<T> = ranged.take(self.first_n.unwrap_or(usize::MAX)).collect();
        if let Some(SampleFilter { count, seed }) = self.sample {
            let mut rng = SeededRng::new(seed);
            while found.len() > count {
                let at = rng.below(found.len());
                found.remove(at);
            }
        }
        found
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
