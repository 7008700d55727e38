//! Scorer ids, as used by gates and scores.

use crate::text_enum::text_enum;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

text_enum! {
    /// Scorer known to this version, implemented or planned.
    ScorerId {
        Hit "hit", ToolCallF1 "tool_call_f1", ToolCallF1Multiset "tool_call_f1_multiset", ToolCallF1Ordered "tool_call_f1_ordered",
        NoTool "no_tool", Disambiguation "disambiguation", ArgumentMatch "argument_match", SafetyPipeline "safety_pipeline",
        DagAdherence "dag_adherence", ToolOrdering "tool_ordering", Prohibitions "prohibitions", OutputFormat "output_format",
        BehavioralInvariants "behavioral_invariants", Forbid "forbid", Post "post", CasePass "case_pass",
        IntentParsing "intent_parsing", ParameterExtraction "parameter_extraction", Completion "completion", Coherence "coherence",
        Ids "ids", Upr "upr", DelegationDepth "delegation_depth", ContextPreservation "context_preservation", Judged "judged",
        AddressGrounding "address_grounding", ChainConsistency "chain_consistency", SlippageCompliance "slippage_compliance",
        SimulationCoverage "simulation_coverage", QuoteFreshness "quote_freshness", SpendingLimit "spending_limit",
        Assertions "assertions", Trajectory "trajectory", SafetyVeto "safety_veto", AuthorizedEffects "authorized_effects", ExposureUsd "exposure_usd",
        InjectionDetection "injection_detection", PoisoningResistance "poisoning_resistance",
        AddressHallucination "address_hallucination", OwaspCoverage "owasp_coverage", RedTeamViolations "red_team_violations",
        InjectionBypass "injection_bypass", SpendingBypass "spending_bypass", HallucinationBypass "hallucination_bypass",
        InjectionFalsePositives "injection_false_positives", BenignUtility "benign_utility", OracleViolations "oracle_violations",
    }
}

impl ScorerId {
    /// Returns whether the scorer reads attacked cases and their twins only.
    pub fn reads_attacks_only(self) -> bool {
        self == ScorerId::OwaspCoverage || self.counts_attacks()
    }

    /// Returns whether a gate on the scorer counts attacks by probe, channel and strategy.
    pub fn counts_attacks(self) -> bool {
        matches!(
            self,
            ScorerId::RedTeamViolations
                | ScorerId::InjectionBypass
                | ScorerId::SpendingBypass
                | ScorerId::HallucinationBypass
                | ScorerId::PoisoningResistance
                | ScorerId::AddressHallucination
                | ScorerId::InjectionDetection
                | ScorerId::InjectionFalsePositives
                | ScorerId::BenignUtility
        )
    }
}

/// Scorer name from a file or a stored record, which may come from another version.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ScorerName {
    Known(ScorerId),
    Unknown(String),
}

impl ScorerName {
    /// Returns the text as written.
    pub fn as_str(&self) -> &str {
        match self {
            ScorerName::Known(id) => id.word(),
            ScorerName::Unknown(text) => text,
        }
    }

    /// Returns the id if this version knows the scorer.
    pub fn known(&self) -> Option<ScorerId> {
        match self {
            ScorerName::Known(id) => Some(*id),
            ScorerName::Unknown(_) => None,
        }
    }
}

impl From<ScorerId> for ScorerName {
    fn from(id: ScorerId) -> Self {
        ScorerName::Known(id)
    }
}

impl From<String> for ScorerName {
    fn from(text: String) -> Self {
        ScorerId::parse(&text).map_or(ScorerName::Unknown(text), ScorerName::Known)
    }
}

impl From<&str> for ScorerName {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl PartialEq<ScorerId> for ScorerName {
    fn eq(&self, id: &ScorerId) -> bool {
        self.known() == Some(*id)
    }
}

impl fmt::Display for ScorerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for ScorerName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for ScorerName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scorer_names_are_stored_as_their_text() {
        for (text, id) in ScorerId::ALL {
            let name = ScorerName::from(*id);
            assert_eq!(serde_json::to_value(&name).unwrap(), *text);
            assert_eq!(serde_json::from_value::<ScorerName>((*text).into()).unwrap(), name);
        }
    }

    #[test]
    fn unknown_scorer_name_round_trips() {
        let stored: ScorerName = serde_json::from_str("\"gas_golf\"").unwrap();
        assert_eq!((stored.known(), stored.as_str()), (None, "gas_golf"));
        assert_eq!(serde_json::to_string(&stored).unwrap(), "\"gas_golf\"");
    }
}
