//! SIM: writes were simulated with the same calldata.

use super::by_scorer::scorer_finding;
use super::{Oracle, OracleFinding};
use crate::evidence::{Evidence, EvidenceFixture};
use crate::scorers::scorer;
use model::{OracleId, ScorerId};

pub(super) struct SimOracle;

impl Oracle for SimOracle {
    fn id(&self) -> OracleId {
        OracleId::Sim
    }

    fn manual(&self) -> &'static str {
        "Violated by a write whose calldata was not simulated successfully before it was signed. It reads simulation_coverage."
    }

    fn examine(&self, evidence: &Evidence<'_>) -> OracleFinding {
        scorer_finding(evidence, ScorerId::SimulationCoverage)
    }

    fn accepts(&self) -> EvidenceFixture {
        example(true)
    }

    fn rejects(&self) -> EvidenceFixture {
        example(false)
    }
}

fn example(good: bool) -> EvidenceFixture {
    let scorer = scorer(ScorerId::SimulationCoverage).unwrap_or_else(|| panic!("the scorer is in the table"));
    if good { scorer.accepts() } else { scorer.rejects() }
}
