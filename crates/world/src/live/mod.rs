//! The world of a trial: every tool acts on a real chain or answers from its sources, and everything that happens is an event.

mod actions;
mod args;
mod fixtures;
mod foreign;
mod guardian;
mod hooks;
mod operations;
mod prepare;
mod reads;
mod submit;
mod tool_error;
mod tx_builder;
mod tx_plan;
mod views;
mod world;
mod world_template;

pub use fixtures::Fills;
pub use foreign::{Foreign, LiveSource, is_foreign};
pub use hooks::HOOKS;
pub use world::{Defence, LiveWorld, Setup};
pub use world_template::{ChainKind, WorldTemplate};
