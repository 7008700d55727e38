//! Trials played by the driver: what ends them, who speaks when, and what is recorded.

mod endings;
mod gullible;
mod persona;
mod played;
mod stage;
