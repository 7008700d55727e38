//! Texts of results: events, readings, gate results and causes as people read them, for the terminal and for pages.

pub mod amounts;
pub mod cause_text;
pub mod changed_values;
pub mod delegation_tree;
pub mod escape;
pub mod event_formatter;
pub mod gate_lines;
pub mod judgement_text;
pub mod reading_text;
