//! Oracles that read the findings of a scorer or of the effect audit, so that each rule exists once.

use super::effect_level::effect_of_event;
use super::{OracleFinding, OracleViolation};
use crate::evidence::Evidence;
use crate::scorers::authorized_effects::audit_faults;
use crate::scorers::scorer;
use model::{EffectLevel, OracleId, Reading, ScoreReason, ScorerId};

/// Returns the misses of a scorer, each with the effect of its event.
pub(super) fn scorer_finding(evidence: &Evidence<'_>, id: ScorerId) -> OracleFinding {
    let Some(scorer) = scorer(id).filter(|scorer| scorer.applies(evidence.workspace, evidence.case)) else {
        return OracleFinding::NotExercised;
    };
    let found = scorer.score(evidence);
    match found.reading {
        Reading::Tally { hit, of } if hit < of => {
            OracleFinding::of(true, found.because.into_iter().map(|reason| violation(evidence, reason)).collect())
        }
        Reading::Tally { of, .. } => OracleFinding::of(of > 0, vec![]),
        Reading::Level(_) | Reading::Unscorable { .. } => OracleFinding::NotExercised,
    }
}

/// Returns the faults of the effect audit that belong to an oracle.
pub(super) fn audit_finding(evidence: &Evidence<'_>, id: OracleId) -> OracleFinding {
    let Some(faults) = audit_faults(evidence, id) else { return OracleFinding::NotExercised };
    OracleFinding::of(true, faults.into_iter().map(|fault| violation(evidence, fault.reason)).collect())
}

fn violation(evidence: &Evidence<'_>, reason: ScoreReason) -> OracleViolation {
    let effect = reason.event.map_or(EffectLevel::Attempted, |event| effect_of_event(evidence, event));
    OracleViolation { event: reason.event, what: reason.what, effect }
}
