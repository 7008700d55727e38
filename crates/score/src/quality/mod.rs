//! Quality of cases: mutation tests of their expectations, and a name-only baseline for difficulty.

mod altered_args;
mod mutants;
mod name_index;
mod reference_transcript;
mod static_case;
mod write_variants;

pub(crate) use mutants::{ReferenceMutant, ToolNeighbours, mutants, without_steps};
pub(crate) use name_index::NameIndex;
pub(crate) use reference_transcript::skill_agent;
pub use reference_transcript::transcript_from_reference;
pub(crate) use static_case::StaticCase;
pub(crate) use write_variants::{WriteVariant, write_variants};
