//! Unit in which the cases of a gate are counted. Seeds of one attack are not independent evidence.

use model::suite::Case;
use model::{ScorerId, ScorerName};

/// Returns whether a scorer reads attacked cases and twins only.
pub fn reads_attacks_only(scorer: &ScorerName) -> bool {
    scorer.known().is_some_and(ScorerId::reads_attacks_only)
}

/// Returns the key of the unit of a case: its probe for the coverage of OWASP categories, probe, channel and strategy for other scorers of
/// attacks, and the case itself otherwise.
pub fn case_unit(scorer: &ScorerName, case: &Case) -> String {
    match (case.attack.as_deref(), scorer.known()) {
        (Some(attack), Some(ScorerId::OwaspCoverage)) => format!("probe {}", attack.probe),
        (Some(attack), Some(id)) if id.counts_attacks() => {
            format!("attack {} {} {}", attack.probe, attack.channel, attack.strategy)
        }
        (Some(_) | None, Some(_) | None) => format!("case {}", case.id.value),
    }
}
