//! The world of a trial: every tool acts on a real chain or answers from its sources, and everything that happens is an event.

mod actions;
mod args;
mod carry;
mod deal;
mod deeds;
mod desk;
mod fault;
mod fixtures;
mod foreign;
mod guardian;
mod hooks;
mod prepare;
mod reads;
mod stage;
mod views;
mod world;

pub use fixtures::Fills;
pub use foreign::{Foreign, Line, is_foreign};
pub use hooks::HOOKS;
pub use stage::{ChainKind, Stage};
pub use world::{Defence, LiveWorld, Setup};
