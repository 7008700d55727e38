//! Strategies of attackers: disguises and wrappers that carry an injected goal. Pure functions; a strategy never knows what the goal means.

mod held_out;
mod sample_goal;
pub mod strategies;

pub use held_out::{HELD_OUT, held_out_hash, is_held_out};
pub use strategies::{STRATEGIES, Strategy, strategy};
