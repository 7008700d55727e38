//! The schemas of the reference workspace, as many samples per tool as the smoke check takes.

use std::collections::BTreeSet;

use crate::judged;

/// Samples per tool in the smoke check `schema_fuzz`.
const EACH: usize = 50;

#[test]
fn validator_agrees_with_every_sample_of_the_reference_tools() {
    let workspace = testkit::reference_workspace();
    assert!(workspace.tools.len() >= 350, "{}", workspace.tools.len());
    let mut places = BTreeSet::new();
    for tool in &workspace.tools {
        for sample in judged(&tool.name, &tool.schema.value, 1, EACH).invalid {
            places.insert((tool.name.value.clone(), sample.at, sample.mutation));
        }
    }
    // 9,809 when this was written; the generator before this one broke 8,024 places of 338 tools with as many samples each.
    assert!(places.len() >= 9_000, "{}", places.len());
}
