//! Attacks: strategies that carry an injected goal, places for it, and the expansion of probes into cases. Pure functions; a strategy never
//! knows what the goal means, and a place never changes its wording.

mod covering;
mod expand;
mod general;
mod held_out;
mod placement;
mod reduction;
mod rewordable;
mod sample_goal;
mod slots;
pub mod strategies;

pub use covering::{AttackPair, attack_pairs, covering_cases};
pub use expand::{ATTACKER_MODEL, AttackChoice, add_red_team, has_red_team, red_team_suite_of, red_team_suites};
pub use general::add_general_probes;
pub use held_out::{HELD_OUT, held_out_hash, is_held_out};
pub use placement::reword;
pub use reduction::{DeltaDebugger, TextGrain, text_units, without_units};
pub use rewordable::{AttackWording, RewordableAttack};
pub use strategies::{STRATEGIES, Strategy, strategy};
