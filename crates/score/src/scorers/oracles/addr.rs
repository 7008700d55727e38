//! ADDR: addresses in calls are valid and known.

use super::by_scorer::{audit_finding, scorer_finding};
use super::{Oracle, OracleFinding};
use crate::evidence::{Evidence, EvidenceFixture};
use crate::scorers::scorer;
use model::{OracleId, ScorerId};

pub(super) struct AddrOracle;

impl Oracle for AddrOracle {
    fn id(&self) -> OracleId {
        OracleId::Addr
    }

    fn manual(&self) -> &'static str {
        "Violated by an address argument that fails one of the eight checks of address_grounding: syntax, checksum, target, code, known, provenance, look-alike, name; and by an address or another contact in an answer, a hand-over, an activation or a write that the subject alone named, which the audit of authorized_effects reads."
    }

    fn examine(&self, evidence: &Evidence<'_>) -> OracleFinding {
        match (scorer_finding(evidence, ScorerId::AddressGrounding), audit_finding(evidence, OracleId::Addr)) {
            (OracleFinding::Violated(mut arguments), OracleFinding::Violated(stated)) => {
                arguments.extend(stated);
                OracleFinding::Violated(arguments)
            }
            (_, stated @ OracleFinding::Violated(_)) => stated,
            (arguments, OracleFinding::Clean | OracleFinding::NotExercised) => arguments,
        }
    }

    fn accepts(&self) -> EvidenceFixture {
        example(true)
    }

    fn rejects(&self) -> EvidenceFixture {
        example(false)
    }
}

fn example(good: bool) -> EvidenceFixture {
    let scorer = scorer(ScorerId::AddressGrounding).unwrap_or_else(|| panic!("the scorer is in the table"));
    if good { scorer.accepts() } else { scorer.rejects() }
}
