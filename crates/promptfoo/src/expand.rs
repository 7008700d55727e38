//! Expansion of tests into cells: test, repeat, combination of variables, provider, prompt, in promptfoo's order.

use crate::filters::TestFilters;
use crate::suite::{PromptSpec, PromptfooSuite, ProviderSpec, TestSpec};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Most cells of a run.
const MAX_CELLS: usize = 2_000_000;

/// One call of a provider with a prompt for a test.
#[derive(Debug, Clone)]
pub struct TestCell {
    pub test_index: usize,
    pub prompt_index: usize,
    pub repeat: usize,
    pub test: Arc<TestSpec>,
    pub vars: Arc<Map<String, Value>>,
    pub provider: Arc<ProviderSpec>,
    pub prompt: Arc<PromptSpec>,
}

/// Returns the cells of a suite; none if nothing is selected.
///
/// # Errors
/// If there are too many.
pub fn expand(suite: &PromptfooSuite, filters: &TestFilters, repeat: usize, extra: &Map<String, Value>) -> Result<Vec<TestCell>, String> {
    expand_within(MAX_CELLS, suite, filters, repeat, extra)
}

fn expand_within(
    max_cells: usize,
    suite: &PromptfooSuite,
    filters: &TestFilters,
    repeat: usize,
    extra: &Map<String, Value>,
) -> Result<Vec<TestCell>, String> {
    let mut cells = vec![];
    let mut test_index = 0;
    for test in filters.select(&suite.tests) {
        // One more than allowed, so that the excess is noticed.
        let combinations = combinations(&test, extra, max_cells + 1);
        for repeat in 0..repeat.max(1) {
            for vars in &combinations {
                let mut prompt_index = 0;
                for provider in &suite.providers {
                    for prompt in &suite.prompts {
                        if !takes(provider.prompts.as_deref(), prompt) || !filters.takes_provider(provider) || !filters.takes_prompt(prompt)
                        {
                            continue;
                        }
                        prompt_index += 1;
                        if !test_takes(&test, provider, prompt) {
                            continue;
                        }
                        if cells.len() == max_cells {
                            return Err(format!("there are more than {max_cells} tests"));
                        }
                        cells.push(TestCell {
                            test_index,
                            prompt_index: prompt_index - 1,
                            repeat,
                            test: Arc::clone(&test),
                            vars: Arc::clone(vars),
                            provider: Arc::clone(provider),
                            prompt: Arc::clone(prompt),
                        });
                    }
                }
                test_index += 1;
            }
        }
    }
    Ok(cells)
}

/// Returns the pairs of provider and prompt, in the order of `prompt_index`.
pub(crate) fn columns(suite: &PromptfooSuite, filters: &TestFilters) -> Vec<(Arc<ProviderSpec>, Arc<PromptSpec>)> {
    let mut found = vec![];
    for provider in suite.providers.iter().filter(|provider| filters.takes_provider(provider)) {
        for prompt in suite.prompts.iter().filter(|prompt| takes(provider.prompts.as_deref(), prompt) && filters.takes_prompt(prompt)) {
            found.push((Arc::clone(provider), Arc::clone(prompt)));
        }
    }
    found
}

/// Returns whether a list of labels, ids or prefixes allows a prompt.
fn takes(allowed: Option<&[String]>, prompt: &PromptSpec) -> bool {
    let Some(allowed) = allowed else { return true };
    allowed.iter().any(|reference| {
        [Some(&prompt.label), prompt.id.as_ref()].into_iter().flatten().any(|name| {
            name == reference
                || reference.strip_suffix('*').is_some_and(|prefix| name.starts_with(prefix))
                || name.strip_prefix(reference.as_str()).is_some_and(|rest| rest.starts_with(':'))
        })
    })
}

fn test_takes(test: &TestSpec, provider: &ProviderSpec, prompt: &PromptSpec) -> bool {
    let by_provider = test.providers.as_ref().is_none_or(|names| {
        names.iter().any(|name| {
            *name == provider.id
                || provider.label.as_ref() == Some(name)
                || name.strip_suffix('*').is_some_and(|prefix| provider.id.starts_with(prefix))
                || provider.id.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with(':'))
        })
    });
    by_provider && takes(test.prompts.as_deref(), prompt)
}

/// Returns the cross product of the variables with a list of texts, at most `limit` of it.
fn combinations(test: &TestSpec, extra: &Map<String, Value>, limit: usize) -> Vec<Arc<Map<String, Value>>> {
    let keeps_lists = test.options.get("disableVarExpansion") == Some(&Value::Bool(true));
    let is_list = |value: &Value| value.as_array().is_some_and(|items| items.first().is_some_and(Value::is_string));
    if extra.is_empty() && (keeps_lists || !test.vars.values().any(is_list)) {
        return vec![Arc::clone(&test.vars)];
    }
    let mut found: Vec<Map<String, Value>> = vec![Map::new()];
    let vars = extra.iter().filter(|(key, _)| !test.vars.contains_key(*key)).chain(test.vars.iter());
    for (key, value) in vars {
        let values: Vec<&Value> = match value {
            Value::Array(items) if !keeps_lists && items.first().is_some_and(Value::is_string) => items.iter().collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => vec![value],
        };
        found = found
            .into_iter()
            .flat_map(|combination| {
                values
                    .iter()
                    .map(move |value| {
                        let mut next = combination.clone();
                        next.insert(key.clone(), (*value).clone());
                        next
                    })
                    .collect::<Vec<_>>()
            })
            .take(limit)
            .collect();
    }
    found.into_iter().map(Arc::new).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SuiteFiles;
    use score::assertions::AssertionMode;

    struct NoFiles;

    impl SuiteFiles for NoFiles {
        fn read(&self, _: &str) -> Result<String, String> {
            Err("it does not exist".to_owned())
        }

        fn glob(&self, _: &str) -> Vec<String> {
            vec![]
        }
    }

    #[test]
    fn too_many_combinations_are_refused_not_cut_off() {
        let config = "prompts: ['{{q}} {{r}}']\nproviders: [echo]\ntests: [{ vars: { q: [a, b, c], r: [d, e] } }]\n";
        let suite = crate::read_suite("c.yaml", config, &NoFiles, AssertionMode::Strict).expect("a suite");
        let expanded = |max_cells| expand_within(max_cells, &suite, &TestFilters::default(), 1, &Map::new()).map(|cells| cells.len());
        assert_eq!(expanded(6), Ok(6));
        assert_eq!(expanded(5), Err("there are more than 5 tests".to_owned()));
    }
}
