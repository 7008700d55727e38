//! Selection, planning and execution of runs. Prints nothing.
//!
//! [`RunRequest`] → [`RunSpec`] → [`RunPlan`] → [`PreparedRun`] → [`execute()`] → [`RunSummary`]. Stored runs are aggregated by the same code
//! in [`rescore()`].

mod aggregate;
mod changes;
mod ci;
mod comparison;
mod config_run;
mod cost;
mod draft;
mod execute;
mod failed_cases;
mod funding;
mod golden;
mod job_verdict;
mod judging;
mod logs;
mod plan;
mod prepare;
mod production;
mod queued;
mod red_team;
mod rescore;
mod run_store;
mod scoring;
mod selftest;
mod shrink;
mod spec;
mod summary;
mod watcher;
mod wording;

pub use changes::{ChangedScore, ChangedVerdict, RunChanges, VerdictValue};
pub use ci::{CiEvent, DECIDING_PARTS, TierPlan, ci_plan, plain_path};
pub use comparison::{
    ComparedSide, LiveRun, PlainResult, SideFacts, SideSource, SubjectComparison, UnjudgedTrials, compare_subjects, golden_changes,
    golden_side, handle_side, plain_side, stored_side,
};
pub use config_run::{ConfigPlan, ConfigRun, ConfigTrial};
pub use cost::{
    CallTotals, CostEstimate, CostReport, CostSavings, GateReach, LiveModels, ReachState, RunCost, SpendEntry, TierCost, TrialQuote,
    cost_report, estimate_cost, funded_cases, gate_reach, order_by_gate_need, trial_quotes,
};
pub use draft::{CaseDraft, DraftError, draft_case};
pub use execute::{execute, execute_in_memory};
pub use failed_cases::failed_cases;
pub use funding::FundingAdvice;
pub use golden::{BaselineStatus, ChangedCase, GoldenDiff, GoldenSet, WordingChange, WordingCounts, WordingVerdict};
pub use job_verdict::{FinishedRun, JobVerdict, ReportedRun, parse_job_report};
pub use judging::{CalibrationError, CalibrationIntervals, CalibrationReport, UnreadVerdict, ask_judge, calibrate_judge};
pub use logs::{
    AttackFindingLine, CaseKnowledge, ChangedReading, LogGates, LogScorer, LogSummary, LogVerdicts, ReadingTotals, ScoredRecording,
    TrialShare,
};
pub use plan::{CostForecast, MissingRecordings, RunPlan, outline, plan};
pub use prepare::{
    AuxiliaryModels, PreparedRun, RunEnvironment, RunFunds, RunParts, cache_ttl_s, prepare, prepare_for_watch, replays_subjects,
    uses_recordings,
};
pub use production::{
    BudgetBurn, DriftReplay, JudgeFactory, JudgeSpending, LatencyRow, ProductionAlert, ProductionReport, ProductionWorker, ReceiptAnswer,
    ReceiptFetcher, ReportWindow, ReviewStep, SettleResult, SpendRow, TraceJudge, TraceReviewer, UsageTable, WorkerStep, draft_from_trace,
    new_alerts, reference_board, settle_traces, time_text,
};
pub use queued::{PublishedRun, WorkEnd, WorkerAbilities, WorkerRun, WorkerSetup, WorkspaceFile, watch, work};
pub use red_team::{
    AttackFinding, AttackTally, HeatCell, MATERIAL_USD, RedTeamReport, StoredCases, attack_workspace, stored_run_workspace, with_case_files,
};
pub use rescore::{RescoredRun, import_record, rescore, rescore_stored};
pub use run_store::{
    LockedRun, RunDestination, RunHandle, RunOrigin, RunStorage, RunStoreError, open_existing_store, open_store, timestamp,
};
pub use selftest::{
    DoseCheck, FaultRow, FaultState, GateRow, PlayedTrials, Selftest, SelftestMode, SelftestProblem, SelftestReport, SelftestSetup,
    TrippedGate, play_selftest,
};
pub use shrink::{CaseSize, MeasuredRate, ShrinkError, ShrinkLimits, ShrunkCase, shrink_alone, shrink_case};
pub use spec::{
    AttackerSettings, CaseFile, CaseSelection, ChainChoice, JudgeRequest, RecordingMode, RunOptions, RunRequest, RunSettings, RunSpec,
    UnknownChain, UnknownName, are_subjects_built_in, glob_match, inline_subject, select,
};
pub use summary::{
    AbortedTrial, EarlyStop, FlakyCase, OutcomeCounts, RepeatedTrials, RunSummary, ScorerFailures, StrandedTrials, UnreadFailures,
    UnreadRubrics,
};
pub use tokio_util::sync::CancellationToken;
pub use watcher::{NoopWatcher, RunWatcher, WatchedTrial, WatcherDecision};
pub use wording::judge_wordings;
