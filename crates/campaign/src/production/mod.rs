//! Production traffic: reads settled traces, decides which are kept, scores them, and reports gates, drift, cost and latency.

mod chain_evidence;
mod day_limit;
mod judged_share;
mod keep_rules;
mod monitor;
mod receipts;
mod reference;
mod report;
mod trace_draft;
mod trace_judge;
mod usage;
mod worker;

pub use judged_share::{JudgeFactory, ReviewStep, TraceReviewer};
pub use monitor::{DriftReplay, ProductionAlert, new_alerts};
pub use receipts::{ReceiptAnswer, ReceiptFetcher};
pub use reference::reference_board;
pub use report::{BudgetBurn, JudgeSpending, ProductionReport, ReportWindow, time_text};
pub use trace_draft::draft_from_trace;
pub use trace_judge::{SettleResult, TraceJudge, settle_traces};
pub use usage::{LatencyRow, SpendRow, UsageTable};
pub use worker::{ProductionWorker, WorkerStep};
