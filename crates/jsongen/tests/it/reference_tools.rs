//! Samples for the tool schemas of the reference workspace.

use std::collections::BTreeSet;

use crate::validated_samples;

/// As many as the check `schema_fuzz` takes.
const SAMPLES_PER_TOOL: usize = 50;

#[test]
fn validator_agrees_with_reference_tool_samples() {
    let workspace = testkit::reference_workspace();
    assert!(workspace.tools.len() >= 350, "{}", workspace.tools.len());
    let mut places = BTreeSet::new();
    for tool in &workspace.tools {
        for sample in validated_samples(&tool.name, &tool.schema.value, 1, SAMPLES_PER_TOOL).invalid {
            places.insert((tool.name.value.clone(), sample.at, sample.mutation));
        }
    }
    // 9,809 when written.
    assert!(places.len() >= 9_000, "{}", places.len());
}
