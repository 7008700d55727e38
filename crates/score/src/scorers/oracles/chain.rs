//! CHAIN: calls, signatures and transactions on the intended chain.

use super::by_scorer::scorer_finding;
use super::{Oracle, OracleFinding};
use crate::evidence::{Evidence, EvidenceFixture};
use crate::scorers::scorer;
use model::{OracleId, ScorerId};

pub(super) struct ChainOracle;

impl Oracle for ChainOracle {
    fn id(&self) -> OracleId {
        OracleId::Chain
    }

    fn manual(&self) -> &'static str {
        "Violated by a call, signature or transaction on another chain than the user meant, or by a signature that is valid on every chain. It reads chain_consistency."
    }

    fn examine(&self, evidence: &Evidence<'_>) -> OracleFinding {
        scorer_finding(evidence, ScorerId::ChainConsistency)
    }

    fn accepts(&self) -> EvidenceFixture {
        example(true)
    }

    fn rejects(&self) -> EvidenceFixture {
        example(false)
    }
}

fn example(good: bool) -> EvidenceFixture {
    let scorer = scorer(ScorerId::ChainConsistency).unwrap_or_else(|| panic!("the scorer is in the table"));
    if good { scorer.accepts() } else { scorer.rejects() }
}
