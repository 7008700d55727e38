//! Answers that the world of a case has for its tools.

use super::amounts::case_world;
use crate::evidence::Evidence;
use model::world::FixtureResult;
use serde_json::Value;

/// Returns the answers of the world and of the one it inherits from, without errors.
pub(crate) fn world_answers<'a>(evidence: &Evidence<'a>) -> impl Iterator<Item = &'a Value> + use<'a> {
    let world = case_world(evidence);
    let inherited = world.and_then(|world| evidence.workspace.world(world.fixtures_from.as_ref()?));
    let rows = world.into_iter().chain(inherited).flat_map(|world| world.fixtures.values()).flat_map(|answers| &answers.rows);
    rows.filter_map(|row| match &row.result {
        FixtureResult::Value(value) => Some(value),
        FixtureResult::Error { .. } => None,
    })
}
