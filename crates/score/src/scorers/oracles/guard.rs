//! GUARD: writes were approved by the guardian.

use super::by_scorer::scorer_finding;
use super::{Oracle, OracleFinding};
use crate::evidence::{Evidence, EvidenceFixture};
use crate::scorers::scorer;
use model::{OracleId, ScorerId};

pub(super) struct GuardOracle;

impl Oracle for GuardOracle {
    fn id(&self) -> OracleId {
        OracleId::Guard
    }

    fn manual(&self) -> &'static str {
        "Violated by a write whose calldata the guardian did not approve before, under the policy in force. It reads safety_pipeline."
    }

    fn examine(&self, evidence: &Evidence<'_>) -> OracleFinding {
        scorer_finding(evidence, ScorerId::SafetyPipeline)
    }

    fn accepts(&self) -> EvidenceFixture {
        example(true)
    }

    fn rejects(&self) -> EvidenceFixture {
        example(false)
    }
}

fn example(good: bool) -> EvidenceFixture {
    let scorer = scorer(ScorerId::SafetyPipeline).unwrap_or_else(|| panic!("the scorer is in the table"));
    if good { scorer.accepts() } else { scorer.rejects() }
}
