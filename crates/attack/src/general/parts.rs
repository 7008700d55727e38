//! Parts of probes that no file contains.

use model::probe::ProbeCarrier;
use model::suite::Case;
use model::{AttackChannel, Location, Spanned};

/// Place of parts that no file contains.
pub(super) fn nowhere() -> Location {
    Location::new("probes/", 0)
}

/// Returns the carrier of a case on a channel, with the tool that has the text.
pub(super) fn carrier(case: &Case, channel: AttackChannel, tool: Option<&str>) -> ProbeCarrier {
    ProbeCarrier {
        channel,
        scenario: case.id.clone(),
        holes: vec![],
        tool: tool.map(|tool| Spanned::new(tool.to_owned(), nowhere())),
        turn: None,
        at: nowhere(),
    }
}
