//! World of a trial: tools act on a chain or answer from fixtures and imported sources, and every step is recorded as an event.
//!
//! [`LiveWorld`] receives a call, `dispatch` routes it, and `reads`, `prepare`, `simulate` and `submit` execute it on the `TrialState`.

mod account;
mod actions;
mod args;
mod broadcast;
mod case_fixtures;
mod dispatch;
mod faults;
mod fixtures;
mod follow_up;
mod foreign_source;
mod guardian;
mod hooks;
mod inbox;
mod inflow;
mod memory;
mod mine;
mod operations;
mod operator;
mod own_changes;
mod peers;
mod planned_write;
mod prepare;
mod reads;
mod receipt;
mod record;
mod review_terms;
mod same_value;
mod sign_typed;
mod simulate;
mod spent_value;
mod submit;
mod tool_error;
mod tool_request;
mod trial_chain;
mod trial_chains;
mod trial_state;
mod tx_builder;
mod tx_plan;
mod views;
mod world;
mod world_settings;
mod world_template;
mod world_texts;

pub use fixtures::HoleFills;
pub use foreign_source::{ForeignSource, LiveServer, LiveServers, LiveSource};
pub use hooks::{HOOKS, Hook, HookScope};
pub use operator::{RandomOperator, RandomOperatorError, WorldOperator};
pub use world::LiveWorld;
pub use world_settings::{DefenceMode, WorldSettings};
pub use world_template::{ChainKind, UnknownWorld, WorldTemplate};
