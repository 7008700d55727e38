//! Production traffic: reads settled traces, decides which are kept, scores them, and reports gates, drift, cost and latency.

mod keep_rules;
mod monitor;
mod report;
mod trace_draft;
mod trace_judge;
mod usage;
mod worker;

pub use monitor::{DriftReplay, ProductionAlert, new_alerts};
pub use report::{BudgetBurn, ProductionReport, ReportWindow};
pub use trace_draft::draft_from_trace;
pub use trace_judge::{SettleResult, TraceJudge, settle_traces};
pub use usage::{LatencyRow, SpendRow, UsageTable};
pub use worker::{ProductionWorker, WorkerStep};
