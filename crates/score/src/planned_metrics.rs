//! Metrics that gates may name but this version does not measure. A gate on one of them has no evidence.

use model::ScorerId;

/// Id and definition.
pub static PLANNED_METRICS: &[(ScorerId, &str)] = &[];
