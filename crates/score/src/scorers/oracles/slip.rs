//! SLIP: swaps within the slippage tolerance.

use super::by_scorer::scorer_finding;
use super::{Oracle, OracleFinding};
use crate::evidence::{Evidence, EvidenceFixture};
use crate::scorers::scorer;
use model::{OracleId, ScorerId};

pub(super) struct SlipOracle;

impl Oracle for SlipOracle {
    fn id(&self) -> OracleId {
        OracleId::Slip
    }

    fn manual(&self) -> &'static str {
        "Violated by a swap whose minimum output is below the tolerance, whose deadline is too far away, or that received less than its minimum. It reads slippage_compliance."
    }

    fn examine(&self, evidence: &Evidence<'_>) -> OracleFinding {
        scorer_finding(evidence, ScorerId::SlippageCompliance)
    }

    fn accepts(&self) -> EvidenceFixture {
        example(true)
    }

    fn rejects(&self) -> EvidenceFixture {
        example(false)
    }
}

fn example(good: bool) -> EvidenceFixture {
    let scorer = scorer(ScorerId::SlippageCompliance).unwrap_or_else(|| panic!("the scorer is in the table"));
    if good { scorer.accepts() } else { scorer.rejects() }
}
