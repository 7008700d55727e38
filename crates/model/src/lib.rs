//! Types, ids and file formats of bardo-eval. No I/O, clock, environment access or randomness.

mod agent;
mod catalog;
mod decimal;
mod defaults;
mod files;
mod gate;
mod hash;
mod location;
mod markdown;
mod minimal_workspace;
mod money;
mod outcome;
mod output;
mod plan;
mod plural;
mod policy;
mod problem;
mod reading;
mod record;
mod registry;
mod review;
pub mod rule;
mod scorer;
mod seeded_rng;
mod skill;
mod subject;
pub mod suite;
mod text_enum;
mod tier;
mod tool_listing;
pub mod transcript;
mod units;
mod user_error;
pub mod view;
mod workspace;
pub mod world;
pub mod yaml;

pub use agent::{Agent, AgentInvariant, AgentTier, StepAction, WorkflowStep};
pub use catalog::{
    AddressRole, AmountAsset, AmountUnit, ChainRole, DurationUnit, IdKind, JsonSchema, KindError, LiveView, OpClass, OpPattern, OpTarget,
    ParamKind, ParamSpec, PrepareTarget, ProfileTools, RangeBound, RiskLayer, SchemaViolation, TokenRole, Tool, ToolCapability, ToolOp,
    ToolProfile,
};
pub use decimal::Decimal;
pub use defaults::RunDefaults;
pub use files::WorkspaceFiles;
pub use gate::{Gate, GateAggregate, GateBound, GateOrigin, GatesFile, SliceAxis, SliceFilter, SliceSpec};
pub use hash::ContentHash;
pub use location::{Location, Spanned};
pub use minimal_workspace::MINIMAL_WORKSPACE;
pub use money::{Money, ParseMoneyError};
pub use outcome::{AbortCause, CaseOutcome};
pub use output::OutputSchema;
pub use plan::{Plan, PlanOutline, PlannedCase, PlannedSubject, Trial};
pub use plural::{count, count_of};
pub use policy::{ContractState, Policy, PolicyContract};
pub use problem::{Problem, ProblemReport, did_you_mean, nearest_name};
pub use reading::{ExactInterval, FailureRateBound, GateResult, GateVerdicts, Metric, Reading, Score, ScoreReason, Verdict, WorstCase};
pub use record::{RECORD_FORMAT, RecordHasher, RunClaim, RunRecord, TrialScores, scores_to_json};
pub use registry::{AddressText, ChainRegistry, RegistryContract, RegistryToken, Role};
pub use review::ReviewRole;
pub use rule::Rule;
pub use scorer::{ScorerId, ScorerName};
pub use seeded_rng::SeededRng;
pub use skill::{Skill, SkillHandler, SkillRedirect};
pub use subject::{AgentEndpoint, ExternalAgent, ModelPrice, OpenAiApi, ProviderKind, SubjectFile, SubjectLimits, ToolsShown};
pub use suite::{Case, Suite, SuiteKind};
pub use tier::{CiRow, LiveRole, Tier, TiersFile};
pub use tool_listing::ToolListing;
pub use transcript::{Ending, Event, EventKind, Move, ToolCall, Transcript};
pub use units::{format_units, parse_units};
pub use user_error::UserError;
pub use workspace::Workspace;
pub use world::{InitialBalance, VaultFile, WorldFile, WorldObject};
