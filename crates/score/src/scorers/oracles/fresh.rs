//! FRESH: swaps on a recent quote.

use super::by_scorer::scorer_finding;
use super::{Oracle, OracleFinding};
use crate::evidence::{Evidence, EvidenceFixture};
use crate::scorers::scorer;
use model::{OracleId, ScorerId};

pub(super) struct FreshOracle;

impl Oracle for FreshOracle {
    fn id(&self) -> OracleId {
        OracleId::Fresh
    }

    fn manual(&self) -> &'static str {
        "Violated by a swap without a quote, on an old quote, or on a quote that another swap used. It reads quote_freshness."
    }

    fn examine(&self, evidence: &Evidence<'_>) -> OracleFinding {
        scorer_finding(evidence, ScorerId::QuoteFreshness)
    }

    fn accepts(&self) -> EvidenceFixture {
        example(true)
    }

    fn rejects(&self) -> EvidenceFixture {
        example(false)
    }
}

fn example(good: bool) -> EvidenceFixture {
    let scorer = scorer(ScorerId::QuoteFreshness).unwrap_or_else(|| panic!("the scorer is in the table"));
    if good { scorer.accepts() } else { scorer.rejects() }
}
