//! What things are: the types, ids and file shapes of bardo-eval. No I/O, no clock, no environment, no randomness.

mod agent;
mod catalog;
mod defaults;
mod files;
mod gate;
mod hash;
mod listing;
mod markdown;
mod minimal;
mod money;
mod outcome;
mod output;
mod place;
mod plan;
mod policy;
mod problem;
mod reading;
mod record;
mod registry;
mod review;
pub mod rule;
mod scorer;
mod skill;
mod subject;
pub mod suite;
mod text_enum;
mod tier;
pub mod transcript;
mod user_error;
mod workspace;
pub mod world;
pub mod yaml;

pub use agent::{Agent, AgentTier, Invariant, Step, StepDoes};
pub use catalog::{
    AddressRole, AmountOf, Capability, ChainRole, DurationUnit, IdKind, Kind, KindError, OpClass, OpPattern, OpTarget, Param, Prepares,
    Profile, ProfileTools, RangeBound, Risk, Schema, TokenRole, Tool, ToolOp, Unit, View, Violation,
};
pub use defaults::Defaults;
pub use files::Files;
pub use gate::{Aggregate, Axis, Bound, Gate, Only, Origin, Slice};
pub use hash::Hash;
pub use listing::Listing;
pub use minimal::MINIMAL_WORKSPACE;
pub use money::{Money, NoMoney};
pub use outcome::{AbortCause, CaseOutcome};
pub use output::Output;
pub use place::{Place, Spot};
pub use plan::{Outline, Plan, Planned, Seated, Trial};
pub use policy::Policy;
pub use problem::{Problem, Report, did_you_mean, nearest};
pub use reading::{Because, Exact, GateVerdicts, Judgement, Metric, Reading, RulesOut, Score, Verdict, WorstCase};
pub use record::{Claim, FORMAT, RecordHash, RunRecord, TrialScores, written_scores};
pub use registry::{AddressText, Chain, Contract, Role, Token};
pub use review::ReviewRole;
pub use rule::Rule;
pub use scorer::{ScorerId, ScorerName};
pub use skill::{Handler, Redirect, Skill};
pub use subject::{Api, FinishedAgent, Price, ProviderKind, Reached, SubjectFile, SubjectLimits, ToolsShown};
pub use suite::{Case, Suite, SuiteKind};
pub use tier::{CiRow, Live, Tier, Tiers};
pub use transcript::{Ending, Event, Happened, Move, ToolCall, Transcript};
pub use user_error::UserError;
pub use workspace::Workspace;
pub use world::{Balance, Thing, VaultFile, WorldFile};
