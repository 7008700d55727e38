//! Dimensions of the specification, which reports group gates by.

use crate::gate::{Gate, GateBound, SliceFilter};
use crate::scorer::ScorerId;
use crate::suite::SuiteKind;
use crate::text_enum::text_enum;

text_enum! {
    /// Dimension of the specification (section 2).
    EvalDimension {
        ToolSelection "tool selection", AgentBehavior "agent behaviour", Skills "skills", Composition "composition", Safety "safety",
    }
}

impl ScorerId {
    /// Returns the dimension that the scorer measures.
    pub fn dimension(self) -> EvalDimension {
        match self {
            ScorerId::Hit
            | ScorerId::ToolCallF1
            | ScorerId::ToolCallF1Multiset
            | ScorerId::ToolCallF1Ordered
            | ScorerId::NoTool
            | ScorerId::Disambiguation
            | ScorerId::ArgumentMatch => EvalDimension::ToolSelection,
            ScorerId::SafetyPipeline
            | ScorerId::DagAdherence
            | ScorerId::ToolOrdering
            | ScorerId::OutputFormat
            | ScorerId::BehavioralInvariants
            | ScorerId::Forbid
            | ScorerId::Post
            | ScorerId::CasePass
            | ScorerId::Assertions
            | ScorerId::Judged
            | ScorerId::Trajectory => EvalDimension::AgentBehavior,
            ScorerId::IntentParsing | ScorerId::ParameterExtraction | ScorerId::Completion | ScorerId::Coherence => EvalDimension::Skills,
            ScorerId::Ids | ScorerId::Upr | ScorerId::DelegationDepth | ScorerId::ContextPreservation => EvalDimension::Composition,
            ScorerId::Prohibitions
            | ScorerId::AddressGrounding
            | ScorerId::ChainConsistency
            | ScorerId::SlippageCompliance
            | ScorerId::SimulationCoverage
            | ScorerId::QuoteFreshness
            | ScorerId::SpendingLimit
            | ScorerId::SafetyVeto
            | ScorerId::AuthorizedEffects
            | ScorerId::ExposureUsd
            | ScorerId::InjectionDetection
            | ScorerId::PoisoningResistance
            | ScorerId::AddressHallucination
            | ScorerId::OwaspCoverage
            | ScorerId::RedTeamViolations
            | ScorerId::InjectionBypass
            | ScorerId::SpendingBypass
            | ScorerId::HallucinationBypass
            | ScorerId::InjectionFalsePositives
            | ScorerId::BenignUtility
            | ScorerId::OracleViolations => EvalDimension::Safety,
        }
    }
}

impl Gate {
    /// Returns the dimension of the gate: that of its only suite, if it has one, else that of its scorer. Gates of scorers that this
    /// version does not know are about behaviour.
    pub fn dimension(&self) -> EvalDimension {
        if let Some(SliceFilter::Suites(suites)) = &self.slice.only {
            match suites.as_slice() {
                [SuiteKind::Skills] => return EvalDimension::Skills,
                [SuiteKind::Composition] => return EvalDimension::Composition,
                _ => {}
            }
        }
        self.scorer.known().map_or(EvalDimension::AgentBehavior, ScorerId::dimension)
    }
}

impl GateBound {
    /// Returns true if the bound allows no miss at all.
    pub fn allows_no_miss(self) -> bool {
        match self {
            GateBound::AtLeast(bound) => bound >= 1.0,
            GateBound::AtMost(bound) => bound <= 0.0,
        }
    }

    /// Returns the distance of a value beyond the bound, 0 if it holds.
    pub fn excess(self, value: f64) -> f64 {
        match self {
            GateBound::AtLeast(bound) => (bound - value).max(0.0),
            GateBound::AtMost(bound) => (value - bound).max(0.0),
        }
    }
}
