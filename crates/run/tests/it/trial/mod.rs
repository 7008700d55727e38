//! Tests of the trial driver: endings, simulated users and control subjects.

mod carry_out;
mod endings;
mod fixture;
mod gullible;
mod llm_persona;
mod scripted_persona;
