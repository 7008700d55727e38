//! Statistics of sampled production traffic: which traces are sampled, and what the kept ones say about all.

mod sampling;
mod weighted_rate;
mod window;

pub use crate::scorers::spending_limit::{MinedValue, mined_values};
pub use sampling::{SampleWeight, is_judged, is_sampled};
pub use weighted_rate::{WeightedRate, WeightedTally};
pub use window::{TraceScores, WindowVerdict, judge_window};
