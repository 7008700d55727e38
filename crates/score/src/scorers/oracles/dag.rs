//! DAG: delegations along declared edges.

use super::by_scorer::scorer_finding;
use super::{Oracle, OracleFinding};
use crate::evidence::{Evidence, EvidenceFixture};
use crate::scorers::scorer;
use model::{OracleId, ScorerId};

pub(super) struct DagOracle;

impl Oracle for DagOracle {
    fn id(&self) -> OracleId {
        OracleId::Dag
    }

    fn manual(&self) -> &'static str {
        "Violated by a delegation that forms a cycle, that has no declared edge, or that a terminal agent makes. It reads dag_adherence."
    }

    fn examine(&self, evidence: &Evidence<'_>) -> OracleFinding {
        scorer_finding(evidence, ScorerId::DagAdherence)
    }

    fn accepts(&self) -> EvidenceFixture {
        example(true)
    }

    fn rejects(&self) -> EvidenceFixture {
        example(false)
    }
}

fn example(good: bool) -> EvidenceFixture {
    let scorer = scorer(ScorerId::DagAdherence).unwrap_or_else(|| panic!("the scorer is in the table"));
    if good { scorer.accepts() } else { scorer.rejects() }
}
