//! Trials played by the driver: what ends them, who speaks when, and what is recorded.

mod endings;
mod fixture;
mod gullible;
mod llm_persona;
mod scripted_persona;
